"""The verb `erase`: which memories are meant, and whether they are the ones that were shown."""

import hashlib
from typing import TYPE_CHECKING

from memoranda.domain.draft import Reference, id_of
from memoranda.domain.errors import Conflict, InvalidInput, MemorandaError
from memoranda.domain.memory import STATES, TRUSTS
from memoranda.domain.receipt import EraseReceipt
from memoranda.domain.request import Request
from memoranda.domain.results import Erasure
from memoranda.domain.scope import Scope
from memoranda.service.engine import Engine
from memoranda.service.erasure import Chosen, Doomed, erase

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
        doomed = Doomed.of(
            engine,
            self._chosen(reference, about=about, speaker=speaker, below=below, query=query),
            conversations=engine.transcripts.below(below) if below else (),
            speaker=speaker,
            home=self._scope.path,
            top=self._scope.top,
        )
        shown = _confirmation(doomed)
        if confirm and confirm != shown:
            raise Conflict(
                "what would be erased is no longer what was shown", hint="Look at the preview again, then confirm it."
            )
        if preview or (query and not confirm):
            receipt = EraseReceipt(
                "preview",
                doomed.ids,
                engine.ledger.sequence(),
                messages=doomed.blanked + sum(row.conversation.messages for row in doomed.conversations),
                conversations=len(doomed.conversations),
            )
            return Erasure(doomed.ids, tuple(memory for _, memory in doomed.memories[:_PREVIEWED]), shown, receipt)
        if below:
            engine.ledger.drop_turns(below)
            engine.shown.drop()
        receipt = erase(engine, doomed, actor=engine.actor)
        return Erasure(receipt.ids, (), shown, self._without_sources(receipt, below) if below else receipt)

    def _without_sources(self, receipt: EraseReceipt, below: Scope) -> EraseReceipt:
        """The documents of an erased scope are no longer looked at; the files stay whose they are."""
        going = [source for source in self._engine.sources.everywhere() if below.contains(source.scope)]
        if not going:
            return receipt
        from memoranda.service.documents import Documents

        told = [receipt.pending]
        gone = purged = 0
        for source in going:
            try:
                removed = Documents(self._engine, Scope(source.scope)).remove(source.name)
            except (MemorandaError, OSError) as error:
                told.append(f"the source {source.name} is still there: {error}")
                continue
            gone, purged = gone + 1, purged + removed.purged
            told.append(removed.pending)
        state = receipt.state if purged == len(going) else "deleted"
        return receipt._replace(sources=gone, state=state, pending="; ".join(filter(None, told)))

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


def _confirmation(doomed: Doomed) -> str:
    """What a caller must bring back to erase exactly what it was shown."""
    blanked = [message.id for change in doomed.redactions for message in change.blanked]
    ids = [*doomed.ids, *(row.conversation.id for row in doomed.conversations), *blanked]
    return hashlib.blake2b("\n".join(sorted(ids)).encode(), digest_size=8).hexdigest()
