"""What recall promises to whoever asks: which memories come back, in which order, and when none do."""

import pytest

from memoranda import Draft, InvalidInput, Refused
from memoranda.recall.policies import BARS
from support import ids, open_store, quarantine

DAY = 86_400_000


# -- the gate --


@pytest.mark.parametrize(
    "prompt", ["好的👌", "ok👍", "hi～", "收到!!", "？", "…", "dzięki!", "/help", "HEARTBEAT_OK", "Thanks a lot!!! 🙏"]
)
def test_a_trivial_prompt_is_not_searched_for_and_the_receipt_says_so(memory, prompt):
    memory.remember(f"What {prompt} means: ok, hi, dzięki, 好的, 收到.")
    found = memory.recall(prompt, policy="broad")
    assert not found
    assert found.receipt.abstained == "trivial prompt"
    assert found.receipt.searched == 0


@pytest.mark.parametrize("prompt", ["", "   ", "\n\t", "\0", "\u200b\u202e"])
def test_no_query_is_said_to_be_none(memory, prompt):
    memory.remember("the lamp")
    assert memory.recall(prompt).receipt.abstained == "no query"


@pytest.mark.parametrize(
    "prompt", ["ok lamp", "hi, which lamp?", "lamp 👍", "/home/anna/lamp.txt", "好的，lamp 在哪里？"]
)
def test_a_real_question_passes_the_gate(memory, prompt):
    kept = memory.remember("lamp, /home/anna/lamp.txt")
    assert ids(memory.recall(prompt, policy="broad")) == [kept.id]


# -- words --


@pytest.mark.parametrize("embedder", ["none", "hashed:words"])
def test_the_exact_phrase_comes_first_then_all_terms_then_some(opened, clock, embedder):
    memory = opened(clock=clock, embedder=embedder)
    some = memory.remember("there is a green carpet on the floor")
    all_terms = memory.remember("a lamp and a green carpet lie there")
    phrase = memory.remember("there is a green lamp on the floor")
    for query in ("green lamp", 'where is the "green lamp" now?'):
        assert ids(memory.recall(query, policy="broad")) == [phrase.id, all_terms.id, some.id]


NAMES = {
    "entity": ("light.office", "light.office_2"),
    "address": ("anna@example.org", "anna@example.com"),
    "path": ("/etc/memoranda/config.toml", "/etc/memoranda/other.toml"),
    "error code": ("E1234", "E1243"),
    "error name": ("ERR_CONNECTION_RESET", "ERR_CONNECTION_REFUSED"),
    "version": ("v2.3.1", "v2.3.11"),
    "network": ("192.168.1.10", "192.168.1.100"),
    "ticket": ("XYZ-4711", "XYZ-4712"),
    "windows path": (r"C:\tools\run.bat", r"C:\tools\stop.bat"),
    "number": ("48213", "48214"),
}


@pytest.mark.parametrize("embedder", ["none", "hashed:words"])
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
def test_a_name_is_found_exactly(opened, embedder, name):
    right, wrong = name
    memory = opened(embedder=embedder)
    other = memory.remember(f"Somebody wrote down {wrong} on the list.")
    kept = memory.remember(f"Somebody wrote down {right} on the list.")
    found = memory.recall(f"what about {right}", policy="broad")
    assert found[0].id == kept.id
    assert ids(memory.recall(f"what about {wrong}", policy="broad"))[0] == other.id
    assert ids(memory.recall(right, policy="strict")) == [kept.id]


def test_subject_attribute_value_tags_and_speaker_are_searched_too(memory):
    kept = memory.remember(
        "set by hand", about="light.kitchen", attribute="brightness", value="dimmed", context="evening",
        tags=["cosy"], speaker="Zofia",
    )  # fmt: skip
    for word in ("light.kitchen", "brightness", "dimmed", "evening", "cosy", "Zofia"):
        assert ids(memory.recall(f"{word} then")) == [kept.id]


# -- subjects --


