"""What hosts run around a turn: `hook before-turn`, `hook after-turn` and the like. JSON in, JSON out.

A host never waits for its memory and never fails by it: whatever goes wrong, the answer is empty, `degraded` says
why, and the exit code is 0. When the time is over the answer is given although the work hangs; what was committed by
then stays; and a memory that ran out of time again and again is left alone for a while. Only a wrong command line is
an error. With `--host` the payload and the answer have the form of that host.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from memoranda.cli.hook_door import Door, Patience
from memoranda.cli.output import Output
from memoranda.domain.errors import InvalidInput, MemorandaError, NotFound

if TYPE_CHECKING:
    from memoranda import LongTermMemory, Settings
    from memoranda.hosts.table import HookEvent

    _Work = Callable[[Mapping[str, Any], Door], dict[str, Any]]

_MOST_INPUT = 32 << 20
_LONGEST = 600.0
_USUAL = 2.0
_UNPACKING = "semantic lane off: the bundled model is not unpacked yet; until it is, recall goes by words"
_HINT = "docs/guides/around-a-turn.md shows what a hook is given."

# Our name first; then what hosts call it.
_NAMES: dict[str, tuple[str, ...]] = {
    "prompt": ("prompt", "user_prompt", "userPrompt", "query", "message"),
    "conversation": ("conversation", "conversation_id", "session_id", "sessionId", "session_key", "sessionKey"),
    "speaker": ("speaker", "speaker_id", "sender_id", "senderId", "speaker_name", "sender_name", "senderName"),
    "kind": ("kind", "session_kind", "trigger"),
    "transcript": ("transcript_path", "transcriptPath"),
}
_KEEP = "keep_conversation"
_NO = frozenset({"false", "no", "0", "f", "n", "off"})
_TOLD: dict[str, Any] = {"context": "", "tokens": 0, "items": [], "receipt": None}
_KEPT: dict[str, Any] = {"kept": [], "waiting": 0, "receipt": None}
_NOTHING: dict[str, dict[str, Any]] = {
    "session-start": _TOLD,
    "before-turn": _TOLD,
    "after-turn": _KEPT,
    "before-compaction": _KEPT,
}
_STANDING = 12
# Written out, so that nothing is loaded to show the help; a test compares it with the original.
HOSTS = ("claude-code", "codex", "cursor", "gemini")
_TOKEN = "MEMORANDA_TOKEN"  # noqa: S105 the name of a variable


def _add_hook(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "event",
        choices=tuple(_NOTHING),
        help="session-start gives what is always to be known, before-turn recalls, after-turn captures, "
        "before-compaction captures what was not yet",
    )
    command.add_argument("--host", choices=HOSTS, help="payload and answer have the form of this host")
    command.add_argument("--url", metavar="URL", help="use the memory of this server (default: hook_url)")
    command.add_argument(
        "--token-file", metavar="PATH", help=f"the token for it (default: hook_token_file, or {_TOKEN})"
    )
    command.add_argument(
        "--keep-conversation", action="store_true", help="after-turn: keep the messages as a conversation, too"
    )
    command.add_argument("--seconds", type=float, metavar="N", help="at most so long (default: hook_seconds, 2)")
    command.set_defaults(run=_hook)


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "hook": ("around a turn of a host: JSON in, JSON out, never in its way", _add_hook),
}


def _hook(arguments: argparse.Namespace, output: Output) -> int:
    from queue import Empty, SimpleQueue
    from threading import Thread

    began = time.monotonic()
    if arguments.seconds is not None and not 0 < arguments.seconds <= _LONGEST:
        raise InvalidInput(f"--seconds is above 0 and at most {_LONGEST:g}", hint=f"{_USUAL:g} is usual.")
    seconds, patience, left_alone = arguments.seconds or _USUAL, None, ""
    outcomes: SimpleQueue[dict[str, Any]] = SimpleQueue()
    try:
        settings = _settings(arguments)
        seconds = arguments.seconds or settings.hook_seconds or _USUAL
        patience = Patience(settings)
        if left_alone := patience.told():
            outcomes.put({"degraded": [left_alone]})
        else:
            job = _Job(arguments.event, arguments.host, bool(arguments.keep_conversation), settings, seconds)
            Thread(target=lambda: outcomes.put(job.outcome()), name="memoranda-hook", daemon=True).start()
    except MemorandaError as error:
        outcomes.put(_degraded(error))
    try:
        outcome = outcomes.get(timeout=seconds)
        if patience is not None and not left_alone:
            patience.kept()
    except Empty:
        _give_up()
        if patience is not None:
            patience.lost()
        outcome = {"degraded": [f"out of time: it was not done within {seconds:g} s"]}
    answer = {**_NOTHING[arguments.event], "degraded": [], **outcome}
    if arguments.host:
        from memoranda.hosts.payloads import answered

        context = answer.get("context", "")
        print(json.dumps(answered(arguments.host, arguments.event, context, answer["degraded"]), ensure_ascii=False))
    else:
        print(json.dumps({**answer, "elapsed_ms": round((time.monotonic() - began) * 1000)}, ensure_ascii=False))
    for reason in answer["degraded"]:
        output.note(reason)
    return 0  # with this the process ends at once, whatever hangs


def _settings(arguments: argparse.Namespace) -> "Settings":
    from memoranda import config

    # As for every command: the process ends before a background thread could help.
    alone = {"follow": False, "limit_threads": False}
    given = {name: getattr(arguments, name) for name in ("store", "scope", "embedder")}
    # What a command line names is not overruled by an address in the settings.
    url = "" if given["store"] and arguments.url is None else arguments.url
    server = {"hook_url": url, "hook_token_file": arguments.token_file}
    return config.load({**given, **server, **alone})


def _hurried(settings: "Settings", seconds: float) -> "Settings":
    """Nothing may wait for so long that no time is left to answer without it."""
    half = seconds / 2
    waits = ("busy_seconds", "query_timeout", "embedder_timeout", "extractor_timeout")
    return settings.changed({name: min(half, getattr(settings, name)) for name in waits})


class _Job(NamedTuple):
    """What is done for one event."""

    event: str
    host: str | None
    keep: bool
    settings: "Settings"
    seconds: float

    def outcome(self) -> dict[str, Any]:
        """What comes of it, or why nothing does. Nothing that went wrong leaves here but as words."""
        try:
            given = _given()
            if self.host:
                from memoranda.hosts.payloads import heard

                given, skipped = heard(self.host, cast("HookEvent", self.event), given)
                if skipped:
                    return {"skipped": skipped}
            return self._done({**given, **({_KEEP: True} if self.keep else {})})
        except MemorandaError as error:
            return _degraded(error)
        except Exception as error:  # noqa: BLE001 a host goes on whatever happens; its words may be in the message
            return {"degraded": [f"this is our fault: {type(error).__name__}; please report it"]}

    def _done(self, given: Mapping[str, Any]) -> dict[str, Any]:
        work, hurried = _WORK[self.event], _hurried(self.settings, self.seconds)
        if hurried.hook_url:
            return work(given, Door(hurried, self.seconds))
        if self.event == "session-start":  # nothing is asked: no model is needed for it
            return work(given, Door(hurried.changed({"embedder": "none"}), self.seconds))
        if _has_its_model(hurried, self.seconds):
            return work(given, Door(hurried, self.seconds))
        outcome = work(given, Door(hurried.changed({"embedder": "none"}), self.seconds))
        return {**outcome, "degraded": [*outcome.get("degraded", ()), _UNPACKING]}


def _has_its_model(settings: "Settings", seconds: float) -> bool:
    """Whether the bundled model can be used within the time. If not, another process unpacks it for the next turn."""
    from memoranda.service import unpacking

    if seconds >= unpacking.SECONDS or unpacking.is_ready(settings):
        return True
    unpacking.begin(settings)
    return False


def _degraded(error: MemorandaError) -> dict[str, Any]:
    return {"degraded": [f"{error} ({error.hint})"]}


def _give_up() -> None:
    """Whoever is asked at this moment and hangs is left alone by the next processes."""
    breaker = sys.modules.get("memoranda.service.breaker")
    if breaker is not None:
        breaker.give_up()


# -- the events --


def _session_start(given: Mapping[str, Any], door: Door) -> dict[str, Any]:
    if door.missing():
        return {"skipped": "there is no store yet"}  # of a new installation: nothing is wrong
    speaker = _text(given, "speaker")
    shape = {name: given[name] for name in ("budget", "format") if given.get(name) is not None}
    with door.opened(given, reading=True) as memory:
        pack = memory.pack("", prefer_speaker=speaker, standing=_STANDING, **shape)
    return {
        "context": pack.text,
        "tokens": pack.tokens,
        "items": [{"id": item.id, "kind": item.kind, "score": round(item.score, 4)} for item in pack.items],
        "receipt": {"pack": pack.receipt.as_json()},
    }


def _before_turn(given: Mapping[str, Any], door: Door) -> dict[str, Any]:
    prompt, speaker = _prompt(given), _text(given, "speaker")
    if path := door.missing():
        raise NotFound(f"there is no store at {path} yet", hint="The first after-turn makes one; or check --store.")
    asked = {name: given[name] for name in ("limit", "policy") if given.get(name) is not None}
    shape = {name: given[name] for name in ("budget", "format") if given.get(name) is not None}
    with door.opened(given, reading=True) as memory:
        found = memory.recall(
            prompt,
            mode="automatic",
            conversation=_text(given, "conversation"),
            prefer_speaker=speaker,
            **asked,
        )
        pack = memory.pack(found, prefer_speaker=speaker, **shape)
    return {
        "context": pack.text,
        "tokens": pack.tokens,
        "items": [{"id": item.id, "kind": item.kind, "score": round(item.score, 4)} for item in pack.items],
        "receipt": {**found.receipt.as_json(), "pack": pack.receipt.as_json()},
        "degraded": list(found.receipt.degraded),
    }


def _after_turn(given: Mapping[str, Any], door: Door) -> dict[str, Any]:
    if _failed(given.get("success")):
        return {}
    said, everything = _messages(given)
    with door.opened(given) as memory:
        captured = memory.capture(
            said,
            conversation=_text(given, "conversation"),
            speaker=_text(given, "speaker"),
            mode=given.get("mode"),
            kind=_text(given, "kind"),
        )
        conversation, trouble = _kept(memory, given, everything) if _wanted(given.get(_KEEP)) else ({}, [])
    receipt = captured.receipt
    return {
        "kept": [{"id": memory.id, "kind": memory.kind} for memory in captured.kept],
        "waiting": len(receipt.waiting),
        "receipt": receipt.as_json(),
        **conversation,
        "degraded": [*receipt.degraded, *trouble],
    }


def _kept(memory: "LongTermMemory", given: Mapping[str, Any], messages: Any) -> tuple[dict[str, Any], list[str]]:
    """The messages kept as a conversation, word for word: its receipt, or why they were not. Capture has its own."""
    from memoranda.domain.message import spread

    name, speaker = _text(given, "conversation"), _text(given, "speaker")
    try:
        ready = [
            each._replace(speaker=speaker) if each.role == "user" and not each.speaker else each
            for each in spread(messages)
        ]
        if not name or not all(each.id for each in ready):
            # Hosts hand over the whole history every turn: what has no name would be kept again and again.
            raise InvalidInput("no conversation was kept: it needs a name, and every message an `id`", hint=_HINT)
        # A host waits: what should be summed up is left to upkeep.
        appended = memory.conversations.append(ready, conversation=name, compact=False)
    except MemorandaError as error:
        return {}, _degraded(error)["degraded"]
    return {"conversation": appended.receipt.as_json()}, []


_WORK: "dict[str, _Work]" = {
    "session-start": _session_start,
    "before-turn": _before_turn,
    "after-turn": _after_turn,
    "before-compaction": _after_turn,  # what was handed over before is not looked at again
}


# -- what is given --


def _given() -> Mapping[str, Any]:
    """The object on standard input."""
    stream = getattr(sys.stdin, "buffer", sys.stdin)
    raw = stream.read(_MOST_INPUT + 1)
    if len(raw) > _MOST_INPUT:
        raise InvalidInput(
            f"more than {_MOST_INPUT >> 20} MiB on standard input", hint="Pass the newest messages only."
        )
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("standard input is not JSON", hint=_HINT) from error
    if not isinstance(found, dict):
        raise InvalidInput("standard input is JSON, but not an object", hint=_HINT)
    return found


def _prompt(given: Mapping[str, Any]) -> str:
    """What the user asks. A number is no question."""
    found = next((given[each] for each in _NAMES["prompt"] if isinstance(given.get(each), str)), None)
    if found is None:
        raise InvalidInput("`prompt` is missing", hint=_HINT)
    return str(found)


def _messages(given: Mapping[str, Any]) -> tuple[Any, Any]:
    """The messages themselves, or those of a transcript that the host keeps: what people said, and all of them."""
    if given.get("messages") is not None:
        return given["messages"], given["messages"]
    path = next((given[each] for each in _NAMES["transcript"] if given.get(each) is not None), None)
    if path is None:
        raise InvalidInput("`messages` is missing, and there is no `transcript_path`", hint=_HINT)
    from memoranda.hosts.transcripts import messages_at, said

    found = messages_at(path)
    return said(found), found


def _wanted(asked: Any) -> bool:
    """Whether a host asks for something; text is taken as for `success`."""
    return bool(asked) and not _failed(asked)


def _failed(success: Any) -> bool:
    """Whether a host says that the turn failed; hosts that have no booleans write it as text or as a number."""
    if isinstance(success, str):
        return success.strip().casefold() in _NO
    return isinstance(success, bool | int | float) and not success


def _text(given: Mapping[str, Any], name: str) -> str:
    """A text under its own name or one that hosts use; numbers, as some hosts have for people, are written out."""
    found = next((given[each] for each in _NAMES[name] if given.get(each) is not None), None)
    if type(found) is int:
        return str(found)
    if found is not None and not isinstance(found, str):
        raise InvalidInput(f"`{name}` is not a text", hint=_HINT)
    return found or ""
