"""From a record of a file to a memory that may be kept, or the reason why it is left out. Writes nothing.

Provenance is set here, by the format and by who vouches for it; never by what a foreign record says of itself.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from memoranda.config import Settings
from memoranda.domain.clock import to_ms
from memoranda.domain.draft import Draft
from memoranda.domain.errors import InvalidInput, Refused
from memoranda.domain.fact import refuse_reserved
from memoranda.domain.ids import id_of_bits, is_whole_id, new_id
from memoranda.domain.importing import Imported, Unread
from memoranda.domain.memory import UNVOUCHED, Memory, Trust, confidence_of
from memoranda.domain.moving import Carried, Dedupe, Foreign, Junk, LeftOut, Vouch
from memoranda.domain.scope import Scope
from memoranda.domain.text import checked_text
from memoranda.governance.trust import without_reserved
from memoranda.service.own_ids import without_own_ids
from memoranda.service.screening import screened

_LONGEST_REFERENCE = 400
_LONGEST_NAME = 60
_MOST_MEDIA = 64
_NOT_IN_A_SCOPE = re.compile(r"[^A-Za-z0-9_.:@+~-]")
_LEADING = re.compile(r"^[^A-Za-z0-9]+")
_SHORTEST = 3
_MOST_IMPORTANT = 0.79
"""Just below what must be remembered: that is for people, and for what they vouch for, to say."""
# What `stripped` may take away altogether. Code or a quoted mail may be what somebody wanted to keep.
_NAMES = frozenset({"source_ref", "conversation"})
_RUBBISH = ("injected block", "tool output", "private")
_WORDS = ("text", "about", "attribute", "context", "speaker", "conversation", "source_ref", "value", "metadata", "tags")


class Plan(NamedTuple):
    """How a file is to be taken in."""

    format: str
    scope: Scope
    dedupe: Dedupe
    trust: Vouch
    owners: Mapping[str, str]
    foreign: Foreign
    junk: Junk
    limit: int | None = None

    @property
    def own(self) -> bool:
        """Whether it is an export of ours, of which everything is kept as it was."""
        return self.format == "own"


class Left(NamedTuple):
    """A record that is left out, where it stands, and why."""

    place: str
    reason: LeftOut
    detail: str = ""
    owner: str = ""


class Turned(NamedTuple):
    """A memory ready to be kept, of whom it was there, and their own id."""

    memory: Memory
    place: str
    owner: str
    their_id: str


class Turning:
    """Turns the records of one import."""

    def __init__(self, plan: Plan, settings: Settings, *, key: bytes, run: str, now: int) -> None:
        self._plan = plan
        self._settings = settings
        self._key = key
        # Appended again on purpose, they are other memories than those of the time before.
        self._salt = run if plan.dedupe == "none" else ""
        self._now = now
        self._screens = settings.changed({"secrets": "allow"})
        self._verdicts: dict[int, str] = {}
        self._places: dict[tuple[str, str], Scope | None] = {}
        self.ours: dict[str, str] = {}
        """Their ids and what they are here, so that what was superseded can point at what took its place."""

    def turn(self, item: Imported | Carried | Unread) -> Turned | Left:
        """The memory as it would be kept, not yet screened."""
        if isinstance(item, Unread):
            return Left(item.place, "unread", item.reason)
        owner = item.memory.scope if isinstance(item, Carried) else item.owner
        text = item.memory.text if isinstance(item, Carried) else item.text
        if len(text) > self._settings.max_text:
            return Left(item.place, "too long", f"{len(text):,} characters", owner)
        if isinstance(item, Imported) and item.state == "forgotten":
            return Left(item.place, "forgotten", "deleted where it comes from", owner)
        try:
            root = item.root if isinstance(item, Carried) else ""
            if (owner, root) not in self._places:
                self._places[owner, root] = self._where(owner, root)
            where = self._places[owner, root]
            if where is None:
                return Left(item.place, "foreign", "", owner)
            memory = self._as_it_was(item.memory, where) if isinstance(item, Carried) else self._foreign(item, where)
        except InvalidInput as error:
            return Left(item.place, "unread", _without_values(str(error)), owner)
        their_id = "" if isinstance(item, Carried) else item.id
        if their_id:
            self.ours[their_id] = memory.id
        return Turned(memory, item.place, owner, their_id)

    def linked(self, memory: Memory) -> Memory:
        """What took its place under the id that it has here. To be asked once all records were turned."""
        if self._plan.own or not memory.superseded_by:
            return memory
        return memory._replace(superseded_by=self.ours.get(memory.superseded_by))

    # -- whose it is --

    def _where(self, owner: str, root: str) -> Scope | None:
        """The scope that a record goes to; None when it is somebody else's and nobody said where to put it."""
        plan = self._plan
        if not owner:
            return plan.scope
        for end in (len(owner), *reversed([place for place, char in enumerate(owner) if char == "/"])):
            # Of an export of ours, what lies below follows; elsewhere a slash means nothing.
            if owner[:end] in plan.owners and (plan.own or end == len(owner)):
                return Scope(plan.owners[owner[:end]] + owner[end:], top=plan.scope.top)
        if plan.own and plan.scope.contains(owner):
            return Scope(owner, top=plan.scope.top)
        if plan.foreign == "refuse":
            return None
        if plan.foreign == "here":
            return plan.scope
        below = _segment(owner)
        if plan.own and (owner == root or owner.startswith(root + "/")):
            below = owner[len(root) + 1 :]
        return Scope(f"{plan.scope.path}/{below}" if below else plan.scope.path, top=plan.scope.top)

    # -- what it becomes --

    def _as_it_was(self, memory: Memory, scope: Scope) -> Memory:
        draft = Draft(
            **{name: getattr(memory, name) for name in Draft._fields if name in Memory._fields},
        )
        checked = draft.checked(scope, now=self._now, max_text=self._settings.max_text)
        trust: Trust = memory.trust
        if self._plan.trust in ("untrusted", "trusted") and memory.trust != "quarantined":
            trust = "trusted" if self._plan.trust == "trusted" else "untrusted"
        if self._plan.trust == "untrusted":
            checked = _believed_less(checked, memory)
        created = memory.created_at or self._now
        successor = memory.superseded_by
        return checked._replace(
            id=memory.id if is_whole_id(memory.id) else self.derived(scope.path, memory.id, checked.content_hash),
            trust=trust,
            state=memory.state,
            created_at=created,
            updated_at=memory.updated_at or created,
            superseded_by=successor if isinstance(successor, str) and is_whole_id(successor) else None,
            media_refs=_media(memory.media_refs),
            media_kind=checked_text(memory.media_kind, name="media_kind", limit=64, empty_ok=True),
        )

    def _foreign(self, item: Imported, scope: Scope) -> Memory:
        refuse_reserved(item.attribute)
        vouched = self._plan.trust == "trusted"
        draft = Draft(
            text=item.text.strip(),
            kind=item.kind,
            about=item.about,
            attribute=item.attribute,
            value=item.value,
            context=item.context,
            importance=item.importance,
            confidence=_confidence(item.confidence, vouched=vouched),
            source="import",
            source_ref=f"{self._plan.format}:{item.id or item.place}"[:_LONGEST_REFERENCE],
            basis="stated" if vouched else "inferred",
            speaker=item.speaker,
            conversation=item.conversation,
            tags=item.tags,
            lang=item.lang,
            metadata=without_reserved(item.metadata or {}),
            occurred_at=item.occurred_at,
            valid_from=item.valid_from,
            valid_until=item.valid_until,
        )
        checked = draft.checked(scope, now=self._now, max_text=self._settings.max_text)
        created = self._now if item.created_at is None else to_ms(item.created_at, name="created_at")
        return checked._replace(
            id=self.derived(scope.path, item.id, checked.content_hash) if item.id else new_id(),
            trust="trusted" if vouched else "untrusted",
            state=item.state,
            created_at=created,
            updated_at=created if item.updated_at is None else to_ms(item.updated_at, name="updated_at"),
            superseded_by=item.superseded_by or None,
        )

    def derived(self, scope: str, theirs: str, content: str) -> str:
        """An id of ours for an id of theirs: the same record gets the same one, another text under it does not."""
        return id_from(self._key, self._salt, self._plan.format, scope, theirs, content)

    # -- whether it may be kept --

    def screened(self, turned: Turned) -> Turned | Left:
        """With the trust that it may have, or why it is left out. What was looked at before is not looked at again."""
        memory = turned.memory
        looked_at = hash((*map(repr, (getattr(memory, name) for name in _WORDS)), memory.source, memory.trust))
        verdict = self._verdicts.get(looked_at)
        if verdict is None:
            verdict = self._verdicts[looked_at] = self._verdict(memory)
        reason, _, detail = verdict.partition(":")
        if reason == "quarantine":
            return turned._replace(memory=self._quarantined(memory))
        for left_out in _SCREENED:
            if reason == left_out:
                return Left(turned.place, left_out, detail, turned.owner)
        return turned

    def _quarantined(self, memory: Memory) -> Memory:
        return memory._replace(trust="quarantined", metadata={**memory.metadata, "review": {"why": "injection"}})

    def _verdict(self, memory: Memory) -> str:
        rule = _secret_in(memory, own=self._plan.own) if self._settings.secrets == "refuse" else ""
        if rule:
            return f"secret:{rule}"
        if not self._plan.own and self._plan.junk == "leave":
            rubbish = junk_of(memory.text)
            if rubbish:
                return f"junk:{rubbish}"
        if memory.trust == "quarantined":
            return ""
        try:
            return "quarantine" if screened(memory, self._screens).trust == "quarantined" else ""
        except Refused:
            return "injection"


