"""The steps of a change of a profile: each says, of the entries that are there, which go and which are kept.

They write nothing: the ledger asks them inside its transaction.
"""

from collections.abc import Sequence
from typing import NamedTuple

from memoranda.domain.draft import AfterErase, Draft
from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.domain.memory import (
    SOURCES,
    Memory,
    Source,
    Trust,
    basis_of,
    checked_choice,
    confidence_of,
    outranks,
    trust_of,
)
from memoranda.domain.profile import (
    KIND_OF,
    LISTS,
    MAX_ENTRY,
    PREFIX,
    SEVERAL,
    Field,
    ProfileReceipt,
    beyond_limit,
    checked_entries,
    checked_entry,
    field_of,
    notes_in,
    same_entry,
    subject_of,
    text_of,
)
from memoranda.domain.scope import Scope
from memoranda.domain.text import checked_text
from memoranda.ledger.ledger import Keep
from memoranda.ledger.settling import Choose, Decide, Found, LetGo, Settled, Settlement
from memoranda.service.engine import Engine
from memoranda.service.screening import refuse_secret
from memoranda.service.structured import forgotten, ready

_REMOVED = "removed from the profile"
_REPLACED = "not in the list any more"


class Writer(NamedTuple):
    """Whose profile is written, and through which door."""

    subject: str
    speaker: str
    source: Source
    after_erase: AfterErase

    @property
    def trust(self) -> Trust:
        return trust_of(self.source)


def writer_of(speaker: str, source: Source, after_erase: AfterErase) -> Writer:
    return Writer(
        subject_of(speaker),
        speaker.strip(),
        checked_choice(source, SOURCES, name="source"),
        checked_choice(after_erase, ("refuse", "allow"), name="after_erase"),
    )


def one_text(field: Field, value: str | Sequence[str]) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{field}: one text is expected, not {type(value).__name__}", hint="Pass one text.")
    return value


def before(previous: str) -> str:
    """What an entry was before, as it was given."""
    return checked_text(previous, name="previous", limit=MAX_ENTRY, empty_ok=True).strip()


