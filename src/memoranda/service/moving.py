"""Moving house: out of one store and into another."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from memoranda.domain.memory import Kind, State
from memoranda.ledger.fence import fences
from memoranda.service.nouns import Nouns

if TYPE_CHECKING:
    from memoranda.domain.moving import (
        Dedupe,
        Exported,
        ExportFormat,
        Foreign,
        ImportMode,
        ImportRun,
        Imports,
        Junk,
        Vouch,
    )
    from memoranda.domain.ports import Progress

_NOTHING: Mapping[str, str] = MappingProxyType({})


@fences()
class Moving(Nouns):
    """The verbs of the facade that carry memories in and out."""

    def export(
        self,
        path: str | Path,
        *,
        format: "ExportFormat" = "jsonl",  # noqa: A002 the word users know
        redact: bool = True,
        below: bool = False,
        states: Sequence[State] = (),
        kind: Kind | Literal[""] = "",
        limit: int | None = None,
        overwrite: bool = False,
        progress: "Progress | None" = None,
    ) -> "Exported":
        """Write what is kept in this scope into one file, the oldest first and then by ids; what is forgotten stays.

        Secrets are blacked out, and the result names in which memories. With `redact=False` nothing is lost: taken
        into an empty store with `trust="kept"`, its contents have the same digest. `below` takes the scopes below
        along; `states`, `kind` and `limit` narrow it.
        """
        from memoranda.service.exporting import export

        return export(
            self._engine,
            self._scope,
            path,
            format=format,
            redact=redact,
            below=below,
            states=states,
            kind=kind,
            limit=limit,
            overwrite=overwrite,
            progress=progress,
        )

    def import_memories(
        self,
        path: str | Path,
        *,
        format: str = "",  # noqa: A002 the word users know
        dedupe: "Dedupe" = "id_text",
        mode: "ImportMode" = "now",
        trust: "Vouch" = "",
        owners: Mapping[str, str] = _NOTHING,
        foreign: "Foreign" = "refuse",
        junk: "Junk" = "leave",
        options: Mapping[str, str] = _NOTHING,
        limit: int | None = None,
        progress: "Progress | None" = None,
    ) -> "Imports":
        """Take in an export of ours, or the memories of another system, after an audit and an automatic tag.

        The format is found out unless it is named. Called again after it was killed, it goes on where it was. `undo`
        takes the whole of it back, with `below` when it went into scopes below. `mode="preview"` gives the audit and
        writes nothing, `"validate"` only reads.
        What others kept is not trusted unless `trust="trusted"` vouches for it. Nor is an export of ours, unless this
        very store has signed it or `trust="kept"` takes its word. Whose it is there goes where `owners` says, and is
        left out otherwise, or handled as `foreign` says. `options` are for the reader of the format. `limit` takes no
        more than the first so many records into account.
        """
        from memoranda.service.importing import import_memories

        return import_memories(
            self._engine,
            self._scope,
            path,
            format=format,
            dedupe=dedupe,
            mode=mode,
            trust=trust,
            owners=owners,
            foreign=foreign,
            junk=junk,
            options=options,
            limit=limit,
            progress=progress,
        )

    def imports(self, *, limit: int = 50) -> "tuple[ImportRun, ...]":
        """Imports into this very scope, newest first, with their counts, finished or not."""
        from memoranda.service.importing import imports

        return imports(self._engine, self._scope, limit=limit)
