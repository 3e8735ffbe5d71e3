"""The contract of a `Summarizer`, for whoever writes one: subclass it, and give it a fixture `summarizer`."""

from memoranda.domain.conversation import Gist
from memoranda.domain.errors import ProviderError
from memoranda.domain.message import Message, ToolCall, assistant, user
from memoranda.domain.ports import Summarized, Summarizer

SAID = (
    user("Good morning!"),
    assistant("Good morning! How can I help?"),
    user("We decided to meet on 14 May at 9:30. The lamp is light.office."),
    Message("assistant", "", tool_calls=(ToolCall("call1", "light.turn_on", '{"entity_id": "light.office"}'),)),
    Message("tool", "ok", tool_call_id="call1"),
    assistant("I turned on light.office."),
)
EARLIER = Gist(points=("The gate code is kept by Anna.",), open_items=("Call the plumber about the tap.",))
MOST = 400
_SECONDS = 10.0


class SummarizerContract:
    """What every summarizer promises. How good its summaries are is looked at elsewhere."""

    def test_its_name_says_what_it_is(self, summarizer: Summarizer) -> None:
        assert summarizer.name
        assert summarizer.name == summarizer.name

    def test_a_summary_is_lines_in_three_parts_and_a_cost(self, summarizer: Summarizer) -> None:
        summarized = _summarized(summarizer, SAID)
        assert summarized.tokens >= 0
        assert summarized.calls >= 0
        assert summarized.gist
        for line in (line for part in summarized.gist for line in part):
            assert line == " ".join(line.split())
            assert line.isprintable()

    def test_the_cost_is_told_before_and_is_not_exceeded(self, summarizer: Summarizer) -> None:
        most = summarizer.cost(SAID, earlier=EARLIER, most_tokens=MOST)
        summarized = _summarized(summarizer, SAID, earlier=EARLIER)
        assert summarized.tokens <= most
        assert bool(summarized.calls) == bool(most)

    def test_nothing_said_costs_nothing_and_keeps_what_was_said_before(self, summarizer: Summarizer) -> None:
        assert summarizer.cost((), earlier=EARLIER, most_tokens=MOST) == 0
        summarized = _summarized(summarizer, (), earlier=EARLIER)
        assert (summarized.tokens, summarized.calls) == (0, 0)
        assert "The gate code is kept by Anna." in "\n".join(summarized.gist.points)
        assert "Call the plumber about the tap." in "\n".join(summarized.gist.open_items)

    def test_odd_text_is_read_or_refused(self, summarizer: Summarizer) -> None:
        odd = Message("user", 'We decided \ud800 on 3 \u202e teas \x00 and } ] \\ " things. ' * 50)
        broken = Message("assistant", "", tool_calls=(ToolCall("", "x" * 500, '{"a": [['),))
        try:
            summarized = _summarized(summarizer, (odd, broken, Message("tool", "", tool_call_id="none")))
        except ProviderError:
            return
        for line in (line for part in summarized.gist for line in part):
            assert line.isprintable() or "\ud800" in line
            assert "\n" not in line

    def test_no_time_is_an_answer_at_once_or_none(self, summarizer: Summarizer) -> None:
        try:
            summarized = summarizer.summarize(SAID, earlier=Gist(), most_tokens=MOST, seconds=0.0)
        except ProviderError:
            return
        assert summarized.calls == 0

    def test_it_may_be_closed_twice(self, summarizer: Summarizer) -> None:
        summarizer.close()
        summarizer.close()


def _summarized(summarizer: Summarizer, messages: tuple[Message, ...], *, earlier: Gist = Gist()) -> Summarized:  # noqa: B008
    return summarizer.summarize(messages, earlier=earlier, most_tokens=MOST, seconds=_SECONDS, again=lambda: True)