_SCREENED: tuple[LeftOut, ...] = ("secret", "junk", "injection")


def junk_of(text: str) -> str:
    """Why a text is nothing to keep: small talk, output of a tool, a pack of memories; empty when it is something."""
    from memoranda.capture.stripping import stripped
    from memoranda.recall.gate import gate

    if len(text.strip()) < _SHORTEST and text.isascii():
        return "too short"
    if gate(text):
        return "small talk"
    left = stripped(text)
    if left.private:
        return "private"
    if left.text.strip() or not left.removed:
        return ""
    return next((reason for reason in _RUBBISH if reason in left.removed), "")


def id_from(key: bytes, *parts: str) -> str:
    """An id that is made of words, so that it is the same whenever these are the same. Nobody can make it elsewhere."""
    hashed = hashlib.blake2b(json.dumps(parts).encode(), key=key, digest_size=13).digest()
    return id_of_bits(int.from_bytes(hashed, "big"))


def _secret_in(memory: Memory, *, own: bool) -> str:
    """What sort of secret is in it; empty when there is none. In an export of ours, ids of ours are none."""
    from memoranda.capture.secrets import RANDOM, secrets

    for name in _WORDS:
        part = getattr(memory, name)
        if own and name == "metadata":
            part = without_own_ids(part)
        if part:
            found = secrets(part if isinstance(part, str) else json.dumps(part, ensure_ascii=False, default=dict))
            # An id of another system is random by nature.
            rules = [each.rule for each in found if name not in _NAMES or each.rule != RANDOM]
            if rules:
                return rules[0]
    return ""


