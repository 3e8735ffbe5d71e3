"""A request at a door: who may use it, what is asked for in which scope, and the verb that is called for it."""

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from memoranda.domain.access import Principal
from memoranda.domain.errors import InvalidInput, MemorandaError, Refused
from memoranda.domain.ports import Progress
from memoranda.domain.receipt import EraseReceipt
from memoranda.domain.row import Row
from memoranda.domain.scope import Scope
from memoranda.http.auth import entitled
from memoranda.http.refusal import Refusal
from memoranda.service.acting import acting_as
from memoranda.service.memory import LongTermMemory
from memoranda.service.store import Store
from memoranda.wire import answers
from memoranda.wire.binding import SCOPE
from memoranda.wire.doors import Door
from memoranda.wire.problems import CONTENT_TYPE, problem_of

JSON = "application/json"
# Trust follows from the source: these two speak with the operator's voice.
_OPERATORS = frozenset({"operator", "system"})
_SCOPES = "scopes"
_LONGEST_KEY = 255
_KEPT_BELOW = 500


class Answer(NamedTuple):
    """What is sent back. `result` is what the verb gave, for those who count."""

    status: int
    body: bytes
    headers: dict[str, str]
    result: Any = None


class Asked(NamedTuple):
    """One request that was understood."""

    door: Door
    principal: Principal
    scope: Scope | None
    """None for what concerns the whole store."""
    arguments: dict[str, Any]
    key: str = ""
    digest: bytes = b""
    upload: bytes = b""


def admitted(door: Door, principal: Principal, query: Sequence[tuple[str, str]]) -> Scope | None:
    """The scope that a principal may work in through this door, or a refusal."""
    entitled(principal, door.role, whole=door.whole)
    asked = [value for name, value in query if name == SCOPE]
    if len(asked) > 1:
        raise InvalidInput(f"{SCOPE} is there {len(asked)} times", hint="Give it once.")
    if asked and not asked[0]:
        raise InvalidInput(
            "the scope is empty", hint="Leave it out for the token's own, or give one: ?scope=home/anna."
        )
    if not asked and principal.everywhere and (door.whole or door.noun == "tokens" or door.verb == _SCOPES):
        return None
    return principal.scope_for(asked[0] if asked else "")


def permitted(door: Door, principal: Principal, arguments: Mapping[str, Any], roots: Sequence[Path]) -> None:
    """Refuse what only an operator may say, and paths outside of the folders that were opened for it."""
    if door.writes and not principal.may("admin"):
        drafts = [each for each in arguments.get("drafts", ()) if not isinstance(each, str)]
        sources = {arguments.get("source", ""), *(each.source for each in drafts)}
        lifted = {arguments.get("after_erase", ""), *(each.after_erase for each in drafts)}
        if sources & _OPERATORS:
            raise Refused("only an admin's token speaks as operator or system", hint="Leave the source out.")
        if "allow" in lifted:
            raise Refused("only an admin's token takes back what was erased", hint="Leave after_erase out.")
    if door.folder:
        _confined(arguments[door.folder], roots)


def _confined(path: Any, roots: Sequence[Path]) -> None:
    """A path on this machine must be inside a root, links resolved. Says the same whether it is there or not."""
    written = str(path)
    if "\0" in written or not _is_text(written) or not os.path.isabs(written):
        raise InvalidInput("a whole path on the server's machine is needed", hint="Begin it with a slash.")
    real = os.path.realpath(written)
    if not any(real == str(root) or real.startswith(f"{root}{os.sep}") for root in roots):
        raise Refused(
            "this path is outside of the folders that the server may use",
            hint="Start the server with --root DIR, or run the command on its machine.",
        )


def _is_text(written: str) -> bool:
    try:
        written.encode()
    except UnicodeEncodeError:
        return False
    return True


