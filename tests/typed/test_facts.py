"""`memory.facts`: features EN-1 to EN-6 of the specification, through the facade."""

import json

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda import Ambiguous, InvalidInput, NotFound, Refused
from memoranda.domain.fact import bare_name, best_subjects

EXAMPLES = {
    "location": "The office light is in the home office on the second floor",
    "purpose": "This thermostat controls the main HVAC system",
    "nickname": "User calls this 'the reading lamp'",
    "preference": "User prefers this light at 40% brightness in the evening",
    "schedule": "This light should turn off at 11pm",
}


def values(found):
    return [fact.value for fact in found]


# -- keeping --


def test_the_examples_of_each_type_are_kept_word_for_word(facts, memory, path):
    for attribute, text in EXAMPLES.items():
        facts.add("light.office", attribute, text=text)
    assert {fact.attribute: fact.text for fact in facts.about("light.office")} == EXAMPLES
    memory.close()
    rows = apsw.Connection(str(path)).execute("select entity_id, fact_type, content, source from entity_facts")
    assert set(rows) == {("light.office", name, text, "user_stated") for name, text in EXAMPLES.items()}


@pytest.mark.parametrize(
    ("basis", "source"), [("stated", "user_stated"), ("observed", "learned"), ("inferred", "inferred")]
)
def test_a_fact_says_how_it_is_known(facts, basis, source):
    facts.add("light.office", "location", "office", basis=basis)
    [fact] = facts.about("light.office")
    assert fact.source == source
    assert fact.as_json()["source"] == source
    assert fact.text == "light.office location: office"


def test_an_attribute_with_one_value_is_superseded(facts, memory):
    old = facts.add("light.office", "location", "first floor")
    new = facts.add("light.office", "location", "second floor")
    assert new.receipt.superseded == old.id
    assert values(facts.about("light.office", attribute="location")) == ["second floor"]
    assert memory.get(old).state == "superseded"


def test_an_attribute_with_many_values_accumulates(facts):
    for name in ("reading lamp", "desk light", "Reading lamp"):
        facts.add("light.office", "nickname", name)
    assert sorted(values(facts.about("light.office"))) == ["desk light", "reading lamp"]


def test_the_caller_may_say_how_many_values_there_are(facts):
    facts.add("person:anna", "phone", "1", many=True)
    facts.add("person:anna", "phone", "2", many=True)
    assert len(facts.about("person:anna", attribute="phone")) == 2
    facts.add("person:anna", "nickname", "Ania", many=False)
    facts.add("person:anna", "nickname", "Anka", many=False)
    assert values(facts.about("person:anna", attribute="nickname")) == ["Anka"]


def test_observing_again_raises_confidence_by_a_tenth_whatever_the_basis(facts, clock):
    facts.add("light.office", "schedule", "off at 23:00", basis="inferred", confidence=0.5)
    again = facts.add("light.office", "schedule", "off at 23:00", basis="observed", confidence=0.2)
    assert again.receipt.outcome == "reinforced"
    assert again.memory.confidence == 0.6
    for _ in range(9):
        again = facts.add("light.office", "schedule", "off at 23:00")
    assert again.memory.confidence == 1.0


def test_confidence_fades_when_read_and_is_never_rewritten(facts, memory, clock):
    kept = {
        basis: facts.add("light.office", f"{basis} thing", "x", basis=basis, confidence=0.8)
        for basis in ("stated", "observed", "inferred")
    }
    clock.advance(days=90)
    now = {fact.memory.basis: fact.confidence for fact in facts.about("light.office")}
    assert now["stated"] == 0.8
    assert now["observed"] == pytest.approx(0.8 * 0.5**0.5, abs=1e-6)
    assert now["inferred"] == pytest.approx(0.4, abs=1e-6)
    assert all(memory.get(each).confidence == 0.8 for each in kept.values())
    facts.add("light.office", "inferred thing", "x", basis="inferred")
    assert facts.about("light.office", attribute="inferred thing")[0].confidence == 0.9


def test_a_fact_ends_when_it_says_so_also_before_anybody_prunes(facts, clock):
    facts.add("light.office", "nickname", "the party lamp", until="2026-01-20")
    assert facts.lookup("party lamp") == "light.office"
    clock.advance(days=5)
    assert facts.about("light.office") == ()
    assert facts.lookup("party lamp") is None


def test_any_json_is_a_value(facts):
    facts.add("climate.hall", "range", {"low": 18, "high": 22.5})
    [fact] = facts.about("climate.hall")
    assert fact.value == {"low": 18, "high": 22.5}
    assert fact.text == 'climate.hall range: {"high": 22.5, "low": 18}'


