"""When a request is tried again, and where: a pure count of what went wrong so far. It sends nothing and waits for
nobody."""

import random
import time
from collections.abc import Callable

LONGEST_WAIT = 5.0
"""Who is told to wait for longer than this is told so, and does not wait."""
_SHORTEST = 0.1
_LONGEST = 2.0


class Tries:
    """The tries of one request at so many servers of one memory.

    One that is away is left for the next at once; when all of them were, there is a pause, which grows. It ends when
    nothing has helped for `patience` seconds.
    """

    def __init__(self, servers: int, *, now: Callable[[], float] = time.monotonic) -> None:
        self._servers = servers
        self._now = now
        self._since: float | None = None
        self._failed = 0
        self._rounds = 0

    def away(self, patience: float, *, after: float = 0.0) -> float | None:
        """A server is away. Seconds until the next is asked; None when it is given up. `after` is what it asked for."""
        self._failed += 1
        if self._failed % self._servers:
            self._began()
            return 0.0
        return self.busy(patience, after=after)

    def busy(self, patience: float, *, after: float = 0.0) -> float | None:
        """A server is there and wants time. Seconds until it is asked again; None when it is given up."""
        self._rounds += 1
        # Many who wait for one server that comes back do not come back together.
        pause: float = min(_LONGEST, _SHORTEST * 2.0 ** (self._rounds - 1)) * random.uniform(0.5, 1.0)  # noqa: S311 no secret
        pause = max(pause, after)
        if after > LONGEST_WAIT or self._now() + pause - self._began() > patience:
            return None
        return pause

    def _began(self) -> float:
        if self._since is None:
            self._since = self._now()
        return self._since
