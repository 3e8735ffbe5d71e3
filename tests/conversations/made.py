"""Conversations for the pure room, made without a store: a word for each message, and lists of anything."""

from hypothesis import strategies as st

from memoranda.domain.conversation import KeptMessage
from memoranda.domain.message import ToolCall
from memoranda.domain.tokens import message_tokens

NOON = 1_767_268_800_000
MINUTE = 60_000


def kept(place, role="user", text="", *, calls=(), answers="", **fields):
    """A message at this place, with its tokens counted as the store counts them."""
    message = KeptMessage(
        id=f"m{place}",
        number=place + 1,
        place=place,
        role=role,
        text=text,
        at=NOON + place * MINUTE,
        tokens=0,
        tool_calls=tuple(ToolCall(each, "look_up", '{"room": "office"}') for each in calls),
        tool_call_id=answers,
    )._replace(**fields)
    return message if "tokens" in fields else message._replace(tokens=message_tokens(message))


def talk(script):
    """`u` a user, `a` an assistant, `s` a system prompt, `c1` a call, `c1+2` two in one message, `t1` its result."""
    return [_said(place, word) for place, word in enumerate(script.split())]


def _said(place, word):
    text = f"{word} at {place}"
    if word[0] == "c":
        return kept(place, "assistant", text, calls=word[1:].split("+"))
    if word[0] == "t":
        return kept(place, "tool", text, answers=word[1:])
    return kept(place, {"u": "user", "a": "assistant", "s": "system"}[word[0]], text)


def places(messages):
    return [message.place for message in messages]


words = st.sampled_from(["u", "u", "u", "a", "a", "s", "c1", "c2", "c1+2", "c3+4", "t1", "t2", "t3", "t4", "t9"])
texts = st.one_of(
    st.text(max_size=80), st.builds(lambda text, times: text * times, st.text(max_size=6), st.integers(0, 400))
)


@st.composite
def conversations(draw, max_size=40):
    """Anything that a host might hand over: open and reused calls, orphans, long texts, no user at all."""
    script = draw(st.lists(words, max_size=max_size))
    made = talk(" ".join(script))
    if draw(st.booleans()):
        made = [_with_text(message, draw(texts)) for message in made]
    if made and draw(st.booleans()):
        first = made[draw(st.integers(0, len(made) - 1))]
        made.append(kept(first.place, "system", draw(texts), id="sum", number=1_000, kind="summary"))
    return made


def _with_text(message, text):
    changed = message._replace(text=text)
    return changed._replace(tokens=message_tokens(changed))
