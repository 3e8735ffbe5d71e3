"""`memory.consolidation`: proposed, accepted, dismissed, taken back."""

import pytest

import faces
from memoranda.domain.errors import InvalidInput
from support import quarantine

TEXTS = (
    "Anna prefers short answers.",
    "Anna really prefers short answers.",
    "The shop opens at 9:30.",
    "Anna lives in Warsaw.",
    "Room 1 has 3 windows.",
    "Room 2 has 3 windows.",
    "Ben plays chess on Tuesdays.",
    "The shop opens at 10:00.",
    "Anna lives in Krakow.",
)


@pytest.fixture
def full(memory, clock):
    for text in TEXTS:
        memory.remember(text, kind="fact")
        clock.advance(days=1)
    return memory


def shown(proposals):
    return [(each.kind, [member.text for member in each.members]) for each in proposals]


PROPOSED = [
    ("duplicates", ["Anna really prefers short answers.", "Anna prefers short answers."]),
    ("contradiction", ["The shop opens at 10:00.", "The shop opens at 9:30."]),
    ("contradiction", ["Anna lives in Krakow.", "Anna lives in Warsaw."]),
]


def test_duplicates_and_contradictions_are_proposed_and_nothing_else_and_nothing_changes(full):
    before = full.contents().digest, full.stats().sequence
    found = full.consolidation.proposals()
    assert shown(found) == PROPOSED
    assert (full.contents().digest, full.stats().sequence) == before
    assert found.next is None
    assert (found.receipt.looked_at, found.receipt.duplicates, found.receipt.contradictions) == (9, 1, 2)
    assert all(each.keep == each.members[0].id and each.trust == "trusted" for each in found)
    assert "Anna" not in repr(found.receipt)


def test_it_goes_on_where_it_stopped_and_finds_the_same(full):
    found, after = [], 0
    while after is not None:
        page = full.consolidation.proposals(most=2, after=after)
        found += page
        after = page.next
    assert shown(found) == PROPOSED
    first = full.consolidation.proposals(limit=1)
    assert len(first) == 1
    assert [each.id for each in (*first, *full.consolidation.proposals(after=first.next))] == [
        each.id for each in full.consolidation.proposals()
    ]


def test_progress_is_told(full):
    told = []
    full.consolidation.proposals(progress=lambda done, total: told.append((done, total)))
    assert told == [(place, 9) for place in range(1, 10)]


def test_accepted_one_stays_and_the_others_are_superseded_by_it(full):
    proposal = full.consolidation.proposals()[0]
    receipt = full.consolidation.accept([proposal])
    assert receipt.accepted == (proposal.id,)
    gone = full.get(receipt.superseded[0])
    assert (gone.state, gone.superseded_by) == ("superseded", proposal.keep)
    assert full.get(proposal.keep).state == "live"
    assert receipt.tag.startswith("auto-consolidation-")
    assert full.operations()[0].name == "consolidate"
    assert shown(full.consolidation.proposals()) == PROPOSED[1:]


def test_what_stays_has_the_tags_of_all_and_is_surer(memory):
    first = memory.remember("Anna prefers short answers.", tags=["style"], confidence=0.5, importance=0.9)
    second = memory.remember("Anna really prefers short answers.", tags=["anna"], confidence=0.6)
    memory.consolidation.accept(memory.consolidation.proposals())
    stays = memory.get(second)
    assert (stays.tags, stays.confidence, stays.importance) == (("anna", "style"), 0.7, 0.9)
    assert memory.get(first).state == "superseded"
    assert memory.history(second)[-1].event.action == "reinforced"


def test_undo_brings_all_back(full, clock):
    before = full.contents().digest
    full.consolidation.accept(full.consolidation.proposals())
    assert full.stats().by_state["superseded"] == 3
    assert full.contents().digest != before
    clock.advance(days=1)
    full.undo()
    assert full.contents().digest == before
    assert shown(full.consolidation.proposals()) == PROPOSED


def test_a_preview_says_what_would_be_done_and_does_nothing(full):
    proposals = full.consolidation.proposals()
    sequence = full.stats().sequence
    preview = full.consolidation.accept(proposals, mode="preview")
    assert full.stats().sequence == sequence
    done = full.consolidation.accept([each.id for each in proposals])
    assert (preview.accepted, preview.kept, preview.superseded) == (done.accepted, done.kept, done.superseded)