@pytest.mark.parametrize("embedder", ["none", "hashed:words"])
@pytest.mark.parametrize("attribute", ["alias", "nickname"])
def test_a_thing_is_found_by_what_it_is_also_called(opened, embedder, attribute):
    memory = opened(embedder=embedder)
    memory.remember("it has other names", about="light.office", attribute=attribute, value="Old Faithful")
    kept = memory.remember("its bulb was changed by Bob", about="light.office")
    for number in range(30):
        memory.remember(f"something else {number}", about=f"light.room{number}")
    found = memory.recall("is old faithful broken?", policy="broad")
    assert kept.id in ids(found)
    hit = next(hit for hit in found if hit.id == kept.id)
    assert hit.receipt.structured_rank is not None
    assert hit.receipt.parts["about"] > 0
    assert kept.id not in ids(memory.recall("is old faithful broken?", policy="broad", lanes=["lexical"]))
    assert kept.id not in ids(memory.recall("is faithful broken?", policy="broad"))
    assert memory.replay(found.receipt).same


def test_a_name_in_a_script_without_spaces_is_recognised(memory):
    memory.remember("别名", about="light.office", attribute="alias", value="小太阳")
    kept = memory.remember("its bulb was changed", about="light.office")
    assert kept.id in ids(memory.recall("小太阳坏了吗？", policy="broad"))


def test_an_alias_that_may_not_be_seen_or_is_gone_names_nothing(opened):
    theirs, ours = opened("home/bob"), opened("home/anna")
    kept = ours.remember("its bulb was changed", about="light.office")
    theirs.remember("known to Bob", about="light.office", attribute="alias", value="Sunny")
    assert not ours.recall("is sunny broken?", policy="broad")
    own = ours.remember("known to Anna", about="light.office", attribute="alias", value="Sunny")
    assert kept.id in ids(ours.recall("is sunny broken?", policy="broad"))
    ours.forget(own)
    assert not ours.recall("is sunny broken?", policy="broad")


def test_a_kind_that_was_asked_for_by_name_comes_first(memory):
    note = memory.remember("the lamp of the hall is green")
    decided = memory.remember("the lamp of the hall is white", kind="decision")
    assert ids(memory.recall("the lamp of the hall")) == [note.id, decided.id]
    for query in ("what did we decide: which lamp for the hall", "decyzja: lamp, hall"):
        found = memory.recall(query, policy="broad")
        assert ids(found) == [decided.id, note.id], query
        assert found[0].receipt.factors["kind"] > 1


# -- what does not come back --


def _hidden(memory, clock):
    """One memory of each kind that does not come back by itself, by what one has to ask for."""
    gone = {
        "superseded": memory.remember("the lamp of before"),
        "archived": memory.remember("the lamp in the archive"),
        "forgotten": memory.remember("the lamp that was forgotten"),
        "expired": memory.remember("the lamp for a day", valid_until=clock.now() + DAY),
        "quarantined": memory.remember("the lamp that must not speak"),
    }
    memory.remember("the carpet of now", supersedes=gone["superseded"])
    memory.archive(gone["archived"])
    memory.forget(gone["forgotten"])
    quarantine(memory, gone["quarantined"])
    clock.advance(days=2)
    return {reason: kept.id for reason, kept in gone.items()}


@pytest.mark.parametrize("mode", ["asked", "automatic"])
def test_what_was_put_away_does_not_come_back_by_itself(memory, clock, mode):
    _hidden(memory, clock)
    assert not memory.recall("lamp", mode=mode, policy="broad", limit=50)
    live = memory.remember("the lamp of today")
    assert ids(memory.recall("lamp", mode=mode, policy="broad", limit=50)) == [live.id]


@pytest.mark.parametrize("state", ["superseded", "archived", "forgotten", "expired"])
def test_what_was_put_away_comes_back_when_asked_for(memory, clock, state):
    hidden = _hidden(memory, clock)
    memory.remember("the lamp of today")
    assert ids(memory.recall("lamp", states=[state], policy="broad")) == [hidden[state]]
    assert hidden[state] in ids(memory.recall("lamp", states=["live", state], policy="broad"))


