"""The contract of an index for what stands around an entry: its conversation, its speaker, its time, its words.

`IndexContract` contains it.
"""

from typing import Any

from memoranda.domain.memory import STATES
from memoranda.domain.ports import Around, Candidate, Index, IndexAnswer, IndexEntry, IndexQuery, Times
from memoranda.testing.index_entries import ABOVE, BESIDE, HERE, FewWords, IndexSuite, OpenIndex, entry, vector_of

_DAY = 86_400_000


class IndexContextContract(IndexSuite):
    """For an `Index`: needs the fixtures `open_index` and `other_index`."""

    def test_what_was_said_before_and_after_is_told_wherever_it_lies(self, open_index: OpenIndex) -> None:
        index = open_index()
        # Every second line first, so that neighbours come at other times than what they stand beside.
        talk = _talk("talk", 1, "lamp one", "lamp two", "tea", "lamp four", "boiler five")
        index.apply(put=[*talk[::2], entry(50, "lamp elsewhere")], drop=(), sequence=1)
        index.optimize()
        index.apply(put=talk[1::2], drop=(), sequence=2)
        told = _told(index, "lamp two boiler")
        for number, beside in {1: (2,), 2: (1, 3), 3: (2, 4), 4: (3, 5), 5: (4,)}.items():
            assert told[number].around == _sum(told, *beside)
        assert told[50].around is None
        assert len({told[number].conversation for number in range(1, 6)}) == 1
        assert told[50].conversation == 0 != told[1].conversation

    def test_what_stands_beside_a_good_proposal_is_proposed_too(self, open_index: OpenIndex) -> None:
        index = open_index()
        put = _talk("talk", 1, "where is the boiler manual?", "in the cellar", "thanks")
        crowd = [entry(number, "boiler", vector=False) for number in range(10, 40)]
        index.apply(put=[*put, *crowd], drop=(), sequence=1)
        answer = index.search(IndexQuery((HERE,), text="boiler manual", pool=5))
        told = {candidate.number: candidate for candidate in answer.candidates}
        assert told[2].lexical_rank is None
        assert told[2].coverage == 0.0
        assert 3 not in told

    def test_what_may_not_be_seen_stands_beside_nothing(self, open_index: OpenIndex) -> None:
        index = open_index()
        talk = _talk("talk", 1, "lamp one", "secret", "lamp three", "lamp four", "lamp five", "lamp six")
        talk[3] = talk[3]._replace(state="forgotten")
        talk[4] = talk[4]._replace(scope=BESIDE)
        index.apply(put=talk, drop=(), sequence=1)
        index.apply(put=(), drop=[2], sequence=2)
        told = _told(index, "lamp")
        assert told.keys() == {1, 3, 6}
        assert told[1].around == _sum(told, 3)
        assert told[3].around == _sum(told, 1, 6)
        narrowed = _told(index, "lamp", allow=frozenset({1, 6}))
        assert narrowed.keys() == {1, 6}
        assert narrowed[1].around == _sum(narrowed, 6)
        hidden = _told(index, "lamp", hidden=frozenset({3}))
        assert hidden[1].around == _sum(hidden, 6)

    def test_what_happened_in_a_span_is_proposed_and_marked(self, open_index: OpenIndex) -> None:
        index = open_index()
        crowd = [entry(number, "lamp lamp", occurred_at=50 * _DAY) for number in range(20, 60)]
        index.apply(put=[*(_on(day) for day in range(1, 6)), *crowd], drop=(), sequence=1)
        spans = Times(((2 * _DAY, 3 * _DAY), (5 * _DAY, 6 * _DAY)))
        told = _told(index, "lamp", times=spans, pool=3)
        assert {number for number, each in told.items() if each.timely} == {2, 5}
        assert {number for number, each in told.items() if each.structured_rank} == {2, 5}
        only = index.search(IndexQuery((HERE,), times=spans))
        assert [(each.number, each.structured_rank) for each in only.candidates] == [(2, 1), (5, 2)]
        assert not index.search(IndexQuery((HERE,), times=Times(((5 * _DAY + 1, 6 * _DAY),)))).candidates
        assert _timely(index, spans, allow=frozenset({5})) == {5}

    def test_what_is_about_a_thing_that_was_named_is_proposed_and_marked(self, open_index: OpenIndex) -> None:
        index = open_index()
        crowd = [entry(number, "lamp lamp") for number in range(20, 60)]
        elsewhere = [entry(3, "the boiler", scope=BESIDE), entry(4, "the boiler", state="forgotten")]
        index.apply(put=[entry(1, "carpet"), entry(2, "boiler"), *elsewhere, *crowd], drop=(), sequence=1)
        named = frozenset({2, 3, 4, 99})
        told = _told(index, "lamp", subjects=named, pool=3)
        assert {number for number, each in told.items() if each.subject} == {2}
        assert told[2].structured_rank == 1
        assert not any(each.subject for each in _told(index, "lamp boiler").values())
        assert not _told(index, "lamp", subjects=named, allow=frozenset({1}))[1].subject
        both = index.search(IndexQuery((HERE,), subjects=frozenset({1, 2}), times=Times(((0, 1),)), pool=2))
        assert [each.number for each in both.candidates] == [1, 2]

    def test_conversations_are_counted_in_the_order_in_which_they_began(self, open_index: OpenIndex) -> None:
        index = open_index()
        _put_conversations(index)
        meant = {(1, 1): {5, 6}, (2, 2): {1, 2}, (3, 3): {3, 4}, (-1, -1): {3, 4}, (1, 2): {1, 2, 5, 6}, (4, 4): set()}
        for ordinals, numbers in meant.items():
            assert _timely(index, Times((), (ordinals,))) == numbers, ordinals
        assert _timely(index, Times((), ((-9, -1),))) == {1, 2, 3, 4, 5, 6}
        assert _timely(index, Times((), ((1, 1), (3, 3)))) == {3, 4, 5, 6}

    def test_a_conversation_that_may_not_be_seen_is_not_counted(self, open_index: OpenIndex) -> None:
        index = open_index()
        _put_conversations(index)
        last = Times((), ((-1, -1),))
        assert _timely(index, last, hidden=frozenset({3, 4})) == {1, 2}
        assert _timely(index, last, allow=frozenset({1, 5, 6})) == {1}
        index.apply(put=[entry(3, "moved away", state="forgotten"), entry(4, "of no talk")], drop=(), sequence=9)
        assert _timely(index, last) == {1, 2}
        assert _timely(index, Times((), ((3, 3),))) == set()

    def test_the_extent_is_that_of_what_is_there(self, open_index: OpenIndex) -> None:
        index = open_index()
        assert index.extent((HERE,)) is None
        index.apply(put=[_on(day) for day in (3, 9, 5)], drop=(), sequence=1)
        index.apply(put=[_on(1)._replace(scope=ABOVE), _on(99)._replace(scope=BESIDE)], drop=(), sequence=2)
        assert index.extent((HERE,)) == (3 * _DAY, 9 * _DAY)
        assert index.extent((HERE, ABOVE)) == (_DAY, 9 * _DAY)
        index.optimize()
        index.apply(put=[_on(9)._replace(occurred_at=4 * _DAY)], drop=(), sequence=3)
        assert index.extent((HERE,)) == (3 * _DAY, 5 * _DAY)
        index.apply(put=(), drop=[3], sequence=4)
        assert index.extent((HERE,)) == (4 * _DAY, 5 * _DAY)

    def test_closeness_counts_words_that_are_not_the_same(self, open_index: OpenIndex) -> None:
        index = open_index()
        texts = {1: "lamp boiler", 2: "lantern basement", 3: "window", 4: "lamp"}
        index.apply(put=[entry(number, text, words=True) for number, text in texts.items()], drop=(), sequence=1)
        index.apply(put=[entry(5, "lamp boiler"), entry(6, "lamp boiler", vector=False)], drop=(), sequence=2)
        told = _told(index, "lamp boiler", vocabulary=FewWords())
        close = {number: told[number].closeness for number in told}
        assert close[1] == 1.0
        assert close[2] == 0.5
        assert close[3] == 0.0
        assert 0.0 < (close[4] or 0.0) < 1.0
        assert close[5] is None
        assert close[6] is None
        without = _told(index, "lamp boiler")
        assert all(each.closeness is None for each in without.values())

    def test_whoever_is_named_in_the_query_is_recognised(self, open_index: OpenIndex) -> None:
        index = open_index()
        speakers = ("Anna Kowalska", "person:anna", "bot/group-7/ANNA", "Bob", "", "Łucja")
        put = [entry(n, "the lamp", speaker=speaker) for n, speaker in enumerate(speakers, start=1)]
        index.apply(put=put, drop=(), sequence=1)

        def named(query: str) -> set[int]:
            return {number for number, each in _told(index, query).items() if each.named}

        assert named("which lamp does Anna like?") == {1, 2, 3}
        assert named("bob's lamp") == {4}
        assert named("lampa: lucja") == {6}
        assert named("the lamp") == set()

    def test_how_entries_with_a_context_lie_makes_no_difference(
        self, open_index: OpenIndex, other_index: OpenIndex
    ) -> None:
        index, other = open_index(), other_index()
        wanted = _chat(90)
        index.apply(put=wanted, drop=(), sequence=90)
        for at in range(0, 90, 7):
            part = wanted[at : at + 7]
            detour = [each._replace(conversation="another", speaker="bob", occurred_at=1) for each in part]
            other.apply(put=detour, drop=(), sequence=at)
            other.apply(put=[*part, *_talk("talk 1", 500 + at, "soon dropped lamp")], drop=(), sequence=None)
            other.apply(put=(), drop=[500 + at], sequence=None)
        before = _answers(index)
        told = [each._asdict() for answer in before for each in answer.candidates]
        fields = {name for each in told for name, value in each.items() if value}
        assert fields == set(Candidate._fields), "every field must be told of some candidate"
        assert _answers(other) == before
        other.optimize()
        assert _answers(other) == before
        assert _answers(other_index()) == before
        assert other.extent((HERE, ABOVE)) == index.extent((HERE, ABOVE))

    def test_a_tail_gives_the_context_that_applying_it_would_give(self, open_index: OpenIndex) -> None:
        index = open_index()
        wanted = _chat(40)
        index.apply(put=[*wanted[:25], wanted[30]._replace(conversation="another")], drop=(), sequence=25)
        overlaid = _answers(index, tail=tuple(wanted[20:]))
        index.apply(put=wanted[20:], drop=(), sequence=40)
        assert overlaid == _answers(index)


