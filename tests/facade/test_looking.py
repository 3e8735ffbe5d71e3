"""Looking at what is kept: pages, the timeline, growth by day, scopes; and nothing of another scope in any of them."""

import asyncio
import random
from collections import Counter

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

import memoranda
from memoranda import Ambiguous, Conflict, Draft, InvalidInput, LongTermMemory, NotFound, Settings, user
from memoranda.domain.clock import DAY_MS, iso
from memoranda.domain.looking import ACTIONS
from memoranda.domain.memory import GRADES
from memoranda.domain.scope import Scope
from memoranda.ledger import schema
from memoranda.ledger.looking import browsed
from memoranda.service.looking import scopes
from support import open_store, quarantine

IMPORTANCES = (None, 0.0, 0.3, 0.49999, 0.5, 0.79999, 0.8, 1.0)
COUNTED = ("remembered", "reinforced", "superseded", "forgotten", "erased")
LETTERS = "aAbBzZ%_^*?[]-!äÄéÉжЖσΣς日 "


def bounded(memory, path, top):
    """What whoever was let in at `top` sees of the same store."""
    return LongTermMemory(memory._engine, Scope(path, top=top), owner=False)


def texts(listing):
    return [each.text for each in listing]


# -- list --


@pytest.fixture
def mixed(memory):
    """One memory of each sort beside many that are of no such sort."""
    memory.remember_many(Draft(f"one of many {number}", importance=0.3, tags=["many"]) for number in range(60))
    memory.remember("from the web", source="web", importance=0.3)
    memory.remember("by a tool", source="tool", importance=0.3)
    memory.remember("said in a talk", conversation="talk", importance=0.3)
    memory.remember("with two tags", tags=["red", "tall", "many"], importance=0.3)
    memory.remember("with one tag", tags=["red"], importance=0.3)
    memory.remember("of no grade")
    memory.remember("most important", importance=0.9)
    quarantine(memory, memory.remember("held back", importance=0.3))
    memory.remember_many(Draft(f"one of many later {number}", importance=0.3) for number in range(60))
    return memory


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"trust": "untrusted"}, ["by a tool", "from the web"]),
        ({"trust": ["untrusted", "quarantined"]}, ["held back", "by a tool", "from the web"]),
        ({"grade": "unknown"}, ["of no grade"]),
        ({"grade": ["must_remember", "unknown"]}, ["most important", "of no grade"]),
        ({"source": "web"}, ["from the web"]),
        ({"source": ["web", "tool"]}, ["by a tool", "from the web"]),
        ({"tags": ["red"]}, ["with one tag", "with two tags"]),
        ({"tags": ["red", "tall"]}, ["with two tags"]),
        ({"conversation": "talk"}, ["said in a talk"]),
        ({"text": "TWO T"}, ["with two tags"]),
        ({"text": "tag", "tags": ["many"], "grade": "ignore", "trust": "trusted"}, ["with two tags"]),
    ],
)
def test_each_filter_narrows_before_the_limit_and_the_total_counts_all_that_fit(mixed, asked, found):
    assert texts(mixed.list(**asked)) == found
    assert texts(mixed.list(**asked, limit=1)) == found[:1]
    assert mixed.list(**asked, limit=1).total == len(found)
    assert texts(mixed.list(**asked, limit=1, offset=len(found) - 1)) == found[-1:]


def test_a_memory_is_listed_under_the_grade_that_it_says_it_has(memory):
    for importance in IMPORTANCES:
        memory.remember(f"importance {importance}", importance=importance)
    everything = memory.list()
    for grade in GRADES:
        listed = memory.list(grade=grade)
        assert listed.total == len(listed) > 0
        assert texts(listed) == [each.text for each in everything if each.grade == grade]
    assert memory.list(grade=GRADES).total == len(IMPORTANCES)
    assert memory.stats().by_grade == dict(Counter(each.grade for each in everything))


