"""What a model claims, held against the messages: kept only when the user's own words bear it out.

It is a guard against invention, not a judgement of worth: what passes still goes through the same screen and the same
comparison as everything else. A claim that is refused wrongly costs little; one that is believed wrongly costs trust.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from memoranda.domain.candidate import Candidate, Refusal
from memoranda.domain.errors import InvalidInput
from memoranda.domain.memory import Kind
from memoranda.domain.message import Message
from memoranda.domain.ports import Claim
from memoranda.domain.text import checked_text, normal_form

MOST_LOOKED_AT = 50
MOST_CONFIDENCE = 0.8
# One half, a little less because nobody asked for it, and more for what shapes later answers.
_IMPORTANCE: dict[str, tuple[Kind, float]] = {
    "preference": ("preference", 0.6),
    "decision": ("decision", 0.7),
    "fact": ("fact", 0.4),
    "entity": ("entity", 0.4),
}
_LONGEST_QUOTE = 240
# A whole message may be the evidence of one sentence, not of a choice among many.
_LONGEST_WHOLE = 160
_LEAST_LETTERS = 4
_LEAST_SIGNS = 2
_MOST_PLACES = 8
_LEAST_SHARE = 0.7
_WORD_LIKENESS = 0.6
_NAME_LIKENESS = 0.75

_TYPOGRAPHY = str.maketrans("‘’‚‛′`´“”„‟«»″‐‑‒–—―−\u00ad", "'" * 7 + '"' * 7 + "-" * 7 + " ")
_PLAIN = frozenset(" .,;:!?'\"-()%&…。，、；：！？（）「」“”‘’„–—¿¡·")
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_KANA = "\u3041-\u3096\u30a1-\u30fa\u30fc"
_SIGN = re.compile(f"[{_HAN}{_KANA}]")
_SIGNS_THAT_SAY = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u30a1-\u30fa\u30fc]+")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_TOKEN = re.compile(r"[\w@#$/\\][\w@#$/\\.:+=~-]*")
_SENTENCE_END = re.compile(r"[!?。！？\n]|\.(?=\s|$)")
_CAMEL = re.compile(r"[a-z][A-Z]")
_HANGUL_FROM, _HANGUL_TO = "\uac00", "\ud7af"


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Another sentence begins here, whatever was denied before.
_BUT = re.compile(
    r"[;:]|\b(?:but|though|although|however|ale|lecz|jednak|aber|sondern|pero|sino|aunque|mais|avšak)\b"
    r"|但是?|不过|可是|でも|けど|하지만|그런데"
)
_NOT = re.compile(
    r"n't\b|\bdont\b|\b(?:not|no|never|nobody|none|nothing|neither|nor|cannot|without"
    r"|nie|nigdy|nikt|nic|żaden|żadnej|żadnych|bez|nicht|nie|niemals|kein\w*|nichts|ohne|nunca|jamás|nada|sin|tampoco"
    r"|ne|n'\w+|pas|jamais|rien|sans|není|nikdy|nic|nemám|nechci|nejsem|nebudu|nerad|nemusím"
    r"|(?:any|no) longer|used to|stopped|quit)\b"
    r"|不|没|沒|别|別|无|未|ない|なく|ません|ず(?:に)?\b|안 |않|못|없|아니"
)
_IF = re.compile(
    r"\b(?:if|unless|maybe|perhaps|might|would(?! (?:like|love|prefer|rather))|suppose|imagine|pretend|wish"
    r"|jeśli|jeżeli|gdyby\w*|może|chyba|falls|wenn|vielleicht|würde|si|ojalá|quizás?|tal vez|peut-être"
    r"|kdyby\w*|jestli|možná|asi)\b"
    r"|如果|要是|假如|也许|可能|もし|たら|かもしれ|만약|아마"
)
# Words that a sentence stands or falls with: amounts and feelings. They are the user's or they are invented.
_WEIGHTY = _listed(
    """
    zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand half
    jeden dwa dwie trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście sto tysiąc pół
    eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend
    uno dos tres cuatro cinco seis siete ocho nueve diez once doce cien mil
    deux trois quatre cinq sept huit neuf dix onze douze cent mille
    dva dvě tři čtyři pět šest sedm osm devět deset
    like likes love loves hate hates dislike dislikes enjoy enjoys adore allergic
    lubię kocham uwielbiam nienawidzę mag liebe hasse gusta encanta odio aime adore déteste rád ráda miluju nesnáším
    """
)
_WEIGHTY_SIGNS = re.compile("[二三四五六七八九十百千万两]|喜欢|讨厌|恨|好き|嫌い|過敏|过敏|좋아|싫어")
# What a model may put around the user's words.
_FRAME = _listed(
    """
    i i'm i've i'd i'll my me mine we we're our us the a an it it's this that there user user's speaker person people
    prefer prefers preferred decided decide chose use uses want wants is are was has have name named called to for of
    ja mój moja moje mnie mi jestem mam my nasz nasza użytkownik woli wolę preferuję osoba to
    ich ich's mein meine mir wir unser unsere der die das ein eine benutzer nutzer bevorzuge bevorzugt
    yo mi mis me nosotros nuestro nuestra el la los las un una usuario prefiero prefiere
    je j'ai mon ma mes moi nous notre le les une utilisateur préfère
    já můj moje mně my náš naše uživatel preferuju preferuje dávám
    저는 나는 내 제 우리 사용자 사용자는
    """
)
_FRAME_SIGNS = re.compile("用户|使用者|本人|偏好|决定|希望|ユーザー|私|僕|俺")


class Supported(NamedTuple):
    """What the messages bear out, and how many claims were refused for what."""

    candidates: tuple[Candidate, ...]
    refused: Mapping[Refusal, int]


def supported(
    claims: Iterable[Claim], messages: Sequence[Message], *, shortest: int, longest: int, most: int
) -> Supported:
    """The claims that the users' own words bear out, as candidates that are inferred, and so not trusted."""
    refused: Counter[Refusal] = Counter()
    found: dict[str, Candidate] = {}
    evidence: dict[int, _Evidence] = {}
    for number, claim in enumerate(claims):
        if number >= MOST_LOOKED_AT:
            refused["not looked at"] += 1
            continue
        outcome = _judged(claim, messages, evidence, shortest=shortest, longest=longest)
        if not isinstance(outcome, Candidate):
            refused[outcome] += 1
        elif normal_form(outcome.text) in found:
            refused["duplicate"] += 1
        elif len(found) >= most:
            refused["over the limit"] += 1
        else:
            found[normal_form(outcome.text)] = outcome
    return Supported(tuple(found.values()), dict(refused))


