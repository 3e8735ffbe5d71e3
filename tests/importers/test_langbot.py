"""LangBot's LongTermMemory: exported profiles, and episodes."""

import json
from pathlib import Path

import pytest

from memoranda.domain.errors import InvalidInput
from memoranda.domain.importing import Unread
from memoranda.domain.memory import GRADE_FLOORS
from memoranda.importers import registry
from memoranda.importers.langbot import IMPORTANCE, Reader

FIXTURES = Path(__file__).parent / "fixtures" / "langbot"
PROFILES, EPISODES, VECTORS = (FIXTURES / f"{name}.json" for name in ("profiles", "episodes", "vectors"))


def written(tmp_path, value):
    file = tmp_path / "given.json"
    file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return file


def test_profiles_become_facts_preferences_and_notes_that_name_whom_they_are_of():
    found = list(Reader().read(PROFILES, {}))

    assert [(each.text, each.kind, each.about) for each in found if not isinstance(each, Unread)] == [
        ("Name: The reading circle", "fact", ""),
        ("The reading circle: meets on Mondays", "fact", ""),
        ("The reading circle: Founded in spring.", "note", ""),
        ("Name: Anna", "fact", "person:Anna"),
        ("Anna: diet: vegan", "fact", "person:Anna"),
        ("Anna: diet: vegetarian", "fact", "person:Anna"),
        ("Anna: keeps bees", "fact", "person:Anna"),
        ("Anna: short answers", "preference", "person:Anna"),
    ]
    assert found[-1] == Unread("profile 3", "it has no profile")
    kept = found[:-1]
    assert {each.owner for each in kept} == {"bot-1:group_7"}
    assert {each.tags for each in kept} == {("profile",)}
    assert len({each.id for each in kept}) == len(kept)
    assert list(Reader().read(PROFILES, {})) == found


def test_what_a_slot_said_before_is_superseded_by_what_it_says_now():
    found = {each.text: each for each in Reader().read(PROFILES, {}) if not isinstance(each, Unread)}
    old, new = found["Anna: diet: vegan"], found["Anna: diet: vegetarian"]

    assert (old.state, old.superseded_by) == ("superseded", new.id)
    assert (new.state, new.confidence) == ("live", 0.9)
    assert old.created_at < new.created_at


def test_places_say_nothing_of_what_stands_there():
    assert {each.place for each in Reader().read(PROFILES, {})} == {
        "profile 1, name", "profile 1, traits", "profile 1, notes",
        "profile 2, name", "profile 2, traits", "profile 2, preferences", "profile 3",
    }  # fmt: skip


def test_episodes_keep_their_importance_state_speaker_and_time():
    found = list(Reader().read(EPISODES, {}))
    moved, lived, circle, old, gone, *bad = found

    assert (moved.importance, moved.speaker, moved.tags) == (0.8, "Anna", ("move", "fact-update"))
    assert moved.occurred_at == moved.created_at == 1773480600000
    assert (lived.state, lived.superseded_by, lived.tags) == ("superseded", moved.id, ("home",))
    assert circle.importance == 0.5
    assert circle.id == ""
    assert (old.id, old.state, old.importance, old.owner) == ("999999999999", "archived", 0.95, "bot:bot-1")
    assert gone.state == "forgotten"
    assert bad == [Unread("episode 6", "it has no content"), Unread("episode 7", "not an object")]


def test_an_ordinary_episode_is_not_graded_as_to_be_ignored():
    nice = dict(GRADE_FLOORS)["nice_to_have"]
    assert list(IMPORTANCE.values()) == [0.3, 0.5, 0.65, 0.8, 0.95]
    assert IMPORTANCE[2] >= nice


def test_what_their_vector_store_lists_is_the_same_episode():
    (listed,) = Reader().read(VECTORS, {})
    (first, *_) = Reader().read(EPISODES, {})
    same = ("text", "id", "importance", "tags", "speaker", "occurred_at", "owner", "state")
    assert [getattr(listed, name) for name in same] == [getattr(first, name) for name in same]


@pytest.mark.parametrize("odd", [None, True, "many", 3.9, 10**30, [], {"a": 1}, float("inf")])
def test_odd_values_are_no_reason_to_lose_an_episode(odd, tmp_path):
    episode = {"content": "Kept.", "user_key": odd, "importance": odd, "tags": odd, "timestamp": odd, "status": odd}
    (found,) = Reader().read(written(tmp_path, [episode]), {})
    assert found.text == "Kept."
    assert found.state == "live"


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "7", '{"memories": []}', "\udcff"])
def test_what_is_something_else_is_refused(text, tmp_path):
    file = tmp_path / "given.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InvalidInput):
        list(Reader().read(file, {}))


def test_the_format_is_found_out(tmp_path):
    assert {registry.sniff(each) for each in (PROFILES, EPISODES, VECTORS)} == {"langbot"}
    assert not Reader().reads(written(tmp_path, [{"content": "x"}]))
    assert not Reader().reads(tmp_path)
