"""What each way of erasing takes, alone and narrowed by others, and what it leaves."""

import pytest

from memoranda import Conflict, InvalidInput, NotFound, assistant, user
from memoranda.service.tokens import TokenBook
from support import occurrences

DAY = 86_400_000
SECRET = "gruntlewort"


def said_by_all(memory, clock, name="kitchen"):
    """Anna and Ben talk on two days; the second day begins at what is returned."""
    now = clock.now()
    memory.conversations.append(
        [
            user(f"Anna likes {SECRET} honey on bread.", speaker="anna", id="a1", at=now - 2 * DAY),
            user("Ben likes the plain butter.", speaker="ben", id="b1", at=now - 2 * DAY),
            user("Anna wants the window open.", speaker="anna", id="a2", at=now - DAY),
            assistant("I open the window.", id="h1", at=now - DAY),
        ],
        conversation=name,
    )
    return now - DAY


def spoken(memory, name="kitchen"):
    return [each.text for each in memory.conversations.messages(name)]


def test_by_conversation_the_memories_and_the_transcript_with_its_summaries_go(opened, path, clock):
    memory = opened(clock=clock)
    said_by_all(memory, clock)
    said_by_all(memory, clock, "cellar")
    memory.conversations.set_working("kitchen", f"{SECRET} on the list")
    gone = memory.remember(f"The {SECRET} is in the cupboard.", conversation="kitchen")
    other = memory.remember("The broom is in the cellar.", conversation="cellar")
    shown = memory.erase(conversation="kitchen", mode="preview")
    assert (shown.ids, shown.receipt.conversations) == ((gone.id,), 1)
    memory.conversations.erase("cellar")
    erased = memory.erase(conversation="kitchen", confirm=shown.confirm)
    assert erased.purged, erased.receipt
    assert (erased.ids, erased.receipt.conversations, erased.receipt.messages) == ((gone.id,), 1, 4)
    assert occurrences(path, SECRET) == []
    assert memory.get(other).text
    with pytest.raises(NotFound):
        memory.conversations.get("kitchen")


def test_a_conversation_may_be_named_by_its_id(memory, clock):
    said_by_all(memory, clock)
    kept = memory.remember("The broom is in the kitchen.", conversation="kitchen")
    talk = memory.conversations.get("kitchen")
    erased = memory.erase(conversation=talk.id)
    assert (erased.ids, erased.receipt.conversations) == ((kept.id,), 1)


def test_the_conversation_of_another_scope_stays(opened, clock):
    memory = opened("home", clock=clock)
    anna = memory.within("home/anna")
    said_by_all(memory, clock)
    said_by_all(anna, clock)
    anna.erase(conversation="kitchen")
    assert len(spoken(memory)) == 4
    assert memory.erase(conversation="nothing of this name").ids == ()


@pytest.mark.parametrize(
    ("ways", "left"),
    [
        ({"speaker": "anna"}, {"b1", "h1"}),
        ({"speaker": "anna", "conversation": "kitchen"}, {"b1", "h1"}),
        ({"speaker": "anna", "conversation": "cellar"}, {"a1", "b1", "a2", "h1"}),
        ({"time_before": DAY}, {"a2", "h1"}),
        ({"time_after": DAY}, {"a1", "b1"}),
        ({"time_before": DAY, "speaker": "anna"}, {"b1", "a2", "h1"}),
        ({"conversation": "kitchen", "time_after": DAY}, {"a1", "b1"}),
        ({"speaker": "anna", "about": "honey"}, {"a1", "b1", "a2", "h1"}),
        ({"source": "user", "time_before": DAY}, {"a1", "b1", "a2", "h1"}),
    ],
)
def test_what_was_said_goes_when_all_that_is_asked_for_is_known_of_messages(memory, clock, ways, left):
    border = said_by_all(memory, clock)
    texts = {each.host_id: each.text for each in memory.conversations.messages("kitchen")}
    ways = {name: border if value == DAY else value for name, value in ways.items()}
    erased = memory.erase(**ways)
    assert erased.purged
    now = memory.conversations.messages("kitchen")
    assert {each.host_id for each in now if each.text == texts[each.host_id]} == left
    assert erased.receipt.messages == 4 - len(left)


def test_source_reference_kind_and_time_narrow_one_another(memory, clock):
    now = clock.now()
    drafts = {
        "web page": {"source": "web", "source_ref": "https://example.org/a"},
        "other page": {"source": "web", "source_ref": "https://example.org/b"},
        "old page": {"source": "web", "source_ref": "https://example.org/a", "occurred_at": now - 400 * DAY},
        "decision": {"source": "web", "source_ref": "https://example.org/a", "kind": "decision"},
        "user": {},
    }
    ids = {name: memory.remember(f"It is said on the {name}.", **more).id for name, more in drafts.items()}

    def shown(**ways):
        found = set(memory.erase(**ways, mode="preview").ids)
        return {name for name, identity in ids.items() if identity in found}

    assert shown(source="web") == {"web page", "other page", "old page", "decision"}
    assert shown(source_ref="https://example.org/a") == {"web page", "old page", "decision"}
    assert shown(source="web", time_before=now - DAY) == {"old page"}
    assert shown(source="web", time_after=now - DAY, kind="decision") == {"decision"}
    assert shown(time_before=now - DAY) == {"old page"}
    assert shown(source="user", source_ref="https://example.org/a") == set()
    erased = memory.erase(source="web", time_after=now - DAY)
    assert erased.purged
    assert {each.id for each in memory.list(states=())} == {ids["user"], ids["old page"]}


