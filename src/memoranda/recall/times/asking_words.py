"""Words with which one asks for a time and for nothing else: "what did we discuss", "o czym rozmawialiśmy".

Data. A query whose rest holds only these wants everything of that time. They also tell the language of a query.
"""

_WORDS = {
    "en": """
        a an the and or of to in on at for from with by about over during up anything everything something all any else
        i me my we us our you your it its that this those these there here
        what which who whom when where how did do does done doing was were is are be been being am have has had having
        can could would will please tell remind show give list find recall remember summarize summarise recap summary
        discuss discussed discussing discussion talk talked talking chat chatted chatting speak spoke spoken cover
        covered mention mentioned say said tell told converse conversation conversations session sessions topic topics
        subject subjects thing things stuff happen happened go went going on get so ok hey hi just exactly again back
        overview content contents message messages memories memory notes s d ll ve re m t
    """,
    "pl": """
        o w we z ze i a na do od po za co czego czym jak jakie jaki jaka ktore kto kiedy gdzie czy byla bylo byly byl
        jest sa ja ty my nas nam mnie mi ci sie to ten ta te tym tego wszystko wszystkim cos cokolwiek prosze
        powiedz przypomnij pokaz podsumuj wypisz rozmawialismy rozmawialam rozmawialem rozmawiac rozmawiali mowilismy
        mowilem mowilam mowiles mowilas omawialismy omowilismy dotyczyla dyskutowalismy gadalismy pisalismy
        robilismy robilem robilam zrobilem zrobilam stalo dzialo wydarzylo tematy temat rzeczy rozmowa rozmowy
        nasza naszej
    """,
    "de": """
        was wer wie wo wann worum ging es wir uns ich du mir mich dich haben habe hast hat war waren ist sind woruber
        uber der die das den dem ein eine und zu von mit auf in im am an bitte sag erinnere zeig zeige
        gesprochen geredet besprochen diskutiert unterhalten gesagt erwahnt passiert gemacht getan alles etwas themen
        thema sprachen redeten zusammenfassung
    """,
    "es": """
        que de del el la los las un una y en a al con sobre cual cuales quien como cuando donde nos nosotros yo tu me
        te se lo hemos he has ha fue era eran es son por favor dime recuerdame resume hablamos hable hablaste
        hablado discutimos comentamos dijimos dije dijiste paso hicimos hice todo algo temas tema charlamos
        conversamos
    """,
    "fr": """
        qu que quoi de du des le la les un une et en a au avec sur quel quelle quels quelles qui comment quand ou nous
        on je j tu me te se avons avez ai as est etait sont c ce s il y il dis rappelle montre resume parle parlait
        discute dit evoque aborde passe fait tout quelque chose sujets sujet l d n ne pas
    """,
}

ASKING = {language: frozenset(words.split()) for language, words in _WORDS.items()}
ANY_ASKING = frozenset[str]().union(*ASKING.values())

_HAN = """
    我们 咱们 我 你 您 了 过 的 都 有 在 是 和 跟 什么 啥 哪些 哪 内容 话题 事情 事 东西 聊 聊天 谈 谈论
    谈到 讨论 说 讲 提 提到 说过 告诉 回忆 总结 一下 请 吗 呢 吧 啊 发生 做 干 对话 会话 谈话 时候 里 那 那天 那次 时
    些 之间 关于 到 全部 所有 一切 帮 给 列出
"""
# Longest first, so that a phrase is taken before its parts.
ASKING_HAN = tuple(sorted(_HAN.split(), key=len, reverse=True))

# Words that ask for an account of a time. Without one of these, "how are you today?" is not a question about today.
_ACCOUNT = """
    discuss discussed discussing discussion talk talked talking chat chatted chatting speak spoke spoken cover covered
    mention mentioned say said tell told converse conversation conversations session sessions topic topics subject
    subjects happen happened did done was were went remember recall recap summarize summarise summary overview notes
    memories messages
    rozmawialismy rozmawialam rozmawialem rozmawiac rozmawiali mowilismy mowilem mowilam mowiles mowilas omawialismy
    omowilismy dotyczyla dyskutowalismy gadalismy pisalismy robilismy robilem robilam zrobilem zrobilam stalo dzialo
    wydarzylo bylo tematy temat rozmowa rozmowy podsumuj przypomnij
    gesprochen geredet besprochen diskutiert unterhalten gesagt erwahnt passiert gemacht getan themen thema sprachen
    redeten zusammenfassung ging war waren
    hablamos hable hablaste hablado discutimos comentamos dijimos dije dijiste paso hicimos hice temas tema charlamos
    conversamos resume recuerdame fue era
    parle parlait discute dit evoque aborde passe fait sujets sujet rappelle
"""
ACCOUNT = frozenset(_ACCOUNT.split())
ACCOUNT_HAN = ("聊", "谈", "讨论", "说", "讲", "提", "告诉", "回忆", "总结", "发生", "做", "干", "对话", "会话")
_CONNECTIVES = "and or the of in on at to from i oraz lub w we und oder im am y o en de et ou le la"
CONNECTIVES = frozenset(_CONNECTIVES.split(" "))