def test_everything_comes_back_when_all_states_are_asked_for_but_what_is_quarantined(memory, clock):
    hidden = _hidden(memory, clock)
    found = ids(memory.recall("lamp", states=(), policy="broad", limit=50))
    assert set(found) == set(hidden.values()) - {hidden["quarantined"]}
    assert ids(memory.recall("lamp", trust="quarantined")) == [hidden["quarantined"]]
    assert memory.recall("lamp", trust="quarantined")[0].receipt.trust == "quarantined"


def test_erasing_by_query_reaches_what_is_hidden_and_what_is_of_one_source(memory, clock):
    hidden = _hidden(memory, clock)
    notes = [memory.remember(f"lamp number {n}", source_ref="notes.md", source="web", importance=0.1) for n in range(6)]
    shown = memory.erase(query="lamp")
    assert set(shown.ids) == {*hidden.values(), *(kept.id for kept in notes)}
    assert memory.erase(query="hi").ids == (), "what the gate keeps from a recall may still be erased"


@pytest.mark.parametrize("lane", ["lexical", "semantic", "structured"])
def test_each_lane_answers_for_a_moment_in_the_past(opened, clock, lane):
    memory = opened(clock=clock, embedder="hashed:words")
    query = "what happened on 24 December 2025?" if lane == "structured" else "where does the lamp stand"
    old = memory.remember("the lamp does stand in the hall", occurred_at="2025-12-24")
    then = clock.now()
    clock.advance(days=1)
    new = memory.remember("the lamp does stand in the attic", occurred_at="2025-12-24", supersedes=old)
    memory.remember("the lamp does stand in the attic again", occurred_at="2025-12-24", valid_from=clock.now())
    clock.advance(days=1)
    memory.forget(new)
    assert ids(memory.recall(query, lanes=[lane], as_of=then)) == [old.id]
    assert new.id in ids(memory.recall(query, lanes=[lane], as_of=then + DAY))
    assert new.id not in ids(memory.recall(query, lanes=[lane]))
    assert not memory.recall(query, lanes=[lane], as_of=then - 1)


def test_a_later_memory_leaves_no_trace_in_what_is_recalled_of_the_past(opened, clock):
    """Neither as a neighbour nor by its conversation."""
    memory = opened(clock=clock, embedder="hashed:words", receipt_items=10)
    memory.remember("the boiler was loud", conversation="talk")
    then = clock.now()
    clock.advance(days=1)
    before = memory.recall("boiler manual", policy="broad", as_of=then)
    memory.remember("the boiler manual is in the cellar", conversation="talk")
    after = memory.recall("boiler manual", policy="broad", as_of=then)
    assert ids(before) == ids(after)
    assert set(after[0].receipt.parts) <= {"lexical", "semantic", "closeness"}


# -- factors --


def _two(memory, **second):
    """Two that say the same of a lamp; without more, the first comes first."""
    return memory.remember("the lamp is alpha"), memory.remember("the lamp is bravo", **second)


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        ({"importance": 0.9}, {}),
        ({"importance": 0.6}, {}),
        ({"tags": ["correction"]}, {}),
        ({"speaker": "anna"}, {"prefer_speaker": "anna"}),
    ],
)
def test_what_weighs_more_comes_first(memory, fields, asked):
    first, second = _two(memory, **fields)
    found = memory.recall("which lamp", **asked)
    assert ids(found) == [second.id, first.id]
    assert any(factor > 1 for factor in found[0].receipt.factors.values())
    assert not any(factor > 1 for factor in found[1].receipt.factors.values())


@pytest.mark.parametrize(
    ("fields", "factor"), [({"importance": 0.1}, "importance"), ({"confidence": 0.2}, "confidence")]
)
def test_what_weighs_less_comes_last(memory, fields, factor):
    less = memory.remember("the lamp is bravo", **fields)
    plain = memory.remember("the lamp is alpha")
    found = memory.recall("which lamp")
    assert ids(found) == [plain.id, less.id]
    assert found[1].receipt.factors[factor] < 1.0


def test_nobody_is_preferred_unless_asked_and_others_still_come(memory):
    first, second = _two(memory, speaker="anna")
    assert ids(memory.recall("which lamp")) == [first.id, second.id]
    assert ids(memory.recall("which lamp", prefer_speaker="bob")) == [first.id, second.id]
    assert ids(memory.recall("which lamp", prefer_speaker="anna")) == [second.id, first.id]


