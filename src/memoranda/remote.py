"""Services behind HTTP: one JSON POST over the standard library, the same for embedders and for models.

No redirects, no proxies, no cookies, no retries: those are the caller's. A key goes into a header and
nowhere else: not into an error, a log or a repr.
"""

import http.client
import json
import math
import socket
import ssl
import time
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from memoranda.domain.clock import SystemClock
from memoranda.domain.errors import ConfigError, ProviderError, ProviderRejected, ProviderUnavailable, ServiceRejected

OPENAI_URL = "https://api.openai.com/v1"

# Where each service that speaks OpenAI's protocol listens unless it is told otherwise.
DEFAULT_URLS = {
    "openai": OPENAI_URL,
    "ollama": "http://127.0.0.1:11434/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
    "vllm": "http://127.0.0.1:8000/v1",
    "llamacpp": "http://127.0.0.1:8080/v1",
}

MAX_ANSWER = 64 * 1024 * 1024
_CHUNK = 64 * 1024
_MESSAGE_LENGTH = 200
_CONNECT_SECONDS = 10.0
_AGAIN = frozenset({408, 425, 429})
_ACCESS = frozenset({401, 403})
_BAD_KEY = frozenset({"API_KEY_INVALID", "invalid_api_key"})
_QUOTA = frozenset({"insufficient_quota", "billing_not_active", "billing_hard_limit_reached"})


def checked_base_url(url: str) -> str:
    """The address without a final slash, or a ConfigError that does not show it: it may contain a password."""
    hint = "Write it as https://host/path, without a user name, '?' or '#'; keys have their own setting."
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise ConfigError("the base URL cannot be read", hint=hint) from error
    if not usable or not url.isascii() or not url.isprintable() or " " in url:
        raise ConfigError("the base URL is not an http or https address", hint=hint)
    if "@" in parts.netloc or "?" in url or "#" in url:
        raise ConfigError("the base URL has credentials, a query or a fragment in it", hint=hint)
    return url.rstrip("/")


def checked_key(key: str | None) -> str | None:
    """The key without the spaces around it. What cannot be a header is refused, and not shown."""
    stripped = (key or "").strip()
    if not stripped.isascii() or not stripped.isprintable() or " " in stripped:
        raise ConfigError("the key has characters in it that no key has", hint="Copy the key again.")
    return stripped or None


class RequestRejected(ProviderRejected):
    """The service does not take this request: its text, or a field that it does not know."""