def test_accepted_again_or_after_a_change_it_is_left_and_named(full):
    proposals = full.consolidation.proposals()
    full.forget(proposals[1].keep)
    receipt = full.consolidation.accept([each.id for each in proposals])
    assert receipt.accepted == (proposals[0].id, proposals[2].id)
    assert [each.id for each in receipt.skipped] == [proposals[1].id]
    again = full.consolidation.accept([proposals[0].id])
    assert (again.accepted, again.tag, again.batch) == ((), "", "")


def test_dismissed_it_is_not_proposed_again_until_a_member_changes(full):
    proposal = full.consolidation.proposals()[0]
    receipt = full.consolidation.dismiss([proposal.id])
    assert receipt.dismissed == (proposal.id,)
    found = full.consolidation.proposals()
    assert shown(found) == PROPOSED[1:]
    assert found.receipt.dismissed == 1
    full.remember("By the way, Anna prefers short answers.", kind="fact")
    assert any(len(each.members) == 3 for each in full.consolidation.proposals() if each.kind == "duplicates")


def test_what_was_dismissed_can_still_be_accepted_by_its_id(full):
    proposal = full.consolidation.proposals()[0]
    full.consolidation.dismiss([proposal])
    assert full.consolidation.accept([proposal]).accepted == (proposal.id,)


def test_never_across_scopes_and_below_only_when_asked(opened, clock):
    home = opened("home", clock=clock)
    home.remember("Anna prefers short answers.")
    for path in ("home/anna", "home/ben"):
        home.within(path).remember("Anna really prefers short answers.")
    assert not home.consolidation.proposals(below=True)
    home.within("home/anna").remember("By the way, Anna prefers short answers.")
    assert not home.consolidation.proposals()
    (found,) = home.consolidation.proposals(below=True)
    assert found.scope == "home/anna"
    assert home.within("home/ben").consolidation.accept([found.id]).skipped
    assert home.consolidation.accept([found.id]).accepted


def test_what_is_not_trusted_is_superseded_by_what_is_and_adds_nothing(memory, clock):
    trusted = memory.remember("Anna prefers short answers.", confidence=0.5)
    clock.advance(days=1)
    web = memory.remember("Anna really prefers short answers.", source="web", tags=["spam"])
    (found,) = memory.consolidation.proposals()
    assert (found.keep, found.trust) == (trusted.id, "trusted")
    memory.consolidation.accept([found])
    assert memory.get(web).superseded_by == trusted.id
    assert (memory.get(trusted).tags, memory.get(trusted).confidence) == ((), 0.5)


def test_what_is_not_trusted_never_contradicts_what_is(memory, clock):
    memory.remember("Anna lives in Warsaw.", kind="fact")
    clock.advance(days=1)
    memory.remember("Anna lives in Krakow.", kind="fact", source="web")
    assert not memory.consolidation.proposals()


def test_what_waits_for_review_and_profiles_are_left_alone(memory):
    quarantine(memory, memory.remember("Anna prefers short answers."))
    memory.remember("Anna really prefers short answers.")
    memory.profile.update(preferences=["short answers", "really short answers"])
    assert not memory.consolidation.proposals()


def test_values_of_one_slot_contradict_also_when_no_word_is_shared(memory, clock):
    old = memory.remember("warm white", kind="fact", about="light.hall", attribute="colour", value="warm")
    clock.advance(days=1)
    new = memory.remember("icy", kind="fact", about="light.hall", attribute="colour", value="cold")
    (found,) = memory.consolidation.proposals()
    assert (found.why, found.keep, found.supersede) == ("same slot", new.id, (old.id,))


def test_episodes_of_two_days_stay_two(memory, clock):
    memory.remember("Anna went to the dentist.", kind="episode", speaker="anna")
    clock.advance(days=2)
    memory.remember("Anna really went to the dentist.", kind="episode", speaker="anna")
    assert not memory.consolidation.proposals()


def test_speakers_are_kept_apart(memory):
    memory.remember("I prefer short answers.", speaker="anna")
    memory.remember("I really prefer short answers.", speaker="ben")
    assert not memory.consolidation.proposals()


def test_an_id_of_one_store_is_worth_nothing_in_another(full, tmp_path, clock):
    from support import open_store

    stolen = full.consolidation.proposals()[0].id
    with open_store(tmp_path / "other.db", clock=clock) as other:
        for text in TEXTS:
            other.remember(text, kind="fact")
        assert other.consolidation.accept([stolen]).skipped
        assert other.consolidation.dismiss([stolen]).skipped