@pytest.mark.parametrize(
    "call",
    [
        lambda facts: facts.add("", "location", "x"),
        lambda facts: facts.add("light.office", " ", "x"),
        lambda facts: facts.add("light.office", "location"),
        lambda facts: facts.add("profile", "profile.name", "Root"),
        lambda facts: facts.add("light.office", "Profile.Traits", "x"),
        lambda facts: facts.add("light.office", "location", "x", confidence=2),
        lambda facts: facts.add("light.office", "location", "x", until="tomorrow"),
        lambda facts: facts.about(""),
        lambda facts: facts.lookup(" "),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_kept(facts, memory, call):
    with pytest.raises(InvalidInput):
        call(facts)
    assert memory.stats().total == 0


def test_something_less_trusted_stands_beside_and_behind(facts):
    facts.add("lock.door", "location", "front")
    facts.add("lock.door", "location", "the neighbour's", source="web")
    assert values(facts.about("lock.door")) == ["front", "the neighbour's"]
    facts.add("lock.door", "location", "back")
    assert values(facts.about("lock.door")) == ["back"]


def test_the_surest_comes_first_then_the_newest(facts, clock):
    facts.add("x", "a", "unsure", confidence=0.3)
    facts.add("x", "b", "old")
    clock.advance(days=1)
    facts.add("x", "c", "new")
    assert values(facts.about("x")) == ["new", "old", "unsure"]


# -- names --


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        ("the reading lamp", "reading lamp"),
        ("reading lamp", "the reading lamp"),
        ("reading lamp", "My Reading  Lamp!"),
        ("lampka do czytania", "moja lampka do czytania"),
        ("moja lampka do czytania", "ta lampka do czytania"),
        ("阅读灯", "我的阅读灯"),
        ("阅读灯", "阅读灯"),
        ("Leselampe", "meine Leselampe"),
    ],
)
def test_a_thing_is_found_by_its_nickname(facts, kept, asked):
    facts.add("light.office", "nickname", kept)
    facts.add("light.hall", "nickname", "hall lamp")
    assert facts.lookup(asked) == "light.office"
    assert [fact.about for fact in facts.about(asked)] == ["light.office"]


def test_a_nickname_said_in_a_sentence_is_the_part_in_quotes(facts):
    facts.add("light.office", "nickname", text="User calls this 'the reading lamp'")
    assert facts.lookup("the reading lamp") == "light.office"
    assert facts.ask("where is the reading lamp?")[0].about == "light.office"


def test_an_id_is_its_own_name_and_an_unknown_name_is_none(facts):
    facts.add("light.office", "location", "office")
    assert facts.lookup("light.office") == "light.office"
    assert facts.lookup("light.attic") is None
    assert facts.lookup("lamp") is None
    assert facts.about("the moon") == ()


def test_a_name_of_two_things_is_ambiguous(facts):
    facts.add("light.left", "nickname", "bed lamp")
    facts.add("light.right", "alias", "the bed lamp")
    with pytest.raises(Ambiguous) as error:
        facts.lookup("my bed lamp")
    assert error.value.candidates == ("light.left", "light.right")
    assert "id" in error.value.hint


def test_a_name_of_ones_own_wins_over_that_of_the_house(opened, clock):
    home = opened("home", clock=clock)
    anna = home.within("home/anna")
    home.facts.add("light.living_room", "nickname", "my lamp")
    anna.facts.add("light.bedroom", "nickname", "my lamp")
    assert anna.facts.lookup("my lamp") == "light.bedroom"
    assert home.facts.lookup("my lamp") == "light.living_room"
    assert home.within("home/ben").facts.lookup("my lamp") == "light.living_room"


def test_a_name_that_is_not_trusted_names_nothing(facts):
    facts.add("lock.front", "nickname", "reading lamp", source="web")
    assert facts.lookup("reading lamp") is None


@given(st.text(min_size=1, max_size=30).filter(str.strip))
def test_a_bare_name_is_never_empty_and_stays_bare(name):
    assert bare_name(name)
    assert bare_name(bare_name(name)) == bare_name(name)


# -- asking --


@pytest.fixture
def house(facts):
    facts.add("cover.garage_door", "purpose", "lets the car in")
    facts.add("light.office", "location", "second floor")
    facts.add("light.kitchen", "location", "ground floor")
    facts.add("sensor.boiler", "note", "The boiler stands in the garage.")
    return facts


