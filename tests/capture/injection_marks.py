"""Makes `injections/marks.json`: for each rule, pieces of text without which it cannot match.

A text that has none of them need not be shown to the rules, which take a tenth of a second to load. Run this file
after changing a rule; a test compares.
"""

import json
import re._constants as kinds
import re._parser as parser
from pathlib import Path

import memoranda.capture.injection as injection
from memoranda.capture.injection_rules import rules

MARKS = Path(injection.__file__).parent / "injections" / "marks.json"
_FEW_LETTERS = 6
_MOST = 120
_LOOSE = (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT)


def needed(tokens):
    """Sets of literals: every match of the sequence has one of each."""
    sets = []
    runs = {""}
    for kind, value in tokens:
        letters = _letters(kind, value)
        if letters is not None and len(runs) * len(letters) <= _FEW_LETTERS:
            runs = {run + letter for run in runs for letter in letters}
            continue
        sets.append(runs)
        runs = {""}
        if kind is kinds.SUBPATTERN:
            sets += needed(value[-1])
        elif kind is kinds.BRANCH:
            sets.append(_one_of([needed(branch) for branch in value[1]]))
        elif kind in _LOOSE and value[0] >= 1:
            sets += needed(value[2])
    sets.append(runs)
    return [frozenset(each) for each in sets if each and len(each) <= _MOST and all(map(_tells, each))]


def _one_of(branches):
    """Whichever branch matches, one of these is there: of each branch its most telling set."""
    if not all(branches):
        return set()
    return set().union(*(max(sets, key=_telling) for sets in branches))


def _telling(marks):
    return min(map(len, marks)), -len(marks), sorted(marks)


def _tells(mark):
    """Whether a mark is not in every other text."""
    return bool(mark.strip()) and (len(mark) >= 2 or mark >= "\u3041" or not mark.strip().isalnum())


def _letters(kind, value):
    """The letters that one place may have, if they are few."""
    if kind is kinds.LITERAL:
        return {chr(value)}
    if kind is kinds.IN and all(each is kinds.LITERAL for each, _ in value) and len(value) <= _FEW_LETTERS:
        return {chr(letter) for _, letter in value}
    return None


def alternatives(pattern):
    """A rule as several, when it is several."""
    *places, last = parser.parse(pattern)
    if last[0] is kinds.BRANCH and all(kind is kinds.AT for kind, _ in places):
        return last[1][1]
    return [[*places, last]]


def marks():
    """{"sets": lists of literals, "rules": for each way to match, the numbers of the sets that it needs}."""
    numbers, ways = {}, set()
    for rule in rules():
        for tokens in alternatives(rule.pattern.decode()):
            sets = needed(tokens)
            assert sets or rule.name == "money", rule  # numbers of accounts have no letters: looked for by their digits
            if sets:
                ways.add(tuple(sorted({numbers.setdefault(each, len(numbers)) for each in sets})))
    # What needs more than another way is found by that one.
    kept = [way for way in ways if not any(other != way and set(other) < set(way) for other in ways)]
    used = sorted({number for way in kept for number in way})
    by_number = {number: each for each, number in numbers.items()}
    listed = sorted((sorted(by_number[number]), number) for number in used)
    place = {number: at for at, (_, number) in enumerate(listed)}
    return {"sets": [each for each, _ in listed], "rules": sorted(sorted(place[n] for n in way) for way in kept)}


def page():
    found = marks()
    sets = ",\n".join(json.dumps(each, ensure_ascii=False) for each in found["sets"])
    return f'{{"sets":[\n{sets}\n],\n"rules":{json.dumps(found["rules"], separators=(",", ":"))}}}\n'


if __name__ == "__main__":
    MARKS.write_text(page(), encoding="utf-8")