def test_orders_are_what_they_are_called_and_no_importance_comes_last(memory):
    for importance in IMPORTANCES:
        memory.remember(f"importance {importance}", importance=importance)
    newest = texts(memory.list())
    assert texts(memory.list(order="oldest")) == newest[::-1]
    by_importance = [each.importance for each in memory.list(order="importance")]
    assert by_importance == [*sorted(IMPORTANCES[1:], reverse=True), None]
    assert texts(memory.list(order="importance", limit=2, offset=1)) == ["importance 0.8", "importance 0.79999"]


def test_the_past_is_browsed_as_it_was(memory, clock):
    memory.remember("the lamp is green")
    before = clock.now()
    clock.advance(days=1)
    memory.remember("the lamp is green", importance=0.9, tags=["light"])
    memory.remember("the LAMP is new", importance=0.2)
    assert texts(memory.list(grade="unknown", as_of=before)) == ["the lamp is green"]
    assert memory.list(grade="unknown").total == 0
    assert memory.list(tags=["light"], as_of=before).total == 0
    assert memory.list(tags=["light"]).total == 1
    assert memory.list(text="lamp", as_of=before).total == 1
    assert texts(memory.list(order="importance", as_of=clock.now())) == ["the lamp is green", "the LAMP is new"]


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        ("100% sure", "0% S"),
        ("snake_case", "E_c"),
        ("a ^ b", "^"),
        ("Straße 5", "STRASSE"),
        ("STRASSE 5", "straße"),
        ("Äpfel [2*3?]", "äPFEL [2*3?]"),
        ("Люблю Москву", "люблю мОСКВУ"),
        ("ὁ λόγος", "ΛΌΓΟΣ"),
        ("東京タワー", "京タ"),
    ],
)
def test_letters_are_found_in_whatever_case_and_none_is_a_wildcard(memory, kept, asked):
    memory.remember(kept)
    memory.remember("something else, a100 Xsure snakeXcase äpfel 23")
    assert texts(memory.list(text=asked)) == [kept]


@given(st.text(LETTERS, min_size=1, max_size=12), st.text(LETTERS, min_size=1, max_size=3))
def test_letters_are_found_exactly_where_they_are(text, part):
    (condition,), values = browsed("", (), ":kept", part)
    row = apsw.Connection(":memory:").execute(f"select {condition}", {**values, "kept": text}).fetchone()
    assert bool(row[0]) == (part.casefold() in text.casefold())


@pytest.mark.embedded_only("asks with a scope that has a top")
def test_here_leaves_out_what_is_above_and_nothing_shows_what_is_beside(opened):
    bot = opened("bot-1")
    for scope in ("bot-1", "bot-1/a", "bot-1/a/b", "bot-1/ab"):
        bot.within(scope).remember(f"kept in {scope}", tags=["x"], conversation="c", importance=0.9)
    opened("bot-10").remember("kept in bot-10", tags=["x"], conversation="c", importance=0.9)
    inner = bot.within("bot-1/a/b")
    assert texts(inner.list(here=True)) == ["kept in bot-1/a/b"]
    for asked in ({"text": "kept"}, {"tags": ["x"]}, {"conversation": "c"}, {"grade": "must_remember"}):
        assert texts(inner.list(**asked)) == ["kept in bot-1/a/b", "kept in bot-1/a", "kept in bot-1"]
        assert texts(bot.list(**asked)) == ["kept in bot-1"]
        assert texts(bounded(bot, "bot-1/a/b", "bot-1/a").list(**asked)) == ["kept in bot-1/a/b", "kept in bot-1/a"]


@pytest.mark.parametrize(
    "asked",
    [
        {"trust": "certain"}, {"grade": "high"}, {"grade": 3}, {"source": ["rumour"]}, {"tags": "red"},
        {"order": "random"}, {"text": "\ud800"}, {"text": "a" * 513}, {"conversation": "\0"}, {"kind": "rumour"},
    ],
)  # fmt: skip
def test_a_filter_that_is_none_is_refused_with_a_hint(memory, asked):
    with pytest.raises(InvalidInput) as refused:
        memory.list(**asked)
    assert refused.value.hint


