"""Long work that tells how far it is: server-sent events, then its result or its problem."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from typing import NamedTuple

from memoranda.domain.errors import MemorandaError
from memoranda.domain.ports import Progress
from memoranda.http.performing import Answer, told
from memoranda.http.refusal import Refusal

CONTENT_TYPE = "text/event-stream"
_HEARTBEAT_SECONDS = 10.0
_OFTEN = 0.1


class Stopped(MemorandaError):
    """Nobody waits for the result any more."""

    default_hint = "Ask for it again; what was done is kept."


def _event(name: str, data: str) -> bytes:
    return f"event: {name}\ndata: {data}\n\n".encode()


class _Step(NamedTuple):
    """How far one of the verb's callbacks was told that the work is."""

    of: str
    done: int
    total: int


class Steps:
    """Hears how far the work is, from its thread. A verb may have several callbacks: `of` is the one of that name."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._last: dict[str, float] = {}
        self._gone = threading.Event()
        self.heard: asyncio.Queue[_Step] = asyncio.Queue()

    def of(self, name: str) -> Progress:
        """The callback of that name."""

        def progress(done: int, total: int) -> None:
            if self._gone.is_set():
                raise Stopped("the one who asked has gone")
            now = self._loop.time()
            if done >= total or now - self._last.get(name, -_OFTEN) >= _OFTEN:
                self._last[name] = now
                self._loop.call_soon_threadsafe(self.heard.put_nowait, _Step(name, done, total))

        return progress

    def stop(self) -> None:
        """Nobody listens any more: the work is told so at its next step."""
        self._gone.set()


async def stream(
    run: Callable[[Callable[[], Answer]], "asyncio.Future[Answer]"],
    work: Callable[[Steps], Answer],
    *,
    done: Callable[[Answer], None] = lambda answer: None,
) -> AsyncIterator[bytes]:
    """The events of one piece of work; `done` is called with its answer before that is told. When who asked goes away,
    the work is told to stop at its next step."""
    steps = Steps()
    task = asyncio.ensure_future(run(lambda: work(steps)))
    try:
        yield b": begun\n\n"
        while not task.done():
            step = asyncio.ensure_future(steps.heard.get())
            await asyncio.wait({task, step}, timeout=_HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if step.done():
                yield _progress(step.result())
            else:
                step.cancel()
                if not task.done():
                    yield b": still at it\n\n"
        while not steps.heard.empty():
            yield _progress(steps.heard.get_nowait())
        yield _told(task, done)
    finally:
        steps.stop()


def _progress(step: _Step) -> bytes:
    return _event("progress", json.dumps(step._asdict()))


def _told(task: "asyncio.Future[Answer]", done: Callable[[Answer], None]) -> bytes:
    try:
        answer = task.result()
    except Refusal as refusal:
        return _event("problem", refusal.body().decode())
    except MemorandaError as error:
        answer = told(error)
    done(answer)
    name = "result" if answer.status < 400 else "problem"
    return _event(name, answer.body.decode() or "null")
