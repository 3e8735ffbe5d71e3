"""The store against a plain dictionary: whatever happens, in whatever order, they agree."""

import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from memoranda import Conflict, NotFound, Refused
from memoranda.testing.fakes import FixedClock
from support import as_pairs, open_store

ROOT, ANNA, BOB = "home", "home/anna", "home/bob"
SCOPES = (ROOT, ANNA, BOB)
# No word is in two of them: a recall by the whole text finds that text and no other.
TEXTS = (
    "Purple apples cool quickly",
    "Boilers hum 7 times nightly",
    "Zażółć gęślą jaźń",
    "candle.wick/burns@low",
    "龍が眠る",
)
GRACE_MS = 30 * 86_400_000

scopes = st.sampled_from(SCOPES)
texts = st.sampled_from(TEXTS)
steps = st.sampled_from([0, 0, 1, 1_000, 86_400_000, 20 * 86_400_000])


def sees(scope, other):
    return scope == other or scope.startswith(other + "/")


@dataclass
class Kept:
    """What the model knows of one memory."""

    id: str
    scope: str
    text: str
    state: str = "live"
    confidence: float = 0.5
    superseded_by: str | None = None
    changed: int = 0
    past: list = field(default_factory=list)

    def note(self, at):
        self.changed = at
        self.past.append((at, replace(self, past=[])))

    def at(self, moment):
        before = [kept for at, kept in self.past if at <= moment]
        return before[-1] if before else None

    def shown(self):
        return (self.id, self.scope, self.text, self.state, self.confidence, self.superseded_by)


def shown(memory):
    return (memory.id, memory.scope, memory.text, memory.state, memory.confidence, memory.superseded_by)


