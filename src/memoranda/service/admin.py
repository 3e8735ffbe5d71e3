"""`memory.admin`: what an operator does with the whole store."""

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from memoranda.domain.errors import LedgerLocked, MemorandaError
from memoranda.domain.memory import STATES
from memoranda.domain.ports import IndexEntry, IndexQuery, Meaning, Progress
from memoranda.domain.results import Check, IndexStatus, Verification
from memoranda.domain.scope import Scope
from memoranda.service.engine import Engine

if TYPE_CHECKING:
    from memoranda.service.maintaining import Maintenance

_TRIES = 20
_TOLD = (
    ("duplicate", "said again"),
    ("waiting", "waiting for review"),
    ("secret", "refused for secrets"),
    ("injection", "refused as injections"),
    ("private", "private"),
    ("contact data", "contact data nobody asked for"),
    ("erased", "erased before"),
)
_PROBE_TEXT = "memoranda probe zyxwv {token}"


def told(counts: Mapping[str, int]) -> str:
    """What capture did, in one sentence."""
    if not counts.get("messages"):
        return "no message seen yet"
    parts = [f"saw {counts['messages']:,} messages", f"kept {counts.get('kept', 0):,}"]
    parts += [f"{words} {counts[name]:,}" for name, words in _TOLD if counts.get(name)]
    return ", ".join(parts)