@pytest.mark.parametrize("given", ["d1.2-0123456789abcdef", [], None, [7]])
def test_what_is_no_list_of_proposals_is_refused(full, given):
    for verb in (full.consolidation.accept, full.consolidation.dismiss):
        with pytest.raises(InvalidInput):
            verb(given)


@pytest.mark.parametrize("given", ["", "nonsense", "d1-0123456789abcdef", "d1.1-0123456789abcdef", "x" * 10_000])
def test_what_is_no_id_is_named_and_skipped(full, given):
    receipt = full.consolidation.accept([given])
    assert (receipt.accepted, len(receipt.skipped)) == ((), 1)


def test_a_flood_is_settled_group_by_group(memory, clock):
    lead = ("", "By the way, ", "Please, ", "Note that ")
    for place in range(60):
        text = f"{lead[place % 4]}Anna {'really, ' * (place // 4 % 4)}prefers {'the ' * (place // 16)}short answers."
        memory.remember(text, speaker="anna", tags=[str(place)])
        clock.advance(ms=5)
    assert memory.stats().total == 60
    for _ in range(10):
        found = memory.consolidation.proposals()
        assert all(len(each.members) <= 25 for each in found)
        if not found:
            break
        memory.consolidation.accept(found)
    assert memory.stats().by_state == {"live": 1, "superseded": 59}
    assert len(memory.list()[0].tags) == 60
    assert all(check.ok for check in faces.engine_of(memory).ledger.verify())


def test_by_meaning_too_a_neighbour_is_found_but_words_decide(opened, clock, model_cache):
    memory = opened(clock=clock, embedder="auto")
    memory.remember("Anna painted the old toaster in the bedroom.")
    memory.remember("Anna painted the very old toaster in the bedroom.")
    memory.remember("Anna repainted that ancient bread roaster in her sleeping room.")
    (found,) = memory.consolidation.proposals()
    assert len(found.members) == 2


@pytest.mark.parametrize(
    "more", [{"about": "light.office"}, {"context": "in the evening"}, {"occurred_at": "2026-01-01"}]
)
def test_what_is_not_trusted_is_never_put_over_what_is_however_much_it_says(memory, clock, more):
    trusted = memory.remember("The reading lamp is in the office.", kind="fact")
    clock.advance(ms=60_000)
    memory.remember("The reading lamp is really in the office.", kind="fact", source="import", **more)
    found = memory.consolidation.proposals()
    if found:
        memory.consolidation.accept(found)
    assert memory.get(trusted).state == "live"
    assert trusted.id in [hit.memory.id for hit in memory.recall("where is the reading lamp?", mode="automatic")]


@pytest.mark.parametrize("kind", ["duplicates", "contradiction"])
def test_inside_of_the_commit_what_is_trusted_less_is_refused_too(memory, clock, kind):
    """An id as an earlier version of these rules made it."""
    from memoranda.governance.consolidation import Found, Member, named

    trusted = memory.remember("The lamp is in the office.")
    clock.advance(days=1)
    memory.remember("The lamp is in the office.", source="import", about="light.office")
    engine = faces.engine_of(memory)
    told = memory.consolidation._consolidating.told([2, 1], scope=memory._scope)
    stale = named(Found(kind, "x", tuple(Member(*each) for each in told)), engine.ledger.key_for("consolidation"))
    memory.remember("Ben plays chess.", speaker="ben")
    memory.remember("Ben really plays chess.", speaker="ben")
    good = next(each for each in memory.consolidation.proposals() if "chess" in each.members[0].text)
    receipt = memory.consolidation.accept([stale, good])  # with a good one beside it, it comes to the commit
    assert receipt.accepted == (good.id,)
    assert "trusted" in receipt.skipped[0].why
    assert memory.get(trusted).state == "live"


def test_what_stays_and_must_be_remembered_has_no_end_of_a_rule(opened, clock):
    opened(clock=clock, ttl_days=("fact=30",)).remember("Anna prefers short answers.", kind="fact", speaker="anna")
    memory = opened(clock=clock, ttl_days=("fact=30",))
    memory.remember("Anna really prefers short answers.", kind="fact", speaker="anna")
    memory.remember("Anna really prefers short answers.", kind="fact", speaker="anna", importance=0.9)
    (found,) = memory.consolidation.proposals()
    memory.consolidation.accept([found])
    kept = memory.get(found.keep)
    assert (kept.grade, kept.valid_until, "ends_by_rule" in kept.metadata) == ("must_remember", None, False)
