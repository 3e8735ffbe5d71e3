"""Time against a plain model: whatever was done, undone and rolled back, in whatever order, they agree."""

import contextlib
import hashlib
import json
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

import memoranda
from memoranda import Conflict, NotFound
from memoranda.domain.fact import holds_many
from memoranda.ledger import travel
from memoranda.testing.fakes import FixedClock
from support import open_store

# No word is in two of them: a recall by the whole text finds that text and no other.
TEXTS = (
    "Purple apples cool quickly",
    "Boilers hum 7 times nightly",
    "Zażółć gęślą jaźń",
    "candle.wick/burns@low",
)
ALL = ("live", "superseded", "archived", "forgotten", "expired")
texts = st.sampled_from(TEXTS)
picks = st.integers(0, 10_000)


def pick(items, place):
    items = list(items)
    return items[place % len(items)]


class Done:
    """One operation of the model: what was there before it, and what it touched."""

    def __init__(self, first, last, everything, touched, undoes=None):
        self.first, self.last = first, last
        self.everything = everything
        self.before = {each: everything.get(each) for each in touched}
        self.undoes = undoes
        self.undone = False

    def set_undone(self, undone):
        """An undo that is undone lets what it took back stand again."""
        self.undone = undone
        if self.undoes is not None:
            self.undoes.set_undone(not undone)