class Store(RuleBasedStateMachine):
    """Three scopes: one above, two beside each other."""

    ids = Bundle("ids")

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="memoranda-model-"))
        self.path = self.folder / "store.db"
        self.clock = FixedClock()
        self.kept = {}
        self.buried = set()
        self.moments = [self.clock.now()]
        self.open()

    def open(self):
        self.memory = open_store(self.path, ROOT, clock=self.clock)
        self.faces = {scope: self.memory.within(scope) for scope in SCOPES}

    def teardown(self):
        try:
            assert self.memory.admin.verify().ok
            before = self.all_recalls()
            self.memory.close()
            shutil.rmtree(self.folder / "store.db-index", ignore_errors=True)
            self.open()
            self.swept()
            assert self.all_recalls() == before, "a rebuilt index answers otherwise"
        finally:
            self.memory.close()
            shutil.rmtree(self.folder)

    def all_recalls(self):
        return {(scope, text): as_pairs(self.faces[scope].recall(text, limit=50)) for scope in SCOPES for text in TEXTS}

    # -- what the model expects --

    def visible(self, scope):
        return [kept for kept in self.kept.values() if sees(scope, kept.scope)]

    def same(self, scope, text):
        return next((k for k in self.kept.values() if (k.scope, k.text, k.state) == (scope, text, "live")), None)

    def refusal(self, scope, kept):
        """Why this scope may not change it, if so."""
        if kept is None or not sees(scope, kept.scope):
            return NotFound
        return None if sees(kept.scope, scope) else Refused

    def swept(self):
        """Opening erases what was forgotten long ago."""
        for kept in list(self.kept.values()):
            if kept.state == "forgotten" and kept.changed <= self.clock.now() - GRACE_MS:
                self.bury(kept)

    def bury(self, kept):
        del self.kept[kept.id]
        self.buried.add((kept.scope, kept.text))

    def say(self, scope, text):
        """The model after a remember that is allowed; what it expects as the outcome, and the id if it is known."""
        same = self.same(scope, text)
        if same is None:
            return "created", None
        same.confidence = min(1.0, round(same.confidence + 0.1, 6))
        same.note(self.clock.now())
        return "reinforced", same.id

    def create(self, result):
        kept = Kept(result.id, result.memory.scope, result.memory.text)
        kept.note(self.clock.now())
        self.kept[kept.id] = kept

    # -- rules --

    @rule(step=steps)
    def time_goes_on(self, step):
        self.moments.append(self.clock.now())
        self.clock.advance(ms=step)

    @rule(target=ids, scope=scopes, text=texts, allow=st.booleans())
    def remember(self, scope, text, allow):
        memory = self.faces[scope]
        if (scope, text) in self.buried and not allow:
            with pytest.raises(Refused):
                memory.remember(text)
            return multiple()
        expected = self.say(scope, text)
        result = memory.remember(text, confidence=0.5, after_erase="allow" if allow else "refuse")
        assert result.receipt.outcome == expected[0]
        if expected[1] is None:
            self.create(result)
            return result.id
        assert result.id == expected[1]
        return multiple()

    @rule(target=ids, scope=scopes, text=texts, old=ids)
    def supersede(self, scope, text, old):
        memory, kept = self.faces[scope], self.kept.get(old)
        wrong = Refused if (scope, text) in self.buried else self.refusal(scope, kept)
        wrong = wrong or (Conflict if kept.state != "live" else None)
        if wrong:
            with pytest.raises(wrong):
                memory.remember(text, supersedes=old)
            return multiple()
        same = self.same(scope, text)
        expected = ("created", None) if same is kept else self.say(scope, text)
        result = memory.remember(text, confidence=0.5, supersedes=old)
        assert result.receipt.outcome == expected[0]
        assert result.receipt.superseded == old
        if expected[1] is None:
            self.create(result)
        kept.state, kept.superseded_by = "superseded", result.id
        kept.note(self.clock.now())
        return result.id if expected[1] is None else multiple()

    def change(self, verb, scope, reference, allowed):
        memory, kept = self.faces[scope], self.kept.get(reference)
        wrong = self.refusal(scope, kept) or (None if allowed(kept) else Conflict)
        if wrong:
            with pytest.raises(wrong):
                getattr(memory, verb)(reference)
            return None
        getattr(memory, verb)(reference)
        return kept

    @rule(scope=scopes, reference=ids)
    def forget(self, scope, reference):
        if kept := self.change("forget", scope, reference, lambda kept: kept.state != "forgotten"):
            kept.state = "forgotten"
            kept.note(self.clock.now())

    @rule(scope=scopes, reference=ids)
    def archive(self, scope, reference):
        if kept := self.change("archive", scope, reference, lambda kept: kept.state not in ("archived", "forgotten")):
            kept.state = "archived"
            kept.note(self.clock.now())

    @rule(scope=scopes, reference=ids)
    def restore(self, scope, reference):
        def allowed(kept):
            in_grace = kept.state != "forgotten" or self.clock.now() < kept.changed + GRACE_MS
            return kept.state in ("forgotten", "archived") and in_grace

        kept = self.kept.get(reference)
        if kept and self.refusal(scope, kept) is Refused:
            with pytest.raises((Refused, Conflict)):
                self.faces[scope].restore(reference)
            return
        if kept := self.change("restore", scope, reference, allowed):
            earlier = [each.state for _, each in kept.past if each.state not in ("forgotten", kept.state)]
            kept.state = earlier[-1]
            kept.note(self.clock.now())

    @rule(scope=scopes, reference=consumes(ids))
    def erase(self, scope, reference):
        memory, kept = self.faces[scope], self.kept.get(reference)
        if wrong := self.refusal(scope, kept):
            with pytest.raises(wrong):
                memory.erase(reference)
            return
        erased = memory.erase(reference)
        assert erased.ids == (reference,)
        assert erased.purged, erased.receipt
        self.bury(kept)

    @rule()
    def close_and_open(self):
        self.memory.close()
        self.open()
        self.swept()

    @rule()
    def throw_the_index_away(self):
        shutil.rmtree(self.folder / "store.db-index", ignore_errors=True)

    @rule(scope=scopes, text=texts)
    def recall(self, scope, text):
        found = {hit.id for hit in self.faces[scope].recall(text, limit=50)}
        assert found == {kept.id for kept in self.visible(scope) if kept.state == "live" and kept.text == text}

    @rule(scope=scopes, text=texts, data=st.data())
    def look_back(self, scope, text, data):
        moment = data.draw(st.sampled_from(self.moments))
        memory = self.faces[scope]
        then = [past for kept in self.visible(scope) if (past := kept.at(moment)) is not None]
        listed = memory.list(states=(), as_of=moment, limit=1000)
        assert [shown(each) for each in listed] == [past.shown() for past in reversed(then)]
        found = {hit.id for hit in memory.recall(text, as_of=moment, limit=50)}
        assert found == {past.id for past in then if past.state == "live" and past.text == text}
        for kept in self.visible(scope):
            if past := kept.at(moment):
                assert shown(memory.get(kept.id, as_of=moment)) == past.shown()
            else:
                with pytest.raises(NotFound):
                    memory.get(kept.id, as_of=moment)

    # -- always --

    @invariant()
    def every_scope_shows_what_the_model_says(self):
        for scope, memory in self.faces.items():
            expected = [kept.shown() for kept in reversed(self.visible(scope))]
            listed = memory.list(states=(), limit=1000)
            assert [shown(each) for each in listed] == expected
            assert listed.total == len(expected)
            assert all(sees(scope, each.scope) for each in listed), "a sibling's memory is visible"
            stats = memory.stats()
            assert stats.total == len(expected)
            counted = {}
            for kept in self.visible(scope):
                counted[kept.state] = counted.get(kept.state, 0) + 1
            assert stats.by_state == counted

    @invariant()
    def the_newest_is_got_where_it_may_be_seen_and_nowhere_else(self):
        if self.kept:
            kept = list(self.kept.values())[-1]
            for scope, memory in self.faces.items():
                if sees(scope, kept.scope):
                    assert shown(memory.get(kept.id)) == kept.shown()
                else:
                    with pytest.raises(NotFound):
                        memory.get(kept.id)


_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


class TestStore(Store.TestCase):
    settings = settings(max_examples=10, stateful_step_count=25, deadline=None, suppress_health_check=_QUIET)


@pytest.mark.slow
@pytest.mark.timeout(900)
class TestStoreForLong(Store.TestCase):
    settings = settings(max_examples=80, stateful_step_count=50, deadline=None, suppress_health_check=_QUIET)
