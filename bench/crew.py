"""Several systems measured side by side: started together, asked in turn, and reported when they give up."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.client import Client, WorkerFailed
from bench.paths import OUT, log
from bench.systems import System


class Crew:
    """The systems that are still in the race, and why others are not."""

    def __init__(self) -> None:
        self.clients: list[Client] = []
        self.versions: dict[str, str] = {}
        self.out: dict[str, str] = {}
        """System -> why it is not measured (any more)."""

    def start(self, systems: Iterable[System], data: Path) -> None:
        for system in systems:
            if not system.installed:
                self._leaves(system.name, "its environment is missing: python -m bench setup")
                continue
            client = Client(system, data, OUT / "logs")
            self.clients.append(client)
            opened = self.ask(client, "open", folder=str(client.store), variant=system.variant)
            if opened is not None:
                self.versions.update(opened["versions"])
                log(f"{system.name}: open")

    def ask(self, client: Client, do: str, **arguments: Any) -> dict[str, Any] | None:
        """The answer; None when the system fails, which ends its part in this run."""
        try:
            return client.ask(do, **arguments)
        except WorkerFailed as error:
            self.retire(client, f"failed at {do}: {error}")
            return None

    def retire(self, client: Client, reason: str) -> None:
        """Take a system out, and say why in the results."""
        self._leaves(client.system.name, reason)
        self.clients.remove(client)
        client.close()

    def _leaves(self, name: str, reason: str) -> None:
        self.out[name] = reason
        log(f"{name}: {reason}")

    def close(self) -> None:
        for client in self.clients:
            client.close()


@contextmanager
def crew(systems: Iterable[System], data: Path) -> Iterator[Crew]:
    """A crew that ends all of its processes."""
    started = Crew()
    try:
        started.start(systems, data)
        yield started
    finally:
        started.close()
