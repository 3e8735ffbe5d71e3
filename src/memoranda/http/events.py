"""Long work that tells how far it is: server-sent events, then its result or its problem."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable

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


async def stream(
    run: Callable[[Callable[[], Answer]], "asyncio.Future[Answer]"], work: Callable[[Progress], Answer]
) -> AsyncIterator[bytes]:
    """The events of one piece of work. When who asked goes away, the work is told to stop at its next step."""
    loop = asyncio.get_running_loop()
    steps: asyncio.Queue[tuple[int, int]] = asyncio.Queue()
    gone = threading.Event()
    last = [-_OFTEN]

    def progress(done: int, total: int) -> None:
        if gone.is_set():
            raise Stopped("the one who asked has gone")
        now = loop.time()
        if done >= total or now - last[0] >= _OFTEN:
            last[0] = now
            loop.call_soon_threadsafe(steps.put_nowait, (done, total))

    task = asyncio.ensure_future(run(lambda: work(progress)))
    try:
        yield _event("progress", json.dumps({"done": 0, "total": 0}))
        while not task.done():
            step = asyncio.ensure_future(steps.get())
            await asyncio.wait({task, step}, timeout=_HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if step.done():
                yield _event("progress", json.dumps(dict(zip(("done", "total"), step.result(), strict=True))))
            else:
                step.cancel()
                if not task.done():
                    yield b": still at it\n\n"
        yield _told(task)
    finally:
        gone.set()


def _told(task: "asyncio.Future[Answer]") -> bytes:
    try:
        answer = task.result()
    except Refusal as refusal:
        return _event("problem", refusal.body().decode())
    except MemorandaError as error:
        answer = told(error)
    name = "result" if answer.status < 400 else "problem"
    return _event(name, answer.body.decode() or "null")
