"""`memory.facts`: what is known about things, such as `light.office`. A thing is found by its id or by its nickname."""

from typing import Any

from memoranda.domain.clock import Moment
from memoranda.domain.draft import AfterErase, Draft
from memoranda.domain.errors import Ambiguous, InvalidInput, NotFound, Refused
from memoranda.domain.fact import (
    MANY,
    NAMES,
    Fact,
    FactsFound,
    FactsReceipt,
    as_facts,
    bare_name,
    best_subjects,
    checked_slot,
    common_attribute,
    confidence_at,
    name_in,
    same_value,
    sentence,
)
from memoranda.domain.memory import (
    KINDS,
    SOURCES,
    Basis,
    Memory,
    Source,
    Trust,
    checked_choice,
    checked_json,
    outranks,
    trust_of,
)
from memoranda.domain.profile import is_entry
from memoranda.domain.request import Request, checked_limit, checked_offset
from memoranda.domain.results import Changed, Recall, Remembered
from memoranda.domain.scope import Scope
from memoranda.domain.text import checked_text
from memoranda.ledger.fence import fences
from memoranda.ledger.ledger import Filter
from memoranda.ledger.settling import Found, LetGo
from memoranda.recall.subjects import named_subjects
from memoranda.service.engine import Engine
from memoranda.service.recalling import Recaller
from memoranda.service.structured import checked_type, forgotten, keep, let_go, moment_of, read, surest

# As in the view `entity_facts`: preferences have their own.
_FACTS = tuple(kind for kind in KINDS if kind != "preference")
_MAY_SPEAK: tuple[Trust, ...] = ("trusted", "untrusted")
_MOST_NAMES = 2_000
_MOST_SUBJECTS = 50
_MOST_WORDS = 16
_BEGINNING = 4
_FIRST_UNSPACED = "\u2e80"


