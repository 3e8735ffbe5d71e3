"""One question to a chat model, in OpenAI's format: JSON by a schema, as far as the service knows how.

Some models know no schema, some no temperature: what a service refused once is not sent to it again. Knows nothing of
what is asked, and counts no budget.
"""

import json
from typing import Any, NamedTuple

from memoranda.domain.errors import ProviderRejected, ProviderUnavailable
from memoranda.domain.ports import Again
from memoranda.models.question import tokens_in
from memoranda.remote import OPENAI_URL, JsonClient, RequestRejected, checked_base_url

_MAX_ANSWER_BYTES = 1024 * 1024


class Hints(NamedTuple):
    """What to do next, when there was no answer, when the question was refused, and when only this one was."""

    outage: str
    rejection: str
    this_one: str


class Question(NamedTuple):
    """What is asked: instructions, data that is never an instruction, and the form of the answer."""

    system: str
    data: str
    name: str
    schema: dict[str, Any]
    answer_tokens: int

    @property
    def sent(self) -> tuple[str, str, str]:
        """Everything that a service may count."""
        return self.system, self.data, json.dumps(self.schema)


class Answered(NamedTuple):
    """The words of an answer, what the service says that it counted, and how often was asked."""

    content: str
    tokens: int | None
    calls: int


class _Way(NamedTuple):
    """What a service is asked for beyond the words."""

    schema: bool = True
    temperature: bool = True

    def plainer(self, refusal: str) -> "_Way | None":
        """What to leave out next, by the service's own words; None when there is nothing left to leave out."""
        if self.temperature and "temperature" in refusal:
            return self._replace(temperature=False)
        return self._replace(schema=False) if self.schema else None


class ChatModel:
    """`POST {base_url}/chat/completions` to one model."""

    def __init__(
        self, name: str, model: str, *, base_url: str, key: str | None, key_variable: str, hints: Hints
    ) -> None:
        base_url = checked_base_url(base_url)
        self.name = name
        self._model = model
        self._hints = hints
        self._way = _Way()
        at_openai = base_url == OPENAI_URL
        # The old name is refused by OpenAI's newer models, the new one is unknown to many others.
        self._limit = "max_completion_tokens" if at_openai else "max_tokens"
        self._client = JsonClient(
            name,
            base_url,
            key=key,
            key_header="Authorization",
            key_variable=key_variable,
            key_needed=at_openai,
            max_answer=_MAX_ANSWER_BYTES,
            outage_hint=hints.outage,
            rejection_hint=hints.rejection,
        )

    def ask(self, question: Question, *, until: float, again: Again) -> Answered:
        """The answer, in one request, or in as many as `again` allows. `until` is a moment of `time.monotonic`."""
        way, calls = self._way, 1
        while True:
            try:
                answer = self._client.post("/chat/completions", self._body(question, way), until=until)
            except RequestRejected as error:
                plainer = way.plainer(str(error))
                if plainer is None or not again():
                    raise
                way, calls = plainer, calls + 1
            else:
                self._way = way
                content = self._content(answer)
                return Answered(content, tokens_in(answer.get("usage")), calls)

    def not_as_agreed(self, what: str = "an answer that is not as agreed") -> ProviderUnavailable:
        """For words that cannot be used. They are not repeated: who knows what they say."""
        return ProviderUnavailable(f"{self.name}: {what}", hint=self._hints.outage)

    def _body(self, question: Question, way: _Way) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": question.system},
                {"role": "user", "content": question.data},
            ],
            self._limit: question.answer_tokens,
            "response_format": {"type": "json_object"},
        }
        if way.schema:
            schema = {"name": question.name, "strict": True, "schema": question.schema}
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
            raise self.not_as_agreed("an answer without words") from error
        if refused or ended == "content_filter":
            raise ProviderRejected(f"{self.name}: the model refused", hint=self._hints.this_one)
        if ended == "length":
            raise ProviderRejected(f"{self.name}: the answer was cut off", hint=self._hints.this_one)
        if not isinstance(content, str):
            raise self.not_as_agreed("an answer without words")
        return content
