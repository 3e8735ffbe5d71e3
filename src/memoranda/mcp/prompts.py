"""What a person can choose from a menu: to recall before a question is answered, and to have something remembered."""

from collections.abc import Mapping

import mcp_types as types

from memoranda.domain.errors import InvalidInput
from memoranda.mcp.guest import Guest
from memoranda.mcp.words import NAMES
from memoranda.tools.toolbox import Toolset

_BUDGET = 2_000
_LONGEST = 8_000
_RECALL = "recall_before_answering"
_REMEMBER = "remember_this"

PROMPTS = [
    types.Prompt(
        name=_RECALL,
        title="Recall before answering",
        description="Ask a question together with what is remembered about it.",
        arguments=[types.PromptArgument(name="question", description="What you want to know.", required=True)],
    ),
    types.Prompt(
        name=_REMEMBER,
        title="Remember this",
        description="Have something kept in long-term memory.",
        arguments=[types.PromptArgument(name="text", description="What to remember.", required=True)],
    ),
]


def text_of(guest: Guest, name: str, arguments: Mapping[str, str], *, toolset: Toolset) -> str:
    """What the client puts into the conversation for the person who chose it."""
    if name == _RECALL:
        return _recall(guest, _given(arguments, "question"))
    if name == _REMEMBER:
        given = _given(arguments, "text")
        return f"Remember this for later conversations, with the tool `{NAMES[toolset].keep}`:\n\n{given}"
    known = ", ".join(each.name for each in PROMPTS)
    raise InvalidInput(f"there is no prompt {name[:40]!r}", hint=f"Use one of: {known}.")


def described(name: str) -> str | None:
    """The description of a prompt."""
    return next((each.description for each in PROMPTS if each.name == name), None)


def _recall(guest: Guest, question: str) -> str:
    # The person asked for it by name: what is not trusted comes, too, and says so.
    pack = guest.memory.pack(question, budget=_BUDGET, mode="asked", prefer_speaker=guest.speaker)
    if not pack.text:
        return f"{question}\n\nNothing relevant is remembered about this. If the answer depends on it, say so."
    return (
        f"{pack.text}\n\n{question}\n\nUse what is remembered above where it bears on the question; "
        "if it does not answer it, say so. What is marked untrusted was not said by the user."
    )


def _given(arguments: Mapping[str, str], name: str) -> str:
    value = arguments.get(name, "").strip()
    if not value or len(value) > _LONGEST:
        raise InvalidInput(f"{name} needs 1 to {_LONGEST:,} characters", hint=f"Give {name}.")
    return value
