"""`memory.preferences`: features PF-1 to PF-4 of the specification, through the facade."""

import json
import threading

import apsw
import pytest

from memoranda import InvalidInput, NotFound

EXAMPLES = [
    {"category": "lighting", "key": "evening_brightness", "value": "40%", "context": "after_sunset"},
    {"category": "climate", "key": "sleep_temperature", "value": "68F", "context": "nighttime"},
    {"category": "notification", "key": "urgent_only", "value": "true", "context": "nighttime"},
]
NOON, EVENING, NIGHT = "2026-01-16T11:00:00Z", "2026-01-16T19:00:00Z", "2026-01-16T22:30:00Z"


@pytest.fixture
def house(preferences):
    for each in EXAMPLES:
        preferences.set(**each)
    return preferences


def test_the_examples_are_kept_word_for_word(house, memory, path):
    shown = [{name: each.as_json()[name] for name in EXAMPLES[0]} for each in house.list()]
    assert sorted(shown, key=str) == sorted(EXAMPLES, key=str)
    memory.close()
    rows = set(apsw.Connection(str(path)).execute("select category, key, value, context from preferences"))
    assert rows == {(e["category"], e["key"], json.dumps(e["value"]), e["context"]) for e in EXAMPLES}


def test_a_preference_with_its_context_is_what_it_was_set_to(house):
    found = house.get("lighting", "evening_brightness", context="after_sunset")
    assert (found.category, found.key, found.value, found.context, found.confidence) == (
        "lighting", "evening_brightness", "40%", "after_sunset", 1.0,
    )  # fmt: skip
    assert house.get("lighting", "evening_brightness") is None


def test_there_is_one_value_for_each_category_key_and_context(preferences, memory):
    preferences.set("lighting", "brightness", "40%", context="Weekday + morning")
    changed = preferences.set("lighting", "brightness", "60%", context="morning+weekday")
    assert changed.receipt.superseded
    preferences.set("lighting", "brightness", "80%")
    preferences.set("lighting", "brightness", "90%")
    assert [(each.value, each.context) for each in sorted(preferences.list(), key=lambda p: p.value)] == [
        ("60%", "weekday+morning"),
        ("90%", ""),
    ]
    assert memory.stats().by_state == {"live": 2, "superseded": 2}


