"""OpenAI's chat completions as an extractor, and every service that speaks its format: Ollama, LM Studio, vLLM, ...

Knows the format only; who chooses the address and the key is the registry, and who counts the budget is the service.
"""

import json
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from memoranda.domain.errors import ProviderRejected, ProviderUnavailable
from memoranda.domain.message import Message
from memoranda.domain.ports import Again, Claims, never
from memoranda.models.budget import most_tokens
from memoranda.models.question import SCHEMA, SYSTEM, claims_in, data_of, tokens_in
from memoranda.remote import OPENAI_URL, JsonClient, RequestRejected, checked_base_url

MAX_ANSWER_TOKENS = 1_000
_MAX_ANSWER_BYTES = 1024 * 1024
_OUTAGE_HINT = "Check the address and the network; capture goes on by its rules meanwhile."
_REJECTION_HINT = "Check the model's name, and that it is a chat model; capture goes on by its rules meanwhile."
_TURN_HINT = "This turn is captured by the rules alone."
_WRITTEN_SCHEMA = json.dumps(SCHEMA)


class _Way(NamedTuple):
    """What a service is asked for beyond the words. Some models know no schema, some no temperature."""

    schema: bool = True
    temperature: bool = True

    def plainer(self, refusal: str) -> "_Way | None":
        """What to leave out next, by the service's own words; None when there is nothing left to leave out."""
        if self.temperature and "temperature" in refusal:
            return self._replace(temperature=False)
        return self._replace(schema=False) if self.schema else None


class OpenAIExtractor:
    """`POST {base_url}/chat/completions`, with the words of users only."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str = OPENAI_URL,
        key: str | None = None,
        name: str | None = None,
        key_variable: str = "OPENAI_API_KEY",
        timeout: float = 20.0,
    ) -> None:
        base_url = checked_base_url(base_url)
        self._name = name or f"openai:{model}"
        self._model = model
        self._timeout = timeout
        self._way = _Way()
        at_openai = base_url == OPENAI_URL
        # The old name is refused by OpenAI's newer models, the new one is unknown to many others.
        self._limit = "max_completion_tokens" if at_openai else "max_tokens"
        self._client = JsonClient(
            self._name,
            base_url,
            key=key,
            key_header="Authorization",
            key_variable=key_variable,
            key_needed=at_openai,
            max_answer=_MAX_ANSWER_BYTES,
            outage_hint=_OUTAGE_HINT,
            rejection_hint=_REJECTION_HINT,
        )

    @property
    def name(self) -> str:
        return self._name

    def cost(self, messages: Sequence[Message]) -> int:
        """The most tokens that extracting from these can cost; 0 when nothing would be sent."""
        data = data_of(messages)
        return most_tokens(SYSTEM, _WRITTEN_SCHEMA, data, answer=MAX_ANSWER_TOKENS) if data else 0

    def extract(self, messages: Sequence[Message], *, seconds: float, again: Again = never) -> Claims:
        """What the users among them said that is worth keeping. Nothing is sent when they said nothing."""
        data = data_of(messages)
        if not data:
            return Claims((), 0, calls=0)
        answer, calls = self._asked(data, until=time.monotonic() + min(seconds, self._timeout), again=again)
        content = self._content(answer)
        try:
            items = claims_in(content)
        except ValueError as error:
            # Not the error's own words: they may repeat the answer.
            raise ProviderUnavailable(f"{self._name}: an answer that is not as agreed", hint=_OUTAGE_HINT) from error
        # What nobody counted costs the most that it can.
        return Claims(items, tokens_in(answer.get("usage")) or self.cost(messages), calls)

    def close(self) -> None:
        """Nothing to release."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r})"

    def _asked(self, data: str, *, until: float, again: Again) -> tuple[Any, int]:
        """The answer, and how often was asked. What the service refused once is not tried again."""
        way, calls = self._way, 1
        while True:
            try:
                answer = self._client.post("/chat/completions", self._question(data, way), until=until)
            except RequestRejected as error:
                plainer = way.plainer(str(error))
                if plainer is None or not again():
                    raise
                way, calls = plainer, calls + 1
            else:
                self._way = way
                return answer, calls

    def _question(self, data: str, way: _Way) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": data}],
            self._limit: MAX_ANSWER_TOKENS,
            "response_format": {"type": "json_object"},
        }
        if way.schema:
            schema = {"name": "memories", "strict": True, "schema": SCHEMA}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if way.temperature:
            body["temperature"] = 0
        return body

    def _content(self, answer: Any) -> str:
        """The words of the answer, whole and given willingly."""
        try:
            choice = answer["choices"][0]
            message, ended = choice["message"], choice.get("finish_reason")
            content, refused = message.get("content"), message.get("refusal")
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise ProviderUnavailable(f"{self._name}: an answer without words", hint=_OUTAGE_HINT) from error
        if refused or ended == "content_filter":
            raise ProviderRejected(f"{self._name}: the model refused", hint=_TURN_HINT)
        if ended == "length":
            raise ProviderRejected(f"{self._name}: the answer was cut off", hint=_TURN_HINT)
        if not isinstance(content, str):
            raise ProviderUnavailable(f"{self._name}: an answer without words", hint=_OUTAGE_HINT)
        return content