class Steps:
    """What is to be done with the entries of one profile, on behalf of one writer."""

    def __init__(self, engine: Engine, scope: Scope, writer: Writer) -> None:
        self._engine = engine
        self._scope = scope
        self._writer = writer

    def exactly(self, field: Field, value: str | Sequence[str]) -> Decide:
        """A field becomes exactly this; empty clears it."""
        keeps = [self._keep(field, entry) for entry in self._entries(field, value)]
        # What waits for a person replaces nothing meanwhile.
        waits = any(keep.memory.trust == "quarantined" for keep in keeps)

        def decide(found: Found) -> Settlement:
            within = self._within(found, field)
            going = [
                memory
                for memory in within
                if (not waits or memory.trust == "quarantined")
                and not any(same_entry(memory, keep.memory.value) for keep in keeps)
            ]
            if keeps and field not in SEVERAL:
                going = []  # it is superseded, and stays in the history
            kept = []
            for keep in keeps:
                same = next((memory for memory in within if same_entry(memory, keep.memory.value)), None)
                kept.append(keep._replace(reinforces=same.id if same else None))
            return Settlement(forgotten(going, _REPLACED), tuple(kept))

        return decide

    def more(self, field: Field, value: str, slot: str, previous: str) -> Decide:
        """An entry more, or several notes; `previous` is what the first of them replaces."""
        first, *others = self._entries(field, [value] if field in LISTS else value)
        return together([self.one(field, first, slot, previous), *(self.one(field, each, "", "") for each in others)])

    def one(self, field: Field, entry: str, slot: str, previous: str) -> Decide:
        """One entry, in its slot if it has a key, instead of what it replaces."""
        keep = self._keep(field, checked_entry(field, entry), slot)
        old = before(previous)
        told = self._tellable(field, old, slot)

        def decide(found: Found) -> Settlement:
            within = self._within(found, field)
            loose = [memory for memory in within if not slot or memory.context != slot]
            replaced = next((memory for memory in loose if old and same_entry(memory, old)), None)
            same = next((memory for memory in loose if same_entry(memory, keep.memory.value)), None)
            kept = keep
            if replaced is not None:
                kept = keep._replace(supersedes=replaced.id)
            elif same is not None and slot:
                kept = keep._replace(supersedes=same.id)  # the same words, now under a key
            elif same is not None:
                kept = keep._replace(reinforces=same.id)
            elif told and slot and not any(memory.context == slot for memory in within):
                metadata = {**keep.memory.metadata, "previous": told}
                kept = keep._replace(memory=keep.memory._replace(metadata=metadata))
            return Settlement(keeps=(kept,))

        return decide

    def without(self, field: Field, said: str, slot: str) -> Choose:
        """Without what is said, or what is under a key; without either, nothing of the field is left."""

        def choose(found: Found) -> tuple[LetGo, ...]:
            within = self._within(found, field)
            going = [
                memory
                for memory in within
                if (not slot or memory.context == slot) and (not said or same_entry(memory, said))
            ]
            if not going and field == "notes":
                going = _all_of(within, notes_in(said))
            if not going:
                hint = "`memoranda profile show` shows what there is."
                raise NotFound(f"there is no such entry in {field}", hint=hint)
            return forgotten(going, _REMOVED)

        return choose

    def _within(self, found: Found, field: Field) -> list[Memory]:
        """The entries of a field that the writer may change."""
        trust = self._writer.trust
        return [memory for memory in found if field_of(memory) == field and not outranks(memory.trust, trust)]

    def _entries(self, field: Field, value: str | Sequence[str]) -> tuple[str, ...]:
        """What is given, entry by entry. Notes that look written to steer a model stay together for the review."""
        if field in LISTS:
            return checked_entries(field, value)
        text = one_text(field, value)
        if not text.strip():
            return ()
        entry = checked_entry(field, text)
        if field != "notes" or self._keep(field, entry).memory.trust == "quarantined":
            return (entry,)
        return notes_in(entry)

    def _tellable(self, field: Field, old: str, slot: str) -> str:
        """What an entry was before, if that may be shown: it is screened like an entry."""
        if not old:
            return ""
        keep = self._keep(field, old, slot)
        erased = not keep.even_if_erased and self._engine.ledger.was_erased(keep.memory)
        return "" if erased or keep.memory.trust == "quarantined" else old

    def _keep(self, field: Field, entry: str, key: str = "") -> Keep:
        writer = self._writer
        if key and self._engine.settings.secrets == "refuse":
            refuse_secret(f"{key}: {entry}", field)  # as it is read: the key may say what the entry is
        draft = Draft(
            text=text_of(field, entry),
            kind=KIND_OF[field],
            about=writer.subject,
            attribute=PREFIX + field,
            value=entry,
            context=key,
            confidence=confidence_of(writer.source),
            basis=basis_of(writer.source),
            speaker=writer.speaker,
            source=writer.source,
            after_erase=writer.after_erase,
        )
        return ready(self._engine, self._scope, draft, slot="one" if key or field not in SEVERAL else "many")


def together(steps: Sequence[Decide]) -> Decide:
    """Several steps as one."""

    def decide(found: Found) -> Settlement:
        settled = [step(found) for step in steps]
        return Settlement(
            tuple(each for one in settled for each in one.let_go),
            tuple(each for one in settled for each in one.keeps),
        )

    return decide


def trim(found: Found) -> tuple[LetGo, ...]:
    """The oldest entries make room."""
    return tuple(LetGo(memory.id, "archived", f"too many {field_of(memory)}") for memory in beyond_limit(found))


def receipt_of(action: str, scope: Scope, settled: Settled, sequence: int) -> ProfileReceipt:
    """What was done, in ids."""

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


def _all_of(within: Sequence[Memory], notes: Sequence[str]) -> list[Memory]:
    """The entries that say these notes; none when one of them is missing."""
    said = [[memory for memory in within if same_entry(memory, note)] for note in notes]
    return [memory for each in said for memory in each] if all(said) else []