@pytest.mark.parametrize(
    ("kind", "half_life", "fades"), [("episode", 30.0, True), ("episode", 0.0, False), ("decision", 30.0, False)]
)
def test_only_episodes_fade_and_only_as_set(opened, clock, kind, half_life, fades):
    memory = opened(clock=clock, half_life_days=half_life)
    old = memory.remember("we looked at the lamp alpha", kind=kind, occurred_at=clock.now() - 60 * DAY)
    new = memory.remember("we looked at the lamp bravo", kind=kind, occurred_at=clock.now() - DAY)
    found = memory.recall("who looked at which lamp")
    assert ids(found) == ([new.id, old.id] if fades else [old.id, new.id])
    assert ("recency" in found[0].receipt.factors) == fades


def test_at_a_moment_in_the_past_what_was_fresh_then_has_not_faded(memory, clock):
    memory.remember("we looked at the lamp", kind="episode")
    then = clock.now()
    clock.advance(days=90)
    assert "recency" in memory.recall("looked at the lamp")[0].receipt.factors
    assert "recency" not in memory.recall("looked at the lamp", as_of=then)[0].receipt.factors


def test_a_shorter_half_life_fades_faster(path, clock):
    with open_store(path, clock=clock) as memory:
        memory.remember("we looked at the lamp", kind="episode", occurred_at=clock.now() - 10 * DAY)
    factors = []
    for days in (1.0, 10.0, 1_000.0):
        with open_store(path, clock=clock, half_life_days=days) as memory:
            factors.append(memory.recall("looked at the lamp")[0].receipt.factors["recency"])
    assert factors == sorted(set(factors))


# -- repetition --


def test_what_was_just_shown_gives_way_within_its_conversation(memory):
    first, second = _two(memory)

    def next_one(**more):
        return ids(memory.recall("which lamp", limit=1, **{"mode": "automatic", "conversation": "talk", **more}))

    assert next_one() == [first.id]
    assert next_one() == [second.id]
    assert next_one(conversation="another talk") == [first.id]
    assert next_one(conversation="") == [first.id]
    assert next_one(mode="asked", conversation="a talk with questions") == [first.id]
    assert next_one(conversation="a talk with questions") == [first.id], "what was asked for does not count as shown"
    assert "repeated" not in memory.recall("which lamp", conversation="talk").receipt.request
    below = memory.within("home/anna/diary")
    assert ids(below.recall("which lamp", limit=1, mode="automatic", conversation="talk")) == [first.id]


def test_after_some_turns_it_may_be_shown_again_and_the_receipt_stays_small(memory):
    kept = memory.remember("the lamp is alpha")
    memory.remember_many([Draft(f"carpet {number}") for number in range(300)])
    memory.recall("lamp", mode="automatic", conversation="talk")
    assert memory.recall("lamp", mode="automatic", conversation="talk")[0].receipt.factors["repeat"] < 1.0
    for _ in range(6):
        last = memory.recall("carpet", mode="automatic", conversation="talk", limit=200)
    assert len(last.receipt.request["repeated"]) <= 256
    assert memory.replay(last.receipt).same
    assert ids(memory.recall("lamp", mode="automatic", conversation="talk")) == [kept.id]
    assert "repeat" not in memory.recall("lamp", mode="automatic", conversation="talk2")[0].receipt.factors


def test_of_many_that_say_the_same_something_else_comes_too(memory):
    for word in ("early", "late", "grey", "cold"):
        memory.remember(f"Anna drinks green tea at the window in the {word} morning before work")
    other = memory.remember("Bob and Celia hate green tea, whatever the hour, and prefer some lemonade instead")
    assert other.id in ids(memory.recall("green tea", limit=2, policy="broad"))


# -- tiers, trust and sources --


def _graded(memory):
    grades = {"must": 0.9, "nice": 0.6, "unknown": None, "ignore": 0.1}
    return {
        name: [memory.remember(f"the lamp is {name}{number}", importance=share).id for number in range(3)]
        for name, share in grades.items()
    }


