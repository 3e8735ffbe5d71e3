"""`memory.consolidation`: what says the same or contradicts, proposed; done only when somebody says so."""

from collections.abc import Sequence
from typing import Any

from memoranda.domain.consolidation import (
    CONSOLIDATION_MODES,
    ConsolidationMode,
    ConsolidationReceipt,
    DismissalReceipt,
    Proposal,
    Proposals,
    ProposalsReceipt,
    Skipped,
)
from memoranda.domain.draft import Reference, id_of
from memoranda.domain.errors import InvalidInput
from memoranda.domain.ids import new_id
from memoranda.domain.looking import checked_whole
from memoranda.domain.memory import Memory, checked_choice
from memoranda.domain.ports import IndexQuery, Progress
from memoranda.domain.scope import Scope
from memoranda.governance.consolidation import (
    Found,
    Member,
    Named,
    Verdict,
    contradiction,
    digest,
    duplicates,
    least_trust,
    may_be_consolidated,
    named,
    read_name,
    settled,
)
from memoranda.ledger.consolidating import Consolidating, Settle, Taken, Told, Wanted
from memoranda.ledger.fence import fences
from memoranda.service.corpus import NO_SPACE, Standing
from memoranda.service.engine import Engine
from memoranda.service.structured import checked_type

_ALIKE = 16
"""Neighbours that each memory is compared with."""
_SHARED, _NEAR = 0.25, 0.55
"""From so much of its words, or from this cosine on, a neighbour is compared at all. Neither decides anything."""
# What capture leaves as two because it acts by itself; here somebody looks first.
_PERHAPS_ALIKE = frozenset({"other words", "another order", "nothing in common", "other numbers", "negation"})
_PAGE = 200
_MOST_PROPOSALS = 500
_MOST_AT_ONCE = 5_000
_MOST_LOOKED_AT = 1_000_000
_ACCEPTED_AT_ONCE = 50
_HINT = "Pass the ids of proposals, as `consolidate` shows them."