class Performer:
    """Calls the verbs of one store. Used from worker threads."""

    def __init__(self, store: Store, *, boot: str) -> None:
        self._store = store
        self._boot = boot

    def perform(self, asked: Asked, progress: Progress | None = None) -> Answer:
        """Do it once, however often it comes with the same key."""
        if not asked.key:
            return self._done(asked, progress)
        who = f"token {asked.principal.token_id}" if asked.principal.token_id else asked.principal.name
        store = self._store.answers
        claim = store.begin(who, asked.key, asked.digest, self._boot)
        if claim.outcome == "differs":
            raise Refusal(
                422, "key-used", "this Idempotency-Key belongs to another request", hint="Make a new key for it."
            )
        if claim.outcome == "busy":
            raise Refusal(
                409, "key-busy", "the same request is being worked on", hint="Ask again in a moment.", retry_after=1
            )
        if not claim.goes_on:
            return Answer(claim.status, claim.body.encode(), {**claim.headers, "idempotent-replayed": "true"})
        try:
            answer = self._done(asked, progress)
        except BaseException:
            store.drop(who, asked.key)
            raise
        if answer.status < _KEPT_BELOW:
            store.finish(who, asked.key, answer.status, answer.body.decode(), headers=answer.headers)
        else:
            store.drop(who, asked.key)
        return answer

    def _done(self, asked: Asked, progress: Progress | None) -> Answer:
        try:
            with acting_as(asked.principal.name):
                result = _untold(self._called(asked, progress), asked.principal)
        except MemorandaError as error:
            return told(error)
        if answers.is_empty(asked.door.result):
            return Answer(204, b"", {})
        headers = {"content-type": JSON}
        if asked.door.pages and (link := _next_page(asked, result)):
            headers["link"] = link
        return Answer(200, as_json(answers.to_body(asked.door.result, result)), headers, result)

    def _called(self, asked: Asked, progress: Progress | None) -> Any:
        door, arguments = asked.door, dict(asked.arguments)
        if progress is not None:
            arguments.update(dict.fromkeys(door.callbacks, progress))
        if door.noun == "tokens":
            return getattr(self._store.tokens, door.name)(**arguments, by=asked.principal)
        if asked.scope is None and door.verb == _SCOPES:
            return self._store.scopes(**arguments)
        memory = self._store.upkeep() if asked.scope is None else self._store.memory(asked.scope)
        if door.upload:
            return self._with_file(memory, asked, arguments)
        return getattr(getattr(memory, door.noun) if door.noun else memory, door.name)(**arguments)

    def _with_file(self, memory: LongTermMemory, asked: Asked, arguments: dict[str, Any]) -> Any:
        """A file that was sent, for a verb that reads one. It is nobody else's, and goes when the verb has ended."""
        with tempfile.TemporaryDirectory(prefix="memoranda-upload-") as folder:
            path = Path(folder) / "upload"
            path.write_bytes(asked.upload)
            target = getattr(memory, asked.door.noun)
            return getattr(target, asked.door.name)(**{asked.door.upload: path}, **arguments)


def _untold(result: Any, principal: Principal) -> Any:
    """The proof of an erasure looks at all that the store keeps: what it counts there is not a tenant's to know, who
    could write down a guess and erase it again to learn whether somebody else keeps the same."""
    if principal.everywhere:
        return result
    if isinstance(result, EraseReceipt):
        return result._replace(needles=0, shared=0, scanned=())
    if isinstance(getattr(result, "receipt", None), EraseReceipt):
        return result._replace(receipt=_untold(result.receipt, principal))
    return result


def told(error: MemorandaError) -> Answer:
    """An error of the facade as an answer."""
    problem = problem_of(error)
    headers = {"content-type": CONTENT_TYPE}
    if isinstance(problem.get("retry_after"), int | float):
        headers["retry-after"] = str(max(1, round(problem["retry_after"])))
    return Answer(problem["status"], as_json(problem), headers)


def as_json(value: Any) -> bytes:
    """JSON in UTF-8; what an error repeats of a caller's text may be no text."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def checked_key(key: str) -> str:
    """An idempotency key: short, and visible letters only."""
    if not 1 <= len(key) <= _LONGEST_KEY or not all("!" <= char <= "~" for char in key):
        raise InvalidInput(
            f"an Idempotency-Key has 1 to {_LONGEST_KEY} visible ASCII characters", hint="A random UUID is a good one."
        )
    return key


def request_digest(door: Door, target: str, body: bytes) -> bytes:
    """What makes two requests the same."""
    return hashlib.sha256(b"\0".join((door.method.encode(), target.encode("utf-8", "replace"), body))).digest()


def _next_page(asked: Asked, result: Any) -> str:
    """Where the next page is, when there is one."""
    arguments = asked.arguments
    defaults = {each.name: each.default for each in asked.door.parameters}
    limit, offset = arguments.get("limit", defaults["limit"]), arguments.get("offset", defaults["offset"])
    shown = len(result if isinstance(result, Row) or not hasattr(result, "_fields") else result[0])
    total = getattr(result, "total", None)
    more = offset + shown < total if total is not None else shown >= limit
    if not more or not shown:
        return ""
    query: list[tuple[str, str]] = [] if asked.scope is None else [(SCOPE, asked.scope.path)]
    for name, value in {**arguments, "limit": limit, "offset": offset + shown}.items():
        several = (value or ("",)) if isinstance(value, list | tuple) else [value]  # an empty list is not the default
        query += [(name, _word(each)) for each in several if each is not None]
    return f'<{asked.door.path}?{urlencode(query)}>; rel="next"'


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