def test_what_do_i_know_about_the_garage(house):
    found = house.ask("what do I know about the garage?")
    assert [fact.about for fact in found] == ["cover.garage_door", "sensor.boiler"]
    assert found.receipt.by_subject == (found[0].id,)
    assert found[1].id in found.receipt.by_recall
    assert len({fact.id for fact in found}) == len(found)


def test_words_and_a_thing_named_by_several_words(house):
    found = house.ask("what do we know about the office light?")
    assert found[0].about == "light.office"
    assert "light.kitchen" not in [fact.about for fact in found if fact.id in found.receipt.by_subject]


def test_a_nickname_in_the_question_is_enough(house):
    house.add("light.office", "nickname", "the reading lamp")
    found = house.ask("Where is my reading lamp?")
    assert {fact.about for fact in found} == {"light.office"}
    assert set(found.receipt.by_nickname) == {fact.id for fact in found}


def test_meaning_finds_what_shares_no_word(opened, clock):
    memory = opened(clock=clock, embedder="auto")
    memory.facts.add("vacuum.robot", "note", text="The robot cleans the floors every Tuesday.")
    memory.facts.add("light.office", "location", "second floor")
    assert memory.facts.ask("which machine hoovers the house?")[0].about == "vacuum.robot"


@pytest.mark.parametrize(
    ("subject", "question"),
    [
        ("cover.brama_garazowa", "co wiem o garażu?"),
        ("cover.garage_door", "tell me about garages"),
        ("车库门", "关于车库我知道什么？"),
    ],
)
def test_other_forms_and_languages_name_a_thing(facts, subject, question):
    facts.add(subject, "purpose", "xyz")
    facts.add("light.attic", "purpose", "abc")
    assert [fact.about for fact in facts.ask(question)] == [subject]


@pytest.mark.parametrize("question", ["%", "_", "100%", "^_%", "'; drop table memory; --", "", "?", "\0x", "the of"])
def test_signs_of_the_query_language_mean_nothing(house, question):
    assert house.ask(question) is not None
    assert len(house.list()) == 4


def test_a_question_gets_at_most_as_many_facts_as_asked_for(facts):
    for number in range(12):
        facts.add("cover.garage_door", "note", f"note number {number}")
    facts.add("sensor.x", "note", "In the garage it smells of oil.")
    found = facts.ask("what about the garage?", limit=4)
    assert len(found) == 4


def test_a_receipt_has_no_text(house):
    shown = json.dumps({**house.ask("the garage").receipt.as_json(), "recall": None})
    assert "garage" not in shown
    assert "car" not in shown


@given(st.lists(st.sampled_from(["light.office", "light.hall", "cover.garage_door", "x"]), unique=True))
def test_only_subjects_that_a_word_names_are_chosen(subjects):
    chosen = best_subjects(subjects, ("garage", "office"))
    assert set(chosen) == set(subjects) & {"light.office", "cover.garage_door"}


# -- time, scope, letting go --


def test_what_was_known_then(facts, clock):
    facts.add("light.office", "location", "first floor")
    facts.add("light.office", "nickname", "the old lamp")
    clock.advance(days=2)
    facts.add("light.office", "location", "second floor")
    facts.forget("light.office", "nickname")
    assert values(facts.about("light.office", attribute="location", as_of="2026-01-17")) == ["first floor"]
    assert len(facts.about("the old lamp", as_of="2026-01-17")) == 2
    assert facts.about("the old lamp") == ()
    assert facts.about("light.office", as_of="2026-01-10") == ()


def test_another_scope_sees_nothing_of_it(opened, clock):
    home = opened("home", clock=clock)
    home.within("home/anna").facts.add("light.bedroom", "nickname", "my lamp")
    for other in (home, home.within("home/ben")):
        assert other.facts.list() == ()
        assert other.facts.lookup("my lamp") is None
        assert len(other.facts.ask("what about the bedroom lamp?")) == 0
        with pytest.raises(NotFound):
            other.facts.forget("light.bedroom")


def test_forgetting_one_value_one_attribute_or_all(facts, memory):
    for name in ("a lamp", "b lamp"):
        facts.add("light.office", "nickname", name)
    facts.add("light.office", "location", "office")
    facts.add("light.office", "purpose", "reading")
    assert [each.memory.value for each in facts.forget("light.office", "nickname", "a lamp")] == ["a lamp"]
    assert facts.lookup("b lamp") == "light.office"
    assert len(facts.forget("light.office", "location")) == 1
    assert len(facts.forget("light.office")) == 2
    assert facts.list() == ()
    with pytest.raises(NotFound):
        facts.forget("light.office")
    assert memory.stats().by_state == {"forgotten": 4}