class _Evidence(NamedTuple):
    """A message in the form in which it is searched."""

    lines: str
    """Folded, with the ends of its lines."""
    flat: str
    """As long, with spaces in their place."""
    words: Mapping[str, frozenset[str]]
    """By their first two letters."""
    signs: frozenset[str]
    """Its characters."""

    @classmethod
    def of(cls, message: Message) -> "_Evidence":
        lines = "\n".join(filter(None, (_folded(line) for line in message.text.splitlines())))
        # Who speaks is known without being said.
        words = {*_words(lines), *_words(_folded(message.speaker))}
        return cls(lines, lines.replace("\n", " "), _grouped(words), frozenset(message.text))


def _judged(
    claim: Claim, messages: Sequence[Message], evidence: dict[int, _Evidence], *, shortest: int, longest: int
) -> Candidate | Refusal:
    if not 0 <= claim.message < len(messages):
        return "unsupported"
    if messages[claim.message].role != "user":
        return "not the user's words"
    if claim.kind not in _IMPORTANCE:
        return "nothing to keep"
    text = " ".join(claim.text.split())
    if len(text) < shortest:
        return "too short"
    if len(text) > longest:
        return "too long"
    try:
        text = checked_text(text, name="text", limit=longest)
    except InvalidInput:
        return "unsupported"
    if claim.message not in evidence:
        evidence[claim.message] = _Evidence.of(messages[claim.message])
    said = evidence[claim.message]
    objection = _objection_to_quote(text, claim.quote, said) or _objection_to_text(text, said)
    if objection is not None:
        return objection
    kind, importance = _IMPORTANCE[claim.kind]
    return Candidate(
        text,
        kind,
        importance,
        rule="model",
        message=claim.message,
        source="assistant",
        basis="inferred",
        confidence=min(MOST_CONFIDENCE, max(0.0, claim.confidence)),
    )


def _objection_to_quote(text: str, quote: str, said: _Evidence) -> Refusal | None:
    """Whether the quote is there, is evidence, and is not turned around by what stands beside it."""
    asked = _folded(quote).strip(" .,;!。，！\"'")
    letters = sum(char.isalpha() for char in asked)
    if letters < (_LEAST_SIGNS if _is_unspaced(asked) else _LEAST_LETTERS) or len(asked) > _LONGEST_QUOTE:
        return "unsupported"
    if len(asked) > _LONGEST_WHOLE and len(asked) >= 0.9 * len(said.flat):
        return "unsupported"
    if not _share(_folded(text), _Evidence.of(Message("user", quote))):
        return "unsupported"
    objection: Refusal | None = "unsupported"
    for start in _places(asked, said.flat):
        objection = _turned(_folded(text), said.lines, start, start + len(asked))
        if objection is None:
            return None
    return objection


def _turned(text: str, lines: str, start: int, end: int) -> Refusal | None:
    begin, stop = 0, len(lines)
    for mark in _SENTENCE_END.finditer(lines):
        if mark.end() <= start:
            begin = mark.end()
        elif mark.start() >= end:
            stop = mark.end()
            break
    sentence = lines[begin:stop]
    if sentence.endswith(("?", "？")):
        return "question"
    if _weighs_otherwise(text, sentence):
        return "unsupported"
    for but in _BUT.finditer(lines, begin, stop):
        if but.end() <= start:
            begin = but.end()
        elif but.start() >= end:
            stop = but.start()
            break
    clause = lines[begin:stop]
    if _IF.search(clause) and not _IF.search(text):
        return "hypothetical"
    return "unsupported" if bool(_NOT.search(clause)) != bool(_NOT.search(text)) else None


