"""A request at a door: who may use it, what is asked for in which scope, and the verb that is called for it."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlencode

from memoranda.domain.access import Principal
from memoranda.domain.conversation import Appended
from memoranda.domain.document import DocumentStatus, SourceRemoved, Synced
from memoranda.domain.errors import InvalidInput, MemorandaError, Refused
from memoranda.domain.memory import OPERATORS
from memoranda.domain.ports import Progress
from memoranda.domain.receipt import EraseReceipt
from memoranda.domain.row import Row
from memoranda.domain.scope import Scope
from memoranda.http.auth import entitled
from memoranda.http.reading import scope_asked
from memoranda.http.refusal import Refusal
from memoranda.http.roots import Root, confined, is_text
from memoranda.service.acting import acting_as
from memoranda.service.memory import LongTermMemory
from memoranda.service.store import Store
from memoranda.service.workroom import Workroom
from memoranda.wire import answers
from memoranda.wire.binding import FILE_NAME, SCOPE
from memoranda.wire.doors import Door
from memoranda.wire.problems import CONTENT_TYPE, problem_of

JSON = "application/json"
_SCOPES = "scopes"
_LONGEST_KEY = 255
_KEPT_BELOW = 400
_OUT_OF_REACH = 503
# Vectors are made for everybody's documents at once: how many is not a tenant's to know.
_OF_ALL = ("embedding",)
_NAMELESS = "upload"
_LONGEST_FILENAME = 255


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
    filename: str = ""
    """What the file is called where it came from: a transcript may be named after it."""


def admitted(door: Door, principal: Principal, query: Sequence[tuple[str, str]]) -> Scope | None:
    """The scope that a principal may work in through this door, or a refusal."""
    entitled(principal, door.role, whole=door.whole)
    asked = scope_asked(query)
    if not asked and principal.everywhere and (door.whole or door.noun == "tokens" or door.verb == _SCOPES):
        return None
    return principal.scope_for(asked)


def permitted(
    door: Door, principal: Principal, scope: Scope | None, arguments: dict[str, Any], roots: Sequence[Root]
) -> dict[str, Any]:
    """The arguments as the verb may have them. What only an operator may say is refused, and so are paths outside of
    the folders that were opened for it."""
    if door.writes and not principal.may("admin"):
        drafts = [each for each in arguments.get("drafts", ()) if not isinstance(each, str)]
        sources = {arguments.get("source", ""), *(each.source for each in drafts)}
        lifted = {arguments.get("after_erase", ""), *(each.after_erase for each in drafts)}
        if sources & OPERATORS:
            raise Refused("only an admin's token speaks as operator or system", hint="Leave the source out.")
        if "allow" in lifted:
            raise Refused("only an admin's token takes back what was erased", hint="Leave after_erase out.")
    if arguments.get("proof") and not principal.everywhere:
        raise Refused(
            "a signed statement counts over the whole store, and is for who reaches all of it",
            hint="Leave proof out: the answer says whether it is gone; the operator can give a statement.",
        )
    if door.folder:
        return {**arguments, door.folder: confined(arguments[door.folder], roots, principal, scope)}
    return arguments


class _Written(NamedTuple):
    """What a verb gave, and what it wrote into a file."""

    result: Any
    content: str


class Steps(Protocol):
    """Hears how far long work is; a verb may tell of several things, each by the name of its callback."""

    def of(self, name: str) -> Progress: ...


class Performer:
    """Calls the verbs of one store. Used from worker threads."""

    def __init__(self, store: Store, *, boot: str) -> None:
        self._store = store
        self._boot = boot

    def perform(self, asked: Asked, steps: Steps | None = None) -> Answer:
        """Do it once, however often it comes with the same key."""
        if not asked.key:
            return self._done(asked, steps)
        who = f"token {asked.principal.token_id}" if asked.principal.token_id else asked.principal.name
        store = self._store.answers_of(asked.scope)
        claim = store.begin(who, asked.key, asked.digest, self._boot)
        if claim.outcome == "differs":
            raise Refusal(
                422, "key-used", "this Idempotency-Key belongs to another request", hint="Make a new key for it."
            )
        if claim.outcome == "busy":
            raise _busy("the same request is being worked on")
        if claim.outcome == "done":
            raise Refusal(
                409,
                "key-done",
                "this was done; what was answered is gone, with an erasure or with the server that had done it",
                hint="Look at what is there now. To do it once more, make a new key.",
            )
        if not claim.goes_on:
            return Answer(claim.status, claim.body.encode(), {**claim.headers, "idempotent-replayed": "true"})
        try:
            with store.working(who, asked.key, self._boot) as taken_over:
                answer = self._done(asked, steps)
        except BaseException:
            store.drop(who, asked.key)
            raise
        if taken_over.is_set():
            store.drop(who, asked.key)
            raise _busy("another server has taken this request over")
        # Of what is private nothing is kept, not even its name; to hand it over again does nothing either.
        if answer.status >= _KEPT_BELOW or _is_private(answer.result):
            # Of a store that does not answer nobody waits for a second time.
            store.drop(who, asked.key, later=answer.status >= _OUT_OF_REACH)
            return answer
        try:
            store.finish(who, asked.key, answer.status, answer.body.decode(), headers=answer.headers)
        except MemorandaError:
            # The work is done and durable: who waits for the answer is given it, though it cannot be repeated.
            store.drop(who, asked.key, later=True)
        return answer

    def _done(self, asked: Asked, steps: Steps | None) -> Answer:
        try:
            with acting_as(asked.principal.name):
                result = _untold(self._called(asked, steps), asked.principal)
        except MemorandaError as error:
            return told(error)
        if answers.is_empty(asked.door.result):
            return Answer(204, b"", {})
        headers = {"content-type": JSON}
        if asked.door.pages and (link := _next_page(asked, result)):
            headers["link"] = link
        content = {}
        if isinstance(result, _Written):
            result, content = result.result, {answers.CONTENT: result.content}
        body = answers.to_body(asked.door.result, result)
        return Answer(200, as_json({**body, **content} if content else body), headers, result)

    def _called(self, asked: Asked, steps: Steps | None) -> Any:
        door, arguments = asked.door, dict(asked.arguments)
        if steps is not None:
            heard = [name for name in door.callbacks if asked.principal.everywhere or name not in _OF_ALL]
            arguments.update({name: steps.of(name) for name in heard})
        if door.noun == "tokens":
            return getattr(self._store.tokens, door.name)(**arguments, by=asked.principal)
        if asked.scope is None and door.verb == _SCOPES:
            return self._store.scopes(**arguments)
        memory = self._store.upkeep() if asked.scope is None else self._store.memory(asked.scope)
        if door.upload:
            return self._with_file(memory, asked, arguments)
        if door.download:
            return self._into_file(memory, asked, arguments)
        return getattr(getattr(memory, door.noun) if door.noun else memory, door.name)(**arguments)

    def _with_file(self, memory: LongTermMemory, asked: Asked, arguments: dict[str, Any]) -> Any:
        """A file that was sent, for a verb that reads one. It is nobody else's, and goes when the verb has ended."""
        with Workroom(memory.path).holding(asked.filename, asked.upload) as path:
            target = getattr(memory, asked.door.noun) if asked.door.noun else memory
            return getattr(target, asked.door.name)(**{asked.door.upload: path}, **arguments)

    def _into_file(self, memory: LongTermMemory, asked: Asked, arguments: dict[str, Any]) -> "_Written":
        """What a verb writes into a file, beside what it gives. The path is of no use to whoever asked."""
        with Workroom(memory.path).desk() as folder:
            path = folder / "content"
            target = getattr(memory, asked.door.noun) if asked.door.noun else memory
            result = getattr(target, asked.door.name)(**{asked.door.download: path}, **arguments)
            return _Written(result._replace(**{asked.door.download: ""}), path.read_text(encoding="utf-8"))