class JsonClient:
    """POSTs JSON to one service. `key_variable` is what a refused caller is told to set."""

    def __init__(
        self,
        name: str,
        base_url: str,
        *,
        key: str | None,
        key_header: str,
        key_variable: str,
        key_needed: bool,
        max_answer: int = MAX_ANSWER,
        outage_hint: str | None = None,
        rejection_hint: str | None = None,
    ) -> None:
        self._name = name
        self._key = checked_key(key)
        self._key_header = key_header
        self._key_hint = f"Set {key_variable} to a key that is valid for this service."
        self._key_needed = key_needed
        self._max_answer = max_answer
        self._outage_hint = outage_hint
        self._rejection_hint = rejection_hint
        self._context: ssl.SSLContext | None = None
        parts = urlsplit(checked_base_url(base_url))
        self._secure = parts.scheme == "https"
        self._host = parts.hostname or ""
        self._port = parts.port
        self._path = parts.path

    def post(self, path: str, body: object, *, until: float) -> Any:
        """The decoded answer. `until` is a moment of `time.monotonic`, for the whole exchange."""
        if self._key_needed and self._key is None:
            raise ServiceRejected(f"{self._name}: there is no key", hint=self._key_hint)
        payload = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        try:
            status, headers, answer = self._exchange(path, payload, until)
        except TimeoutError as error:
            raise self._outage("no answer in time") from error
        except ssl.SSLCertVerificationError as error:
            raise ServiceRejected(f"{self._name}: its certificate is not trusted") from error
        except (OSError, http.client.HTTPException) as error:
            raise self._outage(f"no connection ({type(error).__name__})") from error
        if status != 200:
            raise self._refusal(status, headers, answer)
        try:
            return json.loads(answer)
        except (ValueError, RecursionError) as error:
            raise self._outage("the answer is not JSON") from error

    def __repr__(self) -> str:
        return f"JsonClient({self._name!r})"

    def _exchange(self, path: str, payload: bytes, until: float) -> tuple[int, Message, bytes]:
        connection = self._connection(min(_left(until), _CONNECT_SECONDS))
        try:
            connection.connect()
            # Kept by us: http.client lets go of its socket as soon as the headers are there.
            line: socket.socket = connection.sock
            line.settimeout(_left(until))
            connection.request("POST", self._path + path, body=payload, headers=self._headers())
            response = connection.getresponse()
            with response:
                answer = bytearray()
                while True:
                    line.settimeout(_left(until))
                    chunk = response.read1(_CHUNK)
                    if not chunk:
                        break
                    answer += chunk
                    if len(answer) > self._max_answer:
                        raise ProviderRejected(
                            f"{self._name}: the answer is larger than {self._max_answer:,} bytes",
                            hint=self._rejection_hint,
                        )
                if response.length:
                    raise http.client.IncompleteRead(b"", response.length)
                return response.status, response.headers, bytes(answer)
        finally:
            connection.close()

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        if not self._secure:
            return http.client.HTTPConnection(self._host, self._port, timeout=timeout)
        if self._context is None:
            self._context = ssl.create_default_context()
        return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._context)

    def _headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Connection": "close",
            "User-Agent": "memoranda",
        }
        if self._key is not None:
            bearer = self._key_header == "Authorization"
            headers[self._key_header] = f"Bearer {self._key}" if bearer else self._key
        return headers

    def _refusal(self, status: int, headers: Message, answer: bytes) -> ProviderError:
        message, codes, told = _read_refusal(answer)
        if status in _ACCESS or codes & _BAD_KEY:
            # The service's own words are left out: some repeat the key.
            return ServiceRejected(f"{self._name}: the key was refused ({status})", hint=self._key_hint)
        if status == 402 or codes & _QUOTA:
            return ServiceRejected(
                f"{self._name}: the quota is used up ({status})", hint="Check the plan and billing of the account."
            )
        if status in _AGAIN or status >= 500:
            wait = _retry_after(headers)
            return self._outage(f"status {status}", retry_after=told if wait is None else wait)
        if status < 400:
            return ServiceRejected(
                f"{self._name}: status {status}, and redirects are not followed",
                hint="Set the base URL to the final address of the service.",
            )
        if self._key is not None:
            message = message.replace(self._key, "[key]")
        said = f": {message[:_MESSAGE_LENGTH]}" if message else ""
        kind = ServiceRejected if status in (404, 405, 410) else RequestRejected
        return kind(f"{self._name}: status {status}{said}", hint=self._rejection_hint)

    def _outage(self, what: str, *, retry_after: float | None = None) -> ProviderUnavailable:
        return ProviderUnavailable(f"{self._name}: {what}", retry_after=retry_after, hint=self._outage_hint)


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _read_refusal(answer: bytes) -> tuple[str, frozenset[str], float | None]:
    """Message, codes and told delay of an error, in the shapes that the services use."""
    try:
        body = json.loads(answer)
    except (ValueError, RecursionError):
        return "", frozenset(), None
    body = body if isinstance(body, dict) else {}
    error = body.get("error", body)
    if not isinstance(error, dict):
        return str(error), frozenset(), None
    message = error.get("message") or error.get("detail") or ""
    details = error.get("details")
    notes = [note for note in details if isinstance(note, dict)] if isinstance(details, list) else []
    named = [error.get("code"), error.get("type"), *(note.get("reason") for note in notes)]
    told = [_seconds(str(note.get("retryDelay", "")).removesuffix("s")) for note in notes]
    return (
        " ".join(message.split()) if isinstance(message, str) else "",
        frozenset(code for code in named if isinstance(code, str)),
        next((seconds for seconds in told if seconds is not None), None),
    )


def _retry_after(headers: Message) -> float | None:
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("Retry-After", "")
    seconds = _seconds(value)
    if seconds is not None:
        return seconds
    moment = _http_date(value)
    if moment is None:
        return None
    # By the service's own clock when it shows it: ours may be wrong.
    shown = _http_date(headers.get("Date", ""))
    now = shown or datetime.fromtimestamp(SystemClock().now() / 1000, UTC)
    return max(0.0, (moment - now).total_seconds())


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _http_date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
