"""Words that say nothing about what is looked for. Data; dropped from queries only, never from what is kept."""

WORDS = {
    "en": """
        a an the and or but if then else of at by for with about against between into through during to from in on off
        over under again is are was were be been being am do does did doing done have has had having i me my mine we
        us our ours you your yours he him his she her hers it its they them their theirs this that these those what
        which who whom whose when where why how all any both each few more most other some such no nor not only own
        same so than too very can could will would shall should may might must just there here as s t d ll re ve m don
        please tell give show help recommend recommendation recommendations suggest suggestion suggestions advice
        tips ideas looking need want turn use used uses using get gets got say says said know knows knew
    """,
    "pl": """
        o w z ze i a u na do od po za przy dla bez pod nad przed przez oraz lub albo ale czy że co kto gdzie kiedy jak
        jaki jaka jakie jest są był była było były być będę będzie się mnie mi mu jej jego ich im ja ty on ona ono my
        wy oni one ten ta to te ci tego tej tych tym który która które nie tak już tylko mój moja moje twój twoja
        proszę możesz mógłbyś mogłabyś powiedz podaj pokaż pomóż poleć polecisz upewnij włącz wyłącz włączyć wyłączyć
    """,
    "de": "der die das ein eine und oder ist sind war zu von mit auf",
    "es": "el la los las un una y de que en es",
    "fr": "le les des du et est",
}

CHARACTERS = frozenset("的了是在我你他她它们這这那有和與与就都也很吗嗎呢吧啊のにはをがでとも")