# -- timeline --


def test_the_timeline_tells_everything_newest_first_page_by_page(memory, clock):
    lamp = memory.remember("the lamp is green")
    clock.advance(days=1)
    memory.remember("the lamp is green")
    other = memory.remember("the lamp is red now", supersedes=lamp)
    clock.advance(days=1)
    memory.forget(other, reason="sold")
    memory.restore(other)
    whole = memory.timeline()
    actions = ["restored", "forgotten", "superseded", "remembered", "reinforced", "remembered"]
    assert [event.action for event in whole] == actions
    assert whole.next is None
    assert whole[1].reason == "sold"
    assert "lamp" not in repr(tuple(whole))
    paged, before = [], None
    while True:
        page = memory.timeline(limit=2, before=before)
        paged += page
        if (before := page.next) is None:
            break
    assert paged == list(whole)
    assert memory.timeline(limit=6).next is None
    assert memory.timeline(limit=5).next == whole[4].sequence


@pytest.mark.embedded_only("who acts is told by the token")
def test_the_timeline_is_narrowed_by_action_actor_memory_and_time(opened, clock):
    anna = opened(clock=clock, actor="anna")
    first = anna.remember("first")
    clock.advance(days=1)
    ben = opened(clock=clock, actor="ben")
    second = ben.remember("second")
    ben.archive(first)
    clock.advance(days=1)
    anna.forget(second)
    assert [each.memory_id for each in anna.timeline(action="remembered")] == [second.id, first.id]
    assert [each.action for each in anna.timeline(actor="ben")] == ["archived", "remembered"]
    assert [each.action for each in anna.timeline(reference=first)] == ["archived", "remembered"]
    assert [each.action for each in anna.timeline(reference=second.id[:10])] == ["forgotten", "remembered"]
    assert [each.action for each in anna.timeline(after="2026-01-02", until="2026-01-02")] == ["archived", "remembered"]
    assert [each.action for each in anna.timeline(after="2026-01-03")] == ["forgotten"]
    assert [each.memory_id for each in anna.timeline(until="2026-01-01")] == [first.id]


def test_of_what_was_erased_the_timeline_tells_that_it_was_there_and_no_word_more(memory):
    gone = memory.remember("the safe code is on the door")
    memory.archive(gone, reason="moved")
    memory.erase(gone)
    told = memory.timeline(reference=gone.id[:8])
    assert [event.action for event in told] == ["erased", "archived", "remembered"]
    assert {event.reason for event in told} == {""}


@pytest.mark.embedded_only("asks with a scope that has a top")
def test_the_timeline_looks_upward_and_when_asked_below_never_beside(opened):
    bot = opened("bot-1")
    kept = {s: bot.within(s).remember(f"in {s}") for s in ("bot-1", "bot-1/a", "bot-1/a/b", "bot-1/a0", "bot-1/c")}
    other = opened("bot-10")
    foreign = other.remember("in bot-10")

    def seen(memory, **asked):
        return [event.scope for event in memory.timeline(**asked)][::-1]

    a = bot.within("bot-1/a")
    assert seen(a) == ["bot-1", "bot-1/a"]
    assert seen(a, below=True) == ["bot-1", "bot-1/a", "bot-1/a/b"]
    assert seen(bot, below=True) == list(kept)
    assert seen(other, below=True) == ["bot-10"]
    assert seen(bounded(bot, "bot-1/a/b", "bot-1/a"), below=True) == ["bot-1/a", "bot-1/a/b"]
    for reference in (foreign, kept["bot-1/c"], "0123456789abcdefghjk"):
        with pytest.raises(NotFound):
            a.timeline(reference=reference, below=True)
    with pytest.raises(NotFound):
        a.timeline(reference=kept["bot-1/a/b"])
    assert len(a.timeline(reference=kept["bot-1/a/b"], below=True)) == 1
    with pytest.raises(NotFound):
        bounded(bot, "bot-1/a/b", "bot-1/a").timeline(reference=kept["bot-1"])


