"""What the contract suites of a ledger share: memories to keep, several openings at once, and other processes."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import Any, TypeVar

from memoranda.domain.draft import Draft
from memoranda.domain.ids import new_id
from memoranda.domain.memory import Memory
from memoranda.domain.results import Remembered
from memoranda.domain.scope import Scope
from memoranda.domain.text import content_hash
from memoranda.ledger.connection import Connection
from memoranda.ledger.keeping import Keep
from memoranda.ledger.ledger import Filter, Ledger
from memoranda.ledger.messages import NewMessage

T = TypeVar("T")
OpenLedger = Callable[[], Ledger]
HERE = "home/anna"
ABOVE = "home"
BESIDE = "home/bob"
ACTOR = "anna"
EVERYTHING = 100_000
_KEEPING = ("kind_given", "supersedes", "even_if_erased", "slot", "unless_forgotten", "reinforces", "said_at")


class LedgerSuite:
    """What every suite of a ledger has to be told by who subclasses it."""

    def table_names(self, connection: Connection) -> Sequence[str]:
        """Every table of the store, as the engine's own catalogue lists them."""
        raise NotImplementedError("say which tables there are")

    def place(self, ledger: Ledger) -> dict[str, str]:
        """How another process opens the same store: `path`, and `address` or `key` (hexadecimal) where it has one."""
        return {"path": str(ledger.path)}

    @contextmanager
    def elsewhere(self, ledger: Ledger, task: str, name: str = "") -> Iterator["subprocess.Popen[str]"]:
        """Another process with the same store, at a task of `memoranda.testing.elsewhere`; killed at the end."""
        told = json.dumps({**self.place(ledger), "task": task, "name": name})
        process = subprocess.Popen(
            [sys.executable, "-m", "memoranda.testing.elsewhere"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdin is not None
            process.stdin.write(told + "\n")
            process.stdin.flush()
            yield process
        finally:
            process.kill()
            process.communicate()


def made(ledger: Ledger, text: str, scope: str = HERE, **fields: Any) -> Memory:
    """A memory ready to be kept."""
    return Draft(text, **fields).checked(Scope(scope), now=ledger.clock.now(), max_text=1_000_000)


def keep(ledger: Ledger, text: str, scope: str = HERE, **fields: Any) -> Remembered:
    """Keep one memory; what a `Keep` says of it may stand among its fields."""
    how = {name: fields.pop(name) for name in _KEEPING if name in fields}
    return ledger.remember([Keep(made(ledger, text, scope, **fields), **how)], scope=Scope(scope), actor=ACTOR)[0]


def listed(ledger: Ledger, scope: str = HERE, **wanted: Any) -> list[Memory]:
    """What fits, in the order that is wanted."""
    return list(ledger.browse(Filter(**wanted), scope=Scope(scope), limit=EVERYTHING, offset=0))


def texts(ledger: Ledger, scope: str = HERE, **wanted: Any) -> list[str]:
    """What it says."""
    return [memory.text for memory in listed(ledger, scope, **wanted)]


def said(text: str, role: str = "user", *, at: int = 1_000, host_id: str = "", speaker: str = "") -> NewMessage:
    """A message ready to be kept."""
    return NewMessage(new_id(), role, text, at, len(text.split()), speaker, host_id, (), "", content_hash(text))


def at_once(work: Sequence[Callable[[], T]]) -> list[T]:
    """What each of these gives, begun at the same moment in a thread of its own."""
    began = Barrier(len(work))

    def run(each: Callable[[], T]) -> T:
        began.wait()
        return each()

    with ThreadPoolExecutor(len(work)) as pool:
        return list(pool.map(run, work))


def outcome(work: Callable[[], T]) -> T | Exception:
    """What it gives, or the error that it ended with."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001 what it is, the test asks
        return error
