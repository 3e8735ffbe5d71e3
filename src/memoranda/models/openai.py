"""A chat model as an extractor: what users said goes to it as data, and what it claims comes back.

Who chooses the address and the key is the registry, and who counts the budget is the service.
"""

import time
from collections.abc import Sequence

from memoranda.domain.message import Message
from memoranda.domain.ports import Again, Claims, never
from memoranda.models.budget import most_tokens
from memoranda.models.chat import ChatModel, Hints, Question
from memoranda.models.question import SCHEMA, SYSTEM, claims_in, data_of
from memoranda.remote import OPENAI_URL

MAX_ANSWER_TOKENS = 1_000
HINTS = Hints(
    outage="Check the address and the network; capture goes on by its rules meanwhile.",
    rejection="Check the model's name, and that it is a chat model; capture goes on by its rules meanwhile.",
    this_one="This turn is captured by the rules alone.",
)


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
        self._name = name or f"openai:{model}"
        self._timeout = timeout
        self._model = ChatModel(self._name, model, base_url=base_url, key=key, key_variable=key_variable, hints=HINTS)

    @property
    def name(self) -> str:
        return self._name

    def cost(self, messages: Sequence[Message]) -> int:
        """The most tokens that extracting from these can cost; 0 when nothing would be sent."""
        data = data_of(messages)
        return most_tokens(*_question(data).sent, answer=MAX_ANSWER_TOKENS) if data else 0

    def extract(self, messages: Sequence[Message], *, seconds: float, again: Again = never) -> Claims:
        """What the users among them said that is worth keeping. Nothing is sent when they said nothing."""
        data = data_of(messages)
        if not data:
            return Claims((), 0, calls=0)
        answered = self._model.ask(_question(data), until=time.monotonic() + min(seconds, self._timeout), again=again)
        try:
            items = claims_in(answered.content)
        except ValueError as error:
            # Not the error's own words: they may repeat the answer.
            raise self._model.not_as_agreed() from error
        # What nobody counted costs the most that it can.
        return Claims(items, answered.tokens or self.cost(messages), answered.calls)

    def close(self) -> None:
        """Nothing to release."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r})"


def _question(data: str) -> Question:
    return Question(SYSTEM, data, "memories", SCHEMA, MAX_ANSWER_TOKENS)
