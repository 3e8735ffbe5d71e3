"""The verb `erase`: which memories are meant, whether they are the ones that were shown, and the statement about it."""

import hashlib

from memoranda.domain.draft import Reference, id_of
from memoranda.domain.errors import Conflict, MemorandaError, NotFound
from memoranda.domain.memory import STATES, TRUSTS
from memoranda.domain.ports import Progress
from memoranda.domain.receipt import EraseReceipt
from memoranda.domain.request import Request
from memoranda.domain.results import Erasure
from memoranda.domain.scope import Scope
from memoranda.domain.statement import Asked
from memoranda.service.engine import Engine
from memoranda.service.erasure import Doomed, Erased, erased
from memoranda.service.recalling import Recaller
from memoranda.service.tokens import TokenBook

_PREVIEWED = 200
_MOST_BY_QUERY = 50


class Eraser:
    """Erasing from one scope."""

    def __init__(self, engine: Engine, scope: Scope, recaller: Recaller) -> None:
        self._engine = engine
        self._scope = scope
        self._recaller = recaller

    def erase(
        self,
        reference: Reference | None,
        asked: Asked,
        *,
        preview: bool,
        confirm: str,
        proof: bool,
        name_subject: bool,
        progress: Progress | None,
    ) -> Erasure:
        """Erase what is asked for, or show what would be erased."""
        ids = (id_of(reference),) if reference is not None and reference != "" else ()
        asked = asked._replace(ids=ids).checked()
        engine = self._engine
        doomed = self._doomed(asked)
        shown = _confirmation(doomed)
        if confirm and confirm != shown:
            raise Conflict(
                "what would be erased is no longer what was shown", hint="Look at the preview again, then confirm it."
            )
        if preview or (asked.query and not confirm):
            return self._preview(doomed, shown)
        engine.refuse_read_only()
        if proof and doomed.nothing and not self._has_more(asked):
            raise NotFound(
                "there is nothing here that fits: there is nothing to make a statement of",
                hint="Look with a preview what would be erased; a statement is given together with the erasure.",
            )
        for row in doomed.conversations if asked.conversation else ():
            engine.ledger.drop_turn(row.conversation.name, scope=Scope(row.conversation.scope))
        if asked.in_scope:
            engine.ledger.drop_turns(Scope(asked.in_scope))
            engine.shown.drop()
        done = erased(engine, doomed, actor=engine.actor, progress=progress)
        if asked.in_scope:
            done = done._replace(receipt=self._with_all_of_it(done.receipt, Scope(asked.in_scope)))
        receipt = self._with_statement(asked, done, name_subject=name_subject) if proof else done.receipt
        return Erasure(receipt.ids, (), shown, receipt)

    def _preview(self, doomed: Doomed, shown: str) -> Erasure:
        receipt = EraseReceipt(
            "preview",
            doomed.ids,
            self._engine.ledger.sequence(),
            messages=doomed.blanked + sum(row.conversation.messages for row in doomed.conversations),
            conversations=len(doomed.conversations),
        )
        return Erasure(doomed.ids, tuple(memory for _, memory in doomed.memories[:_PREVIEWED]), shown, receipt)

    def _doomed(self, asked: Asked) -> Doomed:
        engine, scope = self._engine, self._scope
        if asked.filters or asked.in_scope:
            return Doomed.chosen(engine, asked, home=scope.path, top=scope.top)
        ids = list(asked.ids)
        if asked.query:
            # Whatever its state and trust: what is hidden from recall can be erased all the same.
            request = Request(asked.query, _MOST_BY_QUERY, states=STATES, trust=TRUSTS, now=engine.clock.now())
            hits = self._recaller.everything(request.checked())
            ids = [hit.id for hit in hits if scope.contains(hit.memory.scope)]
        chosen = engine.ledger.choose(scope=scope, ids=ids) if ids else []
        return Doomed.of(engine, chosen, asked=asked, home=scope.path, top=scope.top)

    def _with_statement(self, asked: Asked, done: Erased, *, name_subject: bool) -> EraseReceipt:
        from memoranda.service.statement import state

        told = state(self._engine, asked, done, scope=self._scope, name_subject=name_subject)
        return done.receipt._replace(statement=told)

    def _has_more(self, asked: Asked) -> bool:
        """Whether there is something else than memories and messages in a scope that goes as a whole."""
        if not asked.in_scope:
            return False
        below = Scope(asked.in_scope)
        now = self._engine.clock.now()
        tokens = TokenBook(self._engine).list(below=below.path)
        return any(token.is_good_at(now) for token in tokens) or any(
            below.contains(source.scope) for source in self._engine.sources.everywhere()
        )

    # -- what else belongs to a scope --

    def _with_all_of_it(self, receipt: EraseReceipt, below: Scope) -> EraseReceipt:
        """Nobody gets in with a token of what is no longer there; documents are not looked at any more."""
        book = TokenBook(self._engine)
        now = self._engine.clock.now()
        good = [token for token in book.list(below=below.path) if token.is_good_at(now)]
        revoked = {each for token in good for each in (token.id, *book.revoke(token.id).others)}
        return self._without_sources(receipt._replace(tokens=len(revoked)), below)

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


def _confirmation(doomed: Doomed) -> str:
    """What a caller must bring back to erase exactly what it was shown."""
    blanked = [message.id for change in doomed.redactions for message in change.blanked]
    ids = [*doomed.ids, *(row.conversation.id for row in doomed.conversations), *blanked]
    return hashlib.blake2b("\n".join(sorted(ids)).encode(), digest_size=8).hexdigest()
