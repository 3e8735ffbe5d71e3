"""How many tokens a model will count, guessed from above without a tokenizer.

Every model has its own vocabulary, so this is a bound to plan with, not a count. It was set against cl100k, o200k
and the public vocabulary of an older Claude: in running text the largest of the three is 0.65 to 0.7 of it for
English, 0.75 for Chinese, 0.8 to 0.87 for Polish and German, 0.8 for base64. A few words
alone may be short by one; frequent Chinese characters or Hangul in no order, which nobody writes, by up to a half.

- An English-looking word is one token and a quarter more for each letter after the third. Vocabularies hold few
  pieces across a pair of letters that is rare in English, so such a pair adds 0.8: that is what makes Polish,
  German and random letters dearer. No word costs more than its letters.
- A digit is one token, because some models take them one by one; so is each sign of ASCII.
- A letter with a diacritic is nearly two, Cyrillic one, Greek, Hebrew and Arabic one and a half.
- The 3,755 most frequent Chinese characters (level 1 of GB 2312) are 1.75, kana 1.5, the 2,350 syllables of
  KS X 1001, Devanagari and Thai two.
- For the rest (rarer characters, other scripts, emoji) the bytes of UTF-8, which no byte-level vocabulary can exceed.

A message costs more than its text: what every format writes around it, the name of the speaker, and of each tool
call its name, arguments and id, whether a given model is shown the id or not.
"""

import math
import re
from collections.abc import Callable
from functools import lru_cache
from operator import add

from memoranda.domain.conversation import SUMMARY_IS_DATA, KeptMessage
from memoranda.domain.message import Message

Count = Callable[[str], int]
"""How many tokens a text is: `estimated_tokens`, or the `count` of a Tokenizer."""

# Four is what the chat format of common models takes for the role and the edges of a message; a call and the id that
# answers it are set in a few signs more.
_PER_MESSAGE = 4
_PER_CALL = 8
_PER_ID = 4

_LETTER = 0.25
_FREE_LETTERS = 3
_RARE_PAIR = 0.8
_LATIN, _CYRILLIC, _NEAR_EAST, _INDIC, _KANA, _FULLWIDTH = 1.75, 1.0, 1.5, 2.0, 1.5, 2.0
_FREQUENT_HAN, _FREQUENT_HANGUL = 1.75, 2.0
_FIRST_BYTE_OF_LEVEL_2 = 0xD8

# After each letter, those that follow it at least once in a thousand pairs of English text.
_FOLLOWERS = (
    "a:bcdgiklmnprstuvy b:aeiloruy c:aehiklortu d:aeiors e:acdefilmnprstvwxy f:aefiortu g:aehior h:aeiot"
    " i:acdefgklmnorstv j:o k:eis l:adeilostuy m:aeiopu n:acdegiknosty o:cdfiklmnoprstuvw p:aehilopr q:u"
    " r:adeikmnorstuy s:acehiopstu t:aehiorstuy u:acegilnprst v:aei w:aehio y:eos"
)
_LOWER = frozenset(entry[0] + follower for entry in _FOLLOWERS.split() for follower in entry[2:])
_COMMON_PAIRS = _LOWER | {pair.capitalize() for pair in _LOWER}

# A space belongs to the word or sign after it; before a digit or another script it is a token of its own. Pieces are
# bounded because their costs are kept.
_PIECE = re.compile(r" ?[A-Za-z]{1,32}| ?[!-/:-@\[-`{-~]| {1,32}|.", re.DOTALL)


def estimated_tokens(text: str) -> int:
    """A number of tokens that common models will seldom exceed. Never more for two lines than for each by itself.

    More text at the end is never fewer tokens; no text but the empty one is none.
    """
    return math.ceil(sum(map(_cost, _PIECE.findall(text))))


def message_tokens(message: Message | KeptMessage, count: Count = estimated_tokens) -> int:
    """What a message takes of a budget, with all that is shown of it beside its text. Each part is counted alone."""
    tokens = _PER_MESSAGE + count(message.text)
    if isinstance(message, KeptMessage) and message.kind == "summary":
        tokens += 1 + count(SUMMARY_IS_DATA)
    if message.speaker:
        tokens += 1 + count(message.speaker)
    if message.tool_call_id:
        tokens += _PER_ID + count(message.tool_call_id)
    for call in message.tool_calls:
        tokens += _PER_CALL + count(call.id) + count(call.name) + count(call.arguments)
    return tokens


@lru_cache(maxsize=16_384)
def _cost(piece: str) -> float:
    word = piece.lstrip(" ")
    if not word:
        # One space costs no more than the word that may yet follow it.
        return 1.0 + (len(piece) - 1) / 16
    if not word.isascii():
        return _cost_beyond_ascii(ord(word))
    if len(word) == 1:
        return 1.0
    rare = len(word) - 1 - sum(map(_COMMON_PAIRS.__contains__, map(add, word, word[1:])))
    return min(float(len(word)), 1.0 + _RARE_PAIR * rare + _LETTER * max(0, len(word) - _FREE_LETTERS))


def _cost_beyond_ascii(code: int) -> float:
    if code < 0x250:
        return _LATIN
    if 0x400 <= code < 0x460:
        return _CYRILLIC
    if 0x370 <= code < 0x700:
        return _NEAR_EAST
    if 0x900 <= code < 0x980 or 0xE00 <= code < 0xE80:
        return _INDIC
    if 0x3000 <= code < 0x3100:
        return _KANA
    if 0x4E00 <= code < 0xA000 and _is_frequent_han(chr(code)):
        return _FREQUENT_HAN
    if 0xAC00 <= code < 0xD7A4 and chr(code).encode("euc_kr", errors="ignore"):
        return _FREQUENT_HANGUL
    if 0xFF00 <= code < 0xFF60:
        return _FULLWIDTH
    return 2.0 if code < 0x800 else 3.0 if code < 0x10000 else 4.0


def _is_frequent_han(character: str) -> bool:
    encoded = character.encode("gb2312", errors="ignore")
    return bool(encoded) and encoded[0] < _FIRST_BYTE_OF_LEVEL_2