@pytest.mark.embedded_only("changes ids in the ledger")
def test_a_beginning_that_fits_several_memories_is_told_with_all_of_them(memory):
    ids = [memory.remember(f"thing {number}").id for number in range(3)]
    database = memory._engine.ledger.database
    for number, each in enumerate(ids, 1):
        alike = f"aaaa{number:016}"
        for table, column in (("memory", "id"), ("event", "memory_id")):
            change = f"update {table} set {column} = ? where {column} = ?"
            database.write(
                lambda connection, sql=change, to=alike, old=each: connection.execute(sql, (to, old)).fetchall()
            )
    with pytest.raises(Ambiguous) as refused:
        memory.timeline(reference="aaaa")
    assert len(refused.value.candidates) == 3


@pytest.mark.parametrize(
    "asked",
    [{"limit": 0}, {"before": 0}, {"before": True}, {"before": 1 << 70}, {"action": "sold"}, {"reference": ""},
     {"reference": "x'; --"}, {"after": "soon"}, {"until": []}, {"actor": "\0"}],
)  # fmt: skip
def test_a_timeline_that_cannot_be_asked_for_is_refused(memory, asked):
    with pytest.raises(InvalidInput) as refused:
        memory.timeline(**asked)
    assert refused.value.hint


def test_every_action_that_the_ledger_writes_can_be_asked_for(memory):
    assert schema._ACTIONS == ACTIONS
    for action in ACTIONS:
        assert not memory.timeline(action=action)


# -- growth --


def live_life(memory, clock, *, days, seed):
    """Days full of changes; how many were live in truth when each of them ended."""
    chance = random.Random(seed)
    ids, truth = [], {}
    for day in range(days):
        if day % 5 != 3:  # a day of rest
            for number in range(chance.randint(0, 6)):
                importance = chance.choice((None, 0.9))
                ids.append(memory.remember(f"thing {day} {number}", importance=importance).id)
            for _ in range(chance.randint(0, 12)):
                verb = chance.choice(("archive", "forget", "restore", "erase", "again", "correct", "lapse"))
                hidden = [each.id for each in memory.list(states=["archived", "forgotten"], order="oldest")]
                try:
                    _happen(memory, clock, chance.choice((hidden if verb == "restore" else ids) or [""]), verb)
                except (Conflict, NotFound, InvalidInput):
                    continue
        if day % 7 == 6:
            memory.admin.maintain()
        truth[iso(clock.now())[:10]] = memory.stats().by_state.get("live", 0)
        clock.advance(days=1)
    clock.advance(ms=-1)
    return truth


def _happen(memory, clock, reference, verb):
    if verb == "again":
        memory.remember(memory.get(reference).text)
    elif verb == "correct":
        memory.remember(f"instead of {reference[:8]}", supersedes=reference)  # a whole id may look like a key
    elif verb == "lapse":
        memory.remember(memory.get(reference).text, valid_until=clock.now() + DAY_MS)
    else:
        getattr(memory, verb)(reference)


@pytest.mark.parametrize("seed", range(6))
def test_growth_is_what_a_plain_count_of_the_history_gives(opened, clock, seed):
    memory = opened(clock=clock)
    truth = live_life(memory, clock, days=25, seed=seed)
    events = memory.timeline(limit=1000)
    assert events.next is None
    assert {*COUNTED, "archived", "restored"} <= {event.action for event in events}
    counted = Counter((iso(event.at)[:10], event.action) for event in events)
    unknown = {}
    for each in memory.list(states=(), limit=1000):
        first = memory.history(each)[0]
        unknown.setdefault(iso(first.event.at)[:10], []).append(first.memory.importance is None)
    grown = memory.growth(days=25)
    assert [day.day for day in grown] == list(truth)
    assert {day.day: day.live for day in grown} == truth
    for day in grown:
        names = (
            ("created", "remembered"),
            *((each, each) for each in ("reinforced", "superseded", "forgotten", "erased")),
        )
        assert {name: getattr(day, name) for name, _ in names} == {
            name: counted[day.day, action] for name, action in names
        }
        asked = unknown.get(day.day)
        assert day.unknown_share == (None if asked is None else pytest.approx(sum(asked) / len(asked)))
    assert grown[-1].live == memory.stats().by_state["live"]
    # A shorter look begins with what was there before it.
    assert memory.growth(days=7) == grown[-7:]