def test_asked_recall_goes_down_the_ladder_only_as_far_as_needed(memory):
    graded = _graded(memory)
    reached = {3: "must+nice", 6: "must+nice", 9: "must+nice+unknown", 12: "must+nice+unknown+ignore"}
    for limit, tier in reached.items():
        found = memory.recall("which lamp", limit=limit)
        assert len(found) == limit
        assert found.receipt.tier == tier
        assert sum(found.receipt.tiers.values()) == limit
    assert set(ids(memory.recall("which lamp", limit=6))) == {*graded["must"], *graded["nice"]}


def test_automatic_recall_mixes_grades_and_never_shows_ignore(memory):
    graded = _graded(memory)
    found = memory.recall("which lamp", limit=5, mode="automatic")
    assert found.receipt.tier == "quota"
    assert found.receipt.tiers == {"must_remember": 2, "nice_to_have": 3}
    everything = memory.recall("which lamp", limit=50, mode="automatic")
    assert set(ids(everything)) == {*graded["must"], *graded["nice"], *graded["unknown"]}
    assert everything.receipt.dropped == {"graded ignore, and nobody asked": 3}


def test_what_was_graded_ignore_is_found_when_asked_for(memory):
    noise = memory.remember("the lamp makes a noise", importance=0.1)
    assert ids(memory.recall("lamp noise")) == [noise.id]
    assert not memory.recall("lamp noise", mode="automatic")


@pytest.mark.parametrize("source", ["assistant", "tool", "web", "import"])
def test_what_is_not_trusted_speaks_only_when_nothing_trusted_does(memory, source):
    rumour = memory.remember("the lamp in the hall is broken", source=source)
    found = memory.recall("lamp in the hall")
    assert ids(found) == [rumour.id]
    assert found[0].receipt.trust == "untrusted"
    assert not memory.recall("lamp in the hall", mode="automatic")
    said = memory.remember("there is some lamp")
    assert ids(memory.recall("lamp in the hall")) == [said.id]
    assert ids(memory.recall("lamp in the hall", mode="automatic")) == [said.id]
    assert ids(memory.recall("lamp in the hall", trust="untrusted")) == [rumour.id]
    assert set(ids(memory.recall("lamp in the hall", trust=["trusted", "untrusted"]))) == {rumour.id, said.id}


@pytest.mark.parametrize("mode", ["asked", "automatic"])
@pytest.mark.parametrize("embedder", ["none", "hashed:words"])
def test_what_is_trusted_is_found_under_any_number_of_rumours(opened, mode, embedder):
    memory = opened(embedder=embedder)
    said = memory.remember("there was once a lamp in some corner of the house")
    memory.remember_many([Draft(f"lamp {number}", source="web") for number in range(400)])
    found = memory.recall("lamp", mode=mode, policy="broad")
    assert ids(found) == [said.id]
    assert memory.replay(found.receipt).same


def test_at_most_three_come_from_one_source(memory):
    for number in range(6):
        memory.remember(f"lamp number {number}", source_ref="notes.md")
    own = memory.remember("a lamp of mine, said without a source")
    found = memory.recall("lamp", limit=10)
    assert [hit.memory.source_ref for hit in found].count("notes.md") == 3
    assert own.id in ids(found)
    assert found.receipt.dropped["enough of its source"] == 3


# -- fallback --


def test_fallback_scopes_are_asked_only_when_named_and_only_when_nothing_is_found_here(opened):
    memory = opened("home")
    attic, cellar = memory.within("home/attic"), memory.within("home/cellar")
    lamp, boiler = attic.remember("the lamp of the attic"), cellar.remember("the boiler of the cellar")
    assert not memory.recall("lamp")
    assert not memory.recall("lamp", fallback=["home/cellar"])
    found = memory.recall("lamp", fallback=["home/cellar", "home/attic"])
    assert ids(found) == [lamp.id]
    assert found.receipt.scopes == ("home/attic", "home")
    assert ids(memory.recall("boiler", fallback=["home/attic", "home/cellar"])) == [boiler.id]
    own = memory.remember("the lamp of the house")
    assert ids(memory.recall("lamp", fallback=["home/attic"])) == [own.id]
    assert memory.recall("hello", fallback=["home/attic"]).receipt.abstained == "trivial prompt"


