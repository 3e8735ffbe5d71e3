"""The verb `erase`: which memories are meant, and whether they are the ones that were shown."""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memoranda.domain.draft import Reference, id_of
from memoranda.domain.errors import Conflict, InvalidInput
from memoranda.domain.memory import STATES, TRUSTS
from memoranda.domain.receipt import EraseReceipt
from memoranda.domain.request import Request
from memoranda.domain.results import Erasure
from memoranda.domain.scope import Scope
from memoranda.ledger.messages import Row
from memoranda.service.engine import Engine
from memoranda.service.erasure import Chosen, erase

if TYPE_CHECKING:
    from memoranda.service.recalling import Recaller

_PREVIEWED = 200
_MOST_BY_QUERY = 50


class Eraser:
    """Erasing from one scope."""

    def __init__(self, engine: Engine, scope: Scope, recaller: "Recaller") -> None:
        self._engine = engine
        self._scope = scope
        self._recaller = recaller

    def erase(
        self,
        reference: Reference | None,
        *,
        about: str,
        speaker: str,
        below: Scope | None,
        query: str,
        preview: bool,
        confirm: str,
    ) -> Erasure:
        """Erase in exactly one way, or show what would be erased."""
        ways = [way for way in (reference, about, speaker, below, query) if way]
        if len(ways) != 1:
            raise InvalidInput(
                "say in exactly one way what to erase", hint="Give an id, or about=, speaker=, scope= or query=."
            )
        engine = self._engine
        chosen = self._chosen(reference, about=about, speaker=speaker, below=below, query=query)
        conversations = engine.transcripts.below(below) if below else []
        shown = _confirmation(chosen, conversations)
        if confirm and confirm != shown:
            raise Conflict(
                "what would be erased is no longer what was shown", hint="Look at the preview again, then confirm it."
            )
        if preview or (query and not confirm):
            receipt = EraseReceipt(
                "preview",
                tuple(memory.id for _, memory in chosen),
                engine.ledger.sequence(),
                conversations=len(conversations),
            )
            return Erasure(receipt.ids, tuple(memory for _, memory in chosen[:_PREVIEWED]), shown, receipt)
        if below:
            engine.ledger.drop_turns(below)
            engine.shown.drop()
        receipt = erase(engine, chosen, actor=engine.settings.actor, conversations=conversations, speaker=speaker)
        return Erasure(receipt.ids, (), shown, receipt)

    def _chosen(
        self, reference: Reference | None, *, about: str, speaker: str, below: Scope | None, query: str
    ) -> Chosen:
        ledger = self._engine.ledger
        if reference is not None:
            return ledger.choose(scope=self._scope, ids=[id_of(reference)])
        if query:
            # Whatever its state and trust: what is hidden from recall can be erased all the same.
            request = Request(query, _MOST_BY_QUERY, states=STATES, trust=TRUSTS, now=self._engine.clock.now())
            hits = self._recaller.everything(request.checked())
            found = [hit.id for hit in hits if self._scope.contains(hit.memory.scope)]
            return ledger.choose(scope=self._scope, ids=found) if found else []
        return ledger.choose(scope=self._scope, about=about, speaker=speaker, below=below)


def _confirmation(chosen: Chosen, conversations: Sequence[Row]) -> str:
    """What a caller must bring back to erase exactly what it was shown."""
    ids = [*(memory.id for _, memory in chosen), *(row.conversation.id for row in conversations)]
    return hashlib.blake2b("\n".join(sorted(ids)).encode(), digest_size=8).hexdigest()
