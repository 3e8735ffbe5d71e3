"""Every way of reading a ledger that takes a scope, and what it may show: for the contract of a ledger."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from memoranda.domain.access import Token
from memoranda.domain.clock import DAY_MS
from memoranda.domain.document import Source
from memoranda.domain.ids import new_id
from memoranda.domain.results import Remembered
from memoranda.domain.scope import Scope
from memoranda.domain.statement import Asked
from memoranda.ledger import drifting, misses, undoable
from memoranda.ledger.auditing import Auditing
from memoranda.ledger.connection import Connection
from memoranda.ledger.consolidating import Consolidating
from memoranda.ledger.contents import walk
from memoranda.ledger.differing import difference
from memoranda.ledger.erasing import Erasing
from memoranda.ledger.exporting import walked
from memoranda.ledger.gradings import Gradings
from memoranda.ledger.importing import Imports
from memoranda.ledger.ledger import Filter, Ledger
from memoranda.ledger.looking import Happened, Overview
from memoranda.ledger.origins import came_from
from memoranda.ledger.retaining import Retaining, Rules
from memoranda.ledger.sources import Sources
from memoranda.ledger.tags import Tags
from memoranda.ledger.tokens import Tokens
from memoranda.ledger.transcripts import Transcripts
from memoranda.testing.ledger_making import ACTOR, EVERYTHING, keep, said

# Names that a prefix, a pattern, a comparison without case or a collation of people would take for one another.
SCOPES = (
    "a", "a/b", "a/b/c", "a/bc", "a/b0", "a/b-", "a/b.c", "a/b_c", "a/bxc", "a/B", "A", "A/b", "a_b", "axb", "a-b",
    "a.b", "a:b", "a@b", "a+b", "a~b", "a0", "a/b/c/d", "/".join("s" * 16), "x" * 255 + "y", "x" * 255 + "z",
)  # fmt: skip
Reach = Literal["chain", "own", "below", "both"]
"""What may be shown: the scope and those above it; it alone; it and those below it; all of these."""
_FAR = 1 << 61
_ABOUT = "lamp of "


class Way(NamedTuple):
    """One way of reading: the scopes of what it shows, and how far it may reach."""

    shown: Callable[[Ledger, Scope], Iterable[str]]
    reach: Reach


def expected(scope: Scope, reach: Reach) -> set[str]:
    """Those of the scopes that may be shown."""
    above = {path for path in SCOPES if scope.sees(path)}
    below = {path for path in SCOPES if scope.contains(path)}
    return {"chain": above, "own": {scope.path}, "below": below, "both": above | below}[reach]


def filled(ledger: Ledger) -> dict[str, Remembered]:
    """Something of every sort in every scope, with the same words everywhere."""
    clock, database = ledger.clock, ledger.database
    imports = Imports(database, clock, erased=ledger.is_erased, other_id=lambda run, taken: new_id())
    kept: dict[str, Remembered] = {}
    for path in SCOPES:
        scope = Scope(path)
        kept[path] = keep(
            ledger, "The lamp is here.", path, about=_ABOUT + path, attribute="alias", value=path, speaker="anna",
            conversation="talk", tags=["lamp"], importance=0.5, source_ref="other:7",
        )  # fmt: skip
        Tags(database, clock).add("before", scope=scope, actor=ACTOR)
        Sources(database, clock).add(Source("notes", path, "/notes"))
        Transcripts(database, clock).append("talk", [said("hello")], scope=scope, actor=ACTOR)
        token = Token(f"t{len(kept)}", "", "reader", path, False, clock.now())
        Tokens(database, clock).add(token, token.id.encode(), made_by="")
        database.write(_missed(path, clock.now()))
        imports.begin(new_id(), digest=b"d", scope=scope, format="jsonl", whole=False)
        Consolidating(database, clock).dismiss({path.encode().hex(): path})
    return kept


def _missed(path: str, at: int) -> Callable[[Connection], None]:
    noted = misses.Noted(path, b"d" * misses.DIGEST_SIZE, "nothing", path, at, at, 2)
    return lambda connection: misses.add(connection, [noted])


# -- one by one --


def _browsed(wanted: Filter) -> Callable[[Ledger, Scope], Iterable[str]]:
    return lambda ledger, scope: [
        each.scope for each in ledger.browse(wanted, scope=scope, limit=EVERYTHING, offset=0, surest_at=None)
    ]


def _surest(ledger: Ledger, scope: Scope) -> Iterable[str]:
    now = ledger.clock.now()
    return [each.scope for each in ledger.browse(Filter(), scope=scope, limit=EVERYTHING, offset=0, surest_at=now)]


def _fitting(ledger: Ledger, scope: Scope) -> Iterable[str]:
    return _of_numbers(ledger, ledger.numbers_that_fit(Filter(text="lamp", tags=("lamp",)), scope=scope))


def _about(ledger: Ledger, scope: Scope) -> Iterable[str]:
    return _of_numbers(ledger, ledger.numbers_about([_ABOUT + path for path in SCOPES], scope=scope))


def _of_numbers(ledger: Ledger, numbers: Iterable[int]) -> set[str]:
    return {each.scope for each in ledger.feed.entries(tuple(numbers)).values()}


def _aliases(ledger: Ledger, scope: Scope) -> Iterable[str]:
    return [name for _, name in ledger.aliases(scope=scope)]


def _subjects(ledger: Ledger, scope: Scope) -> Iterable[str]:
    return [each.removeprefix(_ABOUT) for each in ledger.subjects_like(["lamp"], scope=scope)]


def _chosen(ledger: Ledger, scope: Scope) -> Iterable[str]:
    return [memory.scope for _, memory in ledger.choose(scope=scope)]


def _spoken(ledger: Ledger, scope: Scope) -> Iterable[str]:
    return [memory.scope for _, memory in ledger.choose(scope=scope, speaker="anna")]


def _erasable(ledger: Ledger, scope: Scope) -> Iterable[str]:
    asked = Asked(speaker="anna", conversation="talk")
    return [memory.scope for _, memory in Erasing(ledger.database).matching(scope, asked, ["talk"])]


def _tags(ledger: Ledger, scope: Scope) -> Iterable[str]:
    return [each.scope for each in Tags(ledger.database, ledger.clock).page(scope, limit=EVERYTHING, offset=0)]


def _talks(ledger: Ledger, scope: Scope) -> Iterable[str]:
    talks = Transcripts(ledger.database, ledger.clock)
    page, total = talks.listed(scope, archived=False, limit=EVERYTHING, offset=0)
    exactly = talks.of_scopes(scope.chain())
    assert {each.conversation.id for each in exactly} == {each.id for each in page}
    assert total == len(page)
    assert talks.find("talk", scopes=scope.chain()).conversation.scope == scope.path
    numbers = talks.numbers_that_fit(scopes=scope.chain(), row=None, since=None, until=None, role="")
    assert len(numbers) == len(talks.oldest_between(scopes=scope.chain(), row=None, since=0, until=_FAR, limit=99))
    every = talks.numbers([each for path in SCOPES for each in talks.of_scopes([path])])
    assert talks.load(every, scopes=scope.chain()).keys() == numbers
    return [each.scope for each in page]


def _talks_below(ledger: Ledger, scope: Scope) -> Iterable[str]:
    return [each.conversation.scope for each in Transcripts(ledger.database, ledger.clock).below(scope)]


def _imports(ledger: Ledger, scope: Scope) -> Iterable[str]:
    imports = Imports(ledger.database, ledger.clock, erased=ledger.is_erased, other_id=lambda run, taken: new_id())
    unfinished = imports.unfinished(b"d", scope)
    assert unfinished is not None
    return [unfinished.scope, *(each.scope for each in imports.runs(scope, limit=EVERYTHING))]


def _tokens(ledger: Ledger, scope: Scope) -> Iterable[str]:
    return [each.scope for each in Tokens(ledger.database, ledger.clock).listed(scope.path)]


def _scopes(ledger: Ledger, scope: Scope) -> Iterable[str]:
    page = Overview(ledger.database).scopes(scope.path, limit=EVERYTHING, offset=0)
    assert page.total == len(page)
    assert all((each.memories, each.live, each.conversations, each.sources) == (1, 1, 1, 1) for each in page)
    return [each.scope for each in page]


def _everything(ledger: Ledger, scope: Scope) -> Iterable[str]:
    return [each.scope for _, each in Retaining(ledger.database).everything([scope.path], below=scope)]


# -- with those below, or without --


def _timeline(ledger: Ledger, scope: Scope, below: bool) -> Sequence[str]:
    happened = Overview(ledger.database).timeline(scope, Happened(limit=EVERYTHING), below=below)
    day = ledger.clock.now() // DAY_MS
    (grown,) = Overview(ledger.database).growth(scope, first=day, last=day, below=below)
    assert grown.created == grown.live == len(happened)
    return [each.scope for each in happened]


def _audited(ledger: Ledger, scope: Scope, below: bool) -> Sequence[str]:
    page = Auditing(ledger.database).page(scope, Happened(limit=EVERYTHING), operation="", below=below)
    return [each.scope for each in page]


def _operations(ledger: Ledger, scope: Scope, below: bool) -> Sequence[str]:
    with ledger.database.read() as connection:
        return [each.scope for each in undoable.page(connection, scope, below=below, before=None, limit=EVERYTHING)]


def _differing(ledger: Ledger, scope: Scope, below: bool) -> Sequence[str]:
    with ledger.database.read() as connection:
        found = difference(connection, scope, 0, _FAR, below=below, limit=EVERYTHING, offset=0)
        return [each.scope for each in found]


def _walked(ledger: Ledger, scope: Scope, below: bool) -> Sequence[str]:
    with walked(ledger.database, scope, below=below, states=("live",)) as (most, exported):
        assert most == len(list(exported))
    with ledger.database.read() as connection:
        return [memory.scope for memory in walk(connection, scope, below=below)]


def _drifted(ledger: Ledger, scope: Scope, below: bool) -> Sequence[str]:
    counted = drifting.count(ledger.database, scope, below=below, since=0, now=ledger.clock.now(), stale_before=0)
    assert counted.grades["nice_to_have"] == counted.misses // 2 == len(counted.repeated)
    return [each.scope for each in counted.repeated]


def _kinds(ledger: Ledger, scope: Scope, below: bool) -> Sequence[str]:
    retaining, rules = Retaining(ledger.database), Rules(ledger.clock.now(), {"note": DAY_MS}, 0, DAY_MS)
    kinds = [each.scope for each in retaining.kinds(scope, rules, below=below)]
    assert kinds == [each.scope for each in retaining.scopes(scope, rules, below=below)] == sorted(kinds)
    return kinds


def _due(ledger: Ledger, scope: Scope, below: bool) -> Sequence[str]:
    rules = Rules(ledger.clock.now(), {"note": DAY_MS}, 0, DAY_MS)
    changed = Retaining(ledger.database).due(scope, rules, lambda memory: memory._replace(valid_until=1), below=below)
    return [memory.scope for memory, _ in changed]


def _ungraded(ledger: Ledger, scope: Scope, below: bool) -> Sequence[str]:
    gradings = Gradings(ledger.database, ledger.clock)
    found = gradings.next(scope, below=below, force=True, after=0, limit=EVERYTHING)
    assert gradings.count(scope, below=below, force=True) == len(found)
    assert gradings.distribution(scope, below=below)["nice_to_have"] == len(found)
    return [each.memory.scope for each in found]


def _seeds(ledger: Ledger, scope: Scope, below: bool) -> Sequence[str]:
    consolidating = Consolidating(ledger.database, ledger.clock)
    found = consolidating.seeds(scope, below=below, after=0, limit=EVERYTHING)
    assert consolidating.left(scope, below=below, after=0) == len(found)
    return [memory.scope for _, memory in found]


def _dismissed(ledger: Ledger, scope: Scope, below: bool) -> Sequence[str]:
    found = Consolidating(ledger.database, ledger.clock).dismissed(scope, below=below)
    return [bytes.fromhex(each).decode() for each in found]


def _by_turns(
    name: str, shown: Callable[[Ledger, Scope, bool], Sequence[str]], alone: Reach, below: Reach
) -> dict[str, Way]:
    return {
        name: Way(lambda ledger, scope: shown(ledger, scope, False), alone),
        f"{name}, with those below": Way(lambda ledger, scope: shown(ledger, scope, True), below),
    }


WAYS: dict[str, Way] = {
    "browse": Way(_browsed(Filter()), "chain"),
    "browse here": Way(_browsed(Filter(here=True)), "own"),
    "browse by letters": Way(_browsed(Filter(text="LAMP")), "chain"),
    "browse by tag": Way(_browsed(Filter(tags=("lamp",))), "chain"),
    "browse by speaker": Way(_browsed(Filter(speaker="anna", states=("live",))), "chain"),
    "browse as it was": Way(_browsed(Filter(as_of=_FAR)), "chain"),
    "browse what is surest": Way(_surest, "chain"),
    "numbers that fit": Way(_fitting, "chain"),
    "numbers about": Way(_about, "chain"),
    "aliases": Way(_aliases, "chain"),
    "subjects": Way(_subjects, "chain"),
    "stats": Way(lambda ledger, scope: ledger.stats(scope=scope).by_scope, "chain"),
    "choose": Way(_chosen, "below"),
    "choose by speaker": Way(_spoken, "own"),
    "what is meant by an erasure": Way(_erasable, "own"),
    "what came from elsewhere": Way(
        lambda ledger, scope: [each.scope for each in came_from(ledger.database, scope, "other", ["nothing"])], "own"
    ),
    "tags": Way(_tags, "chain"),
    "sources": Way(
        lambda ledger, scope: [each.scope for each in Sources(ledger.database, ledger.clock).seen_from(scope)], "chain"
    ),
    "conversations": Way(_talks, "chain"),
    "conversations below": Way(_talks_below, "below"),
    "imports": Way(_imports, "own"),
    "tokens": Way(_tokens, "below"),
    "scopes": Way(_scopes, "below"),
    "everything": Way(_everything, "below"),
    **_by_turns("timeline", _timeline, "chain", "both"),
    **_by_turns("audit", _audited, "chain", "both"),
    **_by_turns("operations", _operations, "own", "below"),
    **_by_turns("difference", _differing, "own", "below"),
    **_by_turns("contents", _walked, "own", "below"),
    **_by_turns("drift", _drifted, "own", "below"),
    **_by_turns("what is held", _kinds, "own", "below"),
    **_by_turns("what is due", _due, "own", "below"),
    **_by_turns("what is to be graded", _ungraded, "own", "below"),
    **_by_turns("what may be put together", _seeds, "own", "below"),
    **_by_turns("what was dismissed", _dismissed, "own", "below"),
}
