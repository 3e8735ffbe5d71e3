"""Misses: what was asked and found nothing, so that somebody can see what is missing.

Noted in memory, so that no recall waits for a disk; written down now and then, when somebody looks, and when the store
is closed. What a crash loses is a count.
"""

import hashlib
import threading
from contextlib import suppress

from memoranda.domain.clock import DAY_MS
from memoranda.domain.errors import MemorandaError
from memoranda.domain.receipt import RecallReceipt
from memoranda.domain.scope import Scope
from memoranda.domain.text import normal_form
from memoranda.ledger import misses
from memoranda.ledger.fence import lifted
from memoranda.ledger.misses import DIGEST_SIZE, Noted
from memoranda.service.engine import Engine
from memoranda.service.screening import without_secrets

MISSED = frozenset({"nothing to search", "nothing cleared the bar"})
"""Not small talk, nor a question about a time in which nothing happened, nor what may not speak unasked."""
# What narrows a request asks for a part of what there is: that it is not there says little.
_PLAIN = frozenset({"query", "now", "limit", "policy", "mode", "prefer_speaker", "repeated", "lanes"})
_AT_ONCE = 64
_MOST = 512
_LONGEST = 300
_Noting = dict[tuple[str, str, int], tuple[str, int, int, int]]
"""Scope, query and day; why nothing was found, first and last, how often."""


class Misses:
    """What found nothing in one store since it was last written down."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._noted: _Noting = {}
        self._writing = False

    def note(self, scope: Scope, receipt: RecallReceipt) -> None:
        """One recall that came back empty, if it is a miss. Takes a few microseconds."""
        if receipt.abstained not in MISSED or self._engine.settings.misses == "none":
            return
        if not _PLAIN.issuperset(receipt.request):
            return
        now = receipt.request["now"]
        key = (scope.path, receipt.request["query"], now // DAY_MS)
        with self._lock:
            _, first, _, times = self._noted.get(key, ("", now, now, 0))
            if not times and len(self._noted) >= _MOST:
                return
            self._noted[key] = (receipt.abstained, first, now, times + 1)
            full = len(self._noted) >= _AT_ONCE and not self._writing
            self._writing = self._writing or full
        if full:
            self._engine.later(self.flush)

    @lifted()
    def flush(self) -> None:
        """Write down what was noted. What cannot be written is lost."""
        with self._lock:
            taken, self._noted, self._writing = self._noted, {}, False
        if not taken:
            return
        noted = self._as_noted(taken)
        with suppress(MemorandaError):
            self._engine.ledger.database.write(lambda connection: misses.add(connection, noted))

    def drop(self) -> None:
        """Forget what was noted and not yet written: something was erased, and may be named there."""
        with self._lock:
            self._noted = {}

    def _as_noted(self, taken: _Noting) -> list[Noted]:
        settings = self._engine.settings
        key = self._engine.ledger.key_for("misses")
        merged: dict[tuple[str, bytes, int], Noted] = {}
        for (scope, query, day), (reason, first, last, times) in taken.items():
            digest = hashlib.blake2b(normal_form(query).encode(), key=key, digest_size=DIGEST_SIZE).digest()
            text = without_secrets(query, settings)[:_LONGEST] if settings.misses == "text" else ""
            before = merged.get((scope, digest, day))
            if before is not None:
                first, times = min(first, before.first_at), times + before.times
                last = max(last, before.last_at)
            merged[scope, digest, day] = Noted(scope, digest, reason, text, first, last, times)
        return list(merged.values())
