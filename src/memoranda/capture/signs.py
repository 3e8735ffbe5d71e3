"""Signs: which languages' tables can speak about a sentence, by its script and its commonest words.

A guess that saves time and decides nothing: a sentence without any sign is taken for the language of the text around
it, and when that has none either, it is looked at in every language of its script.
"""

import re
from functools import cache

LATIN = ("en", "pl", "de", "es", "fr", "cs")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
_KANA = re.compile("[\u3040-\u30ff]")
_HAN = re.compile("[\u3400-\u9fff]")
_WORD = re.compile("[a-z]+")
# In small letters without marks. A word that two languages share is a sign of both, or of neither.
_SIGNS = {
    "en": "the i im my you your is are and of it that this our what with have for remember always never please don "
    "like love hate prefer not can from now let note forget keep was they she he favorite favourite to on in me no "
    "a do at we if or be as so an us by but up go am will has had "
    "wow cool thanks good great how hey hi yes yeah nice there here when where why who been too some more really very "
    "just know think get got would could should about then their them were did does time one all sure much many out "
    "over well oh also its sounds",
    "pl": "nie sie jest ze w z mam moj moja moje jestem lubie wole zapamietaj pamietaj zanotuj zapisz zawsze nigdy "
    "prosze czy bardzo od tego dla ale bo juz jak co mnie mi uwielbiam preferuje nazywam mieszkam ulubiony ulubiona "
    "to no a on do "
    "nienawidze cierpie znosze lubimy wolimy podoba smakuje unikam zdecydowalem zdecydowalam zdecydowalismy pracuje "
    "postanowilem postanowilam postanowilismy ustalilismy uzgodnilismy wybralismy uzyjmy kocham jednak teraz",
    "de": "ich und der die das ist nicht ein eine mein meine mir mich wir du auf fur mit bitte immer nie merk merke "
    "dass denk vergiss notiere habe bin kein keine auch aber mag den dem zu von lieber es was so in am an",
    "es": "el la los las que de y en me mi mis es no un una yo para por con pero soy recuerda siempre nunca gusta "
    "gustan prefiero tengo como favor favorito favorita anota apunta odio encanta hemos a si",
    "fr": "je le la les des et est un une mon ma mes que qui de du pas ne pour avec mais suis toujours jamais souviens "
    "retiens note aime prefere ai en nous on toi moi au sur adore deteste me a si or",
    "cs": "je se si v ze to jsem mam rad rada muj moje ne ale nebo vzdy vzdycky nikdy prosim zapamatuj pamatuj "
    "nezapomen co jak protoze take jsme mi nemam radeji radsi oblibeny oblibena a no on do od "
    "ted odted uz neni odpovidej cesky bydlim nebydlim pracuji pracuju nepracuji nepracuju piju nepiju mluv rikej",
}

# Asks for something to be kept, whatever language that something is in.
_REQUESTS = (
    "remember zapamietaj pamietaj zanotuj zapisz merk merke denk vergiss notiere recuerda anota apunta souviens "
    "retiens zapamatuj pamatuj nezapomen"
)
_ASKING = frozenset(_REQUESTS.split())


@cache
def _languages() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for language in LATIN:
        for word in _SIGNS[language].split():
            found.setdefault(word, []).append(language)
    return found


def languages_of(plain: str, around: str = "") -> tuple[str, ...]:
    """The languages to look at, for a sentence in small letters and the text `around` it."""
    languages: list[str] = []
    if not plain.isascii():
        if _HANGUL.search(plain):
            languages.append("ko")
        if _KANA.search(plain):
            languages.append("ja")
        elif _HAN.search(plain):
            languages.append("zh")
    words = _WORD.findall(plain)
    known = _languages()
    # One word that no table knows says nothing in any language.
    if not words or (len(words) == 1 and words[0] not in known):
        return tuple(languages)
    signs = dict.fromkeys(LATIN, 0)
    for word in words:
        found = known.get(word)
        if found is not None:
            for language in found:
                signs[language] += 1
    asking = {known[word][0] for word in _ASKING.intersection(words)}
    most = max(signs.values())
    if not most and around:
        return (*languages, *(each for each in languages_of(around) if each in LATIN))
    enough = most / 2
    return (*languages, *(each for each in LATIN if signs[each] >= enough or each in asking))