def _untold(result: Any, principal: Principal) -> Any:
    """A proof looks at all that the store keeps, and vectors are shared by all who keep the same text: what is counted
    there is not a tenant's to know, who could write down a guess and let go of it again to learn whether somebody
    else keeps the same. Nor are names of files that are not its own."""
    if principal.everywhere:
        return result
    if isinstance(result, EraseReceipt):
        return result._replace(
            needles=0,
            shared=0,
            scanned=(),
            found=0,
            rewritten=False,
            backups=0,
            untouchable=(),
            statement=None,
            pending=_later(result.pending),
        )
    if isinstance(result, SourceRemoved):
        return result._replace(traces=0, scanned_bytes=0, pending=_later(result.pending))
    if isinstance(result, Synced):
        return result._replace(embedded=0, without_vector=0)
    if isinstance(result, DocumentStatus):
        return result._replace(cache_entries=0, batch_failures=0, bytes=0)
    if isinstance(getattr(result, "receipt", None), EraseReceipt):
        return result._replace(receipt=_untold(result.receipt, principal))
    return result


def _busy(detail: str) -> Refusal:
    return Refusal(409, "key-busy", detail, hint="Ask again in a moment.", retry_after=1)


def _later(pending: str) -> str:
    return "it is not proven to be gone from every file yet; upkeep of the store goes on with it" if pending else ""


def _is_private(result: Any) -> bool:
    return isinstance(result, Appended) and not result.receipt.stored


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


def checked_filename(query: Sequence[tuple[str, str]]) -> str:
    """The last part of what a file that was sent is called at home; it is given that name here, too."""
    given = [value for name, value in query if name == FILE_NAME]
    if len(given) > 1:
        raise InvalidInput(f"{FILE_NAME} is there {len(given)} times", hint="Give it once.")
    if not given:
        return _NAMELESS
    name = given[0].replace("\\", "/").rpartition("/")[2]
    if not name.strip(". ") or "\0" in name or not is_text(name) or len(name.encode()) > _LONGEST_FILENAME:
        raise InvalidInput(f"{FILE_NAME}: no file is called so", hint="Give the name of the file, such as talk.jsonl.")
    return name


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