@fences()
class Facts:
    """What one scope knows about things, with what the scopes above know."""

    def __init__(self, engine: Engine, scope: Scope, recaller: Recaller) -> None:
        self._engine = engine
        self._scope = scope
        self._recaller = recaller

    # -- keeping --

    def add(
        self,
        about: str,
        attribute: str,
        value: Any = None,
        *,
        text: str = "",
        basis: Basis = "stated",
        confidence: float = 1.0,
        until: Moment | None = None,
        many: bool | None = None,
        source: Source = "user",
        speaker: str = "",
        source_ref: str = "",
        conversation: str = "",
        occurred_at: Moment | None = None,
        after_erase: AfterErase = "refuse",
    ) -> Remembered:
        """Keep one fact. The same value again raises its confidence by 0.1; another supersedes it.

        Of `nickname alias purpose note likes dislikes` a thing may have several: there, another value is kept beside
        the first. `many` says so for any other attribute, or forbids it. `until` is when the fact ends.
        """
        checked_slot(about, attribute, what=("about", "attribute"))
        checked_type(text, str, name="text", hint="Say the fact in words, or leave text out.")
        if many is not None:
            checked_type(many, bool, name="many", hint="Pass many=True to keep it beside what is there.")
        attribute = common_attribute(attribute)
        if value is None and not text.strip():
            raise InvalidInput("a fact needs a value or a text", hint="Give the value, or text='…' to say it in words.")
        if value is None and attribute in NAMES:
            value = name_in(text)
        value = None if value is None else checked_json(value, name="value")
        draft = Draft(
            text=text if text.strip() else sentence(about.strip(), attribute, value),
            kind="fact",
            about=about,
            attribute=attribute,
            value=value,
            confidence=confidence,
            source=source,
            source_ref=source_ref,
            basis=basis,
            speaker=speaker,
            conversation=conversation,
            occurred_at=occurred_at,
            valid_until=until,
            after_erase=after_erase,
        )
        several = attribute in MANY if many is None else many
        return keep(self._engine, self._scope, draft, slot="many" if several else "one")

    # -- asking --

    def about(self, subject: str, *, attribute: str = "", as_of: Moment | None = None) -> tuple[Fact, ...]:
        """What is known about a thing, by its id or by a name of it; trusted first, then the surest, then the newest.

        With `as_of`, what was known then.
        """
        found = self.list(about=checked_text(subject, name="subject", limit=512), attribute=attribute, as_of=as_of)
        if found:
            return found
        meant = self._named(subject, as_of)
        return self.list(about=meant, attribute=attribute, as_of=as_of) if meant else ()

    def lookup(self, name: str) -> str | None:
        """The id of the thing that is called so, or None. `the`, `my` and the like do not matter.

        Names of this scope win over those of the scopes above; only trusted names count.
        """
        if self.list(about=checked_text(name, name="name", limit=512), limit=1):
            return name.strip()
        return self._named(name, None)

    def list(
        self,
        *,
        about: str = "",
        attribute: str = "",
        as_of: Moment | None = None,
        limit: int = 1_000,
        offset: int = 0,
    ) -> tuple[Fact, ...]:
        """Facts of this scope and those above it, in the same order as `about`."""
        asked, moment = moment_of(self._engine, self._scope, as_of)
        wanted = self._wanted(about, attribute)._replace(as_of=asked, valid_at=moment)
        limit, offset = checked_limit(limit), checked_offset(offset)
        return as_facts(surest(self._engine, self._scope, wanted, at=moment, limit=limit, offset=offset), moment)

    def ask(self, question: str, *, limit: int = 10) -> FactsFound:
        """What is known of what is asked about: by the names of things, by their nicknames, and by recall."""
        checked_limit(limit)
        now = self._engine.clock.now()
        found = self._recaller.recall(Request.of({"query": question, "limit": limit, "now": now}))
        words = _words(question)
        patterns = sorted({word[:_BEGINNING] for word in words})
        subjects = best_subjects(self._engine.ledger.subjects_like(patterns, scope=self._scope), words)
        names = [(memory.about, bare_name(_name(memory))) for memory in self._names(None)]
        named = tuple(sorted(named_subjects(question, names)))
        by_nickname = self._all_about(named, now)
        by_subject = self._all_about(subjects, now)
        direct = list({fact.id: fact for fact in (*by_nickname, *by_subject)}.values())
        facts = _merged(direct, found, now=now, limit=limit)
        returned = {fact.id for fact in facts}
        receipt = FactsReceipt(
            returned=len(facts),
            subjects=len({fact.about for fact in direct}),
            by_subject=tuple(fact.id for fact in by_subject if fact.id in returned),
            by_nickname=tuple(fact.id for fact in by_nickname if fact.id in returned),
            by_recall=tuple(hit.id for hit in found if hit.id in returned),
            recall=found.receipt,
        )
        return FactsFound(facts, receipt)

    # -- letting go --

    def forget(
        self, about: str, attribute: str = "", value: Any = None, *, source: Source = "user"
    ) -> tuple[Changed, ...]:
        """Forget what this very scope knows about a thing: all of it, one attribute, or one value.

        Nothing is forgotten when some of it is trusted more than the source.
        """
        checked_slot(about, attribute or "any", what=("about", "attribute"))
        said = None if value is None else checked_json(value, name="value")
        trust = trust_of(checked_choice(source, SOURCES, name="source"))

        def choose(found: Found) -> tuple[LetGo, ...]:
            going = [memory for memory in found if said is None or _says(memory, said)]
            if not going:
                raise NotFound(
                    f"nothing of that is known about {about.strip()[:80]!r} in {self._scope}",
                    hint="`memoranda facts list` shows what is; what a scope above keeps is forgotten there.",
                )
            above = next((memory for memory in going if outranks(memory.trust, trust)), None)
            if above is not None:
                raise Refused(f"{above.id} is {above.trust} and was not written by the {source}")
            return forgotten(going, "forgotten as a fact")

        wanted = self._wanted(about, attribute)._replace(here=True, trust=())
        return let_go(self._engine, self._scope, wanted, choose)

    # -- the steps --

    def _wanted(self, about: str, attribute: str) -> Filter:
        return Filter(
            states=("live",),
            trust=_MAY_SPEAK,
            kinds=_FACTS,
            about=checked_text(about, name="about", limit=512, empty_ok=True).strip(),
            attribute=common_attribute(checked_text(attribute, name="attribute", limit=512, empty_ok=True)),
            about_things=True,
        )

    def _names(self, as_of: Moment | None) -> tuple[Memory, ...]:
        """What gives a thing a name, of what is trusted and holds."""
        asked, moment = moment_of(self._engine, self._scope, as_of)
        names: tuple[Memory, ...] = ()
        for attribute in NAMES:
            wanted = self._wanted("", attribute)._replace(trust=("trusted",), as_of=asked, valid_at=moment)
            names += tuple(read(self._engine, self._scope, wanted, limit=_MOST_NAMES))
        return names

    def _named(self, name: str, as_of: Moment | None) -> str | None:
        wanted = bare_name(checked_text(name, name="name", limit=512))
        fitting = [memory for memory in self._names(as_of) if bare_name(_name(memory)) == wanted]
        nearest = max((len(memory.scope) for memory in fitting), default=0)
        subjects = sorted({memory.about for memory in fitting if len(memory.scope) == nearest})
        if len(subjects) > 1:
            raise Ambiguous(
                f"{name.strip()[:80]!r} is a name of {len(subjects)} things: {', '.join(subjects)[:200]}",
                candidates=tuple(subjects),
                hint="Say which one, by its id.",
            )
        return subjects[0] if subjects else None

    def _all_about(self, subjects: tuple[str, ...], now: int) -> tuple[Fact, ...]:
        """Everything about these, also preferences, subject by subject."""
        found: tuple[Fact, ...] = ()
        for subject in subjects[:_MOST_SUBJECTS]:
            wanted = self._wanted(subject, "")._replace(kinds=(), valid_at=now)
            found += as_facts(read(self._engine, self._scope, wanted), now)
        return found


def _name(memory: Memory) -> str:
    return memory.value if isinstance(memory.value, str) else memory.text


def _says(memory: Memory, value: Any) -> bool:
    return same_value(memory.value, value) or (isinstance(value, str) and value == memory.text)


def _words(question: str) -> tuple[str, ...]:
    """The words that may be in a subject's name; of scripts without spaces, pairs of characters."""
    from memoranda.index.tokens import content_words

    words: list[str] = []
    for folded, _ in content_words(question):
        if folded[0] >= _FIRST_UNSPACED:
            words += [folded[place : place + 2] for place in range(max(1, len(folded) - 1))]
        else:
            words.append(folded)
    return tuple(dict.fromkeys(words))[:_MOST_WORDS]


def _merged(direct: list[Fact], found: Recall, *, now: int, limit: int) -> list[Fact]:
    """What is about the thing itself first; what recall adds has a quarter of the room, or what is left."""
    known = {fact.id for fact in direct}
    others = [
        Fact(hit.memory, confidence_at(hit.memory, now))
        for hit in found
        if hit.id not in known and not is_entry(hit.memory)
    ]
    room = limit - min(len(others), limit // 4)
    return [*direct[:room], *others][:limit]