def test_what_a_scope_above_or_below_keeps_is_not_taken_by_what_it_is_like(opened):
    home = opened("home")
    anna, diary = home.within("home/anna"), home.within("home/anna/diary")
    kept = [each.remember(f"{each.scope} likes tea.", source="web").id for each in (home, anna, diary)]
    assert anna.erase(source="web").ids == (kept[1],)
    assert {home.get(kept[0]).id, diary.get(kept[2]).id} == {kept[0], kept[2]}


def test_a_confirmation_of_one_way_does_not_hold_for_more(memory, clock):
    memory.remember("Tea is drunk.", source="web")
    shown = memory.erase(source="web", mode="preview")
    memory.remember("Coffee is drunk.", source="web")
    with pytest.raises(Conflict):
        memory.erase(source="web", confirm=shown.confirm)


def test_notes_and_reasons_of_others_that_say_it_are_emptied(opened, path, clock):
    memory = opened(clock=clock)
    kept = memory.remember(f"The {SECRET} is in the cupboard.")
    other = memory.remember("The broom is in the cellar.")
    memory.archive(other, reason=f"as opposed to: the {SECRET} is in the cupboard")
    memory.tag("before", note=f"When the {SECRET} is in the cupboard.")
    memory.tag("after", note="A note on something else.")
    assert memory.erase(kept).purged
    assert occurrences(path, SECRET) == []
    assert {tag.name: tag.note for tag in memory.tags()} == {"before": "", "after": "A note on something else."}
    assert memory.history(other)[-1].event.reason == ""


def test_queries_that_found_nothing_are_not_kept_in_words(opened, path, clock):
    memory = opened(clock=clock, misses="text")
    kept = memory.remember("The broom is in the cellar.")
    _miss(memory, f"where is the {SECRET}")
    assert occurrences(path, SECRET)
    assert memory.erase(kept).purged
    assert occurrences(path, SECRET) == []


def _miss(memory, text):
    memory._engine.ledger.database.write(
        lambda connection: connection.execute(
            "insert into miss (scope, digest, reason, text, first_at, last_at, times) "
            "values (?, x'00', '', ?, 1, 1, 1)",
            (memory.scope, text),
        ).fetchall()
    )


def test_an_erased_scope_lets_nobody_in_any_more(opened, clock):
    home = opened("home", clock=clock)
    home.within("home/anna").remember("Anna likes tea.")
    book = TokenBook(home._engine)
    mine = [book.create(role="reader", scope=scope) for scope in ("home/anna", "home/anna/phone")]
    others = [book.create(role="reader", scope=scope) for scope in ("home", "home/anna2", "")]
    erased = home.erase(scope="home/anna")
    assert erased.receipt.tokens == 2
    fresh = TokenBook(home._engine)
    assert [fresh.principal(each.secret) for each in mine] == [None, None]
    assert all(fresh.principal(each.secret) for each in others)


def test_an_erased_scope_has_no_tags_left(opened, path):
    home = opened("home")
    anna = home.within("home/anna")
    anna.remember("Anna likes tea.")
    anna.tag(f"{SECRET}-tag", note="a note")
    home.tag("mine")
    assert home.erase(scope="home/anna").purged
    assert occurrences(path, SECRET) == []
    assert [each.name for each in home.tags()] == ["mine"]


def test_how_far_it_is_is_told_in_order_and_to_the_end(memory):
    for number in range(50):
        memory.remember(f"Tea number {number} is drunk.", source="web")
    told = []
    memory.erase(source="web", progress=lambda done, total: told.append((done, total)))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (1_000, 1_000)
    assert len(set(told)) > 4


def test_by_speaker_the_scopes_below_are_taken_along_when_asked_and_no_other(opened, path, clock):
    memory = opened("home", clock=clock)
    kid, other = memory.within("home/kid"), memory.within("home/kid2")
    for each in (memory, kid, other):
        said_by_all(each, clock)
    here = memory.remember(f"Anna hides {SECRET} in the attic.", speaker="anna")
    below = kid.remember(f"Anna eats {SECRET}.", speaker="anna")
    stays = kid.remember("Ben eats plain bread.", speaker="ben")
    narrow = memory.erase(speaker="anna", mode="preview")
    assert (narrow.ids, narrow.receipt.messages) == ((here.id,), 2)
    wide = memory.erase(speaker="anna", below=True, mode="preview")
    assert (set(wide.ids), wide.receipt.messages) == ({here.id, below.id}, 6)
    kids = kid.erase(speaker="anna", below=True, mode="preview")
    assert (kids.ids, kids.receipt.messages) == ((below.id,), 2)
    erased = memory.erase(speaker="anna", below=True, confirm=wide.confirm, proof=True)
    assert erased.purged, erased.receipt
    assert erased.statement["asked"]["below"] is True
    assert occurrences(path, SECRET) == []
    assert kid.get(stays).text
    assert spoken(kid)[1] == "Ben likes the plain butter."


def test_by_conversation_below_each_of_that_name_goes(opened, clock):
    memory = opened("home", clock=clock)
    said_by_all(memory.within("home/kid"), clock)
    assert memory.erase(conversation="kitchen", mode="preview").receipt.conversations == 0
    assert memory.erase(conversation="kitchen", below=True).receipt.conversations == 1


@pytest.mark.parametrize("way", [{"query": "bread"}, {"scope": "home/anna/kid"}, {"about": "bread", "below": "yes"}])
def test_below_goes_with_what_memories_are_like_only(memory, way):
    with pytest.raises(InvalidInput) as told:
        memory.erase(**{"below": True, **way})
    assert told.value.hint
