"""An edit of a mirror, taken into the store; or, for a preview, asked whether the store would take it."""

from typing import Any

from memoranda.documents.mirror import CONFLICT
from memoranda.documents.mirror_plan import Edit, value_after
from memoranda.domain.draft import Draft
from memoranda.domain.errors import Conflict, Refused
from memoranda.domain.memory import Memory
from memoranda.domain.mirror import Step
from memoranda.domain.scope import Scope
from memoranda.ledger.ledger import Keep
from memoranda.service.engine import Engine
from memoranda.service.screening import screened

SOURCE_REF = "mirror"
_REMOVED = "removed from a mirror"
_MOVED = "moved to another scope in a mirror"
_UNSAID: dict[str, Any] = {
    **dict.fromkeys(("about", "attribute", "context", "speaker", "conversation", "source_ref"), ""),
    "tags": (),
    "metadata": {},
}
"""What nobody wrote into the file."""


class Taking:
    """Edits going into one store. `now` says which memory a line with an old id has become."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.now: dict[str, str] = {}

    def take(self, edit: Edit, memory: Memory | None) -> Step:
        """Carry it out, on the memory that it was done to if there is one."""
        if memory is None:
            return self._kept(edit, _draft(edit))
        if edit.action == "forget":
            self._change(memory, "forgotten", _REMOVED)
            return _step(edit)
        if edit.action == "restore":
            return self._restored(edit, memory)
        if edit.action == "move":
            step = self._kept(edit, _draft(edit, memory), old=memory)
            self._change(memory, "forgotten", _MOVED)
            return step
        if edit.action == "supersede":
            try:
                return self._kept(edit, _draft(edit, memory), old=memory, supersedes=True)
            except Conflict:
                edit = edit._replace(action="conflict")  # superseded or forgotten this very moment
        return self._kept(edit, _beside(edit, memory), old=memory)

    def would(self, edit: Edit, memory: Memory | None) -> Step:
        """Raise what `take` would raise; nothing is done."""
        if edit.action == "restore" and memory is not None and self._is_over(memory):
            edit = edit._replace(action="remember")
        if edit.action not in ("forget", "restore"):
            draft = _beside(edit, memory) if memory and edit.action == "conflict" else _draft(edit, memory)
            if self._engine.ledger.was_erased(self._checked(edit, draft)):
                raise Refused("this text was erased from this scope and is not taken back")
        return _step(edit)

    def _checked(self, edit: Edit, draft: Draft) -> Memory:
        """The memory of a draft, if the store may keep it."""
        settings = self._engine.settings
        memory = draft.checked(Scope(edit.place.scope), now=self._engine.clock.now(), max_text=settings.max_text)
        # What it has from the old one was let in before; an id of some host in it looks as random as a secret.
        screened(memory._replace(**_UNSAID), settings)
        return memory

    def _kept(self, edit: Edit, draft: Draft, *, old: Memory | None = None, supersedes: bool = False) -> Step:
        memory = self._checked(edit, draft)
        if old is not None and edit.action == "conflict":
            memory = memory._replace(metadata={"mirror": {"conflict_with": old.id}})
        elif old is not None:
            memory = memory._replace(media_refs=old.media_refs, media_kind=old.media_kind)
        keep = Keep(memory, kind_given=True, supersedes=old.id if old is not None and supersedes else None)
        engine, scope = self._engine, Scope(edit.place.scope)
        now = engine.ledger.remember([keep], scope=scope, actor=engine.actor)[0].id
        if edit.item.id:
            self.now[edit.item.id] = now
        return _step(edit)._replace(now=now)

    def _restored(self, edit: Edit, memory: Memory) -> Step:
        if self._is_over(memory):
            return self._kept(edit._replace(action="remember"), _draft(edit, memory), old=memory)
        self._change(memory, "restored", "")
        return _step(edit)._replace(now=memory.id)

    def _is_over(self, memory: Memory) -> bool:
        """Whether it was forgotten too long ago to be restored."""
        over = memory.updated_at + self._engine.settings.grace_ms
        return memory.state == "forgotten" and self._engine.clock.now() >= over

    def _change(self, memory: Memory, action: str, reason: str) -> None:
        settings = self._engine.settings
        self._engine.ledger.change_state(
            memory.id,
            action,
            scope=Scope(memory.scope),
            actor=self._engine.actor,
            reason=reason,
            grace_ms=settings.grace_ms,
        )


def _step(edit: Edit) -> Step:
    return Step(edit.action, edit.place.path, edit.item.line, edit.id)


def _draft(edit: Edit, memory: Memory | None = None) -> Draft:
    """Who edits a file of this machine is its operator: trusted, and held to have said it."""
    new = Draft(edit.item.text, kind=edit.place.kind, source="operator", source_ref=SOURCE_REF)
    if memory is None:
        return new
    return new._replace(
        kind=memory.kind if edit.place.shelf == "profile" else edit.place.kind,
        about=memory.about,
        attribute=memory.attribute,
        value=memory.value if edit.item.text == memory.text else value_after(memory, edit.item.text),
        context=memory.context,
        importance=memory.importance,
        speaker=memory.speaker,
        conversation=memory.conversation,
        tags=tuple(tag for tag in memory.tags if tag != CONFLICT),
        lang=memory.lang,
        metadata={name: value for name, value in memory.metadata.items() if name not in ("mirror", "review")},
        occurred_at=memory.occurred_at,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
    )


def _beside(edit: Edit, memory: Memory) -> Draft:
    """An edit of what the store has changed, too: both are kept, and this one says so. It takes no slot."""
    return _draft(edit)._replace(about=memory.about, speaker=memory.speaker, tags=(CONFLICT,))
