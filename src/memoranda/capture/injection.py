"""Text that is written to steer a model or its memory rather than to tell something.

Hygiene, not the control: what may speak is decided by where a text came from. A rule that fires lowers trust, one that
does not fire raises nothing.
"""

from functools import cache
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from memoranda.capture.folding import folded, hides, unaccented, unleeted
from memoranda.capture.injection_glance import could_match

if TYPE_CHECKING:
    from memoranda.capture.injection_rules import Rule

Severity = Literal["injection", "acting"]

_HIDDEN = "hidden text"
# One automaton for all would visit a new state at almost every letter of a new text; small ones soon know them all.
_AUTOMATA = 8
_GLANCES = 8
_looks = count()
_making = Lock()


class Suspicion(NamedTuple):
    """Which kind of attack a text looks like: `injection` steers, `acting` would make an agent do something."""

    rule: str
    severity: Severity


def suspicion(text: str) -> Suspicion | None:
    """The first rule that a text falls under, those of injection before those of acting; None for ordinary text."""
    if hides(text):
        return Suspicion(_HIDDEN, "injection")
    form = unaccented(folded(text))
    undisguised = unleeted(form)
    forms = (form,) if undisguised == form else (form, undisguised)
    # A process that looks at many texts is better off with the rules; one that looks at a few, without them.
    if next(_looks) < _GLANCES and not _made.cache_info().currsize and not could_match(forms):
        return None
    return min(filter(None, map(rules_ready().first, forms)), key=_gravity, default=None)


def rules_ready() -> "_Rules":
    """The rules, made when they are first needed: once, however many threads need them then."""
    with _making:
        return _made()


@cache
def _made() -> "_Rules":
    return _Rules()


class _Rules:
    """All rules, made ready: automata that read a text once each, whatever is in it."""

    def __init__(self) -> None:
        import re2  # a command that stores nothing should not wait for it

        from memoranda.capture.injection_rules import excused, rules

        options = re2.Options()
        # As bytes: a gap counts them, and automata are a tenth of the size.
        options.encoding = re2.Options.Encoding.LATIN1
        self._automata: list[tuple[Any, tuple[Rule, ...]]] = []
        for place in range(_AUTOMATA):
            share = rules()[place::_AUTOMATA]
            automaton = re2.Set.SearchSet(options)
            for rule in share:
                automaton.Add(rule.pattern)
            automaton.Compile()
            self._automata.append((automaton, share))
        self._excuses = re2.compile(excused(), options)

    def first(self, form: str) -> Suspicion | None:
        """The first rule that matches, also when what is said of people is taken out."""
        seen = form.encode("utf-8", "replace")
        if not self._matching(seen):
            return None
        # Most text is never looked at twice.
        found = self._matching(self._excuses.sub(b" ", seen))
        return min((Suspicion(rule.name, rule.severity) for rule in found), key=_gravity, default=None)

    def _matching(self, seen: bytes) -> "list[Rule]":
        return [share[place] for automaton, share in self._automata for place in automaton.Match(seen) or ()]


def _gravity(found: Suspicion) -> tuple[bool, str]:
    return found.severity == "acting", found.rule