@pytest.mark.parametrize("scope", ["home/bob", "home", "other", "home/annabel"])
def test_a_fallback_cannot_leave_the_scope(opened, scope):
    opened(scope).remember("the lamp of somebody else")
    with pytest.raises(Refused):
        opened("home/anna").recall("carpet", fallback=[scope])


@pytest.mark.parametrize("fallback", ["home/anna/x", 7, None, ["home/anna/x"] * 7, [""], [None], ["*"]])
def test_a_bad_fallback_is_refused(memory, fallback):
    with pytest.raises(InvalidInput):
        memory.recall("lamp", fallback=fallback)


# -- abstaining --


def test_the_surer_the_fewer(memory):
    texts = ["the reading lamp stands beside the bed", "a lamp", "reading is fun", "the bed is wide", "the carpet"]
    for text in texts:
        memory.remember(text)
    found = {policy: memory.recall("the reading lamp beside the bed", policy=policy, limit=50) for policy in BARS}
    assert [len(found[policy]) for policy in ("strict", "balanced", "broad")] == sorted(
        len(each) for each in found.values()
    )
    assert set(ids(found["strict"])) <= set(ids(found["balanced"])) <= set(ids(found["broad"]))
    assert len(found["strict"]) == 1
    assert len(found["broad"]) == 4
    for policy, each in found.items():
        assert each.receipt.bar == BARS[policy]
        assert all(hit.receipt.relevance >= BARS[policy] for hit in each)


@pytest.mark.parametrize("policy", ["strict", "balanced"])
def test_with_the_bundled_embedder_what_is_not_there_is_not_answered(bundled, policy):
    found = bundled.recall("What is the capital gains tax rate for submarines?", policy=policy)
    assert not found
    assert found.receipt.abstained == "nothing cleared the bar"
    assert found.receipt.proposed > 0


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("How should I reply to Anna?", "Anna prefers short answers."),
        ("Where can I find the instructions for the heating?", "The boiler manual is in the cellar."),
        ("Gdzie jest instrukcja do kotła?", "The boiler manual is in the cellar."),
        ("安娜喜欢怎样的回答？", "Anna prefers short answers."),
    ],
)
def test_with_the_bundled_embedder_meaning_is_found_across_words_and_languages(bundled, query, answer):
    found = bundled.recall(query, policy="broad")
    assert found[0].memory.text == answer
    assert found[0].receipt.semantic_rank == 1


@pytest.fixture(scope="module")
def bundled(tmp_path_factory, model_cache):
    path = tmp_path_factory.mktemp("bundled") / "store.db"
    with open_store(path, embedder="auto", cache=model_cache) as memory:
        memory.remember_many(
            [
                "Anna prefers short answers.",
                "The boiler manual is in the cellar.",
                "Bob plays the cello on Sundays.",
                "The garage door opens at six in the morning.",
                "Celia is allergic to peanuts.",
            ]
        )
        yield memory


# -- time --


@pytest.mark.parametrize("embedder", ["none", "hashed:words"])
@pytest.mark.parametrize(
    "query",
    ["what happened last week?", "co się działo w zeszłym tygodniu?", "上周发生了什么？", "was war letzte Woche?"],
)
def test_only_a_time_asked_gives_what_happened_then_in_order(opened, clock, query, embedder):
    memory = opened(clock=clock, embedder=embedder)
    memory.remember("a visit to the dentist", occurred_at="2025-12-19", kind="fact")
    second = memory.remember("the cat came home", occurred_at="2025-12-23", kind="fact")
    third = memory.remember("a walk in the snow", occurred_at="2025-12-27", kind="fact")
    memory.remember("the year began", occurred_at="2026-01-01", kind="fact")
    found = memory.recall(query)
    assert ids(found) == [second.id, third.id]
    assert "structured" in found.receipt.lanes
    assert not memory.recall(query, lanes=["lexical", "semantic"], policy="strict")
    assert not memory.recall(query, time_after="2026-01-01")