def _talk(conversation: str, first: int, *texts: str) -> list[IndexEntry]:
    return [entry(number, text, conversation=conversation) for number, text in enumerate(texts, start=first)]


def _on(day: int) -> IndexEntry:
    return entry(day, f"it was day{day}", occurred_at=day * _DAY)


def _put_conversations(index: Index) -> None:
    """Numbers 5 and 6 are of the first conversation, 1 and 2 of the second, 3 and 4 of the third."""
    days = {1: ("b", 4), 2: ("b", 9), 3: ("c", 6), 4: ("c", 7), 5: ("a", 8), 6: ("a", 2), 7: ("", 1)}
    for number, (conversation, day) in days.items():
        made = entry(number, f"line {number}", conversation=conversation, occurred_at=day * _DAY)
        index.apply(put=[made], drop=(), sequence=number)


def _timely(index: Index, times: Times, **more: Any) -> set[int]:
    answer = index.search(IndexQuery((HERE,), times=times, **more))
    return {candidate.number for candidate in answer.candidates if candidate.timely}


_WORDS = ("lamp", "lantern", "boiler", "basement", "tea", "milk", "window", "garden", "bicycle", "train", "manual")


def _chat(count: int) -> list[IndexEntry]:
    """Entries of which most have every kind of context, and some have none."""
    made = []
    for number in range(1, count + 1):
        text = " ".join(_WORDS[(number * step + step) % len(_WORDS)] for step in range(1, 3 + number % 4))
        made.append(
            entry(
                number,
                f"{text} {number}",
                scope=ABOVE if number % 11 == 0 else HERE,
                state=STATES[number % 17] if number % 17 < 3 else "live",
                vector=number % 13 != 0,
                words=number % 5 != 0,
                speaker=("anna", "bob", "")[number % 3],
                conversation=f"talk {number % 4}" if number % 7 else "",
                occurred_at=(number * 37 % 60) * _DAY,
            )
        )
    return made