def _believed_less(checked: Memory, said: Memory) -> Memory:
    """An export that nobody vouches for could have been written by anybody: it came through the door of imports, is no
    surer and no more important than what comes from there, and its notes of where it is from are not ours."""
    metadata = without_reserved(said.metadata)
    if said.trust == "quarantined":
        metadata["review"] = {"why": "import"}
    return checked._replace(
        source="import",
        source_ref=checked.source_ref or f"own:{said.id}"[:_LONGEST_REFERENCE],
        basis="inferred",
        confidence=min(checked.confidence, UNVOUCHED),
        importance=None if checked.importance is None else min(checked.importance, _MOST_IMPORTANT),
        metadata=metadata,
    )


def _confidence(given: float | None, *, vouched: bool) -> float:
    """How sure they are; without anybody who vouches for it, no surer than anything from such a door."""
    usual = confidence_of("user" if vouched else "import")
    return usual if given is None else given if vouched else min(given, UNVOUCHED)


def _segment(owner: str) -> str:
    """A name of theirs as one segment of a scope; no two names become the same."""
    cleaned = _LEADING.sub("", _NOT_IN_A_SCOPE.sub("-", owner))
    if cleaned == owner and len(owner) <= _LONGEST_NAME:
        return owner
    told = hashlib.blake2b(owner.encode(errors="replace"), digest_size=5).hexdigest()
    return f"{cleaned[:_LONGEST_NAME]}-{told}" if cleaned else f"owner-{told}"


def _media(refs: Any) -> tuple[str, ...]:
    if len(refs) > _MOST_MEDIA:
        raise InvalidInput(f"{len(refs)} media_refs are too many; the limit is {_MOST_MEDIA}")
    return tuple(checked_text(ref, name="media_refs", limit=2_000) for ref in refs)


def _without_values(message: str) -> str:
    """What is wrong, without the words of the record that may be quoted in it."""
    return f"{message.partition(':')[0]} cannot be used" if "'" in message or '"' in message else message
