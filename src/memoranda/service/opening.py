"""Opening a store, or making one: where settings, files and the facade come together."""

from pathlib import Path

from memoranda.config import Settings, load
from memoranda.domain.clock import Clock, SystemClock
from memoranda.domain.errors import InvalidInput, Refused
from memoranda.domain.scope import Scope
from memoranda.domain.text import checked_text
from memoranda.service.engine import Engine
from memoranda.service.keys import key_of
from memoranda.service.memory import LongTermMemory
from memoranda.service.workroom import Workroom


def open(  # noqa: A001 memoranda.open() is how it reads
    path: str | Path | None = None,
    *,
    scope: str,
    embedder: str | None = None,
    actor: str | None = None,
    settings: Settings | None = None,
    clock: Clock | None = None,
    read_only: bool | None = None,
) -> LongTermMemory:
    """Open a store, or make it. Touches its own files; the bundled embedder also keeps some in the cache folder.

    `path` is the ledger file; `scope` is where this memory reads and writes, and is always needed. `embedder` is
    `auto` (bundled, offline), `none` (words only) or `provider:model`. With `read_only` everything that would change
    the store is refused, and it has to be there; the index, which is derived from it, is still kept up to date.
    """
    bound = Scope(scope)
    if path is not None and (not isinstance(path, str | Path) or str(path) in ("", ".", ":memory:")):
        raise InvalidInput(f"{str(path)[:80]!r} is not the path of a store", hint="Give a file, such as home.db.")
    given = settings or load()
    if read_only is not None and not isinstance(read_only, bool):
        raise InvalidInput("read_only: true or false is expected", hint="Pass read_only=True to look only.")
    changes = {"embedder": embedder, "actor": actor, "store": None if path is None else str(path)}
    chosen = given.changed({**changes, "read_only": read_only})
    checked_text(chosen.actor, name="actor", limit=512, empty_ok=True)
    if chosen.shards:
        from memoranda.service.sharding import open_sharded

        return open_sharded(chosen, bound, clock or SystemClock())
    path = chosen.store_path()
    engine = standing_alone(Engine(path, chosen, clock or SystemClock(), key=key_of(chosen, path)))
    memory = LongTermMemory(engine, bound, owner=True)
    try:
        if engine.settings.sweep:
            Workroom(engine.ledger.path).clear()
            memory.admin.sweep_if_due()
    except BaseException:
        engine.close()
        raise
    return memory


def standing_alone(engine: Engine) -> Engine:
    """The same, or Refused: a store that is one of several is not opened by who does not know the others."""
    from memoranda.ledger.shard_notes import ShardNotes

    try:
        note = ShardNotes(engine.ledger.database).note()
        if note is not None:
            raise Refused(
                f"this store is shard {note.place} of {note.total}",
                hint="Set `shards` to the list that it belongs to; with --store naming one, it is opened alone.",
            )
    except BaseException:
        engine.close()
        raise
    return engine