def _answers(index: Index, **more: Any) -> list[IndexAnswer]:
    """Answers in order of number: the order of what no lane ranked says nothing."""
    times = (None, Times(((5 * _DAY, 20 * _DAY),)), Times((), ((2, 3), (-1, -1))), Times(((0, _DAY),), ((1, 1),)))
    words = FewWords()
    answers = [
        index.search(
            IndexQuery(
                (HERE, ABOVE), text, vector_of(text), times=when, subjects=named, vocabulary=words, pool=9, **more
            )
        )
        for text in ("what did anna say of the lamp", "boiler manual", "tea with milk for bob")
        for when in times
        for named in (frozenset[int](), frozenset(range(3, 90, 8)))
    ]
    return [answer._replace(candidates=tuple(sorted(answer.candidates, key=_number))) for answer in answers]


def _number(candidate: Candidate) -> int:
    return candidate.number


def _told(index: Index, text: str, **more: Any) -> dict[int, Candidate]:
    answer = index.search(IndexQuery((HERE,), text=text, vector=vector_of(text), **more))
    return {candidate.number: candidate for candidate in answer.candidates}


def _sum(told: dict[int, Candidate], *numbers: int) -> Around:
    beside = [told[number] for number in numbers]
    return Around(sum(each.coverage for each in beside), sum(each.cosine or 0.0 for each in beside))
