"""What a model should see now of a conversation: within a budget, the newest first, and never half of a tool call.

1. System prompts come whole, wherever they stand; a long message of a user cannot push them out.
2. The newest message of a user is always there, cut in the middle if it has to be.
3. However long that is, the one active summary has a quarter of what the prompts leave, and so has the newest exchange.
   A tool result that is too long is cut: left out, the agent would ask for it again for ever.
4. Beyond that they share with the working memory; a summary has half at most while messages want the room. It is cut
   between statements; the open and the newest ones stay.
5. What is left of the budget goes to whole turns, newest first. Of the first that does not fit, its question and its
   newest exchanges are shown, so that a window begins with a user and yet no long turn leaves it empty.

Results without a call are left out, and so are calls without results unless they are the newest exchange: no model
takes them. Two other claims on one room each get at least half of it, and what the other leaves.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from memoranda.conversations.abridging import abridged
from memoranda.conversations.exchanges import Exchange, Turn, exchanges, in_order, turns
from memoranda.domain.conversation import WORKING_IS_DATA, KeptMessage
from memoranda.domain.errors import InvalidInput
from memoranda.domain.message import Message
from memoranda.domain.tokens import Count, estimated_tokens, message_tokens

LEAST_BUDGET = 64
"""Half of it holds a few words of a message and the mark of what was cut."""
_LEAST_SHARE, _MOST_FOR_SUMMARY = 4, 2
"""By which the room that the prompts leave is divided."""
_HEAD = 0.6
_NEAR = 24
_MOST_LETTERS_A_TOKEN = 16
_CLOSE_ENOUGH = 64
_WORKING = Message("system", f"{WORKING_IS_DATA}\n")


class Window(NamedTuple):
    """What to send. `messages` has everything in its order: system prompts, the summary, the newest messages."""

    messages: tuple[KeptMessage, ...]
    tokens: int
    """Of all of it, the working memory included; never above the budget."""
    dropped: int
    """How many active messages are not shown. They are kept, and compaction will see to them."""
    summary: KeptMessage | None = None
    truncated: bool = False
    """Whether a text was cut: it says where, and how much is left out."""
    working: str = ""

    def for_model(self) -> list[dict[str, Any]]:
        """In the form of OpenAI's messages. The working memory stands behind the first system prompts, and a result
        right behind its call, however late it came: no service takes it elsewhere."""
        ordered = [message for exchange in exchanges(self.messages) for message in exchange.messages]
        shown = [message.for_model() for message in ordered]
        if self.working:
            prompts = next((place for place, each in enumerate(ordered) if not _is_prompt(each)), len(shown))
            shown.insert(prompts, {"role": "system", "content": f"{WORKING_IS_DATA}\n{self.working}"})
        return shown


def window(messages: Sequence[KeptMessage], *, budget: int, working: str = "", count: Count | None = None) -> Window:
    """The window of these messages, of which only active ones are seen.

    Without `count` the tokens are those that were counted when a message was kept; with it all is counted anew, for a
    model with another tokenizer.
    """
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < LEAST_BUDGET:
        raise InvalidInput(
            f"budget: {LEAST_BUDGET} tokens at least are expected, not {budget!r}",
            hint="Give what the model may see of the conversation, such as 32000.",
        )
    active = in_order(message for message in messages if message.status == "active")
    return _Filling(active, budget, count).filled(working)


class _Filling:
    """One window being filled."""

    def __init__(self, active: Sequence[KeptMessage], budget: int, count: Count | None) -> None:
        self._active = active
        self._budget = self._room = budget
        self._count = count or estimated_tokens
        self._stored = count is None
        self._taken: dict[int, KeptMessage] = {}
        self._truncated = False

    def filled(self, working: str) -> Window:
        prompts = [message for message in self._active if _is_prompt(message)]
        summary = max((each for each in self._active if each.kind == "summary"), key=_number, default=None)
        body = [message for message in self._active if message.kind == "message" and message.role != "system"]
        shown = turns(_showable(exchanges(body)))
        asked = next((turn.exchanges[0] for turn in reversed(shown) if turn.asked), None)
        newest = shown[-1].exchanges[-1] if shown else None

        for_prompts, _ = _divided(self._room, sum(map(self._price, prompts)), self._cost(asked))
        self._take_prompts(prompts, for_prompts)
        if newest is asked:
            newest = None
        told = self._count_working(working)
        wanted = told + sum(self._cost(exchange) for turn in shown for exchange in turn.exchanges)
        promised, more = self._shares(summary, wanted)
        step = min(self._cost(newest), self._room // _LEAST_SHARE)
        if self._take_cut(asked, self._room - promised - step) is None:
            self._take_cut(asked, self._room)
            promised = min(promised, self._room)
            step = min(step, self._room - promised)
        for_beside, _ = _divided(self._room - promised - step, told + more, self._cost(newest) - step)
        for_working, for_summary = _divided(for_beside, told, more)
        working = self._take_working(working, for_working)
        summary = self._take_summary(summary, promised + for_summary)
        self._take_cut(newest, self._room)
        self._take_turns(shown, someone_asked=asked is not None and self._has(asked))
        return self._window(summary, working)

    def _window(self, summary: KeptMessage | None, working: str) -> Window:
        every = in_order(self._taken.values())
        messages = [message for message in every if message.kind == "message"]
        if summary:
            start = next((place for place, each in enumerate(messages) if not _is_prompt(each)), len(messages))
            messages.insert(start, summary)
        left = sum(message.kind == "message" and message.number not in self._taken for message in self._active)
        return Window(tuple(messages), self._budget - self._room, left, summary, self._truncated, working)

    def _shares(self, summary: KeptMessage | None, wanted: int) -> tuple[int, int]:
        """What a summary gets in any case, and how much more at most while so much is wanted by the others."""
        if summary is None:
            return 0, 0
        price = self._price(summary)
        promised = min(price, self._room // _LEAST_SHARE)
        if promised < price and self._abridged(summary, promised) is None:
            promised = 0
        return promised, min(price, max(self._room // _MOST_FOR_SUMMARY, self._room - wanted)) - promised

    # -- taking --

    def _take_prompts(self, prompts: Sequence[KeptMessage], most: int) -> None:
        before = self._room
        for prompt in prompts:
            self._take_cut(Exchange((prompt,)), most - (before - self._room))

    def _take_working(self, working: str, most: int) -> str:
        if not working:
            return ""
        if self._count_working(working) > most:
            self._truncated = True
            around = message_tokens(_WORKING, self._count) + 1
            working = shortened(working, most=most - around, count=self._count)
        self._room -= self._count_working(working)
        return working

    def _take_summary(self, summary: KeptMessage | None, most: int) -> KeptMessage | None:
        if summary is None:
            return None
        fitting = summary if self._price(summary) <= most else self._abridged(summary, most)
        self._truncated = self._truncated or fitting is not summary
        if fitting is not None:
            self._take(Exchange((fitting,)))
        return fitting

    def _abridged(self, summary: KeptMessage, most: int) -> KeptMessage | None:
        """Whole statements of a summary; of one that has none that fit, beginning and end."""
        room = most - message_tokens(summary._replace(text=""), self._count)
        text = abridged(summary.text, name=summary.id, most=room, count=self._count)
        text = text or shortened(summary.text, most=room, count=self._count)
        cut = summary._replace(text=text)
        return cut._replace(tokens=message_tokens(cut, self._count)) if text else None

    def _take_turns(self, shown: Sequence[Turn], *, someone_asked: bool) -> None:
        for turn in reversed(shown):
            if someone_asked and not turn.asked:
                return
            rest = [exchange for exchange in turn.exchanges if not self._has(exchange)]
            if sum(map(self._cost, rest)) > self._room:
                self._take_newest_of(rest)
                return
            for exchange in rest:
                self._take(exchange)

    def _take_newest_of(self, rest: Sequence[Exchange]) -> None:
        """The question and as much of the end of its turn as fits; nothing when the question would stand alone."""
        question = [rest[0]] if rest and rest[0].asked else []
        room = self._room - sum(map(self._cost, question))
        end: list[Exchange] = []
        for exchange in reversed(rest[len(question) :]):
            room -= self._cost(exchange)
            if room < 0:
                break
            end.append(exchange)
        if end:
            for exchange in [*question, *end]:
                self._take(exchange)

    def _take(self, exchange: Exchange) -> None:
        for message in exchange.messages:
            self._taken[message.number] = message
            self._room -= self._price(message)

    def _take_cut(self, exchange: Exchange | None, most: int) -> KeptMessage | None:
        """All of it within the room, its longest texts cut; or nothing of it. Returns its first message."""
        if exchange is None:
            return None
        fitting = exchange if self._cost(exchange) <= most else self._cut(exchange, most)
        if fitting is None:
            self._truncated = True
            return None
        self._truncated = self._truncated or fitting is not exchange
        self._take(fitting)
        return fitting.messages[0]

    def _cut(self, exchange: Exchange, most: int) -> Exchange | None:
        messages = list(exchange.messages)
        whole = sum(map(self._price, messages))
        for place in sorted(range(len(messages)), key=lambda place: -self._price(messages[place])):
            others = whole - self._price(messages[place])
            messages[place] = self._cut_message(messages[place], most - others)
            whole = others + self._price(messages[place])
            if whole <= most:
                # A message alone that has lost all its words says nothing; a result without any still closes its call.
                told = any(message.text or message.tool_calls for message in messages)
                return exchange._replace(messages=tuple(messages)) if told else None
        return None

    def _cut_message(self, message: KeptMessage, most: int) -> KeptMessage:
        bare = message._replace(text="")
        around = message_tokens(bare, self._count)
        if around > most:
            bare = bare._replace(speaker="")
            around = message_tokens(bare, self._count)
        cut = bare._replace(text=shortened(message.text, most=most - around, count=self._count))
        return cut._replace(tokens=message_tokens(cut, self._count))

    # -- counting --

    def _price(self, message: KeptMessage) -> int:
        return message.tokens if self._stored and message.tokens > 0 else message_tokens(message, self._count)

    def _cost(self, exchange: Exchange | None) -> int:
        return sum(map(self._price, exchange.messages)) if exchange else 0

    def _count_working(self, working: str) -> int:
        return message_tokens(_WORKING._replace(text=_WORKING.text + working), self._count) if working else 0

    def _has(self, exchange: Exchange) -> bool:
        return exchange.messages[0].number in self._taken


def shortened(text: str, *, most: int, count: Count = estimated_tokens) -> str:
    """Beginning and end of a text in so many tokens, with a mark between them; nothing when not even that fits."""
    whole = count(text)
    if whole <= most:
        return text
    best, low, high = "", 0, min(len(text) - 1, max(0, most) * _MOST_LETTERS_A_TOKEN)
    # Of a long text a sixty-fourth more or less is not worth another count.
    while high - low >= low // _CLOSE_ENOUGH:
        letters = (low + high) // 2
        tried = _without_middle(text, letters, whole=whole, count=count)
        if count(tried) <= most:
            best, low = tried, letters + 1
        else:
            high = letters - 1
    return best


def _without_middle(text: str, letters: int, *, whole: int, count: Count) -> str:
    end = round(letters * _HEAD)
    start = len(text) - (letters - end)
    blank = text.rfind(" ", max(0, end - _NEAR), end)
    end = end if blank < 0 else blank
    blank = text.find(" ", start, start + _NEAR)
    start = start if blank < 0 else blank + 1
    head, tail = text[:end], text[start:]
    left_out = max(1, whole - count(head) - count(tail))
    return f"{head} [... {left_out} tokens left out ...] {tail}".strip()


def _divided(room: int, one: int, other: int) -> tuple[int, int]:
    """What two claims get of a room: each at least half of it, and what the other leaves."""
    first = min(one, max(room // 2, room - other))
    return first, min(other, room - first)


def _showable(found: Sequence[Exchange]) -> list[Exchange]:
    called = [each for each in found if not each.orphan]
    return [each for each in called if not each.open or each is called[-1]]


def _is_prompt(message: KeptMessage) -> bool:
    return message.role == "system" and message.kind == "message"


def _number(message: KeptMessage) -> int:
    return message.number
