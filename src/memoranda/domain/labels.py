"""Importance as people and other programs write it: `0.86`, `86%`, `86/100`, `８６`, `high`. One number comes out.

A grade is a word for a range of importance; it is computed and never stored.
"""

import math
import re
import unicodedata
from typing import Literal, NoReturn, get_args

from memoranda.domain.errors import InvalidInput
from memoranda.domain.memory import GRADE_FLOORS, Grade, checked_choice

Scale = Literal["share", "one_to_five"]
"""`one_to_five` is LangBot's: there, 2 is a little, not two percent. A number alone does not tell which is meant."""
SCALES: tuple[Scale, ...] = get_args(Scale)

SCORES: dict[Grade, float] = {"must_remember": 0.9, "nice_to_have": 0.65, "ignore": 0.2}
"""What a word stands for when there is no number: well inside of its range."""
ONE_TO_FIVE = (0.3, 0.5, 0.65, 0.8, 0.95)
"""Not in even steps: LangBot's usual 2 would be 0.25, which is to be ignored."""

_WORDS: dict[Grade, str] = {
    "must_remember": "must_remember must critical vital essential important high wysoka wysoki hoch wichtig 高 重要",
    "nice_to_have": "nice_to_have nice medium middle moderate normal średnia średni mittel 中 一般",
    "ignore": "ignore low trivial minor none negligible niska niski brak niedrig gering keine 低 无 忽略",
    "unknown": "unknown unset ungraded nieznana unbekannt 未知",
}
_GRADES: dict[str, Grade] = {word: grade for grade, words in _WORDS.items() for word in words.split()}
_NUMBER = r"\d{1,9}(?:[.,]\d{1,9})?|[.,]\d{1,9}"
_WRITTEN = re.compile(rf"\+?(?P<number>{_NUMBER})\s*(?:(?P<percent>%)|/\s*(?P<of>{_NUMBER}))?")
_SPACES = re.compile(r"[\s-]+")
_LONGEST = 64
_LARGEST = 1_000_000_000
_HINT = "Give 0 to 1, a percentage such as 86%, or one of: high, medium, low."


def importance(given: float | str, *, scale: Scale = "share") -> float | None:
    """The importance that is meant, from 0 to 1; None for `unknown`. Whole numbers from 2 to 100 are percent."""
    checked_choice(scale, SCALES, name="scale")
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        raise InvalidInput(f"importance: a number or a word is expected, not {type(given).__name__}", hint=_HINT)
    if isinstance(given, str):
        return _written(given, scale)
    return _from_number(float(given), scale) if abs(given) <= _LARGEST else _refuse(given)


def label(score: float | None) -> Grade:
    """An importance in words."""
    if score is None:
        return "unknown"
    return next(grade for grade, floor in GRADE_FLOORS if score >= floor)


def _written(given: str, scale: Scale) -> float | None:
    if len(given) > _LONGEST:
        _refuse(given)
    # Full-width digits, percent signs and slashes become plain ones.
    text = unicodedata.normalize("NFKC", given).strip().casefold()
    grade = _GRADES.get(_SPACES.sub("_", text))
    if grade is not None:
        return None if grade == "unknown" else SCORES[grade]
    found = _WRITTEN.fullmatch(text)
    if found is None:
        _refuse(given)
    number = _decimal(found["number"])
    if found["percent"]:
        return _share(number, 100.0, given)
    if found["of"]:
        return _share(number, _decimal(found["of"]), given)
    return _from_number(number, scale)


def _from_number(number: float, scale: Scale) -> float:
    if scale == "one_to_five":
        if number not in (1, 2, 3, 4, 5):
            raise InvalidInput(f"importance: {number:g} is not one of 1 to 5", hint="Give a whole number from 1 to 5.")
        return ONE_TO_FIVE[int(number) - 1]
    if 0.0 <= number <= 1.0:
        return number
    return number / 100.0 if number.is_integer() and 2 <= number <= 100 else _refuse(number)


def _share(part: float, whole: float, given: object) -> float:
    return part / whole if whole > 0.0 and part <= whole else _refuse(given)


def _decimal(text: str) -> float:
    return float(text.replace(",", "."))


def _refuse(given: object) -> NoReturn:
    shown = f"{given:g}" if isinstance(given, float) and math.isfinite(given) else repr(str(given)[:40])
    raise InvalidInput(f"importance: {shown} is neither a number from 0 to 1 nor a word for one", hint=_HINT)
