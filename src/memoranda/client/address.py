"""Where a server is reached: over the network, or by a socket in the file system."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from memoranda.domain.errors import ConfigError
from memoranda.remote import checked_base_url

_NEXT = re.compile(r"\s*,\s*(?=https?://|unix:)")
_SOCKET = re.compile(r"unix:(?://)?(/[^\0\r\n?#]*)")
_MOST_SERVERS = 64
_LONGEST_SOCKET = 100  # what every system takes as the name of a socket
_HINT = "Write it as http://127.0.0.1:8765, https://memory.example.org or unix:/run/memoranda.sock."


class Address(NamedTuple):
    """One server. `path` stands before every path that is asked for, or is the socket."""

    scheme: Literal["http", "https", "unix"]
    host: str
    port: int | None
    path: str

    @classmethod
    def of(cls, url: str) -> "Address":
        """Read an address. One that is no good is not shown: it may have a password in it."""
        if not isinstance(url, str):
            raise ConfigError("the address of a server is a text", hint=_HINT)
        socket = _SOCKET.fullmatch(url)
        if socket:
            if len(socket[1].encode("utf-8", "replace")) > _LONGEST_SOCKET:
                raise ConfigError(f"the name of a socket has at most {_LONGEST_SOCKET} bytes", hint=_HINT)
            return cls("unix", "localhost", None, socket[1])
        try:
            parts = urlsplit(checked_base_url(url))
        except ConfigError as error:
            raise ConfigError(str(error).replace("base URL", "address of the server"), hint=_HINT) from error
        return cls("https" if parts.scheme == "https" else "http", parts.hostname or "", parts.port, parts.path)

    @property
    def prefix(self) -> str:
        """What stands before every path."""
        return "" if self.scheme == "unix" else self.path

    def __str__(self) -> str:
        if self.scheme == "unix":
            return f"unix:{self.path}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}{'' if self.port is None else f':{self.port}'}{self.path}"


def addresses_of(url: str | Sequence[str]) -> tuple[Address, ...]:
    """The servers of one memory: one address, several with commas between them, or a list."""
    given = _NEXT.split(url) if isinstance(url, str) else url
    if not isinstance(given, list | tuple) or not 1 <= len(given) <= _MOST_SERVERS:
        raise ConfigError(f"the address of a server is expected, or of at most {_MOST_SERVERS}", hint=_HINT)
    return tuple(dict.fromkeys(Address.of(each) for each in given))