class Admin:
    """Checks, upkeep and the index."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine = engine
        self._scope = scope

    # -- the index --

    def index_status(self) -> IndexStatus:
        """Rows in the ledger and in each lane, counted now, and whether a planted probe is found."""
        engine = self._engine
        index = engine.memories.index()
        lag = engine.ledger.sequence() - index.sequence
        configured = engine.embedders.configured()
        wanted = configured.fingerprint if configured else "none"
        # Looked for before it is counted: a lane that lost its rows must not look well.
        tested = self._self_test()
        counts = index.counts()
        return IndexStatus(
            memories=engine.ledger.feed.count(),
            lexical_rows=counts.entries,
            semantic_rows=counts.vectors,
            vectors_missing=counts.entries - counts.vectors,
            lag=lag,
            bytes=counts.bytes,
            segments=counts.segments,
            fingerprint=index.fingerprint,
            configured=wanted,
            rebuild_needed=index.fingerprint != wanted,
            self_test=tested,
        )

    def _self_test(self) -> str:
        """Plant an entry that no ledger has, look for it in each lane, take it away again."""
        engine = self._engine
        index = engine.memories.index()
        token = os.urandom(4).hex()
        scope = f"memoranda.probe/{token}"
        text = _PROBE_TEXT.format(token=token)
        number = -1 - int(token, 16)
        vector, _, trouble = engine.memories.embed_query(text)
        meaning = None if vector is None else Meaning(vector)
        try:
            index.apply(put=[IndexEntry(number, scope, text, meaning=meaning)], drop=(), sequence=None)
            try:
                by_words = index.search(IndexQuery((scope,), text=token, states=frozenset(STATES)))
                by_vector = index.search(IndexQuery((scope,), vector=vector, states=frozenset(STATES)))
                outside = index.search(IndexQuery((scope + "0",), text=token, vector=vector, states=frozenset(STATES)))
            finally:
                index.apply(put=(), drop=[number], sequence=None)
        except LedgerLocked:
            return "not done: another process holds the index"
        found = [candidate.number for candidate in by_words.candidates] == [number]
        found_by_vector = vector is None or [candidate.number for candidate in by_vector.candidates] == [number]
        if outside.candidates:
            return "failed: the probe was seen from another scope"
        if not found or not found_by_vector:
            return f"failed: the probe was not found by {'words' if not found else 'meaning'}"
        return f"ok, by words only ({trouble})" if trouble else "ok"

    def rebuild(self, progress: Progress | None = None) -> IndexStatus:
        """Make the index anew in the space of the configured embedder. The old one serves until it is complete."""
        self._engine.memories.rebuild(progress)
        return self.index_status()

    def optimize(self, progress: Progress | None = None) -> IndexStatus:
        """Merge small parts of the index and drop what is dead."""
        self._engine.memories.catch_up(seconds=0)
        self._engine.memories.index().optimize(progress)
        self._engine.memories.index().scrub()
        return self.index_status()

    # -- upkeep --

    def sweep_if_due(self) -> None:
        """Erase what was forgotten before the grace period began, if there is any. Waits for the next time if busy."""
        try:
            chosen = self._engine.forgotten_long_ago()
            if chosen:
                from memoranda.service.erasure import Doomed, erase

                erase(self._engine, Doomed.of(self._engine, chosen), actor="expiry")
        except MemorandaError:
            return  # opening goes on; the next one, or `maintain`, tries again and says what is wrong

    def maintain(self, progress: Progress | None = None, *, dry_run: bool = False) -> "Maintenance":
        """Erase what was forgotten long ago, end what no longer holds, sum up old conversations, make missing vectors,
        tidy the indexes, empty the logs. A dry run only counts.
        """
        from memoranda.service.maintaining import Upkeep

        upkeep = Upkeep(self._engine, progress)
        return upkeep.planned(self.index_status) if dry_run else upkeep.done(self.index_status)

    # -- checks --

    def verify(self) -> Verification:
        """Re-derive what can be re-derived, in the ledger and in the index."""
        checks = list(self._engine.ledger.verify())
        if all(check.ok for check in checks):
            checks.append(self._check_counts())
        return Verification(tuple(checks))

    def _check_counts(self) -> Check:
        """One entry for each memory. Counted again when somebody wrote in between."""
        engine = self._engine
        for _ in range(_TRIES):
            standing = engine.memories.catch_up(seconds=0)
            before = engine.ledger.sequence(), engine.memories.index().sequence
            entries, memories = engine.memories.index().counts().entries, engine.ledger.feed.count()
            if entries == memories or standing.tail:
                break
            if before == (engine.ledger.sequence(), engine.memories.index().sequence) and before[0] == before[1]:
                return Check(
                    "index", False, f"{entries} entries for {memories} memories", "Run: memoranda index rebuild"
                )
        return Check("index", True, f"{entries} entries for {memories} memories")

    def doctor(self) -> Verification:
        """Is everything well here? Each line with its fix."""
        checks = [
            Check("python", True, f"{sys.version.split()[0]} on {sys.platform}"),
            self._check_permissions(),
            self._check_space(),
            self._check_embedder(),
        ]
        try:
            checks.append(self._check_capture())
            checks += self._check_beside()
            checks += self.verify().checks
            if all(check.ok for check in checks):
                checks += self._check_index()
        except MemorandaError as error:
            checks.append(Check("store", False, str(error), error.hint))
        return Verification(tuple(checks))

    def _check_permissions(self) -> Check:
        path = self._engine.ledger.path
        mode = path.stat().st_mode & 0o777
        private = os.name == "nt" or not mode & 0o077
        fix = "" if private else f"chmod 600 {path}"
        return Check("permissions", private, f"{path} has mode {mode:o}", fix)

    def _check_space(self) -> Check:
        import shutil

        free = shutil.disk_usage(self._engine.ledger.path.parent).free
        enough = free > 64 << 20
        fix = "" if enough else "Free some space: a forget needs some, too."
        return Check("disk", enough, f"{free >> 20:,} MiB free", fix)

    def _check_embedder(self) -> Check:
        name = self._engine.settings.embedder
        if name == "none":
            return Check("embedder", True, "none: recall goes by words only")
        try:
            vector, used, trouble = self._engine.memories.embed_query("is it well?")
        except MemorandaError as error:
            return Check("embedder", False, str(error), error.hint)
        configured = self._engine.embedders.configured()
        rest = None if configured is None else self._engine.embedders.breaker_state(configured)
        if rest is not None and rest.open:
            return Check("embedder", False, str(rest), "Run: memoranda maintain, or wait.")
        if vector is None:
            return Check("embedder", False, trouble, "Check the embedder's settings; recall goes by words meanwhile.")
        return Check("embedder", True, f"{used} answers with {len(vector)} dimensions")

    def _check_capture(self) -> Check:
        """Silence should be visible: what capture saw, kept and refused in the whole store."""
        counts = self._engine.ledger.counts()
        return Check("capture", True, f"{self._engine.settings.capture_mode}: {told(counts)}")

    def _check_beside(self) -> list[Check]:
        """What there is beside memories, where there is any."""
        engine = self._engine
        checks: list[Check] = []
        if engine.messages.is_used():
            engine.messages.catch_up(seconds=0)
            said, found = engine.messages.feed.count(), engine.messages.index().counts().entries
            fix = "" if said == found else f"Remove the folder {engine.messages.path.name}: it is made anew."
            checks.append(Check("transcripts", said == found, f"{found:,} of {said:,} messages can be searched", fix))
        for source in engine.sources.everywhere():
            there = os.path.isdir(source.root)
            fix = "" if there else f"Bring it back, or run: memoranda documents remove {source.name}"
            checks.append(Check("documents", there, f"{source.name} in {source.scope}: {source.root}", fix))
        for path in engine.mirrors.paths():
            there = os.path.isdir(path)
            scope = engine.mirrors.scope_of(path)
            fix = "" if there else f"Bring it back, or run: memoranda mirror {path} --detach --scope {scope}"
            checks.append(Check("mirror", there, path, fix))
        return checks

    def _check_index(self) -> list[Check]:
        status = self.index_status()
        well = status.self_test.startswith("ok")
        missing = status.vectors_missing if status.fingerprint != "none" else 0
        rebuild = "Run: memoranda index rebuild"
        return [
            Check("self-test", well, status.self_test, "" if well else rebuild),
            Check("lag", status.lag == 0, f"{status.lag} events behind", "" if status.lag == 0 else "Run a recall."),
            # Not an illness while the embedder answers: the next recall makes them, or `maintain`.
            Check("vectors", True, f"{missing} of {status.memories} memories have none yet"),
            Check(
                "space",
                not status.rebuild_needed,
                f"index {status.fingerprint}, configured {status.configured}",
                "" if not status.rebuild_needed else rebuild,
            ),
        ]
