"""`!memory` commands that look and change nothing."""

import json
from collections.abc import Sequence
from itertools import islice
from typing import Any

from memoranda.domain.clock import iso
from memoranda.domain.errors import NotFound, Refused
from memoranda.domain.memory import State
from memoranda.domain.profile import is_entry
from memoranda.tools.results import one_line
from memoranda_langbot import lines
from memoranda_langbot.desk import PAGE, Desk, Told, number

_EXPORTED = 200
_FOR_ALL = ("isolation", "index", "self-test")
_WELL = {True: "ok", False: "FAILED"}


def overview(desk: Desk, words: Sequence[str]) -> str:
    del words
    room, place = desk.room, desk.room.place
    stats = room.memories.stats()
    live = sum(1 for _ in desk.episodes(("live",)))
    who = f"{one_line(place.sender_name)} ({one_line(place.sender_id)})" if place.sender_id else "(unknown)"
    speaker = room.session.profile.get(speaker=place.sender_id) if place.sender_id else None
    other = ", ".join(
        f"{stats.by_state.get(state, 0)} {state}" for state in ("superseded", "archived") if stats.by_state.get(state)
    )
    base = desk.knowledge_base or "none"
    return "\n".join(
        [
            "[Memory] Overview",
            f"Mode: {room.options.isolation}",
            f"Session: {place.session_name}",
            f"Key: {room.key}",
            f"Current speaker: {who}",
            f"Session profile: {_set(room.session.profile.get().empty)}",
            f"Speaker profile: {_set(speaker is None or speaker.empty)}",
            f"L2: {live} active{f', {other}' if other else ''}; waiting: {room.memories.review.list(limit=1).total}",
            f"Knowledge base: {base}",
            "Commands: !memory help",
        ]
    )


def _set(empty: bool) -> str:
    return "(not set)" if empty else "set"


def profile(desk: Desk, words: Sequence[str]) -> str:
    del words
    room, sender = desk.room, desk.room.place.sender_id
    shown = lines.profile("Session profile", room.session.profile.get())
    if sender:
        shown += lines.profile("Speaker profile", room.session.profile.get(speaker=sender))
    if sender and room.apart:
        shown += lines.profile("Speaker, with the memories", room.memories.profile.get(speaker=sender))
    return "\n".join(["[Memory] Profile", *shown])


def search(desk: Desk, words: Sequence[str]) -> str:
    query = " ".join(words).strip()
    if not query:
        raise Told("Usage: !memory search <query>")
    found = desk.room.memories.recall(query, limit=PAGE, prefer_speaker=desk.room.place.sender_id)
    degraded = f"\n  ({'; '.join(found.receipt.degraded)})" if found.receipt.degraded else ""
    shown = [lines.episode(hit.memory) for hit in found if not is_entry(hit.memory)]
    if not shown:
        return f"[Memory] No relevant episodes found.{degraded}"
    return "\n".join([f"[Memory] Search results ({len(shown)}):", *shown]) + degraded


def listed(desk: Desk, words: Sequence[str]) -> str:
    return _page(desk, ("live",), number(words, "!memory list [page]"), "Episodes")


def superseded(desk: Desk, words: Sequence[str]) -> str:
    return _page(desk, ("superseded",), number(words, "!memory superseded [page]"), "Superseded episodes")


def archived(desk: Desk, words: Sequence[str]) -> str:
    return _page(desk, ("archived",), number(words, "!memory archived [page]"), "Archived episodes")


def _page(desk: Desk, states: Sequence[State], page: int, title: str) -> str:
    every = list(desk.episodes(states))
    shown = every[(page - 1) * PAGE : page * PAGE]
    if not shown:
        return "[Memory] No episodes found."
    return "\n".join([f"[Memory] {title} (page {page}, {len(every)} total):", *map(lines.episode, shown)])


