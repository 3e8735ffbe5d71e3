"""Which memories say the same or contradict, and which one stays: the rules, without a store."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.clock import DAY_MS
from memoranda.domain.ids import new_id
from memoranda.domain.memory import TRUSTS, UNVOUCHED, Memory
from memoranda.domain.text import content_hash
from memoranda.governance.consolidation import (
    Member,
    Verdict,
    contradiction,
    digest,
    duplicates,
    kept_of,
    least_trust,
    merged,
    named,
    read_name,
    settled,
)

KEY = b"k" * 32
NOW = 1_767_225_600_000


def member(number, text="Anna prefers tea.", *, said_at=None, closeness=None, **fields):
    said = NOW + number * 1000 if said_at is None else said_at
    given = {"kind": "fact", "content_hash": content_hash(text), "created_at": said, "updated_at": said, **fields}
    return Member(number, Memory(new_id(), given.pop("scope", "home"), text=text, **given), said, closeness)


def says(relation, reason="said so"):
    return lambda later, earlier, closeness, corrects: Verdict(relation, reason)


SAME = says("duplicate", "same words")


def test_what_says_the_same_is_one_group_with_the_newest_first():
    found = duplicates(member(1), [member(2), member(3)], SAME)
    assert (found.kind, found.why, [each.number for each in found.members]) == ("duplicates", "same words", [3, 1, 2])


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"trust": "trusted", "confidence": 0.1}, {"trust": "untrusted", "confidence": 1.0}),
        ({"confidence": 0.9, "said_at": NOW}, {"confidence": 0.8, "said_at": NOW + DAY_MS}),
        ({"said_at": NOW + 1, "text": "Tea."}, {"said_at": NOW, "text": "Anna prefers tea with milk."}),
        ({"said_at": NOW, "text": "Anna prefers tea with milk."}, {"said_at": NOW, "text": "Anna prefers tea."}),
    ],
)
def test_the_most_trusted_stays_then_the_surest_newest_longest(better, worse):
    one, other = member(1, **better), member(2, **worse)
    assert kept_of([one, other]) is kept_of([other, one]) is one


def test_what_fills_a_slot_stays_over_what_does_not():
    plain, slotted = member(2), member(1, about="person:anna", attribute="drink", value="tea")
    assert [each.number for each in duplicates(slotted, [plain], SAME).members] == [1, 2]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"scope": "home"}, {"scope": "home/anna"}),
        ({"valid_until": NOW + 5}, {"valid_until": NOW + 9}),
        ({"valid_from": NOW}, {}),
        ({"kind": "episode", "said_at": NOW}, {"kind": "episode", "said_at": NOW + DAY_MS}),
        ({"occurred_at": NOW}, {"occurred_at": NOW + 2 * DAY_MS}),
        ({"about": "light.hall"}, {"about": "light.attic"}),
        ({"attribute": "a", "value": 1}, {"attribute": "a", "value": 2}),
        ({"media_refs": ("a.png",)}, {"media_refs": ("b.png",)}),
    ],
)
def test_what_would_be_lost_by_it_is_never_put_together(one, other):
    assert duplicates(member(1, **one), [member(2, **other)], SAME) is None


def test_what_ends_by_a_rule_at_another_time_is_still_the_same():
    ends = {"metadata": {"ends_by_rule": True}}
    found = duplicates(member(1, valid_until=NOW + 5, **ends), [member(2, valid_until=NOW + 9, **ends)], SAME)
    assert merged([each.memory for each in found.members]).valid_until == NOW + 9


def test_each_must_say_the_same_as_the_one_that_stays():
    """1 is like 2, 1 is like 3, but 2 is not like 3, which stays."""
    first, second, third = member(1), member(2), member(3)

    def compare(later, earlier, closeness, corrects):
        apart = {later.id, earlier.id} == {second.memory.id, third.memory.id}
        return Verdict("different" if apart else "duplicate", "x")

    assert [each.number for each in duplicates(first, [second, third], compare).members] == [3, 1]


def test_the_newest_takes_back_all_that_is_older_and_no_one_else_does():
    old, middle, new = member(1), member(2), member(3)
    contrary = says("supersedes", "one of its kind")
    assert [each.number for each in contradiction(new, [old, middle], contrary).members] == [3, 1, 2]
    assert contradiction(middle, [old, new], contrary) is None


def test_what_was_said_again_is_the_newer_one():
    old_but_repeated = member(1, said_at=NOW + 9_000)
    found = contradiction(old_but_repeated, [member(2, said_at=NOW)], says("supersedes", "the opposite"))
    assert [each.number for each in found.members] == [1, 2]


def test_what_is_trusted_less_takes_nothing_back():
    contrary = says("supersedes", "the opposite")
    assert contradiction(member(2, trust="untrusted"), [member(1)], contrary) is None
    assert contradiction(member(2), [member(1, trust="untrusted")], contrary) is not None


@pytest.mark.parametrize("reason", ["another choice", "another state", "another liking"])
def test_a_liking_beside_another_is_no_contradiction(reason):
    assert contradiction(member(2), [member(1)], says("supersedes", reason)) is None


def test_slots_that_hold_several_values_do_not_contradict():
    slot = {"about": "light.hall", "attribute": "nickname"}
    one, other = member(1, value="lampy", **slot), member(2, value="hall light", **slot)
    assert contradiction(other, [one], says("supersedes", "same slot")) is None


def corrected(reason, told="corrected"):
    return lambda later, earlier, closeness, corrects: (
        Verdict("supersedes", told) if corrects else Verdict("different", reason)
    )


@pytest.mark.parametrize(
    ("later", "earlier", "why"),
    [
        ("The shop opens at 10:00.", "The shop opens at 9:30.", "another number"),
        ("Room 2 has 3 windows.", "Room 1 has 3 windows.", ""),
        ("Bus 9 leaves at 8:40.", "Bus 7 leaves at 8:15.", ""),
        ("Bus 7 leaves at 8:40.", "Bus 7 leaves at 8:15.", "another number"),
        ("Room 14 opens at 10.", "Room 12 opens at 9.", ""),
        ("Anna ran 12 km on 2024-05-08.", "Anna ran 10 km on 2024-05-01.", ""),
        ("Anna ran on 2024-05-08.", "Anna ran on 2024-05-01.", ""),
        ("Invoice 17 was paid.", "Invoice 18 was paid.", ""),
        ("The shelf holds 40 kg", "The shelf holds 20 kg", ""),
        ("12", "13", ""),
    ],
)
def test_only_another_number_at_the_end_contradicts(later, earlier, why):
    found = contradiction(member(2, later), [member(1, earlier)], corrected("other numbers"))
    assert (found.why if found else "") == why


def test_opposites_and_negations_contradict_and_other_words_do_not():
    for reason, told, expected in (
        ("opposites", "corrected", True), ("negation", "the opposite", True), ("negation", "corrected", False),
        ("other words", "corrected", False),
    ):  # fmt: skip
        assert (contradiction(member(2), [member(1)], corrected(reason, told)) is not None) == expected


shares = st.floats(0, 1).map(lambda value: round(value, 3))
kept = st.builds(
    lambda number, **fields: member(number, **fields),
    number=st.integers(1, 1000),
    trust=st.sampled_from(TRUSTS[:2]),
    confidence=shares,
    importance=st.none() | shares,
    tags=st.lists(st.sampled_from("abcdef"), max_size=3, unique=True).map(tuple),
)


@given(st.lists(kept, min_size=2, max_size=6, unique_by=lambda each: each.number))
def test_what_stays_is_never_trusted_more_nor_less_sure_than_before(group):
    ordered = sorted(group, key=lambda each: TRUSTS.index(each.memory.trust))
    memories = [each.memory for each in ordered]
    stays = merged(memories)
    adding = [each for each in memories if each.trust == memories[0].trust]
    assert stays.trust == memories[0].trust == least_trust(memories)
    assert memories[0].confidence <= stays.confidence <= max(memories[0].confidence, 1.0)
    if stays.trust != "trusted":
        assert stays.confidence <= max(UNVOUCHED, memories[0].confidence)
    assert set(stays.tags) == {tag for each in adding for tag in each.tags}
    assert stays._replace(tags=(), confidence=0, importance=None) == memories[0]._replace(
        tags=(), confidence=0, importance=None
    )


@given(st.lists(kept, min_size=2, max_size=6, unique_by=lambda each: each.number))
def test_an_id_names_its_members_in_whatever_order_and_only_as_they_are(group):
    from memoranda.governance.consolidation import Found

    found = Found("duplicates", "x", tuple(group))
    name = read_name(named(found, KEY))
    memories = [each.memory for each in group]
    assert name.numbers == tuple(each.number for each in group)
    assert name.digest == digest("duplicates", memories[::-1], KEY)
    assert name.digest != digest("contradiction", memories, KEY)
    assert name.digest != digest("duplicates", memories, b"o" * 32)
    assert name.digest != digest("duplicates", [memories[0]._replace(trust="quarantined"), *memories[1:]], KEY)
    assert name.digest == digest("duplicates", [memories[0]._replace(confidence=0.123), *memories[1:]], KEY)


@given(st.text(max_size=60))
def test_no_text_is_taken_for_an_id_that_is_none(text):
    name = read_name(text)
    assert name is None or len(set(name.numbers)) == len(name.numbers) >= 2


def test_a_proposal_is_taken_only_as_it_was_shown():
    from memoranda.governance.consolidation import Found

    group = [member(2), member(1)]
    name = read_name(named(Found("duplicates", "x", tuple(group)), KEY))
    assert isinstance(settled(name, group, KEY), Memory)
    gone = group[1]._replace(memory=group[1].memory._replace(state="forgotten"))
    surer = [group[0]._replace(memory=group[0].memory._replace(confidence=0.5)), group[1]]
    for changed, why in (
        (group[:1], "gone"), ([group[0], gone], "settled"), (surer, "another one"),
        ([group[0], member(1, "Anna prefers tea.")], "not what was proposed"),
    ):  # fmt: skip
        assert why in settled(name, changed, KEY)


MORE = (
    {"about": "light.hall"}, {"context": "in the evening"}, {"occurred_at": NOW}, {"media_refs": ("a.png",)},
    {"about": "light.hall", "attribute": "colour", "value": "warm"},
)  # fmt: skip


@pytest.mark.parametrize("more", MORE)
def test_what_is_trusted_less_takes_no_place_by_saying_more(more):
    """It has a field that the trusted one lacks: both stay, since nothing of it may be lost either."""
    trusted, fuller = member(1), member(2, trust="untrusted", **more)
    assert kept_of([trusted, fuller]) is kept_of([fuller, trusted]) is trusted
    for seed, other in ((trusted, fuller), (fuller, trusted)):
        assert duplicates(seed, [other], SAME) is None


slots = st.fixed_dictionaries(
    {},
    optional={
        "about": st.sampled_from(["", "light.hall"]), "context": st.sampled_from(["", "evening"]),
        "occurred_at": st.sampled_from([None, NOW]), "confidence": st.sampled_from([0.2, 1.0]),
        "trust": st.sampled_from(TRUSTS[:2]),
    },
)  # fmt: skip


@given(st.lists(slots, min_size=2, max_size=6))
def test_no_proposal_supersedes_what_is_trusted_more_and_every_one_can_be_taken(group):
    from memoranda.domain.memory import outranks

    first, *others = (member(place, **fields) for place, fields in enumerate(group, 1))
    for found in (duplicates(first, others, SAME), contradiction(first, others, says("supersedes", "the opposite"))):
        if found is None:
            continue
        stays, *gone = found.members
        assert not any(outranks(each.memory.trust, stays.memory.trust) for each in gone)
        assert isinstance(settled(read_name(named(found, KEY)), found.members, KEY), Memory)


@pytest.mark.parametrize("kind", ["duplicates", "contradiction"])
def test_an_id_that_would_supersede_what_is_trusted_more_is_not_taken(kind):
    from memoranda.governance.consolidation import Found

    group = (member(2, trust="untrusted", about="light.hall"), member(1))
    name = read_name(named(Found(kind, "x", group), KEY))
    assert "trusted" in settled(name, group, KEY)


def test_what_must_be_remembered_by_one_of_them_has_no_end_by_rule():
    ends = {"metadata": {"ends_by_rule": True}, "valid_until": NOW + 5}
    group = [member(1, **ends).memory, member(2, importance=0.9, **ends).memory]
    stays = merged(group)
    assert (stays.grade, stays.valid_until, dict(stays.metadata)) == ("must_remember", None, {})
