"""Whatever the store and the people at the files do in turn, nothing that anybody wrote is lost."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoranda.documents.mirror import escaped_lines, place_at
from memoranda.documents.mirror_reading import decoded
from memoranda.domain.memory import STATES
from memoranda.service import mirroring
from memoranda.testing.fakes import FixedClock
from support import open_store

TAILS = (
    "",
    "\nsecond line",
    "\n\n```\ncode\n```",
    " <!-- m: -->",
    "\tż 猫 \u202e",
    "  \n# x",
    " &#x26;",
    "\n",
    "\r\nnew",
)
WHICH = st.integers(0, 5)
STEPS = st.one_of(
    st.tuples(st.sampled_from(["remember", "new"]), WHICH),
    st.tuples(st.sampled_from(["supersede", "forget", "archive", "again"]), WHICH),
    st.tuples(st.sampled_from(["edit", "edit", "remove", "other kind", "copy", "top"]), WHICH),
    st.tuples(st.sampled_from(["reflow", "prose", "comment out", "damage"]), WHICH),
    st.tuples(st.sampled_from(["sync", "sync", "save old", "lose state", "delete file", "crash"]), WHICH),
)  # fmt: skip
FILES = ("home/anna/notes.md", "home/anna/facts.md")


class Story:
    """A store, its mirror, and what was written by whom."""

    def __init__(self, base, ends):
        self.memory = open_store(base / "store.db", clock=FixedClock(), injection="allow")
        self.root = base / "mirror"
        self.ends = ends
        self.words = 0
        self.old = {}
        self.by_hand = set()

    def text(self, which):
        self.words += 1
        return f"text {self.words}{TAILS[(self.words + which) % len(TAILS)]}"

    def all_texts(self):
        return {each.text for each in self.memory.list(states=STATES, limit=1000)}

    def reading(self, name):
        path = self.root / name
        return decoded(path.read_bytes(), place_at(name)) if path.exists() else None

    def items(self):
        return [item for name in FILES if (found := self.reading(name)) for item in found.items]

    def chosen(self, which):
        names = [name for name in FILES if (found := self.reading(name)) and found.items]
        if not names:
            return None
        name = names[which % len(names)]
        items = self.reading(name).items
        return name, items[which % len(items)]

    def lines(self, name):
        return (self.root / name).read_bytes().decode().replace("\r\n", "\n").split("\n")

    def write(self, name, lines):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_bytes(self.ends.join(lines).encode())

    def replace(self, name, item, lines):
        before = self.lines(name)
        self.write(name, [*before[: item.line - 1], *lines, *before[item.line - 1 + len(item.lines) :]])

    def as_item(self, text, identity=""):
        first, *more = escaped_lines(text)
        more += [f"<!-- m:{identity} -->"] if identity else []
        return [f"- {first}", *(f"  {line}" if line else "" for line in more)]

    # -- what happens --

    def do(self, action, which):
        if action == "remember":
            self.memory.remember(self.text(which), kind="fact" if which % 2 else "note")
        elif action in ("supersede", "forget", "archive", "again"):
            self.in_the_store(action, which)
        elif action in ("sync", "lose state", "delete file", "save old", "crash"):
            self.to_the_folder(action, which)
        elif action == "new":
            self.add(FILES[which % 2], self.text(which))
        else:
            self.by_somebody(action, which)

    def in_the_store(self, action, which):
        found = self.memory.list(limit=1000)
        if not found:
            return
        one = found[which % len(found)]
        if action == "supersede":
            self.memory.remember(self.text(which), kind=one.kind, supersedes=one)
        elif action == "again":
            self.memory.remember(one.text, kind="fact" if which % 2 else "note")
        else:
            getattr(self.memory, action)(one)

    def add(self, name, text):
        before = self.lines(name) if (self.root / name).exists() else []
        while before and not before[-1]:
            before.pop()
        self.by_hand.add(text)
        self.write(name, [*before, "", *self.as_item(text), ""])

    def by_somebody(self, action, which):
        chosen = self.chosen(which)
        if chosen is None:
            return
        name, item = chosen
        if action == "edit":
            text = self.text(which)
            self.by_hand.add(text)
            self.replace(name, item, self.as_item(text, item.id))
        elif action == "remove":
            self.replace(name, item, [])
        elif action == "other kind":
            self.replace(name, item, [])
            other = FILES[1 - FILES.index(name)]
            before = self.lines(other) if (self.root / other).exists() else []
            self.write(other, [*item.lines, *before])
        elif action == "copy":
            self.replace(name, item, [*item.lines, *item.lines])
        elif action == "top":
            self.replace(name, item, [])
            self.write(name, [*item.lines, *self.lines(name)])
        elif action == "reflow":
            self.write(name, [line.rstrip() for line in self.lines(name)])
        elif action == "prose":
            self.words += 1
            self.replace(name, item, ["", f"prose {self.words}", "", *item.lines])
        elif action == "damage" and item.id:
            cut = f"m:{item.id[: 10 + which]}"
            self.replace(name, item, [line.replace(f"m:{item.id}", cut) for line in item.lines])
        elif action == "comment out":
            self.replace(name, item, ["<!-- later:", *item.lines])

    def to_the_folder(self, action, which):
        if action == "sync":
            self.sync()
        elif action == "crash":
            self.crash()
        elif action == "lose state":
            state = self.root / ".memoranda-mirror.json"
            if state.exists():
                state.write_bytes(b"")
        elif action == "delete file":
            (self.root / FILES[which % 2]).unlink(missing_ok=True)
        elif self.old and self.root.exists():
            name = sorted(self.old)[which % len(self.old)]
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_bytes(self.old[name])

    def crash(self):
        """The edits are taken, and the files are not written."""
        replace = mirroring.Folder.replace

        def stop(*_args, **_more):
            raise KeyboardInterrupt

        mirroring.Folder.replace = stop
        try:
            self.run()
        except KeyboardInterrupt:
            pass
        finally:
            mirroring.Folder.replace = replace

    def run(self):
        return mirroring.mirror(self.memory._engine, self.memory._scope, self.root, confirm=True).receipt

    def sync(self):
        in_files = {item.text for item in self.items() if item.text.strip()}
        unread = self.unread()
        before = self.all_texts()
        done = self.run()
        after = self.all_texts()
        live = {each.text for each in self.memory.list(limit=1000)}
        assert before <= after
        refused = [trouble for trouble in done.refused if trouble.line]
        if refused:
            # Of two copies, one damaged: nobody can tell what it was. It is told, and stays where it is.
            assert all("comment is damaged" in trouble.why for trouble in refused), refused
            assert in_files <= after | {item.text for item in self.items()}
            return
        assert in_files <= after
        assert in_files & self.by_hand <= live, "what somebody wrote by hand is live"
        assert unread <= self.unread()
        held = {each for name in FILES if (found := self.reading(name)) for each in found.held}
        shown = {each.id: each.text for each in self.memory.list(limit=1000) if each.id not in held}
        assert {item.id: item.text for item in self.items()} == shown
        for name in FILES:
            if (self.root / name).exists():
                self.old[name] = (self.root / name).read_bytes()
        again = self.run()
        assert (again.steps, again.written, again.removed, again.unreadable) == ((), (), (), ())
        self.by_hand.clear()

    def unread(self):
        found = [each for each in map(self.reading, FILES) if each]
        return {line for reading in found for block in reading.blocks for line in block.lines if line.strip()}


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEPS, max_size=14), st.sampled_from(["\n", "\r\n"]))
def test_nothing_that_anybody_wrote_is_lost(steps, ends):
    with tempfile.TemporaryDirectory() as base:
        story = Story(Path(base), ends)
        with story.memory:
            for number in range(3):
                story.do("remember", number)
            story.sync()
            for action, which in steps:
                story.do(action, which)
            story.sync()