def show(desk: Desk, words: Sequence[str]) -> str:
    if len(words) != 1:
        raise Told("Usage: !memory show <episode_id>")
    memory = desk.episode(words[0])
    happened = [
        f"  {iso(each.event.at)} {each.event.action}"
        + (f": {one_line(each.event.reason)}" if each.event.reason else "")
        for each in desk.room.memories.history(memory)
    ]
    text = f"  {lines.preview(memory.text, 2_000)}"
    return "\n".join([f"[Memory] Episode {memory.id}", text, *lines.details(memory), "History:", *happened])


def export(desk: Desk, words: Sequence[str]) -> str:
    if words and words[0] == "l2":
        return _export_episodes(desk, words[1:])
    if words:
        raise Told("Usage: !memory export [l2 [page]]")
    place = desk.room.place
    found = desk.room.session.profile.export()
    everybody = desk.admin or place.private
    # Somebody in a group has no right to what the others said of themselves.
    mine = [each for each in found["profiles"] if everybody or each.get("sender_id", "") in ("", place.sender_id)]
    return _json({**found, "profiles": [{**each, "scope_key": place.session_key} for each in mine]})


def _export_episodes(desk: Desk, words: Sequence[str]) -> str:
    desk.need_own("Exporting all episodes")
    page = number(words, "!memory export l2 [page]")
    every = desk.episodes(("live", "superseded", "archived"))
    some = list(islice(every, (page - 1) * _EXPORTED, page * _EXPORTED + 1))
    shown = [lines.exported(memory, desk.room.key) for memory in some[:_EXPORTED]]
    more = {"next_page": page + 1} if len(some) > _EXPORTED else {}
    return _json({"version": 1, "exported_at": iso(desk.room.memories.now), "episodes": shown, **more})


def health(desk: Desk, words: Sequence[str]) -> str:
    del words
    try:
        checks = desk.room.memories.admin.doctor().checks
    except Refused as error:
        return f"[Memory] Health: the server lets only its operator look ({error}); this session answers."
    shown = [
        f"  {_WELL[check.ok]} {check.name}: {check.detail}" + (f" ({check.fix})" if check.fix and not check.ok else "")
        for check in checks
        # How the machine is set up is no business of everybody in a group.
        if desk.admin or check.name in _FOR_ALL
    ]
    well = all(check.ok for check in checks)
    return "\n".join([f"[Memory] Health: {'ok' if well else 'not well'}", *shown])


def audit(desk: Desk, words: Sequence[str]) -> str:
    desk.need_own("The audit")
    governance = desk.room.memories.governance
    if list(words) == ["export"]:
        return _json({"version": 1, "entries": [each.as_json() for each in governance.audit(limit=_EXPORTED)]})
    page, before = number(words, "!memory audit [page|export]"), None
    for _ in range(page - 1):
        before = governance.audit(limit=PAGE, before=before).next
        if before is None:
            return "[Memory] No audit entries found."
    entries = governance.audit(limit=PAGE, before=before)
    if not entries:
        return "[Memory] No audit entries found."
    shown = [
        f"  {iso(each.at)} {each.action} {each.memory_id or each.token_id} by {one_line(each.actor) or '?'}"
        + (f": {one_line(each.reason)}" if each.reason else "")
        for each in entries
    ]
    return "\n".join([f"[Memory] Audit (page {page}):", *shown])


def candidates(desk: Desk, words: Sequence[str]) -> str:
    page = number(words, "!memory candidates [page]")
    review = desk.room.memories.review
    found = review.list(limit=PAGE, offset=(page - 1) * PAGE)
    if not found:
        return "[Memory] No candidates found."
    shown = []
    for memory in found:
        try:
            why = review.get(memory).why
        except NotFound:  # decided meanwhile
            continue
        shown.append(f"{lines.episode(memory)} <{why}>")
    return "\n".join([f"[Memory] Candidates (page {page}, {found.total} total):", *shown])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
