"""The contract of a ledger for what is beside memories: tokens, answers, sources, mirrors, vectors, books; and for
letting go of everything.

`LedgerContract` contains it.
"""

import hashlib
from collections.abc import Iterator
from functools import partial

from memoranda.domain.access import Token
from memoranda.domain.clock import DAY_MS
from memoranda.domain.document import Source
from memoranda.domain.errors import Conflict, NotFound, Refused
from memoranda.domain.scope import Scope
from memoranda.ledger import drifting, misses
from memoranda.ledger.answers import KEPT_MS, Answers
from memoranda.ledger.erasing import Erasing
from memoranda.ledger.gradings import Given, Gradings
from memoranda.ledger.ledger import Ledger
from memoranda.ledger.mirrors import Mirrors
from memoranda.ledger.sources import RealPath, Sources
from memoranda.ledger.tags import Tags
from memoranda.ledger.tokens import USE_NOTED_MS, Tokens
from memoranda.ledger.transcripts import Transcripts
from memoranda.ledger.upkeep import UpkeepBook
from memoranda.testing.fakes import FixedClock
from memoranda.testing.ledger_making import (
    ACTOR,
    BESIDE,
    HERE,
    LedgerSuite,
    OpenLedger,
    at_once,
    keep,
    said,
    texts,
)
from memoranda.testing.raising import raises

_HERE = Scope(HERE)
_CANARY = "kanarienvogel"


