"""What a memory is made of, by noun. Each is made when it is first needed: who only remembers pays for none."""

from functools import cached_property
from typing import TYPE_CHECKING

from memoranda.domain.scope import Scope
from memoranda.service.admin import Admin
from memoranda.service.engine import Engine

if TYPE_CHECKING:
    from memoranda.service.capturing import Capturer
    from memoranda.service.consolidation import Consolidation
    from memoranda.service.conversations import Conversations
    from memoranda.service.documents import Documents
    from memoranda.service.facts import Facts
    from memoranda.service.governance import Governance
    from memoranda.service.preferences import Preferences
    from memoranda.service.profile import Profiles
    from memoranda.service.recalling import Recaller
    from memoranda.service.retention import Retention
    from memoranda.service.review import Review


class Nouns:
    """The sub-objects of the facade, bound to one scope of one store."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine = engine
        self._scope = scope
        self.admin = Admin(engine, scope)

    @cached_property
    def _recaller(self) -> "Recaller":
        from memoranda.service.recalling import Recaller

        return Recaller(self._engine, self._scope)

    @cached_property
    def _capturer(self) -> "Capturer":
        from memoranda.service.capturing import Capturer

        return Capturer(self._engine, self._scope)

    @cached_property
    def profile(self) -> "Profiles":
        """The small stable record of this scope and of those who speak in it."""
        from memoranda.service.profile import Profiles

        return Profiles(self._engine, self._scope, self._recaller)

    @cached_property
    def facts(self) -> "Facts":
        """What is known about things."""
        from memoranda.service.facts import Facts

        return Facts(self._engine, self._scope, self._recaller)

    @cached_property
    def preferences(self) -> "Preferences":
        """What is preferred, and when."""
        from memoranda.service.preferences import Preferences

        return Preferences(self._engine, self._scope)

    @cached_property
    def conversations(self) -> "Conversations":
        """What was said, word for word, and what a model should see of it now."""
        from memoranda.service.conversations import Conversations

        return Conversations(self._engine, self._scope)

    @cached_property
    def documents(self) -> "Documents":
        """Markdown files that this scope takes into account, found by words and by meaning, with citations."""
        from memoranda.service.documents import Documents

        return Documents(self._engine, self._scope)

    @cached_property
    def review(self) -> "Review":
        """What was kept but may not speak until somebody says so."""
        from memoranda.service.review import Review

        return Review(self._engine, self._scope)

    @cached_property
    def governance(self) -> "Governance":
        """How important things are, who did what, and whether the whole drifts."""
        from memoranda.service.governance import Governance

        return Governance(self._engine, self._scope)

    @cached_property
    def consolidation(self) -> "Consolidation":
        """What says the same or contradicts, proposed; done only when somebody says so."""
        from memoranda.service.consolidation import Consolidation

        return Consolidation(self._engine, self._scope)

    @cached_property
    def retention(self) -> "Retention":
        """How long things stay, what goes next, and everything that is known of a person."""
        from memoranda.service.retention import Retention

        return Retention(self._engine, self._scope)
