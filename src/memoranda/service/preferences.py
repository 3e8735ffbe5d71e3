"""`memory.preferences`: what is preferred, and when; and which preference applies now."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from memoranda.domain.clock import Moment, to_ms
from memoranda.domain.contexts import Circumstance, canonical, checked_context
from memoranda.domain.draft import AfterErase, Draft
from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.domain.fact import checked_slot
from memoranda.domain.memory import Basis, Memory, Source, Trust, checked_json
from memoranda.domain.preference import Preference, as_preferences, resolved, sentence
from memoranda.domain.request import checked_limit, checked_offset
from memoranda.domain.results import Changed, Remembered
from memoranda.domain.scope import Scope
from memoranda.domain.text import checked_text
from memoranda.ledger.fence import fences
from memoranda.ledger.ledger import Filter
from memoranda.ledger.settling import Found, LetGo
from memoranda.service.engine import Engine
from memoranda.service.structured import checked_type, forgotten, keep, let_go, moment_of, read, surest

_MAY_SPEAK: tuple[Trust, ...] = ("trusted", "untrusted")


@fences()
class Preferences:
    """The preferences of one scope, with those of the scopes above."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine = engine
        self._scope = scope

    def set(
        self,
        category: str,
        key: str,
        value: Any,
        *,
        context: str = "",
        confidence: float = 1.0,
        learned_from: str = "",
        text: str = "",
        source: Source = "user",
        basis: Basis = "stated",
        speaker: str = "",
        after_erase: AfterErase = "refuse",
    ) -> Remembered:
        """Keep one preference. There is one value for each category, key and context: another supersedes it, the same
        again raises its confidence by 0.1.

        `context` says when it applies, such as `after_sunset` or `weekday+morning`. What is no word for a time or a
        place is a flag, of letters, digits, _ and -. `value` is any JSON.
        """
        checked_slot(category, key, what=("category", "key"))
        if value is None:
            raise InvalidInput("a preference needs a value", hint="Give any JSON value but null; forget() removes one.")
        checked_type(text, str, name="text", hint="Say the preference in words, or leave text out.")
        value = checked_json(value, name="value")
        when = checked_context(context)
        draft = Draft(
            text=text if text.strip() else sentence(category.strip(), key.strip(), value, when),
            kind="preference",
            about=category,
            attribute=key,
            value=value,
            context=when,
            confidence=confidence,
            source=source,
            source_ref=learned_from,
            basis=basis,
            speaker=speaker,
            after_erase=after_erase,
        )
        return keep(self._engine, self._scope, draft, slot="one")

    def get(self, category: str, key: str, *, context: str = "", as_of: Moment | None = None) -> Preference | None:
        """The preference with exactly this context: of the nearest scope, a trusted one if there is one."""
        asked, moment = moment_of(self._engine, self._scope, as_of)
        wanted = self._wanted(category, key)._replace(context=canonical(context), as_of=asked, valid_at=moment)
        return min(as_preferences(read(self._engine, self._scope, wanted), moment), key=_nearest, default=None)

    def list(
        self, category: str = "", *, key: str = "", as_of: Moment | None = None, limit: int = 1_000, offset: int = 0
    ) -> tuple[Preference, ...]:
        """Preferences of this scope and those above it: trusted ones first, then the surest, then the newest."""
        limit, offset = checked_limit(limit), checked_offset(offset)
        asked, moment = moment_of(self._engine, self._scope, as_of)
        wanted = self._wanted(category, key)._replace(as_of=asked, valid_at=moment)
        return as_preferences(surest(self._engine, self._scope, wanted, at=moment, limit=limit, offset=offset), moment)

    def resolve(
        self,
        category: str,
        key: str,
        *,
        now: Moment | None = None,
        place: str = "",
        flags: Sequence[str] = (),
    ) -> Preference | None:
        """The preference that applies now, or None. The most conditions win, then the nearer scope, then the surest.

        Only what is trusted is acted on. Times of day are those of the setting `time_zone`.
        """
        checked_slot(category, key, what=("category", "key"))
        found = self._resolved(category, key, now=now, place=place, flags=flags)
        return found[0] if found else None

    def resolve_all(
        self, category: str = "", *, now: Moment | None = None, place: str = "", flags: Sequence[str] = ()
    ) -> tuple[Preference, ...]:
        """What applies now, one of each category and key, the surest first."""
        return self._resolved(category, "", now=now, place=place, flags=flags)

    def forget(self, category: str, key: str, *, context: str | None = None) -> tuple[Changed, ...]:
        """Forget what this very scope keeps under this key: in every context, or in one."""
        checked_slot(category, key, what=("category", "key"))
        when = None if context is None else canonical(context)
        wanted = self._wanted(category, key)._replace(here=True, trust=(), context=when)

        def choose(found: Found) -> tuple[LetGo, ...]:
            if not found:
                raise NotFound(
                    f"{self._scope} has no such preference",
                    hint="`memoranda preferences list` shows them; what a scope above keeps is forgotten there.",
                )
            return forgotten(found, "forgotten as a preference")

        return let_go(self._engine, self._scope, wanted, choose)

    # -- the steps --

    def _wanted(self, category: str, key: str) -> Filter:
        return Filter(
            states=("live",),
            trust=_MAY_SPEAK,
            kinds=("preference",),
            about=checked_text(category, name="category", limit=512, empty_ok=True).strip(),
            attribute=checked_text(key, name="key", limit=512, empty_ok=True).strip(),
            about_things=True,
            has_attribute=True,
        )

    def _resolved(
        self, category: str, key: str, *, now: Moment | None, place: str, flags: Sequence[str]
    ) -> tuple[Preference, ...]:
        moment = self._engine.clock.now() if now is None else to_ms(now, name="now")
        circumstance = Circumstance.of(self._local(moment), place=place, flags=flags)
        wanted = self._wanted(category, key)._replace(trust=("trusted",), valid_at=moment)
        return resolved(as_preferences(read(self._engine, self._scope, wanted), moment), circumstance)

    def _local(self, moment: int) -> datetime:
        """A moment as the clock on the wall shows it."""
        utc = datetime.fromtimestamp(moment / 1000, UTC)
        if not self._engine.settings.time_zone:
            return utc.astimezone()
        from zoneinfo import ZoneInfo

        return utc.astimezone(ZoneInfo(self._engine.settings.time_zone))


def _nearest(preference: Preference) -> tuple[bool, int, float, str]:
    memory: Memory = preference.memory
    return memory.trust != "trusted", -len(memory.scope), -preference.confidence, memory.id