class LedgerRoomsContract(LedgerSuite):
    """For a `Ledger`: needs the fixtures `open_ledger` and `clock`."""

    # -- tokens --

    def test_a_token_is_known_by_its_digest_until_it_is_revoked(
        self, open_ledger: OpenLedger, clock: FixedClock
    ) -> None:
        tokens, other = (Tokens(open_ledger().database, clock) for _ in range(2))
        token = Token("mem_1", "Łucja's 'bot'", "writer", HERE, True, clock.now(), expires_at=clock.now() + DAY_MS)
        digest = bytes(range(224, 256))
        assert tokens.add(token, digest, made_by="mem_0")
        assert not other.add(token._replace(name="another"), b"another", made_by="")
        assert other.by_digest(digest) == other.by_id("mem_1") == token
        assert other.by_digest(digest[:-1] + b"\0") is None
        other.touch({"mem_1": clock.now() + 7})
        other.touch({"mem_1": clock.now() + 7 + USE_NOTED_MS - 1})
        found = tokens.by_id("mem_1")
        assert found is not None
        assert found.last_used_at == clock.now() + 7
        assert (tokens.count_good(clock.now()), tokens.count_good(clock.now() + DAY_MS)) == (1, 0)
        other.revoke("mem_1", HERE)
        revoked = tokens.by_digest(digest)
        assert revoked is not None
        assert revoked.revoked_at == clock.now()
        assert tokens.count_good(clock.now()) == 0

    def test_what_was_made_with_a_token_is_revoked_with_it(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        tokens = Tokens(open_ledger().database, clock)
        for own, maker in (("a", ""), ("b", "a"), ("c", "b"), ("d", "c"), ("e", "x"), ("f", "a")):
            tokens.add(Token(own, "", "admin", HERE, False, clock.now()), own.encode(), made_by=maker)
        tokens.revoke("c", HERE)
        with raises(NotFound):
            tokens.revoke("a", BESIDE)
        assert tokens.revoke("a", "home")[1] == ("b", "f")
        assert {each.id for each in tokens.listed("") if each.revoked_at is None} == {"e"}

    # -- answers --

    def test_the_same_request_is_done_once(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        answers, other = (_answers(open_ledger()) for _ in range(2))
        assert answers.begin("anna", "key", b"request", "boot-1").outcome == "new"
        assert other.begin("anna", "key", b"request", "boot-2").outcome == "busy"
        assert other.begin("anna", "key", b"another", "boot-2").outcome == "differs"
        assert other.begin("bob", "key", b"another", "boot-2").outcome == "new"
        answers.finish("anna", "key", 201, '{"said": "灯"}', headers={"etag": "1"})
        claim = other.begin("anna", "key", b"request", "boot-2")
        assert (claim.outcome, claim.status, claim.body, dict(claim.headers)) == (
            "answered", 201, '{"said": "灯"}', {"etag": "1"},
        )  # fmt: skip
        answers.clear()
        assert other.begin("anna", "key", b"request", "boot-2").outcome == "done"
        other.drop("bob", "key")
        assert answers.begin("bob", "key", b"third", "boot-1").outcome == "new"
        clock.advance(ms=KEPT_MS + 1)
        assert answers.sweep() == 2
        assert other.begin("anna", "key", b"request", "boot-2").outcome == "new"
        for each in (answers, other):
            each.close()

    def test_of_many_who_claim_a_key_one_gets_it(self, open_ledger: OpenLedger) -> None:
        answers = [_answers(open_ledger()) for _ in range(3)]
        work = [partial(answers[n % 3].begin, "anna", "key", b"request", f"boot-{n % 3}") for n in range(6)]
        assert sorted(each.outcome for each in at_once(work)) == ["busy"] * 5 + ["new"]
        for each in answers:
            each.close()

    def test_who_has_ended_keeps_no_claim(self, open_ledger: OpenLedger) -> None:
        answers, other = (_answers(open_ledger()) for _ in range(2))
        assert answers.begin("anna", "key", b"request", "boot-1").outcome == "new"
        answers.close()
        assert other.begin("anna", "key", b"request", "boot-2").outcome == "lost"
        other.close()

    # -- sources, mirrors, books --

    def test_sources_are_kept_as_they_were_named(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        sources, other = (Sources(open_ledger().database, clock) for _ in range(2))
        notes = Source("notes", HERE, "/home/anna/nötes 'a'", ("**/*.md", "!drafts/%_*"), "trusted")
        assert sources.add(notes)
        assert not other.add(notes)
        assert other.add(notes._replace(root=RealPath(notes.root)))
        assert [type(each.root) for each in sources.seen_from(_HERE)] == [RealPath]
        above = Source("above", "home", "/home")
        sources.add(above)
        assert other.seen_from(_HERE) == (notes, above)
        assert other.everywhere() == (above, notes)
        assert other.remove(notes)
        assert not sources.remove(notes)
        assert sources.seen_from(_HERE) == (above,)

    def test_mirrors_are_known_until_they_are_dropped(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        mirrors, other = (Mirrors(open_ledger().database, clock) for _ in range(2))
        mirrors.note("/mirror/b", _HERE)
        other.note("/mirror/a", Scope(BESIDE))
        other.note("/mirror/b", Scope(BESIDE))
        assert mirrors.paths() == ("/mirror/a", "/mirror/b")
        assert mirrors.scope_of("/mirror/b") == _HERE
        assert mirrors.scope_of("/mirror") is None
        mirrors.drop("/mirror/a")
        assert other.paths() == ("/mirror/b",)

    def test_the_book_of_upkeep_keeps_the_last_hundred(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        ledger, other = open_ledger(), open_ledger()
        book, seen = UpkeepBook(ledger.database, clock), UpkeepBook(other.database, clock)
        assert seen.first_and_last_moment() is None
        for number in range(103):
            clock.advance(ms=1)
            book.note(seconds=number + 0.12345, trouble="full" if number == 102 else "", counts={"erased": 2**40})
        lines = seen.newest(1_000)
        assert len(lines) == 100
        assert (lines[0].at, lines[0].seconds, lines[0].trouble) == (clock.now(), 102.123, "full")
        assert dict(lines[-1].counts) == {"erased": 2**40}
        keep(ledger, "one")
        assert seen.first_and_last_moment() == (clock.now(), clock.now())
        free, whole = seen.free_and_all_bytes()
        assert 0 <= free <= whole
        assert seen.migrations()

    def test_queries_that_found_nothing_are_counted_by_days(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        ledger = open_ledger()
        for day in range(3):
            for number in range(misses.MOST_IN_A_SCOPE + 5 if day == 0 else 2):
                _miss(ledger, f"query {number}", at=clock.now() + number)
            clock.advance(days=1)
        counted = drifting.count(ledger.database, _HERE, below=False, since=0, now=clock.now(), stale_before=0)
        assert counted.misses == misses.MOST_IN_A_SCOPE + 2
        assert [(each.text, each.times) for each in counted.repeated] == [("query 1", 2), ("query 0", 2)]
        assert {type(each.times) for each in counted.repeated} == {int}
        with ledger.database.read() as connection:
            assert len(misses.texts(connection)) == misses.MOST_IN_A_SCOPE + 2
        assert ledger.database.write(partial(misses.clear, scope=Scope("home"))) == misses.MOST_IN_A_SCOPE + 2

    # -- vectors --

    def test_vectors_are_kept_byte_by_byte_and_go_with_their_text(self, open_ledger: OpenLedger) -> None:
        ledger, other = open_ledger(), open_ledger()
        kept = [keep(ledger, f"memory {n}").memory for n in range(4)]
        numbers = [ledger.number_of(each.id, scope=_HERE) for each in kept]
        body = bytes(range(256)) * 12
        items = [(number, each.content_hash, body) for number, each in zip(numbers, kept, strict=True)]
        assert ledger.feed.save_vectors("space|1", 1_536, [*items[:3], (numbers[3], "other hash", body)]) == 3
        assert other.feed.vectors("space|1", numbers) == dict.fromkeys(numbers[:3], body)
        assert other.feed.vectors("space|2", numbers) == {}
        assert other.feed.without_vector("space|1", after=0, limit=9) == (numbers[3],)
        assert other.feed.without_vector("space|2", after=numbers[0], limit=2) == tuple(numbers[1:3])
        assert other.feed.vector_bodies(numbers, 300) == {body[:300]}
        assert other.feed.without_kept_vectors({body[:300], b"gone"}, 300) == {b"gone"}
        assert other.feed.save_vectors("space|1", 1_536, [(numbers[0], kept[0].content_hash, b"\0" * 4)]) == 1
        assert other.feed.vectors("space|1", numbers[:1]) == {numbers[0]: b"\0" * 4}
        with raises(Conflict):
            other.feed.save_vectors("space|1", 3, items)
        ledger.erase(ledger.choose(scope=_HERE, ids=[kept[0].id]), actor=ACTOR)
        assert other.feed.vector_count("space|1") == 2
        other.feed.drop_vectors("space|1")
        assert ledger.feed.vector_count("space|1") == 0

    def test_what_an_index_is_told(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        ledger, other = open_ledger(), open_ledger()
        kept = keep(ledger, "The lamp.", about="light", value=["a", 1], tags=["x"], kind="episode", speaker="Anna")
        number = ledger.number_of(kept.id, scope=_HERE)
        (entry,) = other.feed.entries([number, 99]).values()
        assert (entry.number, entry.scope, entry.text, entry.state) == (number, HERE, "The lamp.", "live")
        assert entry.searchable.splitlines() == ["The lamp.", "Anna", "light", '["a",1]', '["x"]']
        assert (entry.occurred_at, entry.valid_from, entry.valid_until) == (clock.now(), None, None)
        assert other.feed.mark_at(1) == ledger.feed.mark_at(1) == f"{clock.now()} {kept.id}"
        assert other.feed.mark_at(2) == ""
        assert (other.feed.count(), other.feed.sequence()) == (1, 1)

    # -- letting go --

    def test_what_is_erased_is_in_no_table_any_more(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        ledger = open_ledger()
        _say_it_everywhere(ledger, clock)
        keep(ledger, "The lamp is here.", BESIDE)
        with ledger.database.read() as connection:
            told = {name for name, value in self._values(ledger) if _CANARY in value}
            assert len(self.table_names(connection)) > 20
        assert {"memory", "revision", "event", "grading", "answer", "miss", "tag", "message", "conversation"} <= told
        ledger.erase(ledger.choose(scope=_HERE), actor=ACTOR)
        left = {name for name, value in self._values(ledger) if _CANARY in value}
        assert left == {"miss", "tag", "message", "conversation"}, "others say it, too, and have their own ways"
        talks = Transcripts(ledger.database, clock)
        talks.erase(talks.below(_HERE), actor=ACTOR)
        Erasing(ledger.database).clear_words([HERE], lambda text: _CANARY in text)
        other = open_ledger()
        for opened in (ledger, other):
            assert [each for each in self._values(opened) if _CANARY in each[1]] == []
        assert texts(other, BESIDE) == ["The lamp is here."]
        assert all(check.ok for check in other.verify())
        assert not [each for each in (*other.texts(lambda _: True), *talks.texts(), *talks.names()) if _CANARY in each]

    def test_what_was_erased_is_not_taken_back(self, open_ledger: OpenLedger) -> None:
        ledger, other = open_ledger(), open_ledger()
        kept = keep(ledger, "The canary sang.")
        before = ledger.sequence()
        ledger.erase(ledger.choose(scope=_HERE, ids=[kept.id]), actor=ACTOR)
        assert other.feed.changes_since(before, limit=9).numbers == (1,)
        assert other.feed.entries([1]) == {}
        with raises(NotFound):
            other.get(kept.id, scope=_HERE)
        assert other.was_erased(kept.memory)
        assert not other.was_erased(kept.memory._replace(scope=BESIDE))
        for again in ("The canary sang.", "  the CANARY  sang!"):
            with raises(Refused):
                keep(other, again)
        assert keep(other, "The canary sang.", even_if_erased=True).receipt.outcome == "created"
        assert keep(other, "The canary sang.", BESIDE).receipt.outcome == "created"

    def test_what_is_kept_after_an_erasure_has_a_number_of_its_own(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        numbers = []
        for step in range(3):
            kept = keep(ledger, f"memory {step}")
            numbers.append(ledger.number_of(kept.id, scope=_HERE))
            ledger.erase(ledger.choose(scope=_HERE, ids=[kept.id]), actor=ACTOR)
        assert numbers == sorted(set(numbers))
        assert ledger.sequence() == 6

    def test_what_was_forgotten_long_ago_is_found(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        ledger = open_ledger()
        for text in ("one", "two"):
            kept = keep(ledger, text)
            ledger.change_state(kept.id, "forgotten", scope=_HERE, actor=ACTOR, grace_ms=DAY_MS)
            clock.advance(days=1)
        chosen = ledger.expired_forgotten(before=clock.now() - 2 * DAY_MS)
        assert [memory.text for _, memory in chosen] == ["one"]

    def _values(self, ledger: Ledger) -> Iterator[tuple[str, str]]:
        """Every value of every table, with the table's name."""
        with ledger.database.read() as connection:
            for name in self.table_names(connection):
                for row in connection.execute(f'select * from "{name}"'):  # noqa: S608 a name of the catalogue
                    for value in row:
                        is_bytes = isinstance(value, bytes | bytearray | memoryview)
                        yield name, bytes(value).decode("utf-8", "replace") if is_bytes else str(value)


def _answers(ledger: Ledger) -> Answers:
    return Answers(ledger.database, ledger.clock, key=ledger.key_for("answers"))


def _miss(ledger: Ledger, text: str, *, at: int) -> None:
    digest = hashlib.blake2b(text.encode(), digest_size=misses.DIGEST_SIZE).digest()
    noted = misses.Noted(HERE, digest, "nothing", text, at, at, 1)
    ledger.database.write(lambda connection: misses.add(connection, [noted]))


def _say_it_everywhere(ledger: Ledger, clock: FixedClock) -> None:
    """The same word wherever somebody can write one."""
    word = _CANARY
    kept = keep(
        ledger, f"The {word} sang.", about=word, attribute=word, value=[word], context=word, source_ref=word,
        speaker=word, conversation=word, tags=[word], metadata={word: word},
    )  # fmt: skip
    number = ledger.number_of(kept.id, scope=_HERE)
    body = word.encode().ljust(64, b"\0")
    ledger.feed.save_vectors("space|1", 32, [(number, kept.memory.content_hash, body)])
    given = Given(0.9, "must_remember", f"a {word}", "manual", "1")
    Gradings(ledger.database, clock).grade(kept.id, given, scope=_HERE, actor=ACTOR)
    ledger.change_state(kept.id, "archived", scope=_HERE, actor=ACTOR, reason=f"the {word} is gone")
    Tags(ledger.database, clock).add("before", scope=_HERE, actor=ACTOR, note=f"before the {word}")
    _miss(ledger, f"where is the {word}?", at=clock.now())
    answers = _answers(ledger)
    answers.begin("anna", "key", b"request", "boot")
    answers.finish("anna", "key", 200, f"a {word}", headers={"x-bird": word})
    answers.close()
    talks = Transcripts(ledger.database, clock)
    talks.append(f"talk of a {word}", [said(f"a {word}", speaker=word)], scope=_HERE, actor=ACTOR)
    talks.set_working(f"talk of a {word}", f"notes on a {word}", scope=_HERE)
