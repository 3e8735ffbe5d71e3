"""A worker process, seen from the driver."""

import json
import os
import selectors
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench.paths import ROOT
from bench.systems import System

# One thread for every numeric library: the machine is shared, and the peers' own choice would be noise.
_QUIET = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "ANONYMIZED_TELEMETRY": "False",
    "MEM0_TELEMETRY": "False",
    "HF_HUB_OFFLINE": "1",
}


class WorkerFailed(Exception):
    """The worker answered with an error, or not at all."""


class Client:
    """One system in a process of its own, with a folder of its own."""

    def __init__(self, system: System, data: Path, logs: Path) -> None:
        self.system = system
        self.folder = Path(tempfile.mkdtemp(prefix="memoranda-bench-"))
        self.store = self.folder / "store"
        logs.mkdir(parents=True, exist_ok=True)
        self._log = (logs / f"{system.name.replace(' ', '-').replace(',', '')}.log").open("w")
        home = {"HOME": str(self.folder), "XDG_CACHE_HOME": str(_cache())}
        self._process = subprocess.Popen(
            [str(system.python), "-m", "bench.workers.base", system.worker, str(data)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, **_QUIET, **home},
            bufsize=0,
        )
        self._buffer = b""

    def ask(self, do: str, *, within: float = 900.0, **arguments: Any) -> dict[str, Any]:
        """One command; raises WorkerFailed when it failed or took too long."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **arguments}).encode() + b"\n")
        except BrokenPipeError as error:
            raise WorkerFailed(f"the worker ended; see {self._log.name}") from error
        answer: dict[str, Any] = json.loads(self._line(within))
        if "error" in answer:
            raise WorkerFailed(answer["error"])
        return answer

    def _line(self, within: float) -> bytes:
        assert self._process.stdout is not None
        deadline = time.monotonic() + within
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if not selector.select(deadline - time.monotonic()):
                    raise WorkerFailed(f"no answer within {within:g} s")
                read = os.read(self._process.stdout.fileno(), 1 << 20)
                if not read:
                    raise WorkerFailed(f"the worker ended; see {self._log.name}")
                self._buffer += read
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def open(self) -> dict[str, Any]:
        return self.ask("open", folder=str(self.store), variant=self.system.variant)

    def disk(self) -> int:
        """Bytes of every file of the store."""
        return sum(path.stat().st_size for path in self.store.rglob("*") if path.is_file())

    def close(self) -> None:
        """Ends the process and removes its folder."""
        self._process.kill()
        self._process.wait()
        self._log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _cache() -> Path:
    """The person's own cache, so that the bundled embedder is prepared once."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