def test_a_list_has_no_profiles_and_no_preferences(memory, facts):
    memory.profile.update(name="Anna", traits=["loud"])
    memory.preferences.set("lighting", "brightness", "40%")
    memory.remember("A sentence about nothing.")
    memory.remember("The attic is cold.", about="room.attic")
    facts.add("light.office", "location", "office")
    assert {fact.about for fact in facts.list()} == {"light.office", "room.attic"}
    assert [fact.about for fact in facts.list(attribute="Location")] == ["light.office"]
    assert len(facts.list(limit=1)) == 1


def test_facts_outlive_the_process_and_erasing_a_thing_takes_them(opened, clock):
    with opened(clock=clock) as first:
        first.facts.add("light.office", "nickname", "the reading lamp")
    second = opened(clock=clock)
    assert second.facts.lookup("reading lamp") == "light.office"
    assert second.erase(about="light.office").purged
    assert second.facts.lookup("reading lamp") is None


# -- pages, and letting go of what was meant --


def test_a_page_is_a_part_of_the_whole_list_the_surest_first(facts, clock):
    for number in range(12):
        basis = ("stated", "observed", "inferred")[number % 3]
        source = "web" if number % 4 == 0 else "user"
        facts.add(f"light.{number}", "location", "hall", basis=basis, source=source, confidence=1 - number * 0.05)
        clock.advance(days=20)
    whole = facts.list()
    assert [fact.memory.trust for fact in whole] == ["trusted"] * 9 + ["untrusted"] * 3
    sure = [fact.confidence for fact in whole[:9]]
    assert sure == sorted(sure, reverse=True)
    for size in (1, 3, 5):
        pages = [facts.list(limit=size, offset=at) for at in range(0, 12, size)]
        assert tuple(fact for page in pages for fact in page) == whole
    clock.advance(days=400)
    then = facts.list(as_of="2026-09-01", limit=2)
    assert then == facts.list(as_of="2026-09-01")[:2]


@pytest.mark.parametrize("page", [{"limit": 0}, {"limit": True}, {"limit": 1_001}, {"offset": -1}, {"offset": "1"}])
def test_a_page_that_makes_no_sense_is_refused(facts, preferences, page):
    for noun in (facts, preferences):
        with pytest.raises(InvalidInput):
            noun.list(**page)


def test_one_is_not_true(facts):
    for value in (1, True, [1], [True]):
        facts.add("x.y", "n", value, many=True)
    assert [each.memory.value for each in facts.forget("x.y", "n", 1)] == [1]
    assert [each.memory.value for each in facts.forget("x.y", "n", [True])] == [[True]]
    left = sorted(json.dumps(value) for value in values(facts.list(about="x.y")))
    assert left == ["[1]", "true"]


def test_a_fact_is_forgotten_by_its_words_and_whatever_the_order_of_its_parts(facts):
    facts.add("climate.hall", "range", {"low": 18, "high": 22})
    facts.add("climate.hall", "purpose", text="It warms the hall.")
    assert len(facts.forget("climate.hall", "range", {"high": 22, "low": 18})) == 1
    assert len(facts.forget("climate.hall", value="It warms the hall.")) == 1


def test_all_of_it_is_forgotten_or_nothing(facts, memory, monkeypatch):
    from memoranda.ledger import memories

    for number in range(3):
        facts.add("x.y", "note", f"note {number}")
    before, change, changed = memory.stats().sequence, memories.change, []

    def failing(*given, **named):
        if len(changed) == 2:
            raise RuntimeError("the power is gone")
        changed.append(1)
        return change(*given, **named)

    monkeypatch.setattr(memories, "change", failing)
    with pytest.raises(RuntimeError):
        facts.forget("x.y")
    monkeypatch.undo()
    assert len(facts.list(about="x.y")) == 3
    assert memory.stats().sequence == before


def test_who_is_less_trusted_lets_go_of_nothing_or_of_their_own(facts):
    facts.add("x.y", "note", "mine")
    facts.add("x.y", "note", "from a page", source="web")
    with pytest.raises(Refused, match="was not written by the assistant"):
        facts.forget("x.y", source="assistant")
    assert len(facts.list(about="x.y")) == 2
    assert len(facts.forget("x.y", "note", "from a page", source="assistant")) == 1


def test_the_views_say_how_far_a_row_is_trusted(facts, preferences, memory, path):
    facts.add("x.y", "location", "hall", source="web")
    preferences.set("lock", "at_night", "open", source="assistant")
    memory.close()
    ledger = apsw.Connection(str(path))
    for view in ("entity_facts", "preferences"):
        [row] = ledger.execute(f"select * from {view}").fetchall()
        assert row[-1] == "untrusted"
