"""`memory.profile`: the small stable record of a scope and of those who speak in it, always in the prompt.

Only trusted entries are in a profile. What came from an assistant, a tool, the web or an import is kept beside them,
replaces none of them, and does not speak.
"""

from collections.abc import Sequence
from typing import Any

from memoranda.domain.clock import Moment, iso
from memoranda.domain.draft import AfterErase
from memoranda.domain.errors import InvalidInput
from memoranda.domain.memory import Memory, Source
from memoranda.domain.profile import (
    FIELDS,
    LISTS,
    PREFIX,
    Field,
    Profile,
    ProfileChanged,
    checked_entry,
    checked_field,
    checked_key,
    is_entry,
    profile_of,
    subject_of,
)
from memoranda.domain.request import Request, checked_limit
from memoranda.domain.scope import Scope
from memoranda.domain.text import checked_text
from memoranda.ledger.fence import fences
from memoranda.ledger.ledger import Filter
from memoranda.ledger.settling import Decide, Settled
from memoranda.service.engine import Engine
from memoranda.service.profile_steps import Steps, Writer, before, one_text, receipt_of, together, trim, writer_of
from memoranda.service.recalling import Recaller
from memoranda.service.structured import checked_type, let_go, moment_of, read

_MOST_GONE = 200
_MORE_THAN_ASKED = 16


@fences()
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
        asked, moment = moment_of(self._engine, self._scope, as_of)
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
        writer = writer_of(speaker, source, after_erase)
        steps = Steps(self._engine, self._scope, writer)
        decided = [steps.exactly(field, value) for field, value in given.items() if value is not None]
        if not decided:
            raise InvalidInput("nothing to update", hint=f"Give at least one of: {', '.join(FIELDS)}.")
        return self._settle("update", together(decided), writer)

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

        `previous` names the entry of a list that this one replaces, when it was kept without a key or not at all.
        """
        writer = writer_of(speaker, source, after_erase)
        steps = Steps(self._engine, self._scope, writer)
        slot = checked_key(checked_field(field), key)
        if slot or (before(previous) and field in LISTS):
            decide = steps.one(field, one_text(field, value), slot, previous)
        else:
            decide = steps.exactly(field, [value] if field in LISTS and isinstance(value, str) else value)
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
        """Add an entry to a list, where the oldest makes room for it; or notes behind the others."""
        writer = writer_of(speaker, source, after_erase)
        slot = checked_key(checked_field(field), key)
        entry = checked_entry(field, one_text(field, value))
        steps = Steps(self._engine, self._scope, writer)
        return self._settle("add", steps.more(field, entry, slot, previous), writer)

    def remove(
        self, field: Field, value: str = "", *, key: str = "", speaker: str = "", source: Source = "user"
    ) -> ProfileChanged:
        """Forget one entry, by what it says or by its key; the name or the notes also whole."""
        writer = writer_of(speaker, source, "refuse")
        slot = checked_key(checked_field(field), key)
        said = checked_text(value, name=field, empty_ok=True).strip()
        if field in LISTS and not slot and not said:
            raise InvalidInput(f"say which of the {field} to remove", hint="Give its text, or its key.")
        choose = Steps(self._engine, self._scope, writer).without(field, said, slot)
        gone = let_go(self._engine, self._scope, _entries_of(writer), choose)
        return self._changed("remove", Settled((), gone), writer)

    def _settle(self, action: str, decide: Decide, writer: Writer) -> ProfileChanged:
        engine = self._engine
        settled = engine.ledger.settle(
            _entries_of(writer),
            decide,
            trim=trim,
            scope=self._scope,
            actor=engine.actor,
            grace_ms=engine.settings.grace_ms,
        )
        engine.nudge()
        return self._changed(action, settled, writer)

    def _changed(self, action: str, settled: Settled, writer: Writer) -> ProfileChanged:
        profile = self._profile(self._scope, writer.subject, None)
        return ProfileChanged(profile, receipt_of(action, self._scope, settled, self._engine.ledger.sequence()))


def _entries_of(writer: Writer) -> Filter:
    """All that is live in the profile that is written."""
    return Filter(states=("live",), about=writer.subject, attribute_like=PREFIX, here=True)