def _weighs_otherwise(text: str, sentence: str) -> bool:
    """Whether it has a number or a feeling in it that the sentence of the quote has not."""
    words = _grouped(set(_words(sentence)))
    return (
        not set(_NUMBER.findall(text)) <= set(_NUMBER.findall(sentence))
        or any(sign not in sentence for sign in _WEIGHTY_SIGNS.findall(text))
        or not all(_is_among(each, words, _NAME_LIKENESS) for each in _words(text) if each in _WEIGHTY)
    )


def _objection_to_text(text: str, said: _Evidence) -> Refusal | None:
    """Whether it has anything in it that the message has not: marks, identifiers, names, too many words."""
    folded = _folded(text)
    foreign = {char for char in text if not char.isalnum() and char not in _PLAIN and not unicodedata.combining(char)}
    invented = (
        not foreign <= said.signs
        or not all(any(True for _ in _places(_folded(each), said.flat)) for each in _identifiers(text))
        or not all(_is_among(each, said.words, _NAME_LIKENESS) for each in _names(text))
        or _has_new_signs(folded, said)
        or _share(folded, said) < _LEAST_SHARE
    )
    return "unsupported" if invented else None


def _words(folded: str) -> list[str]:
    """The words of a text that has spaces between them; signs that have none are no words."""
    return _WORD.findall(_SIGN.sub(" ", folded))


def _grouped(words: set[str]) -> dict[str, frozenset[str]]:
    return {start: frozenset(each) for start, each in groupby(sorted(words), key=_start_of)}


def _identifiers(text: str) -> Iterator[str]:
    """Tokens that name one thing exactly: `light.office`, `v2`, `anna@host`, `camelCase`, `NAS`."""
    for token in _TOKEN.findall(_SIGN.sub(" ", text)):
        bare = token.strip(".:+=~-/\\")
        has_letter = any(char.isalpha() for char in bare)
        if has_letter and (
            any(char in "._@#$/\\:=~" for char in bare)
            or any(char.isdigit() for char in bare)
            or (len(bare) > 1 and bare.isupper())
            or _CAMEL.search(bare)
        ):
            yield bare


def _names(text: str) -> Iterator[str]:
    """Words with a capital letter, folded; those that a model may begin a sentence with are left out."""
    for found in _WORD.finditer(_SIGN.sub(" ", text.translate(_TYPOGRAPHY))):
        word = found[0].casefold()
        if found[0][0].isupper() and word not in _FRAME:
            yield word


def _share(folded: str, said: _Evidence) -> float:
    """How much of what it says is said there, in words or in signs, from 0 to 1."""
    words = [each for each in _words(folded) if each not in _FRAME and len(each) > 2]
    signs = "".join(_SIGNS_THAT_SAY.findall(_FRAME_SIGNS.sub(" ", folded)))
    known = [_is_among(each, said.words, _WORD_LIKENESS) for each in words] + [each in said.flat for each in signs]
    return sum(known) / len(known) if known else 0.0


def _has_new_signs(folded: str, said: _Evidence) -> bool:
    """Whether two signs in a row are not in the message: in scripts without capitals, that may be a name."""
    runs = _SIGNS_THAT_SAY.findall(_FRAME_SIGNS.sub(" ", folded))
    return any(one not in said.flat and other not in said.flat for run in runs for one, other in pairwise(run))


def _is_among(word: str, words: Mapping[str, frozenset[str]], likeness: float) -> bool:
    """Whether the message has this word, or another form of it: the same beginning, long enough."""
    alike = words.get(_start_of(word), frozenset())
    if word in alike or word.removesuffix("'s") in alike:
        return True
    least = 2 if _HANGUL_FROM <= word[0] <= _HANGUL_TO else 3
    return any(_common(word, other) >= max(least, likeness * max(len(word), len(other))) for other in alike)


def _start_of(word: str) -> str:
    return word[:2]


def _common(one: str, other: str) -> int:
    """How many letters they have in common from the beginning."""
    differing = (place for place, (left, right) in enumerate(zip(one, other, strict=False)) if left != right)
    return next(differing, min(len(one), len(other)))


def _places(asked: str, flat: str) -> Iterator[int]:
    """Where it stands as whole words; in scripts without spaces, anywhere."""
    start = -1
    for _ in range(_MOST_PLACES):
        start = flat.find(asked, start + 1)
        if start < 0:
            return
        before, after = flat[start - 1 : start], flat[start + len(asked) : start + len(asked) + 1]
        if not (_joined(before, asked[:1]) or _joined(asked[-1:], after)):
            yield start


def _joined(left: str, right: str) -> bool:
    """Whether two neighbours belong to one word."""
    return left.isalnum() and right.isalnum() and not (_SIGN.match(left) or _SIGN.match(right))


def _is_unspaced(text: str) -> bool:
    return bool(_SIGN.search(text)) or any(_HANGUL_FROM <= char <= _HANGUL_TO for char in text)


def _folded(text: str) -> str:
    """One line in the form in which it is compared: NFKC, small letters, plain quotes and dashes, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text.translate(_TYPOGRAPHY)).casefold().split())