class Journey(RuleBasedStateMachine):
    """One scope and one writer. `held` is what there should be: id -> memory."""

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="memoranda-time-"))
        self.clock = FixedClock()
        self.memory = open_store(self.folder / "store.db", clock=self.clock)
        self.held = {}
        self.done = []
        self.tagged = []
        self.past = {0: {}}
        self.erased_at = {}
        self.count = 0

    def teardown(self):
        try:
            self.recall_finds_what_is_live()
            assert self.memory.admin.verify().ok
        finally:
            self.memory.close()
            shutil.rmtree(self.folder)

    # -- looking --

    def observed(self, **as_of):
        """Everything, whatever its state."""
        page = self.memory.list(states=ALL, here=True, limit=1_000, order="oldest", **as_of)
        return {each.id: each for each in page}

    def sequence(self):
        return self.memory.stats().sequence

    def write(self, act):
        """Do something, and take over what it did: this is about the way back."""
        self.clock.advance(ms=1)
        first = self.sequence() + 1
        result = act()
        after = self.observed()
        touched = {event.memory_id for event in self.memory.timeline(limit=50) if event.sequence >= first}
        assert touched >= {each for each, memory in after.items() if self.held.get(each) != memory}
        if touched:
            self.done.append(Done(first, self.sequence(), self.held, touched))
        self.held = after
        self.past[self.sequence()] = after
        return result

    # -- what the model expects --

    def steps(self, targets, *, even_if_same):
        """What each of these becomes on the way back, and how many stay gone."""
        became, gone = {}, 0
        self.barred = False
        for each, target in targets.items():
            now = self.held.get(each)
            if now is None:
                gone += target is not None or even_if_same
                continue
            then = target or now._replace(state="forgotten")
            if then.state == now.state == "forgotten" or (then == now and not even_if_same):
                continue
            buried = self.erased_at.get(now.text, -1) >= now.created_at
            if now.state == "forgotten" and buried:
                gone += 1
                self.barred = True
                continue
            became[each] = then._replace(updated_at=self.clock.now()) if then.state == "forgotten" else then
        return became, gone

    def is_changed_since(self, done):
        later = self.done[self.done.index(done) + 1 :]
        for other in later:
            touched = [each for each in other.before if each in done.before and each in self.held]
            if touched and not other.undone and other.undoes not in later:
                return True
        return False

    def has_rivals(self, done, became):
        """Whether something else has taken the place of what would come back."""
        for each, then in became.items():
            if then.state != "live" or self.held[each].state == "live":
                continue
            others = [other for other in self.held.values() if other.state == "live" and other.id not in done.before]
            same = [other for other in others if all(getattr(other, name) == getattr(then, name) for name in SAME)]
            if then.attribute and not holds_many(then.attribute):
                whose = ("about",) if then.about else ("about", "speaker")
                names = (*whose, "attribute", "context", "trust")
                same = same[:1] + [
                    other
                    for other in others
                    if all(getattr(other, name) == getattr(then, name) for name in names)
                    and (other.kind == "preference") == (then.kind == "preference")
                ]
            else:
                same = same[:1]
            for other in same:
                before = done.everything.get(other.id)
                if before is None or before.state != "live":
                    return True
        return False

    def went_back(self, became, gone, receipt, undoes=None):
        """The store did what the model did."""
        assert receipt.memories == len(became)
        assert receipt.memories == receipt.brought_back + receipt.taken_away + receipt.revised
        assert receipt.erased == gone
        said_before = {each.id for each in self.held.values() if each.state != "forgotten"}
        before = self.held
        self.held = {**self.held, **became}
        for memory in self.held.values():
            if memory.state != "forgotten" and memory.id not in said_before:
                assert self.erased_at.get(memory.text, -1) < memory.created_at, "erased words came back"
        if became:
            assert receipt.last - receipt.first + 1 == len(became)
            self.done.append(Done(receipt.first, receipt.last, before, became, undoes))
            if undoes is not None:
                undoes.set_undone(True)
        self.past[self.sequence()] = self.held

    def undo(self, done, given):
        became, gone = self.steps(done.before, even_if_same=True)
        if self.is_changed_since(done) or self.has_rivals(done, became):
            with pytest.raises(Conflict):
                self.memory.undo(given)
            return
        would = self.memory.undo(given, mode="preview")
        assert would.preview
        receipt = self.memory.undo(given).receipt
        assert receipt.target == done.first
        assert would.receipt == receipt._replace(first=0, last=0)
        self.went_back(became, gone, receipt, done)

    # -- rules: writing --

    @rule(text=texts, importance=st.sampled_from([None, 0.2, 0.9]), tag=st.sampled_from([(), ("home",)]))
    def remember(self, text, importance, tag):
        def act():
            return self.memory.remember(
                text,
                importance=importance,
                tags=tag,
                confidence=0.5,
                after_erase="allow" if self.count % 2 else "refuse",
            )

        self.count += 1
        if text in self.erased_at and not self.count % 2:
            with pytest.raises(memoranda.Refused):
                self.memory.remember(text)
            return
        self.write(act)

    @rule(chosen=st.lists(texts, min_size=2, max_size=3, unique=True))
    def remember_many(self, chosen):
        self.write(lambda: self.memory.remember_many([memoranda.Draft(text, after_erase="allow") for text in chosen]))

    @precondition(lambda self: any(each.state == "live" for each in self.held.values()))
    @rule(place=picks)
    def supersede(self, place):
        old = pick([each for each in self.held.values() if each.state == "live"], place)
        self.count += 1
        new = self.write(lambda: self.memory.remember(f"Correction number{self.count}", supersedes=old.id))
        assert self.held[old.id].superseded_by == new.id

    @rule(value=st.sampled_from(["hall", "cellar", "attic"]), thing=st.sampled_from(["key", "drill"]))
    def add_a_fact(self, value, thing):
        self.write(lambda: self.memory.facts.add(thing, "location", value, after_erase="allow"))

    @rule(name=st.sampled_from(["Anna", "Ania"]), traits=st.lists(st.sampled_from(["kind", "brief"]), max_size=2))
    def update_the_profile(self, name, traits):
        with contextlib.suppress(memoranda.Refused):  # its words were erased
            self.write(lambda: self.memory.profile.update(name=name, traits=traits))

    @rule(wish=st.sampled_from(["tea", "coffee"]))
    def capture(self, wish):
        self.count += 1
        said = f"Please remember that the {wish} of week {self.count} is in the drawer."
        self.write(lambda: self.memory.capture([memoranda.user(said)], conversation=f"talk-{self.count}"))

    @rule(wish=st.sampled_from(["40%", "60%"]))
    def prefer(self, wish):
        with contextlib.suppress(memoranda.Refused):  # its words were erased
            self.write(lambda: self.memory.preferences.set("lighting", "brightness", wish))

    @rule(
        verb=st.sampled_from(["archive_many", "forget_many"]),
        like=st.sampled_from([{"text": "e"}, {"about": "key"}, {"kind": "note"}, {"tags": ["home"]}]),
    )
    def let_go_of_many(self, verb, like):
        shown = getattr(self.memory, verb)(**like)
        done = self.write(lambda: getattr(self.memory, verb)(**like, mode="now", confirm=shown.confirm))
        assert (done.ids, done.receipt.changed) == (shown.ids, len(shown.ids))

    @precondition(lambda self: any(each.state in ("live", "superseded") for each in self.held.values()))
    @rule(place=picks, verb=st.sampled_from(["archive", "forget"]))
    def let_go(self, place, verb):
        chosen = pick([each for each in self.held.values() if each.state in ("live", "superseded")], place)
        self.write(lambda: getattr(self.memory, verb)(chosen.id))

    @precondition(lambda self: any(each.state == "live" for each in self.held.values()))
    @rule(place=picks, importance=st.sampled_from([0.1, 0.7]))
    def grade(self, place, importance):
        chosen = pick([each for each in self.held.values() if each.state == "live"], place)
        self.write(lambda: self.memory.grade(chosen.id, importance))

    @precondition(lambda self: any(each.state == "live" for each in self.held.values()))
    @rule(place=picks, trust=st.sampled_from(["trusted", "untrusted"]))
    def trust(self, place, trust):
        chosen = pick([each for each in self.held.values() if each.state == "live"], place)
        with contextlib.suppress(Conflict, memoranda.Refused):
            self.write(lambda: self.memory.trust(chosen.id, trust, confirm=True))

    @precondition(lambda self: any(each.state in ("archived", "forgotten") for each in self.held.values()))
    @rule(place=picks)
    def restore(self, place):
        chosen = pick([each for each in self.held.values() if each.state in ("archived", "forgotten")], place)
        self.write(lambda: self.memory.restore(chosen.id))

    @precondition(lambda self: self.held)
    @rule(place=picks)
    def erase(self, place):
        chosen = pick(self.held.values(), place)
        self.clock.advance(ms=1)
        assert self.memory.erase(chosen.id).purged
        self.held = {each: memory for each, memory in self.held.items() if each != chosen.id}
        self.erased_at.setdefault(chosen.text, self.clock.now())
        self.past[self.sequence()] = self.held

    # -- rules: time --

    @rule()
    def tag(self):
        self.clock.advance(ms=1)
        made = self.memory.tag(f"tag-{len(self.tagged)}")
        assert made.sequence == self.sequence()
        self.tagged.append((made, self.held))
        self.clock.advance(ms=1)

    @rule()
    def undo_the_last(self):
        self.clock.advance(ms=1)
        for done in reversed(self.done):
            if done.undoes is not None or done.undone or not any(each in self.held for each in done.before):
                continue
            became, _ = self.steps(done.before, even_if_same=True)
            if not became and self.barred:
                with pytest.raises(Conflict):
                    self.memory.undo()
                return
            if became or self.is_changed_since(done) or self.has_rivals(done, became):
                digest = digest_of(done.everything.values())
                untouched = all(each in self.held for each in done.everything)
                newest = done is self.done[-1]
                self.undo(done, None)
                if newest and untouched and not self.erased_at:
                    assert self.memory.contents().digest == digest
                return
        with pytest.raises(NotFound):
            self.memory.undo()

    @precondition(lambda self: self.done)
    @rule(place=picks, last=st.booleans())
    def undo_one(self, place, last):
        """Any of them: also an undo."""
        self.clock.advance(ms=1)
        done = pick(self.done, place)
        given = done.last if last else done.first
        if done.undone:
            with pytest.raises(Conflict):
                self.memory.undo(given)
            return
        self.undo(done, given)

    @rule(place=picks, by_tag=st.booleans())
    def rollback(self, place, by_tag):
        self.clock.advance(ms=1)
        if by_tag and self.tagged:
            made, there = pick(self.tagged, place)
            to, sequence = made.name, made.sequence
        else:
            sequence, there = pick(self.past.items(), place)
            to = sequence
        targets = {each: there.get(each) for each in {**there, **self.held}}
        became, gone = self.steps(targets, even_if_same=False)
        would = self.memory.rollback(to, mode="preview").receipt
        rolled = self.memory.rollback(to)
        assert would == rolled.receipt._replace(first=0, last=0)
        assert rolled.receipt.target == sequence
        if became:
            assert rolled.before.automatic
        self.went_back(became, gone, rolled.receipt)
        if not gone:
            assert self.memory.contents().digest == digest_of(there.values())

    # -- what always holds --

    @invariant()
    def everything_is_as_it_should_be(self):
        assert self.observed() == self.held
        held = self.memory.contents()
        assert held.digest == digest_of(self.held.values())
        assert held.memories == sum(each.state != "forgotten" for each in self.held.values())

    @invariant()
    def the_past_is_as_it_was(self):
        for made, there in self.tagged[-3:]:
            expected = {each: memory for each, memory in there.items() if each in self.held}
            assert self.observed(as_of=made.at) == expected

    @invariant()
    def operations_are_told(self):
        told = [(each.first, each.last, each.undone, each.undoes) for each in self.memory.operations(limit=500)]
        expected = [
            (each.first, each.last, each.undone, each.undoes and each.undoes.first) for each in reversed(self.done)
        ]
        assert told == expected

    def recall_finds_what_is_live(self):
        for text in TEXTS:
            found = {hit.memory.text for hit in self.memory.recall(text, limit=50)}
            live = any(each.text == text and each.state == "live" for each in self.held.values())
            assert (text in found) == live, text


SAME = ("content_hash", "about", "attribute", "context", "speaker", "trust")


def digest_of(held):
    """The digest as the documentation describes it."""
    lines = []
    for memory in sorted(held, key=lambda each: (each.created_at, each.id)):
        if memory.state != "forgotten":
            shown = {name: each for name, each in memory.as_json().items() if name not in ("updated_at", "grade")}
            lines.append(json.dumps(shown, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def run(examples, steps, **options):
    run_state_machine_as_test(
        Journey,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            **options,
        ),
    )


@pytest.fixture
def in_bites(monkeypatch):
    """Two memories are much, and take several commits."""
    monkeypatch.setattr(travel, "AT_ONCE", 0)
    monkeypatch.setattr(travel, "_BITE", 2)


def test_whatever_is_done_can_be_undone_and_rolled_back():
    run(8, 25)


@pytest.mark.usefixtures("in_bites")
def test_so_can_what_is_much_in_several_commits():
    run(3, 12, phases=[Phase.generate], report_multiple_bugs=False, database=None, derandomize=True)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_whatever_is_done_can_be_undone_and_rolled_back_many_times():
    run(40, 45)
