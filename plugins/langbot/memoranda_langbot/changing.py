"""`!memory` commands that change something, each behind its gate."""

from collections.abc import Sequence

from memoranda.domain.clock import to_ms
from memoranda.domain.memory import Memory, State
from memoranda.domain.profile import FIELDS, Field
from memoranda_langbot import lines
from memoranda_langbot.desk import PAGE, Desk, Told
from memoranda_langbot.uploads import ingest_here

_DELETE = "!memory delete [--speaker ID] [--tag TAG] [--before DATE] [--status active|superseded|archived] [--yes]"
_PROFILE = f"!memory profile set|add|remove {'|'.join(FIELDS)} <value> [--session]"
_STATES: dict[str, State] = {"active": "live", "superseded": "superseded", "archived": "archived"}
_AT_ONCE = 1_000
_PROPOSALS = 20


def forget(desk: Desk, words: Sequence[str]) -> str:
    memory = _named(desk, words, "!memory forget <episode_id>")
    desk.need_say(memory, "Deleting what others said")
    desk.room.memories.forget(memory, reason="!memory forget")
    return f"[Memory] Episode {memory.id} deleted."


def archive(desk: Desk, words: Sequence[str]) -> str:
    memory = _named(desk, words, "!memory archive <episode_id>")
    desk.need_say(memory, "Archiving what others said")
    desk.room.memories.archive(memory, reason="!memory archive")
    return f"[Memory] Episode {memory.id} archived."


def restore(desk: Desk, words: Sequence[str]) -> str:
    memory = _named(desk, words, "!memory restore <episode_id>")
    desk.need_say(memory, "Restoring what others said")
    desk.room.memories.restore(memory)
    return f"[Memory] Episode {memory.id} restored."


def _named(desk: Desk, words: Sequence[str], usage: str) -> Memory:
    if len(words) != 1:
        raise Told(f"Usage: {usage}")
    return desk.episode(words[0])


def delete(desk: Desk, words: Sequence[str]) -> str:
    desk.need_admin("Deleting many episodes")
    given = _options(words)
    states: Sequence[State] = (_STATES[given["status"]],) if "status" in given else tuple(_STATES.values())
    before = to_ms(given["before"], name="--before") if "before" in given else None
    tags = [given["tag"]] if "tag" in given else []
    found = [
        memory
        for memory in desk.episodes(states, tags=tags, speaker=given.get("speaker", ""))
        if before is None or lines.at(memory) < before
    ]
    if not found:
        return "[Memory] No episodes match."
    if "yes" not in given:
        shown = [lines.episode(memory) for memory in found[:PAGE]]
        return "\n".join([f"[Memory] {len(found)} episodes match. Repeat with --yes to delete them:", *shown])
    gone = [memory.id for memory in found[:_AT_ONCE]]
    desk.room.memories.forget_many(gone, states=states, reason="!memory delete", mode="now")
    left = len(found) - len(gone)
    return f"[Memory] {len(gone)} episodes deleted." + (f" {left} more match." if left else "")


def _options(words: Sequence[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name = word.removeprefix("--")
        if word == "--yes":
            given[name] = word
        elif word in ("--speaker", "--tag", "--before", "--status") and rest and name not in given:
            given[name] = rest.pop(0)
        else:
            raise Told(f"Usage: {_DELETE}")
    if not set(given) - {"yes"} or given.get("status", "active") not in _STATES:
        raise Told(f"Usage: {_DELETE}")
    return given


def import_episodes(desk: Desk, text: str) -> str:
    """What stands behind `import l2`, as JSON. Kept here, whatever key it names, under ids of its own."""
    desk.need_admin("Importing")
    kind, _, body = text.strip().partition(" ")
    if kind.partition("\n")[0] != "l2" or not (body.strip() or "\n" in kind):
        raise Told('Usage: !memory import l2 [{"content": "…"}]')
    taken = ingest_here(desk.room.memories, text.strip().removeprefix("l2"), trusted=desk.room.options.trust_uploads)
    left = "".join(f"; {reason}: {count}" for reason, count in sorted(taken.left_out.items()))
    waits = f"; waiting for review: {taken.quarantined}" if taken.quarantined else ""
    return f"[Memory] Imported {taken.kept} episodes{left}{waits}."


def consolidate(desk: Desk, words: Sequence[str]) -> str:
    if list(words) not in (["preview"], ["run"]):
        raise Told("Usage: !memory consolidate preview|run")
    run = words[0] == "run"
    if run:
        desk.need_admin("Consolidating")
    consolidation = desk.room.memories.consolidation
    proposals = consolidation.proposals(limit=_PROPOSALS)
    if not proposals:
        return "[Memory] Nothing to consolidate."
    if run:
        done = consolidation.accept([each.id for each in proposals])
        return f"[Memory] Consolidated: {len(done.accepted)} accepted, {len(done.superseded)} superseded."
    shown = []
    for each in proposals:
        shown.append(f"{each.kind} ({each.why}): keeps")
        shown += [lines.episode(memory) for memory in each.members]
    return "\n".join([f"[Memory] Proposals ({len(proposals)}), the first of each stays:", *shown])


def candidate(desk: Desk, words: Sequence[str]) -> str:
    if len(words) != 2 or words[0] not in ("accept", "reject"):
        raise Told("Usage: !memory candidate accept|reject <id>")
    review = desk.room.memories.review
    waiting = review.get(words[1])
    # What looks written to steer the model is for somebody else to decide than the one who may have written it.
    if waiting.why == "injection" or not desk.own:
        desk.need_admin("Deciding on a candidate")
    changed = review.accept(waiting.memory) if words[0] == "accept" else review.reject(waiting.memory)
    return f"[Memory] Candidate {changed.id} {words[0]}ed."


def profile(desk: Desk, words: Sequence[str]) -> str:
    """A profile by the words of the person themselves, who is trusted with it."""
    wanted = [word for word in words if word != "--session"]
    action, field, value = (*wanted, "", "", "")[:3]
    known: tuple[Field, ...] = tuple(each for each in FIELDS if each == field)
    value = " ".join(wanted[2:]).strip()
    if action not in ("set", "add", "remove") or not known or not value:
        raise Told(f"Usage: {_PROFILE}")
    speaker = "" if "--session" in words else desk.room.place.sender_id
    if not speaker:
        desk.need_session("Changing the profile of the session")
    profiles = desk.room.session.profile
    if action == "set":
        profiles.set(known[0], value, speaker=speaker)
    elif action == "add":
        profiles.add(known[0], value, speaker=speaker)
    else:
        profiles.remove(known[0], value, speaker=speaker)
    return f"[Memory] Profile updated: {field} ({action})."
