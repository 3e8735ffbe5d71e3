"""`Stores`: the memory behind the plugin, embedded in its data folder or on a server. Opened when first needed."""

import logging
import os
import threading
import time
from pathlib import Path
from typing import NamedTuple

import memoranda
from memoranda.config import load
from memoranda_langbot.options import Options
from memoranda_langbot.places import Place

LOG = logging.getLogger("memoranda.langbot")
TAG = "[LongTermMemory]"
FILES_VARIABLE = "LANGBOT_PLUGIN_FILE_STORAGE_DIR"
"""Set by LangBot's runtime for an installed plugin: a folder of its installation."""
PROFILE_VARIABLE = "LANGBOT_PLUGIN_RUNTIME_PROFILE"
_JAILED = "shared"
_SECONDS = 10.0
_PATIENCE = 2.0
_LEFT_ALONE = 15.0
"""So many seconds a store that could not be opened is left alone: messages do not queue for it."""


def data_folder() -> Path:
    """Where an installed plugin may write, so that an upgrade keeps it; below the plugin during development."""
    environment = os.environ  # noqa: TID251 of the host, not of Memoranda
    if environment.get(PROFILE_VARIABLE) == _JAILED:
        return Path("/data")
    files = environment.get(FILES_VARIABLE)
    return Path(files).parent / "data" if files else Path.cwd() / "data"


class _Open(NamedTuple):
    memory: memoranda.LongTermMemory
    half_life: float


class Stores:
    """One open memory for each way of reaching one. May be used from threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[tuple[str, ...], _Open] = {}
        self._failed: dict[tuple[str, ...], tuple[float, Exception]] = {}

    def root(self, options: Options, *, installation: str = "") -> memoranda.LongTermMemory:
        """The memory of the plugin's root scope."""
        way = (options.server_url, options.token, options.store, options.scope, installation)
        half_life = options.recency_half_life_days
        with self._lock:
            known = self._open.get(way)
            if known is not None and (known.half_life == half_life or options.server_url):
                return known.memory
            if known is not None:
                del self._open[way]
                known.memory.close()
            at, error = self._failed.get(way, (0.0, None))
            if error is not None and time.monotonic() - at < _LEFT_ALONE:
                raise error
            try:
                self._open[way] = _Open(self._opened(options, installation), half_life)
            except Exception as failed:
                self._failed[way] = time.monotonic(), failed
                raise
            self._failed.pop(way, None)
            return self._open[way].memory

    def _opened(self, options: Options, installation: str) -> memoranda.LongTermMemory:
        if options.server_url:
            LOG.info("%s store opened: server scope=%s", TAG, options.scope)
            return memoranda.connect(
                options.server_url, options.token or None, scope=options.scope, timeout=_SECONDS, patience=_PATIENCE
            )
        path = Path(options.store).expanduser() if options.store else data_folder() / f"{installation or 'memory'}.db"
        path.parent.mkdir(parents=True, exist_ok=True)
        settings = load({"half_life_days": options.recency_half_life_days})
        LOG.info("%s store opened: embedded scope=%s", TAG, options.scope)
        return memoranda.open(path, scope=options.scope, actor="langbot", settings=settings)

    def close(self) -> None:
        """Close all of them; the next use opens again."""
        with self._lock:
            open_now, self._open = list(self._open.values()), {}
        for each in open_now:
            each.memory.close()


class Room:
    """The memory of one place: what is kept there, and whose."""

    def __init__(self, root: memoranda.LongTermMemory, options: Options, place: Place) -> None:
        self.options = options
        self.place = place
        self.memories = root.within(place.scope(options.scope, options.isolation))
        """Where is remembered and recalled."""
        self.session = root.within(place.session_scope(options.scope))
        """Where profiles are."""

    @property
    def key(self) -> str:
        return self.place.user_key(self.options.isolation)

    @property
    def apart(self) -> bool:
        """Whether memories are kept elsewhere than the profiles of the session."""
        return self.memories.scope != self.session.scope
