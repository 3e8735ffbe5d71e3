"""Memoranda for LiteLLM: a callback that puts memory around every completion, of the SDK and of the proxy.

litellm.callbacks = [MemorandaLogger(memory)]

Each user (`user=` of a call, or the key's user in the proxy) has a scope of their own below the memory's.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from memoranda.adapters.around import Store, Turns, awaited
from memoranda.adapters.extras import of_extra
from memoranda.adapters.places import scope_of
from memoranda.domain.candidate import CaptureMode

with of_extra("litellm"):
    from litellm.integrations.custom_logger import CustomLogger

_COMPLETIONS = ("completion", "acompletion", "text_completion", "atext_completion")


class MemorandaLogger(CustomLogger):
    """A pack in front of the messages, capture after the answer. Fails open.

    With `per_user`, what has no user belongs to nobody: the call goes on without memory, and nothing is kept of it.
    """

    def __init__(
        self, memory: Store, *, budget: int = 800, capture: CaptureMode | None = None, per_user: bool = False
    ) -> None:
        super().__init__()
        self._turns = Turns(memory, budget=budget, mode=capture)
        self._per_user = per_user

    def _around(self, user: Any) -> Turns | None:
        if user:
            return self._turns.within(scope_of(self._turns.memory.scope, [str(user)]))
        return None if self._per_user else self._turns.nobodys()

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any]:
        """Of the SDK, before the call goes out: the messages with the pack before them."""
        return await self._with_pack(kwargs, str(getattr(call_type, "value", call_type) or ""))

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        """Of the proxy, before a request is routed: as above, for the user of the key."""
        owner, named = getattr(user_api_key_dict, "user_id", None), data.get("user")
        if owner:
            # Whose key it is comes from the proxy, the rest from the request: that only chooses among the owner's own.
            names = (owner, named) if named and named != owner else (owner,)
            data["user"] = "/".join(quote(str(each), safe="@+") for each in names)
        return data  # the pack is put in by the hook of the deployment, which runs for the proxy, too

    async def _with_pack(self, kwargs: dict[str, Any], call_type: str) -> dict[str, Any]:
        messages = kwargs.get("messages")
        around = self._around(kwargs.get("user"))
        if call_type not in _COMPLETIONS or not messages or around is None:
            return kwargs
        pack = await awaited(around.before, _last_words(messages), conversation=_conversation(kwargs))
        if not pack:
            return kwargs
        at = 1 if messages[0].get("role") in ("system", "developer") else 0
        packed = [*messages[:at], {"role": "system", "content": pack}, *messages[at:]]
        return {**kwargs, "messages": packed}

    async def async_log_success_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """After an answer: keep what the user's words show should be kept."""
        around = self._around(_user(kwargs))
        if around is None or kwargs.get("call_type") not in (*_COMPLETIONS, None):
            return
        said = [each for each in kwargs.get("messages") or () if each.get("role") in ("user", "assistant")]
        choices = getattr(response_obj, "choices", None) or ()
        text = getattr(getattr(choices[0], "message", None), "content", None) if choices else None
        answer = [{"role": "assistant", "content": text}] if isinstance(text, str) and text else []
        await awaited(around.after, [*said, *answer], conversation=_conversation(kwargs))


def _user(kwargs: Mapping[str, Any]) -> Any:
    parameters = kwargs.get("litellm_params") or {}
    optional = kwargs.get("optional_params") or {}
    return kwargs.get("user") or optional.get("user") or (parameters.get("metadata") or {}).get("user_api_key_user_id")


def _conversation(kwargs: Mapping[str, Any]) -> str:
    parameters = kwargs.get("litellm_params") or {}
    metadata = kwargs.get("metadata") or parameters.get("metadata") or {}
    return str(metadata.get("session_id") or kwargs.get("litellm_session_id") or "")


def _last_words(messages: Sequence[Mapping[str, Any]]) -> str:
    for message in reversed(messages):
        if message.get("role") == "user":
            content = message.get("content")
            if isinstance(content, str):
                return content
            return "\n".join(str(part.get("text") or "") for part in content or () if isinstance(part, Mapping))
    return ""