@fences()
class Consolidation:
    """Consolidation in one scope."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine = engine
        self._scope = scope
        self._consolidating = Consolidating(engine.ledger.database, engine.clock)

    def proposals(
        self,
        *,
        below: bool = False,
        limit: int = 20,
        after: int = 0,
        most: int = _MOST_AT_ONCE,
        progress: Progress | None = None,
    ) -> Proposals:
        """Near-duplicates and contradictions of this scope, each with what would stay and what would go. Changes
        nothing.

        Never across scopes, never what is not trusted over what is, never by how near two vectors are alone. At most
        `most` memories are looked at; give the `next` of the result as `after` to look further. `below` takes the
        scopes below along, each by itself.
        """
        checked_type(below, bool, name="below", hint="Pass below=True to take the scopes below along.")
        checked_whole(limit, name="limit", most=_MOST_PROPOSALS)
        checked_whole(most, name="most", most=_MOST_LOOKED_AT)
        if after != 0:
            checked_whole(after, name="after", most=1 << 62)
        return _Search(self._engine, self._scope, self._consolidating, below).run(
            limit=limit, after=after, most=most, progress=progress
        )

    def accept(self, proposals: Sequence[Reference], *, mode: ConsolidationMode = "now") -> ConsolidationReceipt:
        """Do what these proposals say: one stays and is surer for it, the others are superseded by it. Nothing is
        deleted; `undo` takes all of it back. One that has changed since it was shown is left, and named."""
        checked_choice(mode, CONSOLIDATION_MODES, name="mode")
        if mode == "now":
            self._engine.refuse_read_only()
        wanted, skipped = _read(proposals)
        key = _key(self._engine)

        def settle(each: Wanted, members: Sequence[Told]) -> Memory | str:
            return settled(wanted[each.id], [Member(*member) for member in members], key)

        taken = [self._planned(Wanted(each, name.numbers), settle) for each, name in wanted.items()]
        tag = batch = ""
        if mode == "now" and any(not each.why_not for each in taken):
            from memoranda.service.travelling import tag_before

            tag = tag_before(self._engine, self._scope, "consolidation").name
            batch = new_id()
            listed = [Wanted(each, name.numbers) for each, name in wanted.items()]
            taken = []
            for start in range(0, len(listed), _ACCEPTED_AT_ONCE):
                taken += self._consolidating.accept(
                    listed[start : start + _ACCEPTED_AT_ONCE],
                    settle,
                    scope=self._scope,
                    actor=self._engine.actor,
                    batch=batch,
                )
            self._engine.nudge()
        done = [each for each in taken if not each.why_not]
        return ConsolidationReceipt(
            self._scope.path,
            mode,
            accepted=tuple(each.id for each in done),
            skipped=(*skipped, *(Skipped(each.id, each.why_not) for each in taken if each.why_not)),
            kept=tuple(dict.fromkeys(each.kept for each in done)),
            superseded=tuple(dict.fromkeys(one for each in done for one in each.superseded)),
            tag=tag,
            batch=batch,
            sequence=self._consolidating.sequence(),
        )

    def _planned(self, wanted: Wanted, settle: Settle) -> Taken:
        """What accepting it would do now."""
        members = self._consolidating.told(wanted.numbers, scope=self._scope)
        stays = settle(wanted, members)
        if isinstance(stays, str):
            return Taken(wanted.id, why_not=stays)
        return Taken(wanted.id, stays.id, tuple(member.memory.id for member in members[1:]))

    def dismiss(self, proposals: Sequence[Reference]) -> DismissalReceipt:
        """These are not proposed again until one of their members has changed, or another has come to them."""
        self._engine.refuse_read_only()
        wanted, skipped = _read(proposals)
        key = _key(self._engine)
        digests: dict[str, str] = {}
        dismissed: list[str] = []
        for reference, name in wanted.items():
            members = [each.memory for each in self._consolidating.told(name.numbers, scope=self._scope)]
            if len(members) < len(name.numbers) or digest(name.kind, members, key) != name.digest:
                skipped.append(Skipped(reference, "it is not what was proposed"))
                continue
            digests[name.digest] = members[0].scope
            dismissed.append(reference)
        if digests:
            self._consolidating.dismiss(digests)
        return DismissalReceipt(self._scope.path, tuple(dismissed), tuple(skipped))


class _Search:
    """One search for what may be put together, in the order in which it was kept."""

    def __init__(self, engine: Engine, scope: Scope, consolidating: Consolidating, below: bool) -> None:
        from memoranda.capture.likeness import said_alike
        from memoranda.capture.sameness import Said, compared

        self._engine = engine
        self._scope = scope
        self._consolidating = consolidating
        self._below = below
        self._key = _key(engine)
        self._no = consolidating.dismissed(scope, below=below)
        self._compared = 0
        self._verdicts: dict[tuple[str, str, bool], Verdict] = {}
        """Of the memory that is looked at."""
        self._dismissed = 0
        self._taken: set[int] = set()
        """Numbers that are in a proposal: what more there is to say of them is said when that is settled."""
        self._apart: dict[int, set[int]] = {}
        """Numbers that somebody has said are not to be put together."""

        verdicts = self._verdicts

        def compare(later: Memory, earlier: Memory, closeness: float | None, corrects: bool) -> Verdict:
            known = verdicts.get((later.id, earlier.id, corrects))
            if known is not None:
                return known
            self._compared += 1
            one, other = (
                Said(
                    each.text, kind=each.kind, about=each.about, attribute=each.attribute, value=each.value,
                    context=each.context, corrects=corrects and each is later, speaker=each.speaker,
                )
                for each in (later, earlier)
            )  # fmt: skip
            verdict = Verdict(*compared(one, other, closeness=closeness))
            if verdict.relation == "different" and verdict.reason in _PERHAPS_ALIKE:
                alike = said_alike(later.text, earlier.text)
                verdict = Verdict("duplicate", alike) if alike else verdict
            verdicts[later.id, earlier.id, corrects] = verdict
            return verdict

        self._compare = compare

    def run(self, *, limit: int, after: int, most: int, progress: Progress | None) -> Proposals:
        memories = self._engine.memories
        standing = memories.catch_up()
        total = min(most, self._consolidating.left(self._scope, below=self._below, after=after))
        found: list[Proposal] = []
        looked, place, more = 0, after, total > 0
        while more and looked < total and len(found) < limit:
            page = self._consolidating.seeds(
                self._scope, below=self._below, after=place, limit=min(_PAGE, total - looked)
            )
            more = bool(page)
            vectors = self._vectors([number for number, _ in page])
            for number, memory in page:
                place, looked = number, looked + 1
                if number not in self._taken:
                    found += self._about(number, memory, vectors.get(number), standing)
                if progress:
                    progress(looked, total)
                if len(found) >= limit:
                    break
        left = self._consolidating.left(self._scope, below=self._below, after=place)
        receipt = ProposalsReceipt(
            scope=self._scope.path,
            looked_at=looked,
            compared=self._compared,
            duplicates=sum(each.kind == "duplicates" for each in found),
            contradictions=sum(each.kind == "contradiction" for each in found),
            dismissed=self._dismissed,
            left=left,
            degraded=standing.degraded,
        )
        return Proposals(tuple(found), place if left else None, receipt)

    def _vectors(self, numbers: Sequence[int]) -> dict[int, Any]:
        """The vectors that were made of these when they were kept: nobody is asked again."""
        memories = self._engine.memories
        fingerprint = memories.index().fingerprint
        if fingerprint == NO_SPACE:
            return {}
        import numpy as np

        bodies = memories.feed.vectors(fingerprint, numbers)
        return {number: np.frombuffer(body, np.float16).astype(np.float32) for number, body in bodies.items()}

    def _about(self, number: int, memory: Memory, vector: Any, standing: Standing) -> list[Proposal]:
        """What is proposed that this memory begins: a group of what says the same, or what it takes back."""
        self._verdicts.clear()
        near = self._near(number, memory, vector, standing)
        if not near:
            return []
        said = self._consolidating.said_at([number, *near])
        seed = Member(number, memory, said.get(number, memory.created_at))
        members = [
            Member(other, each, said.get(other, each.created_at), closeness)
            for other, (each, closeness) in near.items()
        ]
        # Each pair is looked at once: by the one that was kept first.
        found = (
            duplicates(seed, [each for each in members if each.number > number], self._compare),
            contradiction(seed, members, self._compare),
        )
        proposed: list[Proposal] = []
        for each in found:
            if each is None or self._taken.intersection(member.number for member in each.members):
                continue
            proposal = self._proposal(each)
            if proposal is not None:
                proposed.append(proposal)
        return proposed

    def _near(
        self, number: int, memory: Memory, vector: Any, standing: Standing
    ) -> dict[int, tuple[Memory, float | None]]:
        """Its neighbours in its own scope, by number, that are not spoken for."""
        answer = self._engine.memories.search(
            IndexQuery(
                scopes=(memory.scope,),
                text=memory.text,
                vector=vector,
                now=self._engine.clock.now(),
                pool=_ALIKE,
                tail=standing.tail,
                hidden=standing.hidden,
            )
        )
        nearest = sorted(answer.candidates, key=lambda each: (-max(each.coverage, each.cosine or 0.0), each.number))
        closeness = {
            each.number: each.cosine
            for each in nearest[: _ALIKE + 1]
            if each.coverage >= _SHARED or (each.cosine or 0.0) >= _NEAR
        }
        loaded = self._engine.ledger.load(list(closeness), scope=Scope(memory.scope, top=memory.scope))
        near = {other: (each, closeness[other]) for other, each in loaded.items()}
        if memory.attribute:
            for other, each in self._consolidating.beside(memory):
                near.setdefault(other, (each, None))
        spoken_for = self._taken | self._apart.get(number, set()) | {number}
        now = self._engine.clock.now()
        return {
            other: near[other]
            for other in sorted(near)
            if other not in spoken_for and may_be_consolidated(near[other][0]) and near[other][0].holds_at(now)
        }

    def _proposal(self, found: Found) -> Proposal | None:
        memories = tuple(member.memory for member in found.members)
        numbers = {member.number for member in found.members}
        if digest(found.kind, memories, self._key) in self._no:
            self._dismissed += 1
            for each in numbers:
                self._apart.setdefault(each, set()).update(numbers)
            return None
        self._taken |= numbers
        return Proposal(
            id=named(found, self._key),
            kind=found.kind,
            scope=memories[0].scope,
            why=found.why,
            trust=least_trust(memories),
            keep=memories[0].id,
            supersede=tuple(memory.id for memory in memories[1:]),
            members=memories,
        )


def _key(engine: Engine) -> bytes:
    return engine.ledger.key_for("consolidation")


def _read(proposals: Sequence[Reference]) -> tuple[dict[str, Named], list[Skipped]]:
    """What the ids say, each once; and those that say nothing."""
    if isinstance(proposals, str) or not isinstance(proposals, Sequence):
        raise InvalidInput("a list of proposals is expected", hint=_HINT)
    if not proposals:
        raise InvalidInput("no proposal is given", hint=_HINT)
    wanted: dict[str, Named] = {}
    skipped: dict[str, Skipped] = {}
    for each in proposals:
        reference = id_of(each).strip()
        name = read_name(reference)
        if name is None:
            skipped[reference] = Skipped(reference[:100], "this is not the id of a proposal")
        else:
            wanted[reference] = name
    return wanted, list(skipped.values())
