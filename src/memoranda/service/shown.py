"""What was shown lately, so that a block given to a model does not repeat itself turn after turn."""

import contextlib
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from pathlib import Path

from memoranda.domain.scope import Scope
from memoranda.service.beside import read_note, write_note

_TURNS = 6
_CONVERSATIONS = 1_000
# The newest are told to the next process: hosts that run a command for every turn have no other memory of it.
_NOTED = 32
# Of one turn, so that all turns together fit into a request.
_IDS = 40
_NOTED_IDS = 10


class Shown:
    """The ids shown in the last turns of each conversation. Conversations go by digests."""

    def __init__(self, store: Path, name: Callable[[str], str]) -> None:
        self._path = store.with_name(store.name + "-shown")
        self._name = name
        self._lock = threading.Lock()
        self._turns: OrderedDict[str, deque[tuple[str, ...]]] = OrderedDict()
        self._seen: tuple[int, int] | None = None

    def lately(self, scope: Scope, conversation: str) -> tuple[str, ...]:
        with self._lock:
            turns = self._known().get(self._key(scope, conversation), ())
            return tuple(sorted({identity for turn in turns for identity in turn}))

    def note(self, scope: Scope, conversation: str, ids: Sequence[str]) -> None:
        with self._lock:
            known, key = self._known(), self._key(scope, conversation)
            turns = known.setdefault(key, deque(maxlen=_TURNS))
            turns.append(tuple(ids[:_IDS]))
            known.move_to_end(key)
            while len(known) > _CONVERSATIONS:
                known.popitem(last=False)
            # Others may have written since it was looked at: what is not known here stays.
            note = {each: told for each, told in read_note(self._path).items() if each not in known}
            note.update((each, [list(turn[:_NOTED_IDS]) for turn in told]) for each, told in known.items())
            with contextlib.suppress(OSError):  # then this process alone knows
                write_note(self._path, dict(list(note.items())[-_NOTED:]))
                self._seen = self._stamp()

    def drop(self) -> None:
        """Nothing was shown."""
        with self._lock:
            self._turns = OrderedDict()
            with contextlib.suppress(OSError):
                write_note(self._path, {})
                self._seen = self._stamp()

    def _known(self) -> OrderedDict[str, deque[tuple[str, ...]]]:
        """With what other processes of this machine have shown since: one conversation may go through several."""
        stamp = self._stamp()
        if stamp != self._seen:
            self._seen = stamp
            for key, turns in read_note(self._path).items():
                if isinstance(turns, list):
                    told = [tuple(filter(_is_text, turn)) for turn in turns if isinstance(turn, list)]
                    own = {turn[:_NOTED_IDS]: turn for turn in self._turns.get(key, ())}  # the note has the first only
                    self._turns[key] = deque((own.get(turn, turn) for turn in told), maxlen=_TURNS)
                    self._turns.move_to_end(key)
        return self._turns

    def _stamp(self) -> tuple[int, int] | None:
        """Changes when the note does; None when there is none."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino

    def _key(self, scope: Scope, conversation: str) -> str:
        return self._name(f"{scope.path}\n{conversation}")


def _is_text(value: object) -> bool:
    return isinstance(value, str)
