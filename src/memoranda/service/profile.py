"""`memory.profile`: the small stable record of a scope and of those who speak in it, always in the prompt.

Only trusted entries are in a profile. What came from an assistant, a tool, the web or an import is kept beside them,
replaces none of them, and does not speak.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from memoranda.domain.clock import Moment, iso
from memoranda.domain.draft import AfterErase, Draft
from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.domain.memory import SOURCES, Memory, Source, Trust, checked_choice, outranks, trust_of
from memoranda.domain.profile import (
    FIELDS,
    KIND_OF,
    LISTS,
    MAX_ENTRY,
    PREFIX,
    Field,
    Profile,
    ProfileChanged,
    ProfileReceipt,
    beyond_limit,
    checked_entries,
    checked_entry,
    checked_field,
    checked_key,
    entry_of,
    field_of,
    is_entry,
    joined_notes,
    profile_of,
    same_entry,
    subject_of,
    text_of,
    without_note,
)
from memoranda.domain.request import Request, checked_limit
from memoranda.domain.scope import Scope
from memoranda.domain.text import checked_text
from memoranda.ledger.ledger import Filter, Keep
from memoranda.ledger.settling import Decide, Found, LetGo, Settled, Settlement
from memoranda.service.engine import Engine
from memoranda.service.recalling import Recaller
from memoranda.service.structured import checked_type, moment_of, read, ready

_MOST_GONE = 200
_REMOVED = "removed from the profile"
_REPLACED = "not in the list any more"
_MORE_THAN_ASKED = 16


class _Writer(NamedTuple):
    """Whose profile is written, and through which door."""

    subject: str
    speaker: str
    source: Source
    after_erase: AfterErase

    @property
    def trust(self) -> Trust:
        return trust_of(self.source)


class Profiles:
    """The profiles of one scope: its own, and one for each speaker."""

    def __init__(self, engine: Engine, scope: Scope, recaller: Recaller) -> None:
        self._engine = engine
        self._scope = scope
        self._recaller = recaller

    # -- reading --

    def get(self, *, speaker: str = "", as_of: Moment | None = None) -> Profile:
        """The profile of this very scope, or of one who speaks in it; empty when there is none."""
        return self._profile(self._scope, subject_of(speaker), as_of)

    def lines(self, *, speaker: str = "") -> tuple[str, ...]:
        """For a prompt, always in the same order: the profiles of the scopes above and of this one, the speaker's,
        then what changed lately."""
        subject = subject_of(speaker)
        outermost_first = self._scope.chain()[::-1]
        lines: list[str] = []
        recent: list[str] = []
        for whose, told in (("Profile", subject_of("")), ("Speaker profile", subject)):
            if whose == "Speaker profile" and not speaker.strip():
                continue
            for path in outermost_first:
                profile = self._profile(Scope(path), told, None)
                lines += profile.lines(whose if path == self._scope.path else f"{whose} in {path}")
                recent += profile.recent
        return (*lines, *recent)

    def context(self, query: str = "", *, speaker: str = "", name: str = "", limit: int = 3) -> dict[str, Any]:
        """The profiles and what bears on the query, in the shape in which hosts hand it on to other plugins."""
        checked_text(name, name="name", limit=512, empty_ok=True)
        checked_type(query, str, name="query", hint="Pass what is asked as one text, or leave it out.")
        subject_of(speaker)
        return {
            "speaker": {"id": speaker.strip(), "name": name.strip()},
            "session_profile": self.get().as_json(),
            "speaker_profile": self.get(speaker=speaker).as_json() if speaker.strip() else None,
            "episodes": self._episodes(query, speaker=speaker.strip(), limit=checked_limit(limit)),
        }

    def export(self) -> dict[str, Any]:
        """All profiles of this very scope and of no other."""
        wanted = Filter(attribute_like=PREFIX, here=True, trust=("trusted",))
        by_speaker: dict[str, list[Memory]] = {}
        for memory in read(self._engine, self._scope, wanted):
            by_speaker.setdefault(memory.speaker, []).append(memory)
        now = self._engine.clock.now()
        profiles: list[dict[str, Any]] = []
        for speaker in sorted(by_speaker):  # the scope's own has no speaker and stands first
            live = [memory for memory in by_speaker[speaker] if memory.state == "live"]
            gone = [memory for memory in by_speaker[speaker] if memory.state != "live"]
            if live:
                of = {"sender_id": speaker} if speaker else {}
                profiles.append(
                    {
                        "type": "speaker" if speaker else "session",
                        "scope_key": self._scope.path,
                        **of,
                        "profile": profile_of(live, gone, now=now).as_json(),
                    }
                )
        return {"version": 1, "exported_at": iso(now), "profiles": profiles}

    def _profile(self, scope: Scope, subject: str, as_of: Moment | None) -> Profile:
        asked, moment = moment_of(self._engine, as_of)
        wanted = Filter(about=subject, attribute_like=PREFIX, here=True, trust=("trusted",), as_of=asked)
        live = read(self._engine, scope, wanted._replace(states=("live",)))
        if not live:
            return Profile()
        gone = read(
            self._engine, scope, wanted._replace(states=("superseded", "archived", "forgotten")), limit=_MOST_GONE
        )
        return profile_of(live, gone, now=moment)

    def _episodes(self, query: str, *, speaker: str, limit: int) -> list[dict[str, str]]:
        if not query.strip():
            return []
        request = Request.of(
            {
                "query": query,
                "limit": limit + _MORE_THAN_ASKED,
                "mode": "automatic",
                "prefer_speaker": speaker,
                "now": self._engine.clock.now(),
            }
        )
        # An entry of a profile is in its profile, and means nothing without it.
        found = [hit.memory for hit in self._recaller.recall(request) if not is_entry(hit.memory)]
        return [{"content": memory.text} for memory in found[:limit]]

    # -- writing --

    def update(
        self,
        *,
        name: str | None = None,
        traits: Sequence[str] | None = None,
        preferences: Sequence[str] | None = None,
        notes: str | None = None,
        speaker: str = "",
        source: Source = "user",
        after_erase: AfterErase = "refuse",
    ) -> ProfileChanged:
        """Set the fields that are given, all in one commit. A list becomes exactly what is given; empty clears it."""
        given: dict[Field, str | Sequence[str] | None] = {
            "name": name, "traits": traits, "preferences": preferences, "notes": notes,
        }  # fmt: skip
        writer = _writer(speaker, source, after_erase)
        steps = [self._exactly(field, value, writer) for field, value in given.items() if value is not None]
        if not steps:
            raise InvalidInput("nothing to update", hint=f"Give at least one of: {', '.join(FIELDS)}.")

        def decide(found: Found) -> Settlement:
            settled = [step(found) for step in steps]
            return Settlement(
                tuple(each for one in settled for each in one.let_go),
                tuple(each for one in settled for each in one.keeps),
            )

        return self._settle("update", decide, writer)

    def set(
        self,
        field: Field,
        value: str | Sequence[str],
        *,
        key: str = "",
        previous: str = "",
        speaker: str = "",
        source: Source = "user",
        after_erase: AfterErase = "refuse",
    ) -> ProfileChanged:
        """Set one field. With a key, only the entry under that key; what it was before is kept as history.

        `previous` names the entry that this one replaces, when it was kept without a key or not at all.
        """
        writer = _writer(speaker, source, after_erase)
        slot = checked_key(checked_field(field), key)
        if slot or _before(previous):
            decide = self._one(field, _one_text(field, value), slot, previous, writer)
        else:
            decide = self._exactly(field, [value] if field in LISTS and isinstance(value, str) else value, writer)
        return self._settle("set", decide, writer)

    def add(
        self,
        field: Field,
        value: str,
        *,
        key: str = "",
        previous: str = "",
        speaker: str = "",
        source: Source = "user",
        after_erase: AfterErase = "refuse",
    ) -> ProfileChanged:
        """Add an entry to a list, where the oldest makes room for it; or a note behind the others."""
        writer = _writer(speaker, source, after_erase)
        slot = checked_key(checked_field(field), key)
        entry = checked_entry(field, _one_text(field, value))
        if field == "notes":

            def decide(found: Found) -> Settlement:
                notes = joined_notes(_single(found, field, writer.trust), entry)
                return Settlement(keeps=(self._keep(field, notes, "", writer),))

            return self._settle("add", decide, writer)
        return self._settle("add", self._one(field, entry, slot, previous, writer), writer)

    def remove(
        self, field: Field, value: str = "", *, key: str = "", speaker: str = "", source: Source = "user"
    ) -> ProfileChanged:
        """Forget one entry, by what it says or by its key; the name or the notes also whole."""
        writer = _writer(speaker, source, "refuse")
        slot = checked_key(checked_field(field), key)
        said = checked_text(value, name=field, empty_ok=True).strip()
        if field in LISTS and not slot and not said:
            raise InvalidInput(f"say which of the {field} to remove", hint="Give its text, or its key.")

        def decide(found: Found) -> Settlement:
            within = [memory for memory in _of_field(found, field) if not outranks(memory.trust, writer.trust)]
            if field == "notes" and said:
                return self._without_note(within, said, writer)
            going = [
                memory
                for memory in within
                if (not slot or memory.context == slot) and (not said or same_entry(memory, said))
            ]
            if not going:
                raise NotFound(
                    f"there is no such entry in {field}", hint="`memoranda profile show` shows what there is."
                )
            return Settlement(tuple(LetGo(memory.id, "forgotten", _REMOVED) for memory in going))

        return self._settle("remove", decide, writer)

    # -- the steps --

    def _exactly(self, field: Field, value: str | Sequence[str], writer: _Writer) -> Decide:
        """A field becomes exactly this; empty clears it."""
        if field in LISTS:
            entries = checked_entries(field, value)
        else:
            text = _one_text(field, value)
            entries = (checked_entry(field, text),) if text.strip() else ()

        def decide(found: Found) -> Settlement:
            within = [memory for memory in _of_field(found, field) if not outranks(memory.trust, writer.trust)]
            going = [memory for memory in within if not any(same_entry(memory, entry) for entry in entries)]
            if entries and field not in LISTS:
                going = []  # it is superseded, and stays in the history
            keeps = []
            for entry in entries:
                same = next((memory for memory in within if same_entry(memory, entry)), None)
                keeps.append(self._keep(field, entry, "", writer)._replace(reinforces=same.id if same else None))
            return Settlement(tuple(LetGo(memory.id, "forgotten", _REPLACED) for memory in going), tuple(keeps))

        return decide

    def _one(self, field: Field, entry: str, slot: str, previous: str, writer: _Writer) -> Decide:
        """One entry, in its slot if it has a key, instead of what it replaces."""
        entry = checked_entry(field, entry)
        before = _before(previous)

        def decide(found: Found) -> Settlement:
            within = [memory for memory in _of_field(found, field) if not outranks(memory.trust, writer.trust)]
            loose = [memory for memory in within if memory.context != slot]
            kept = self._keep(field, entry, slot, writer)
            replaced = next((memory for memory in loose if before and same_entry(memory, before)), None)
            same = next((memory for memory in loose if same_entry(memory, entry)), None)
            if replaced is not None:
                kept = kept._replace(supersedes=replaced.id)
            elif same is not None and slot:
                kept = kept._replace(supersedes=same.id)  # the same words, now under a key
            elif same is not None:
                kept = kept._replace(reinforces=same.id)
            elif before and slot and not any(memory.context == slot for memory in within):
                metadata = {**kept.memory.metadata, "previous": before}
                kept = kept._replace(memory=kept.memory._replace(metadata=metadata))
            return Settlement(keeps=(kept,))

        return decide

    def _without_note(self, within: list[Memory], said: str, writer: _Writer) -> Settlement:
        for memory in within:
            rest = without_note(entry_of(memory), said)
            if rest != entry_of(memory):
                keeps = (self._keep("notes", rest, "", writer),) if rest else ()
                return Settlement((LetGo(memory.id, "forgotten", _REMOVED),), keeps)
        raise NotFound("there is no such note", hint="`memoranda profile show` shows what there is.")

    def _keep(self, field: Field, entry: str, key: str, writer: _Writer) -> Keep:
        draft = Draft(
            text=text_of(field, entry),
            kind=KIND_OF[field],
            about=writer.subject,
            attribute=PREFIX + field,
            value=entry,
            context=key,
            speaker=writer.speaker,
            source=writer.source,
            after_erase=writer.after_erase,
        )
        return ready(self._engine, self._scope, draft, slot="one" if key or field not in LISTS else "many")

    def _settle(self, action: str, decide: Decide, writer: _Writer) -> ProfileChanged:
        engine = self._engine
        settled = engine.ledger.settle(
            Filter(states=("live",), about=writer.subject, attribute_like=PREFIX, here=True),
            decide,
            trim=_trim,
            scope=self._scope,
            actor=engine.settings.actor,
            grace_ms=engine.settings.grace_ms,
        )
        engine.nudge()
        profile = self._profile(self._scope, writer.subject, None)
        return ProfileChanged(profile, _receipt(action, self._scope, settled, engine.ledger.sequence()))


def _writer(speaker: str, source: Source, after_erase: AfterErase) -> _Writer:
    return _Writer(
        subject_of(speaker),
        speaker.strip(),
        checked_choice(source, SOURCES, name="source"),
        checked_choice(after_erase, ("refuse", "allow"), name="after_erase"),
    )


def _one_text(field: Field, value: str | Sequence[str]) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{field}: one text is expected, not {type(value).__name__}", hint="Pass one text.")
    return value


def _before(previous: str) -> str:
    return checked_text(previous, name="previous", limit=MAX_ENTRY, empty_ok=True).strip()


def _of_field(found: Found, field: Field) -> list[Memory]:
    return [memory for memory in found if field_of(memory) == field]


def _single(found: Found, field: Field, trust: Trust) -> str:
    """What the field says to one of this trust; empty when nothing."""
    own = [memory for memory in _of_field(found, field) if memory.trust == trust]
    return entry_of(own[0]) if own else ""


def _trim(found: Found) -> tuple[LetGo, ...]:
    """The oldest entries make room."""
    return tuple(LetGo(memory.id, "archived", f"too many {field_of(memory)}") for memory in beyond_limit(found))


def _receipt(action: str, scope: Scope, settled: Settled, sequence: int) -> ProfileReceipt:
    def of(outcome: str) -> tuple[str, ...]:
        return tuple(each.id for each in settled.kept if each.receipt.outcome == outcome)

    sequences = [each.receipt.sequence for each in settled.kept]
    sequences += [each.receipt.sequence for each in settled.let_go]
    trusts = [each.memory.trust for each in settled.kept if each.memory.trust != "trusted"]
    return ProfileReceipt(
        action=action,
        scope=scope.path,
        sequence=max(sequences, default=sequence),
        kept=of("created"),
        reinforced=of("reinforced"),
        superseded=tuple(each.receipt.superseded for each in settled.kept if each.receipt.superseded),
        forgotten=tuple(each.id for each in settled.let_go if each.receipt.action == "forgotten"),
        archived=tuple(each.id for each in settled.let_go if each.receipt.action == "archived"),
        trust=trusts[0] if trusts else "trusted",
    )