def test_threads_that_set_the_same_slot_leave_one_live(preferences):
    threads = [
        threading.Thread(target=lambda n=n: preferences.set("lighting", "brightness", f"{n}%", context="evening"))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(preferences.list()) == 1


def test_the_same_value_again_raises_confidence_by_a_tenth(preferences):
    preferences.set("lighting", "brightness", "40%", confidence=0.6, basis="observed", learned_from="dimmed twice")
    again = preferences.set("lighting", "brightness", "40%")
    assert again.memory.confidence == 0.7
    assert preferences.get("lighting", "brightness").learned_from == "dimmed twice"


@pytest.mark.parametrize("value", ["40%", 40, 21.5, True, False, ["a", "b"], {"low": 18, "high": {"x": None}}, ""])
def test_any_json_is_a_value(preferences, value):
    preferences.set("climate", "range", value)
    assert preferences.get("climate", "range").value == value
    assert type(preferences.get("climate", "range").value) is type(value)


def test_the_surest_comes_first(preferences):
    preferences.set("lighting", "a", "1", confidence=0.4)
    preferences.set("lighting", "b", "2", confidence=0.9)
    preferences.set("climate", "c", "3", confidence=0.7)
    assert [each.key for each in preferences.list()] == ["b", "c", "a"]
    assert [each.key for each in preferences.list("lighting")] == ["b", "a"]
    assert [each.key for each in preferences.list(key="c")] == ["c"]


def test_a_page_has_the_surest_of_all(preferences, memory):
    for number in range(12):
        preferences.set("lighting", f"key_{number}", "x", confidence=1 - number * 0.05)
        memory.remember(f"Odd {number}.", kind="preference", about="lighting")  # in no slot: not in any page
    assert [each.confidence for each in preferences.list(limit=3)] == pytest.approx([1, 0.95, 0.9])
    assert [each.key for each in preferences.list(limit=2, offset=10)] == ["key_10", "key_11"]


def test_what_holds_is_told_of_the_moment_that_is_asked_about(preferences, memory):
    given = {"kind": "preference", "about": "lighting", "attribute": "brightness"}
    memory.remember("Dim for the party.", **given, value="10%", context="evening", valid_until="2026-02-01")
    memory.remember("Bright in spring.", **given, value="90%", context="morning", valid_from="2026-03-01")
    preferences.set("lighting", "brightness", "50%")

    def resolved(now):
        one, every = preferences.resolve("lighting", "brightness", now=now), preferences.resolve_all(now=now)
        assert every == (one,)
        return one.value

    assert resolved("2026-01-20T19:00:00Z") == "10%"
    assert resolved("2026-02-20T19:00:00Z") == "50%"
    assert resolved("2026-03-20T08:00:00Z") == "90%"
    assert resolved("2026-02-20T08:00:00Z") == "50%"


def test_after_sunset_beats_none(preferences):
    preferences.set("lighting", "brightness", "80%")
    preferences.set("lighting", "brightness", "40%", context="after_sunset", confidence=0.2)
    assert preferences.resolve("lighting", "brightness", now=NOON).value == "80%"
    assert preferences.resolve("lighting", "brightness", now=EVENING).value == "40%"
    assert preferences.resolve("lighting", "brightness").value == "40%"  # the clock stands on an evening


def test_more_conditions_beat_fewer_and_all_must_hold(preferences):
    preferences.set("lighting", "brightness", "40%", context="after_sunset")
    preferences.set("lighting", "brightness", "20%", context="after_sunset+guests")
    preferences.set("lighting", "brightness", "10%", context="after_sunset+guests+place:garden")

    def resolved(**how):
        return preferences.resolve("lighting", "brightness", now=EVENING, **how).value

    assert resolved() == "40%"
    assert resolved(flags=["guests"]) == "20%"
    assert resolved(flags=["guests"], place="garden") == "10%"
    assert resolved(place="garden") == "40%"
    assert preferences.resolve("lighting", "brightness", now=NOON) is None


def test_of_as_many_conditions_the_surest_wins_then_the_newest(preferences, clock):
    preferences.set("lighting", "brightness", "sure", context="evening", confidence=0.9)
    preferences.set("lighting", "brightness", "unsure", context="friday", confidence=0.5)
    assert preferences.resolve("lighting", "brightness").value == "sure"
    clock.advance(ms=1)
    preferences.set("lighting", "brightness", "newer", context="after_sunset", confidence=0.9)
    assert preferences.resolve("lighting", "brightness").value == "newer"


def test_times_of_day_are_those_of_the_people(opened, clock):
    for zone, value in (("Europe/Warsaw", "evening"), ("America/Los_Angeles", "morning"), ("UTC", "evening")):
        memory = opened(f"home/{zone.partition('/')[0].lower()}", clock=clock, time_zone=zone)
        memory.preferences.set("x", "y", "morning", context="morning")
        memory.preferences.set("x", "y", "evening", context="evening")
        assert memory.preferences.resolve("x", "y").value == value


def test_everything_that_applies_now(house):
    house.set("lighting", "evening_brightness", "80%", confidence=0.5)
    house.set("climate", "day_temperature", 21, context="daytime")
    at_night = house.resolve_all(now=NIGHT)
    assert {(each.key, each.value) for each in at_night} == {
        ("evening_brightness", "40%"), ("sleep_temperature", "68F"), ("urgent_only", "true"),
    }  # fmt: skip
    assert [(each.key, each.value) for each in house.resolve_all(now=NOON)] == [
        ("day_temperature", 21),
        ("evening_brightness", "80%"),
    ]
    assert [each.key for each in house.resolve_all("climate", now=NIGHT)] == ["sleep_temperature"]


def test_ones_own_preference_wins_over_that_of_the_house(opened, clock):
    home = opened("home", clock=clock)
    anna = home.within("home/anna")
    home.preferences.set("lighting", "brightness", "80%")
    anna.preferences.set("lighting", "brightness", "30%", confidence=0.3)
    assert anna.preferences.resolve("lighting", "brightness").value == "30%"
    assert anna.preferences.get("lighting", "brightness").value == "30%"
    assert home.preferences.resolve("lighting", "brightness").value == "80%"
    assert home.within("home/ben").preferences.resolve("lighting", "brightness").value == "80%"


def test_another_scope_sees_nothing_of_it(opened, clock):
    home = opened("home", clock=clock)
    home.within("home/anna").preferences.set("lighting", "brightness", "30%")
    for other in (home, home.within("home/ben")):
        assert other.preferences.list() == ()
        assert other.preferences.resolve("lighting", "brightness") is None
        with pytest.raises(NotFound):
            other.preferences.forget("lighting", "brightness")


def test_what_is_not_trusted_is_never_acted_on_and_replaces_nothing(preferences):
    preferences.set("lock", "at_night", "closed")
    preferences.set("lock", "at_night", "open", source="web")
    preferences.set("lock", "at_night", "open", context="after_sunset", source="assistant")
    assert preferences.resolve("lock", "at_night").value == "closed"
    assert preferences.get("lock", "at_night").value == "closed"
    assert [each.memory.trust for each in preferences.list()].count("untrusted") == 2


def test_forgetting_one_context_or_all(house):
    house.set("lighting", "evening_brightness", "80%")
    house.set("lighting", "evening_brightness", "10%", context="guests")
    assert [each.memory.value for each in house.forget("lighting", "evening_brightness", context="guests")] == ["10%"]
    assert len(house.forget("lighting", "evening_brightness")) == 2
    assert house.list("lighting") == ()
    with pytest.raises(NotFound, match="no such preference"):
        house.forget("lighting", "evening_brightness")


def test_preferences_as_they_were_and_after_a_restart(opened, clock):
    with opened(clock=clock) as memory:
        memory.preferences.set("lighting", "brightness", "40%")
        clock.advance(days=2)
        memory.preferences.set("lighting", "brightness", "60%")
    again = opened(clock=clock).preferences
    assert again.get("lighting", "brightness").value == "60%"
    assert again.get("lighting", "brightness", as_of="2026-01-17").value == "40%"
    assert [each.value for each in again.list(as_of="2026-01-17")] == ["40%"]


def test_recall_finds_a_preference_by_its_words(house, memory):
    assert memory.recall("what brightness in the evening?")[0].memory.value == "40%"


def test_what_was_kept_in_another_way_is_read_and_never_breaks(preferences, memory):
    memory.remember("Odd.", kind="preference", about="lighting", attribute="odd", value="1", context="99:99-00:00 ++")
    memory.remember("Anna prefers tea.", kind="preference")
    memory.profile.add("preferences", "short answers")
    assert [each.key for each in preferences.list()] == ["odd"]
    assert preferences.resolve("lighting", "odd") is None


def test_what_was_kept_with_an_odd_context_in_another_way_can_be_read_and_forgotten(preferences, memory):
    memory.remember("Odd.", kind="preference", about="lighting", attribute="odd", value="1", context="sensor.rain!")
    assert preferences.get("lighting", "odd", context="Sensor.rain!").value == "1"
    assert len(preferences.forget("lighting", "odd", context="sensor.rain!")) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda preferences: preferences.set("", "key", "x"),
        lambda preferences: preferences.set("lighting", "", "x"),
        lambda preferences: preferences.set("lighting", "key", None),
        lambda preferences: preferences.set("lighting", "profile.preferences", "x"),
        lambda preferences: preferences.set("lighting", "key", "x", context="evening+"),
        lambda preferences: preferences.set("lighting", "key", "x", context="bogus context!!"),
        lambda preferences: preferences.set("lighting", "key", "x", context="place:"),
        lambda preferences: preferences.set("lighting", "key", {1, 2}),
        lambda preferences: preferences.resolve("lighting", "key", flags="guests"),
        lambda preferences: preferences.resolve("lighting", "key", now="soon"),
        lambda preferences: preferences.resolve("lighting", ""),
    ],
)
def test_what_makes_no_sense_is_refused(preferences, memory, call):
    with pytest.raises(InvalidInput):
        call(preferences)
    assert memory.stats().total == 0
