"""`Address`: where a store is: a file on this machine, or a schema of a PostgreSQL database."""

import re
from typing import TYPE_CHECKING, NamedTuple

from memoranda.domain.errors import InvalidInput

if TYPE_CHECKING:
    from urllib.parse import SplitResult

SCHEMA = "memoranda"
"""The schema of a store when its address names none."""
_SCHEMES = ("postgresql", "postgres")
# What tells nothing that is secret.
_SHOWN = frozenset({"host", "port", "dbname", "user", "sslmode", "target_session_attrs", "application_name"})
_LONGEST = 48
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz_")
_DIGITS = frozenset("0123456789")
_HINT = "Write it as postgresql://USER@HOST:5432/DATABASE, with ?schema=NAME for another store in the same database."
_ESCAPE = f"{_HINT} In a name or a password, /, ?, #, @, : and % are %2F, %3F, %23, %40, %3A and %25; or use ~/.pgpass."


class Address(NamedTuple):
    """The address of a PostgreSQL store. Its text may hold a password: show `shown`, never `url`."""

    url: str
    """As the driver is given it."""
    schema: str = SCHEMA
    """The schema that holds the store."""

    @property
    def shown(self) -> str:
        """For people: without a password."""
        from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

        parts = urlsplit(self.url)
        user, at, hosts = parts.netloc.rpartition("@")
        safe = [(name, value) for name, value in parse_qsl(parts.query) if name in _SHOWN]
        if self.schema != SCHEMA:
            safe.append(("schema", self.schema))
        query = urlencode(safe, quote_via=quote, safe="/,")
        return urlunsplit((parts.scheme, f"{user.partition(':')[0]}{at}{hosts}", parts.path, query, ""))

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"

    @property
    def digest(self) -> str:
        """Names the store on this machine: the same for whoever connects, and with whatever password."""
        import hashlib
        from urllib.parse import parse_qsl, urlsplit

        parts = urlsplit(self.url)
        options = dict(parse_qsl(parts.query))
        # Of several hosts, whichever is primary, the store is the same.
        hosts = parts.netloc.rpartition("@")[2] or ",".join(
            f"{options.get('host', '')}:{port}" for port in options.get("port", "").split(",")
        )
        told = "\n".join((hosts, parts.path or options.get("dbname", ""), self.schema))
        return hashlib.blake2b(told.encode(), digest_size=10).hexdigest()


def _is_name(schema: str) -> bool:
    """Whether it needs no quotes anywhere, and is nobody else's."""
    fits = 0 < len(schema) <= _LONGEST and schema[0] in _LETTERS and set(schema) <= _LETTERS | _DIGITS
    return fits and not schema.startswith("pg_") and schema not in ("public", "information_schema")


def hidden(value: object) -> object:
    """A setting as it may be shown: addresses without passwords, also in lists and behind the name of a root."""
    if isinstance(value, tuple):
        return tuple(hidden(each) for each in value)
    if not isinstance(value, str) or not looks_like_one(value):
        return value
    name, _, address = value.rpartition("=postgres") if "=postgres" in value else ("", "", value)
    try:
        return f"{name}={address_of('postgres' + address).shown}" if name else address_of(value).shown
    except InvalidInput:
        return "…"


def _is_plain(parts: "SplitResult") -> bool:
    """Whether each part is what it seems to be: a password that is not escaped makes others of them."""
    from urllib.parse import unquote

    hosts = parts.netloc.rpartition("@")[2]
    ports = [each.rpartition("]")[2].partition(":")[2] for each in hosts.split(",")]
    written = parts.netloc + parts.path + parts.query
    marked = re.search(r"%(?![0-9A-Fa-f]{2})", written) or "\N{REPLACEMENT CHARACTER}" in unquote(written)
    return (
        not marked
        and not parts.fragment
        and "@" not in parts.path + parts.query
        and parts.netloc.count("@") <= 1
        and all(port == "" or port.isdecimal() for port in ports)
    )


def is_address(store: str) -> bool:
    """Whether this names a PostgreSQL store, and not a file."""
    return store.partition("://")[0] in _SCHEMES and "://" in store


def looks_like_one(store: str) -> bool:
    """Whether somebody meant an address, and wrote none that we know. Such a text may hold a password."""
    told = store.strip().casefold()
    return "://" in told or told.startswith(("postgres:", "postgresql:", "host=")) or "password=" in told


def refuse_mistyped(store: str) -> None:
    """A mistyped address is no path: nothing is made by its name, and it is not repeated."""
    if looks_like_one(store) and not is_address(store):
        raise InvalidInput("this is neither the path of a store nor an address that is known", hint=_HINT)


def address_of(store: str) -> Address:
    """A PostgreSQL store from its address. Raises InvalidInput for anything else, and never repeats a password."""
    from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

    if not is_address(store):
        raise InvalidInput("this is not the address of a PostgreSQL store", hint=_HINT)
    try:
        parts = urlsplit(store)
        given = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise InvalidInput("the address of the store cannot be read", hint=_ESCAPE) from None
    if not _is_plain(parts):
        raise InvalidInput("the address of the store cannot be read", hint=_ESCAPE)
    schemas = [value for name, value in given if name == "schema"]
    schema = schemas[-1] if schemas else SCHEMA
    if not _is_name(schema):
        raise InvalidInput(
            f"{schema[:60]!r} is not the name of a schema for a store",
            hint="Use lower case letters, digits and underscores, not more than 48, and not `public`.",
        )
    rest = urlencode([(name, value) for name, value in given if name != "schema"], quote_via=quote, safe="/,")
    return Address(urlunsplit(("postgresql", parts.netloc, parts.path, rest, "")), schema)