def test_what_was_live_stays_told_though_it_was_hidden_twice_brought_back_and_erased(memory, clock):
    kept = memory.remember("the lamp is green")
    for verb in (memory.archive, memory.forget, memory.restore, memory.restore, memory.erase):
        clock.advance(days=1)
        verb(kept)
    assert [day.live for day in memory.growth(days=6)] == [1, 0, 0, 0, 1, 0]
    assert [day.erased for day in memory.growth(days=6)] == [0, 0, 0, 0, 0, 1]
    assert memory.growth(days=6)[0].unknown_share is None


def test_growth_fills_the_days_on_which_nothing_happened(memory, clock):
    assert [day[1:] for day in memory.growth(days=2)] == [(0, 0, 0, 0, 0, 0, None)] * 2
    memory.remember("first", importance=0.9)
    clock.advance(days=3)
    memory.remember("second")
    days = memory.growth(days=5)
    assert [day.day for day in days] == ["2025-12-31", "2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"]
    assert [day.created for day in days] == [0, 1, 0, 0, 1]
    assert [day.live for day in days] == [0, 1, 1, 1, 2]
    assert [day.unknown_share for day in days] == [None, 0.0, None, None, 1.0]
    assert len(memory.growth(days=3650)) == 3650
    for wrong in (0, 3651, True, 1.5, "7"):
        with pytest.raises(InvalidInput):
            memory.growth(days=wrong)


@pytest.mark.embedded_only("asks with a scope that has a top")
def test_growth_counts_what_is_seen_and_when_asked_what_is_below_never_beside(opened):
    bot = opened("bot-1")
    for scope, number in (("bot-1", 1), ("bot-1/a", 2), ("bot-1/a/b", 4), ("bot-1/a0", 8)):
        bot.within(scope).remember_many(f"{scope} {each}" for each in range(number))
    opened("bot-10").remember_many(f"ten {each}" for each in range(16))

    def live(memory, **asked):
        today = memory.growth(days=1, **asked)[0]
        assert today.created == today.live
        return today.live

    assert live(bot) == 1
    assert live(bot, below=True) == 15
    assert live(bot.within("bot-1/a")) == 3
    assert live(bot.within("bot-1/a"), below=True) == 7
    assert live(bounded(bot, "bot-1/a", "bot-1/a"), below=True) == 6
    assert live(bounded(bot, "bot-1/a/b", "bot-1/a")) == 6


# -- scopes and counts --


