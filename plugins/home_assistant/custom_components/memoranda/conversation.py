"""An agent around another agent: gives it what bears on the turn before, and keeps what should be kept after.

When the other one has nothing to say to a question, memory answers; a command that failed stays a command that failed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from homeassistant.components import conversation
from homeassistant.const import MATCH_ALL
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import intent
from homeassistant.helpers import issue_registry as ir

from . import happened, speech
from .const import CONF_AGENT, CONF_LANGUAGE, CONF_RECALL, DEFAULT_OPTIONS, DOMAIN
from .household import Household, MemorandaEntry
from .people import Seat
from .places import entities_in, things_called, with_subjects
from .sensor import device_of

if TYPE_CHECKING:
    from memoranda import Captured, LongTermMemory

_LOGGER = logging.getLogger(__name__)
# An answer is worth more than what memory could add to it; that something is kept is worth waiting for.
_TO_TELL = 5.0
_TO_KEEP = 15.0
_MOST_ANSWERED = 3
_NEWER = ("satellite_id",)  # what later cores tell of a turn
# It did not understand, or knows no thing or room of that name: "where is the boiler manual?" is no device's question.
_HAS_NO_ANSWER = (
    intent.IntentResponseErrorCode.NO_INTENT_MATCH,
    intent.IntentResponseErrorCode.NO_VALID_TARGETS,
)


async def async_setup_entry(hass: HomeAssistant, entry: MemorandaEntry, async_add_entities: Callable) -> None:
    async_add_entities([RememberingAgent(entry)])


class RememberingAgent(conversation.ConversationEntity):
    """Speaks through the agent that the options name."""

    _attr_has_entity_name = True
    _attr_translation_key = "agent"

    def __init__(self, entry: MemorandaEntry) -> None:
        self._household: Household = entry.runtime_data
        self._attr_unique_id = f"{entry.entry_id}_agent"
        self._attr_device_info = device_of(entry)

    @property
    def supported_features(self) -> conversation.ConversationEntityFeature:
        """Whether it controls the house, which is the other agent's to say."""
        state = self.hass.states.get(str(self._household.options[CONF_AGENT]))
        return conversation.ConversationEntityFeature(state.attributes.get("supported_features", 0) if state else 0)

    @property
    def supported_languages(self) -> list[str] | Literal["*"]:
        return MATCH_ALL

    async def async_process(self, user_input: conversation.ConversationInput) -> conversation.ConversationResult:
        household = self._household
        seat = household.seat(user_input.context.user_id, user_input.device_id)
        events = await self._events(user_input, seat)
        told = events if events is not None else await self._pack(user_input, seat)
        result = await conversation.async_converse(
            self.hass,
            text=user_input.text,
            conversation_id=user_input.conversation_id,
            context=user_input.context,
            language=user_input.language,
            agent_id=self._inner(),
            device_id=user_input.device_id,
            extra_system_prompt="\n".join(each for each in (user_input.extra_system_prompt, told) if each) or None,
            **{name: getattr(user_input, name) for name in _NEWER if hasattr(user_input, name)},
        )
        captured = await self._capture(user_input, seat, result)
        if result.response.error_code in _HAS_NO_ANSWER:
            return await self._answer(user_input, seat, result, events, captured)
        return result

    def _inner(self) -> str:
        """The agent that the options name; if it is gone, Home Assistant's own, and a repair says so."""
        chosen = str(self._household.options[CONF_AGENT])
        issue = f"agent_gone_{self._attr_unique_id}"
        if conversation.async_get_agent_info(self.hass, chosen) is not None:
            ir.async_delete_issue(self.hass, DOMAIN, issue)
            return chosen
        ir.async_create_issue(
            self.hass,
            DOMAIN,
            issue,
            is_fixable=False,
            severity=ir.IssueSeverity.WARNING,
            translation_key="agent_gone",
            translation_placeholders={"agent": chosen},
        )
        return str(DEFAULT_OPTIONS[CONF_AGENT])

    async def _events(self, user_input: conversation.ConversationInput, seat: Seat) -> str | None:
        """What happened, for a question about it; from the history. None for anything else."""
        if not speech.asks_what_happened(user_input.text):
            return None
        try:
            start, end = await happened.async_times(self.hass, user_input.text)
            entities = [
                entity_id
                for thing in things_called(self.hass, user_input.text)
                for entity_id in entities_in(self.hass, thing.subject)
            ]
            found = await happened.async_happened(self.hass, start, end, entities)
        except HomeAssistantError as error:
            return str(error)
        return speech.from_history(self._language(user_input), found, start, end)

    async def _pack(self, user_input: conversation.ConversationInput, seat: Seat) -> str:
        """What bears on the turn, as a block of data; nothing when memory is off, away, or has nothing."""
        if not self._household.options[CONF_RECALL] or not seat.may_recall:
            return ""
        query = with_subjects(user_input.text, things_called(self.hass, user_input.text))
        conversation_id = user_input.conversation_id or ""
        pack = await self._in_time(
            seat, lambda memory: memory.pack(query, prefer_speaker=seat.speaker, conversation=conversation_id)
        )
        return pack.text if pack else ""

    async def _capture(
        self, user_input: conversation.ConversationInput, seat: Seat, result: conversation.ConversationResult
    ) -> Captured | None:
        if not seat.may_keep or seat.capture == "off":
            return None
        # Of a turn that failed, only what was asked to be kept.
        failed = result.response.error_code not in (None, *_HAS_NO_ANSWER)
        mode = "explicit" if failed and seat.capture != "review" else seat.capture
        said = user_input.text

        def work(memory: LongTermMemory) -> Captured:
            import memoranda

            return memory.capture([memoranda.user(said)], speaker=seat.speaker, mode=mode)

        captured = await self._in_time(seat, work, _TO_KEEP)
        if captured is not None and captured.remembered:
            await self._household.changed(seat)
        return captured

    async def _answer(
        self,
        user_input: conversation.ConversationInput,
        seat: Seat,
        result: conversation.ConversationResult,
        events: str | None,
        captured: Captured | None,
    ) -> conversation.ConversationResult:
        """What to say when the other agent has no answer: to what was to be remembered, and to a question.

        Anything else was a command that failed, and the other one's words stand.
        """
        language = self._language(user_input)
        if events is not None:
            said: str | None = events
        elif captured is not None and speech.is_all_of(
            user_input.text, [each.memory.text for each in captured.remembered]
        ):
            said = speech.phrase(language, _kept(captured))
        elif self._household.options[CONF_RECALL] and seat.may_recall and speech.is_question(user_input.text):
            said = await self._from_memory(user_input, seat, language)
        else:
            said = None
        if said is None:
            return result
        response = intent.IntentResponse(language=user_input.language)
        response.async_set_speech(said)
        return conversation.ConversationResult(response=response, conversation_id=result.conversation_id)

    async def _from_memory(self, user_input: conversation.ConversationInput, seat: Seat, language: str) -> str | None:
        query = with_subjects(user_input.text, things_called(self.hass, user_input.text))
        found = await self._in_time(
            seat,
            lambda memory: memory.recall(query, limit=_MOST_ANSWERED, trust="trusted", prefer_speaker=seat.speaker),
        )
        return speech.from_memory(language, [hit.memory.text for hit in found]) if found else None

    async def _in_time(self, seat: Seat, work: Callable[[LongTermMemory], Any], seconds: float = _TO_TELL) -> Any:
        """Its result; None when it failed or took too long. What it writes is written all the same."""
        try:
            return await asyncio.wait_for(asyncio.shield(self._household.run(seat, work)), seconds)
        except TimeoutError:
            _LOGGER.warning("Memory took more than %s seconds; the turn went on without it", seconds)
        except HomeAssistantError as error:
            _LOGGER.warning("Memory could not be used in this turn: %s", error)
        return None

    def _language(self, user_input: conversation.ConversationInput) -> str:
        return speech.language_of(str(self._household.options[CONF_LANGUAGE]), user_input.language)


def _kept(captured: Captured) -> str:
    if captured.kept:
        return "saved"
    waits = any(each.memory.trust == "quarantined" for each in captured.remembered)
    return "waits" if waits else "known"
