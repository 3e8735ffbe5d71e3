"""`Place`: where in LangBot something is said, by the names LangBot and other plugins use, and as scopes of a memory.

    langbot / BOT                     what an operator keeps for all sessions of one bot
    langbot / BOT / SESSION           a group or a private chat: its profiles, and with isolation `session` its memories
    langbot / BOT / SESSION / SENDER  with isolation `speaker`
    langbot / BOT / all-sessions      with isolation `bot`

The memories of the three ways are beside one another, never above: another isolation does not show what was kept
under the one before.
"""

from typing import NamedTuple

from memoranda.domain.scope import segment
from memoranda_langbot.options import Isolation

NO_BOT = "no-bot"
SHARED = "all-sessions"
_OF_A_BOT = "bot:"
_EVERYWHERE = "global"


class Place(NamedTuple):
    """A session of a bot, and who speaks in it."""

    bot_uuid: str
    session_name: str
    sender_id: str = ""
    sender_name: str = ""

    @property
    def session_key(self) -> str:
        """LangBot's name of the session, with its bot when that is known."""
        return f"{self.bot_uuid}:{self.session_name}" if self.bot_uuid else self.session_name

    @property
    def private(self) -> bool:
        """Whether only one person takes part in it."""
        return self.session_name.startswith("person_")

    def user_key(self, isolation: Isolation) -> str:
        """Under which key memories are kept and found, as LangBot's own plugin names it."""
        if isolation == "bot":
            return f"{_OF_A_BOT}{self.bot_uuid}" if self.bot_uuid else _EVERYWHERE
        return f"{self.session_key}/{self.sender_id}" if isolation == "speaker" else self.session_key

    def session_scope(self, root: str) -> str:
        """Where its profiles are, whatever the isolation."""
        return f"{_bot_scope(root, self.bot_uuid)}/{segment(self.session_name)}"

    def scope(self, root: str, isolation: Isolation) -> str:
        """Where its memories are; a ValueError when it cannot be told, never a wider one."""
        if not self.session_name:
            raise ValueError("there is no session: nothing is remembered or recalled without one")
        if isolation == "bot":
            return f"{_bot_scope(root, self.bot_uuid)}/{SHARED}"
        if isolation == "speaker":
            if not self.sender_id:
                raise ValueError("nobody is known to be speaking, which isolation by speaker needs")
            return f"{self.session_scope(root)}/{segment(self.sender_id)}"
        return self.session_scope(root)


def scope_of_key(root: str, key: str) -> str | None:
    """The scope of a `user_key` that an upload names; None when it is no key of this plugin's."""
    if key == _EVERYWHERE:
        return f"{_bot_scope(root, '')}/{SHARED}"
    if key.startswith(_OF_A_BOT) and key != _OF_A_BOT:
        return f"{_bot_scope(root, key.removeprefix(_OF_A_BOT))}/{SHARED}"
    bot, separator, session = key.partition(":")
    if separator and not bot.startswith(("person_", "group_")):
        return Place(bot, session).session_scope(root) if _is_session(session) else None
    return Place("", key).session_scope(root) if _is_session(key) else None


def _is_session(name: str) -> bool:
    return name.startswith(("person_", "group_")) and len(name) > len("group_")


def _bot_scope(root: str, bot_uuid: str) -> str:
    return f"{root}/{segment(bot_uuid) if bot_uuid else NO_BOT}"
