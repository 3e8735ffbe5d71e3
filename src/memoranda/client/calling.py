"""Calling a verb of a served memory: the request that the door wants, and its answer as the verb gives it."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from memoranda.client.events import Event
from memoranda.client.transport import Answer, Asked, Heard, Transport
from memoranda.domain.errors import (
    ConfigError,
    InvalidInput,
    MemorandaError,
    NotFound,
    ProviderUnavailable,
    Refused,
)
from memoranda.domain.ids import new_id
from memoranda.wire import answers, problems
from memoranda.wire.binding import FILE_NAME, Sent, sent
from memoranda.wire.doors import Door

MOST_UPLOADED = 64 * 1024 * 1024
_VERSION = "/v1"
_WHO = f"{_VERSION}/whoami"
_FILE = "application/octet-stream"
_TOKEN_HINT = "Make one with `memoranda token create`; pass it as token=, or set MEMORANDA_TOKEN."  # noqa: S105
_ADDRESS_HINT = "Check the address: `memoranda serve` prints it."
_PROXY_TROUBLE = frozenset({502, 503, 504})
# What only this process has, and why it cannot be part of a call.
_STAYS = {
    "tokenizer": "Leave it out: the server counts; a smaller budget makes up for the difference.",
    "by": "Leave it out: the server knows who asks by the token.",
}


_LEFT_OUT = "Leave it out: it is of use on the machine of the store only."


class Caller:
    """Calls verbs in one scope of a server."""

    def __init__(self, transport: Transport, scope: str) -> None:
        self.transport = transport
        self.scope = scope

    def within(self, scope: str) -> "Caller":
        """The same server, another scope."""
        return Caller(self.transport, scope)

    def whoami(self) -> Mapping[str, Any]:
        """Whom the token stands for. Also shows whether there is a memory at the address at all."""
        answer = self.transport.ask(Asked("GET", _WHO))
        told = answer.read() if answer.status == 200 else None
        if isinstance(told, dict) and isinstance(told.get("version"), str):
            return told
        if answer.status == 404 and self.transport.address.prefix.endswith(_VERSION):
            raise ConfigError(
                f"{self.transport.address}: there is no memory at this address",
                hint=f"Leave {_VERSION} at its end out: it is added to every call.",
            )
        raise self._problem(answer)

    def call(self, door: Door, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """What the verb gives, or the error that it raises; of one that writes a file, also what it wrote."""
        request = sent(door, args, kwargs, scope=self.scope)
        for name in request.kept:
            if (name in _STAYS or name in door.stays) and request.kept[name] is not None:
                raise Refused(f"{name} cannot be sent to a server", hint=_STAYS.get(name, _LEFT_OUT))
        # The answer to whoever makes a token is not kept for a second time: it has the secret in it.
        unkept = door.noun == "tokens"
        key = new_id() if door.writes and not unkept else ""
        asked = _uploading(door, request, key) if door.upload else _asking(door, request, key)
        once = unkept and door.method != "GET"
        answer = self.transport.ask(asked._replace(once=once), _listener(door, request.kept))
        if not 200 <= answer.status < 300:
            raise self._problem(answer)
        if answers.is_empty(door.result):
            return None
        try:
            body = json.loads(answer.body)
            if door.download:
                content = str(body.pop(answers.CONTENT))
                return answers.from_body(door.result, body), content
            return answers.from_body(door.result, body)
        except (InvalidInput, ValueError, TypeError, KeyError, RecursionError) as error:
            raise self._stranger(f"its answer to {door.verb} is none") from error

    def _problem(self, answer: Answer) -> MemorandaError:
        """The error that an answer tells of."""
        told = answer.read()
        if isinstance(told, dict) and isinstance(told.get("type"), str):
            if answer.status == 401:
                return Refused(f"{self.transport.address}: {_detail(told)}", hint=_TOKEN_HINT)
            return problems.error_of(told)
        if 300 <= answer.status < 400:
            return ConfigError(
                f"{self.transport.address}: it sends callers elsewhere, and redirects are not followed",
                hint="Give the final address of the server.",
            )
        if answer.status in _PROXY_TROUBLE:  # somebody in between speaks for it
            return ProviderUnavailable(f"{self.transport.address}: status {answer.status}", hint="Is it running?")
        return self._stranger(f"status {answer.status}")

    def _stranger(self, what: str) -> ConfigError:
        return ConfigError(
            f"{self.transport.address}: this is no server of Memoranda, or one of another version ({what})",
            hint=_ADDRESS_HINT,
        )


def _detail(told: Mapping[str, Any]) -> str:
    return str(told.get("detail", "the token was refused"))[:200]


def _asking(door: Door, request: Sent, key: str) -> Asked:
    if request.body is None:
        return Asked(door.method, request.target, None, key=key)
    try:
        # In ASCII: half of a pair of signs travels, and is refused where every other text is looked at.
        body = json.dumps(request.body, allow_nan=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"this cannot be sent: {error}", hint="Pass plain values and finite numbers.") from error
    return Asked(door.method, request.target, body, key=key)


def _uploading(door: Door, request: Sent, key: str) -> Asked:
    """The file is read here: the server has no business with paths of this machine."""
    path = _file(request.kept[door.upload])
    try:
        if path.stat().st_size > MOST_UPLOADED:
            raise InvalidInput(
                f"{path} has more than {MOST_UPLOADED >> 20} MiB", hint="Import it on the server's machine."
            )
        content = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}", hint="Check who may read it.") from error
    joint = "&" if "?" in request.target else "?"
    named = urlencode({FILE_NAME: path.name.encode("utf-8", "replace")})
    return Asked(door.method, f"{request.target}{joint}{named}", content, kind=_FILE, key=key)


def _file(given: Any) -> Path:
    if not isinstance(given, str | Path):
        raise InvalidInput(f"a path is expected, not {type(given).__name__}", hint="Give the path of a file.")
    path = Path(given).expanduser()
    try:
        if not path.exists():
            raise NotFound(f"there is no file {path}", hint="Give the path of a file.")
        if not path.is_file():
            raise InvalidInput(
                f"{path} is no file",
                hint="Give the path of one file; folders are imported on the server.",
            )
    except (OSError, ValueError) as error:
        raise InvalidInput(f"this cannot be the path of a file: {error}", hint="Give another path.") from error
    return path


def _listener(door: Door, kept: Mapping[str, Any]) -> Heard | None:
    """Tells of progress whoever wants to hear of it. Long work is listened to in any case: it may take its time."""
    if not door.callbacks:
        return None
    wanted: dict[str, Callable[[int, int], object]] = {
        name: kept[name] for name in door.callbacks if kept.get(name) is not None
    }

    def heard(event: Event) -> None:
        told = json.loads(event.data)
        listener = wanted.get(told.get("of", door.callbacks[0])) if event.name == "progress" else None
        if listener is not None:
            listener(int(told["done"]), int(told["total"]))

    return heard