@pytest.mark.embedded_only("asks with a scope that has a top")
def test_scopes_tell_what_each_holds_at_and_below_this_one(opened, clock, tmp_path):
    bot = opened("bot-1", clock=clock)
    bot.remember("one")
    clock.advance(days=1)
    below = bot.within("bot-1/a")
    below.forget(below.remember("two"))
    below.remember("three")
    bot.within("bot-1/talk").conversations.append([user("hello")], conversation="c")
    (tmp_path / "notes").mkdir()
    bot.within("bot-1/files").documents.add(tmp_path / "notes")
    gone = bot.within("bot-1/gone")
    gone.erase(gone.remember("four"))
    other = opened("bot-10", clock=clock)
    other.remember("ten")
    page = bot.scopes()
    then, now = clock.now() - DAY_MS, clock.now()
    assert [tuple(each) for each in page] == [
        ("bot-1", 1, 1, 0, 0, then),
        ("bot-1/a", 2, 1, 0, 0, now),
        ("bot-1/files", 0, 0, 0, 1, None),
        ("bot-1/talk", 0, 0, 1, 0, None),
    ]
    assert page.total == 4
    second = bot.scopes(limit=2, offset=1)
    assert [each.scope for each in second] == ["bot-1/a", "bot-1/files"]
    assert second.total == 4
    assert bot.scopes(offset=9).total == 4
    assert [each.scope for each in bot.within("bot-1/a").scopes()] == ["bot-1/a"]
    assert [each.scope for each in bounded(bot, "bot-1/a", "bot-1").scopes()] == ["bot-1/a"]
    assert [each.scope for each in other.scopes()] == ["bot-10"]
    everywhere = scopes(bot._engine, "")
    assert [each.scope for each in everywhere] == ["bot-1", "bot-1/a", "bot-1/files", "bot-1/talk", "bot-10"]
    for wrong in ("*", "bot-1/", "../bot-1"):
        with pytest.raises(InvalidInput):
            scopes(bot._engine, wrong)


@pytest.mark.embedded_only("asks with a scope that has a top")
def test_counts_take_in_nothing_above_the_top(opened):
    bot = opened("bot-1")
    bot.capture([user("Remember that the door code is on the fridge.")])
    inner = bot.within("bot-1/a")
    inner.capture([user("Remember that I prefer tea in the evening.")])
    inner.remember("from the web", source="web", kind="fact", importance=0.6)
    whole, cut = inner.stats(), bounded(bot, "bot-1/a", "bot-1/a").stats()
    assert (whole.total, cut.total) == (3, 2)
    assert (whole.capture["kept"], cut.capture["kept"]) == (2, 1)
    assert cut.by_scope == {"bot-1/a": 2}
    for counts in (cut.by_kind, cut.by_state, cut.by_trust, cut.by_grade):
        assert sum(counts.values()) == 2
    assert cut.by_trust["untrusted"] == cut.by_grade["nice_to_have"] == 1


@pytest.mark.embedded_only("asks with a scope that has a top")
def test_an_erasure_names_nothing_above_the_top(opened, tmp_path):
    said = "the spare key is under the third flower pot"
    outer = opened("a")
    for scope, talk in (("a", "outer talk"), ("a/b", "inner talk")):
        outer.within(scope).conversations.append([user(said)], conversation=talk)
        folder = tmp_path / scope.replace("/", "-")
        folder.mkdir()
        (folder / "keys.md").write_text(f"# Keys\n\n{said}\n")
        outer.within(scope).documents.add(folder)
        outer.within(scope).documents.sync()

    def told(top):
        kept = outer.within("a/b/c").remember(said, after_erase="allow")
        return " ".join(bounded(outer, "a/b/c", top).erase(kept).receipt.notes)

    whole, cut = told(""), told("a/b")
    for name in ("outer talk", str(tmp_path / "a" / "keys.md")):
        assert name in whole
        assert name not in cut
    for name in ("inner talk", str(tmp_path / "a-b" / "keys.md")):
        assert name in whole
        assert name in cut


@pytest.mark.embedded_only("has a face of its own")
def test_the_async_face_looks_in_the_same_way(path, clock):
    async def looked():
        settings = Settings(embedder="none", follow=False)
        async with memoranda.aio.open(path, scope="home", settings=settings, clock=clock) as memory:
            await memory.remember("The Lamp is green.", importance=0.9)
            return (
                await memory.list(text="lamp", grade="must_remember"),
                await memory.timeline(),
                await memory.growth(days=1),
                await memory.scopes(),
            )

    listed, timeline, growth, held = asyncio.run(looked())
    assert listed.total == len(timeline) == growth[0].live == held.total == 1
    with open_store(path, "home", clock=clock) as memory:
        assert (memory.timeline()[0], memory.growth(days=1), held[0]) == (timeline[0], growth, memory.scopes()[0])
