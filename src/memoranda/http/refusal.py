"""`Refusal`: a request that is turned away by the server itself, as problem+json. Not for errors of the facade."""

import json
import math
from collections.abc import Mapping

from starlette.types import Receive, Scope, Send

from memoranda.domain.errors import MemorandaError
from memoranda.wire.problems import CONTENT_TYPE, detail_of, problem, retry_after_of, slug, status_of


class Refusal(Exception):
    """Raised where the server says no. It is an ASGI application, too: its answer."""

    def __init__(
        self,
        status: int,
        name: str,
        detail: str,
        *,
        hint: str,
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.name = name
        self.detail = detail
        self.hint = hint
        self.retry_after = None if retry_after is None else max(1, math.ceil(retry_after))
        self.headers = dict(headers or {})

    def body(self) -> bytes:
        """The problem as it is sent."""
        more = {} if self.retry_after is None else {"retry_after": self.retry_after}
        return json.dumps(problem(self.status, self.name, self.detail, self.hint, **more)).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = self.body()
        headers = {"content-type": CONTENT_TYPE, "content-length": str(len(body)), **self.headers}
        if self.retry_after is not None:
            headers["retry-after"] = str(self.retry_after)
        raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": self.status, "headers": raw})
        await send({"type": "http.response.body", "body": b"" if scope.get("method") == "HEAD" else body})


def refusal_of(error: MemorandaError) -> Refusal:
    """An error of the store as a refusal, for where a request has not come to its door yet."""
    return Refusal(
        status_of(error), slug(type(error)), detail_of(error), hint=error.hint, retry_after=retry_after_of(error)
    )