def test_a_time_in_the_query_speaks_for_what_happened_then(opened, clock):
    memory = opened(clock=clock, embedder="hashed:words")
    april = memory.remember("a long walk with Bob in the woods", occurred_at="2023-04-03")
    may = memory.remember("a long walk with Bob in the fields", occurred_at="2023-05-03")
    assert ids(memory.recall("the walk with Bob"))[0] == april.id
    found = memory.recall("the walk with Bob in May 2023")
    assert found[0].id == may.id
    assert found[0].receipt.parts["time"] > 0
    assert found[0].receipt.structured_rank == 1
    assert "time" not in memory.recall("the walk with Bob in May 2023", lanes=["lexical", "semantic"])[0].receipt.parts


# -- priors --


def _parts(path, query, **settings):
    with open_store(path, embedder="hashed:words", receipt_items=10, **settings) as memory:
        return {hit.memory.text: set(hit.receipt.parts) for hit in memory.recall(query, policy="broad", limit=10)}


def test_what_a_chat_adds_is_switched_off_by_setting(path):
    with open_store(path, embedder="hashed:words") as memory:
        memory.remember("where is the boiler manual?", conversation="talk", speaker="bob", occurred_at="2025-05-01")
        memory.remember("in the cellar", conversation="talk", speaker="anna", occurred_at="2025-05-01")
    query = "did anna say in May 2025 where the boiler manual is?"
    chat = {
        "neighbours": {"lexical around", "semantic around"},
        "conversation": {"conversation"},
        "speaker": {"speaker"},
        "time": {"time"},
    }
    parts = _parts(path, query)["in the cellar"]
    for prior, names in chat.items():
        assert names & parts, prior
        alone = _parts(path, query, recall_priors=prior)["in the cellar"]
        assert names & alone
        assert not alone & {name for other, found in chat.items() if other != prior for name in found}
    none = _parts(path, query, recall_priors="none")
    assert not set.union(*chat.values()) & set.union(*none.values())


def test_an_answer_is_found_beside_its_question(path):
    with open_store(path, embedder="hashed:words") as memory:
        memory.remember("where did we put the boiler manual?", conversation="talk")
        answer = memory.remember("down there, on the shelf", conversation="talk")
        memory.remember("some other shelf stands upstairs")
        found = memory.recall("boiler manual", policy="broad")
        assert answer.id in ids(found)


@pytest.mark.parametrize("query", ["the of and", "AND OR NOT", "who?", "how are you today?", "w i na"])
def test_small_words_alone_are_no_question(memory, query):
    memory.remember("The key of the house and the garden is with Ann, who is out today.")
    found = memory.recall(query, policy="broad")
    assert not found
    assert found.receipt.abstained == "only small words"
    assert found.receipt.searched == 0


def test_what_is_so_has_no_time_unless_it_is_given_one(memory):
    memory.remember("Garbage is collected by the city.", kind="fact")
    memory.remember("Ann prefers tea.", kind="preference")
    zoo = memory.remember("We went to the zoo.", kind="episode")
    assert [hit.id for hit in memory.recall("what happened today?")] == [zoo.id]


def test_an_identifier_that_is_not_there_is_not_answered_with_another_under_strict(memory):
    memory.remember("The ticket JIRA-2381 is about invoices.")
    assert not memory.recall("what is ticket JIRA-2382 about", policy="strict")
    near = memory.recall("what is ticket JIRA-2382 about", policy="broad")[0]
    assert near.receipt.factors["other identifier"] < 1
    assert memory.recall("what is ticket JIRA-2381 about", policy="strict")


def test_a_conversation_that_is_named_is_the_only_one_meant(memory):
    for talk in range(3):
        for line in ("the kiln is hot", "the glaze is blue"):
            memory.remember(f"{line} in week {talk}", conversation=f"talk-{talk}", speaker="Lucy")
    found = memory.recall("what about the glaze in our second conversation?", policy="broad")
    assert {hit.memory.conversation for hit in found} == {"talk-1"}
    assert found.receipt.dropped["another conversation"] > 0


def test_nothing_of_that_time_says_so(memory):
    memory.remember("We went to the zoo.", kind="episode")
    assert memory.recall("what happened in 1999?").receipt.abstained == "nothing happened then"
