"""`Settings`: defaults, then the file, then the environment, then arguments. The only reader of the environment.

The file is the person's own (`config.toml` in the platform's configuration folder, or the one that
MEMORANDA_CONFIG names); a file that lies about in a project folder is never read.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from memoranda.domain.address import Address, address_of, hidden, is_address, refuse_mistyped
from memoranda.domain.candidate import CAPTURE_MODES
from memoranda.domain.clock import DAY_MS
from memoranda.domain.errors import ConfigError, InvalidInput
from memoranda.domain.memory import KINDS

_PREFIX = "MEMORANDA_"
_LARGEST = 10_000_000
_SHORTEST_DAYS = 0.001
_MOST_PHRASES = 50
_LONGEST_PHRASE = 100
_LONGEST_PATH = 4_096
_MOST_PLACES = 1_000
_OF_PLACES = ("server_roots", "replicas", "shards", "index_options")
_CHOICES = {
    "capture_mode": CAPTURE_MODES,
    "capture_roles": ("user", "user assistant"),
    "secrets": ("refuse", "allow"),
    "injection": ("quarantine", "refuse", "allow"),
    "receipt_verbosity": ("low", "high"),
    "documents_sync": ("open search", "open", "search", "none"),
    "server_log": ("auto", "text", "json"),
    "misses": ("count", "text", "none"),
}
_RANGES: dict[str, tuple[float, float]] = {
    "pool_size": (1, 256),
    "index_partitions": (0, 256),
    "receipt_items": (0, 10),
    "conversation_budget": (500, 10_000_000),
    "compact_at": (0, 1),
    "compact_keep": (10, 20),
    "chunk_tokens": (50, 8_000),
    "chunk_overlap": (0, 2_000),
    "documents_limit": (1, 100),
    "documents_in_recall": (0, 10),
    "documents_least": (0, 1),
    "documents_diversity": (0, 1),
    "server_port": (0, 65_535),
    "server_max_body": (1_024, 10_000_000),
    "server_timeout": (1, 3_600),
    "server_threads": (1, 128),
    "server_drain": (0, 600),
    "server_maintain_hours": (0, 8_760),
}


class Settings(NamedTuple):
    """Everything that can be set. A value here is final: nobody below looks at the environment again."""

    store: str = ""
    """Path of the ledger file, or the address of a PostgreSQL store: `postgresql://USER@HOST/DATABASE?schema=NAME`.
    Empty is `memoranda.db` in the platform's folder for user data."""
    local_folder: str = ""
    """Folder for what a PostgreSQL store keeps on this machine: indexes of documents, caches. Empty is one in the
    platform's folder for user data."""
    pool_size: int = 8
    """Connections to PostgreSQL that may read at once, in each process."""
    replicas: tuple[str, ...] = ()
    """Addresses of read replicas of a PostgreSQL store; in the environment, separated by `|`."""
    shards: tuple[str, ...] = ()
    """Stores that share the scopes among them, instead of `store`; in the environment, separated by `|`."""
    index_home: str = "auto"
    """Where is searched: `auto` (where the store is), `embedded`, `postgres`, or `lancedb:FOLDER` and
    `lancedb:s3://BUCKET/PREFIX`."""
    index_partitions: int = 0
    """Hash partitions by scope root of an index in PostgreSQL, when it is made; 0 for none."""
    index_options: tuple[str, ...] = ()
    """Options of an object store, as `name=value`, in the environment with `|`; keys come from the environment, as for
    every client of it."""
    scope: str = ""
    """Scope for the command line when --scope is not given. Empty: it must be given."""
    actor: str = ""
    """Written into events: who did it."""
    embedder: str = "auto"
    """`auto` (the bundled local one), `none`, or `provider:model`."""
    embedder_url: str = ""
    """Base URL for an OpenAI-compatible, Gemini or Voyage endpoint; empty is the provider's own."""
    embedder_dimensions: int = 0
    """Ask a remote model for this many dimensions; 0 is the model's own number."""
    embedder_timeout: float = 60.0
    """Seconds for one request that embeds memories."""
    query_timeout: float = 5.0
    """Seconds that a recall waits for a query's vector before it goes on by words alone."""
    cache: str = ""
    """Folder for prepared model files; empty is the platform's cache folder, `none` keeps nothing."""
    max_text: int = 8_000
    """Longest text of one memory, in characters."""
    recall_priors: str = "neighbours conversation speaker time"
    """What a chat adds to recall, where a memory has it: any of `neighbours conversation speaker time`, or `none`."""
    half_life_days: float = 30.0
    """Days in which an episode loses half of what recency gives it; 0 switches that off."""
    receipt_items: int = 3
    """Hits that a recall's receipt lists, at most 10."""
    receipt_verbosity: str = "low"
    """`high` adds the first ids of each lane to a recall's receipt."""
    capture_mode: str = "strict"
    """What is kept of a conversation unasked: `off`, `explicit`, `strict`, `broad`, or `review` (all of it waits)."""
    capture_roles: str = "user"
    """Whose words are looked at: `user`, or `user assistant`; the assistant's are never trusted."""
    capture_most: int = 3
    """Memories that one message of a turn may add; what was asked for counts among them, and is always kept."""
    capture_shortest: int = 10
    """Shortest sentence that is kept, in characters."""
    capture_longest: int = 500
    """Longest sentence that is kept, in characters."""
    custom_triggers: tuple[str, ...] = ()
    """More phrases that make a sentence worth keeping, at most 50; in the environment, separated by `|`."""
    secrets: str = "refuse"
    """What happens to text with a password or a key in it: `refuse`, or `allow`."""
    injection: str = "quarantine"
    """What happens to text that is written to steer a model: `quarantine`, `refuse`, or `allow`."""
    extractor: str = ""
    """A model that also looks for what is worth keeping, as `provider:model`; empty or `none`: no model."""
    extractor_url: str = ""
    """Base URL of the extractor's endpoint; empty is the provider's own."""
    extractor_timeout: float = 20.0
    """Seconds for one request to the extractor."""
    extractor_daily_calls: int = 200
    """Requests to the extractor a day, of the whole store; 0 switches it off."""
    extractor_daily_tokens: int = 200_000
    """Tokens that the extractor may use a day, of the whole store; 0 switches it off."""
    conversation_budget: int = 32_000
    """Tokens that a conversation may take of a model's window."""
    compact_at: float = 0.7
    """The share of that budget at which older messages are summed up; 0 leaves it to the number of messages."""
    compact_messages: int = 200
    """So many active messages are summed up, too, however short they are; 0 for any number."""
    compact_keep: int = 10
    """The newest messages that are never summed up: 10 to 20."""
    compact_idle_days: float = 7.0
    """Maintenance sums up a conversation that nobody has used for so many days; 0 leaves it as it is."""
    summarizer: str = "extractive"
    """Who sums up: `extractive` (offline), or a model as `provider:model`."""
    summarizer_url: str = ""
    """Base URL of the summarizer's endpoint; empty is the provider's own."""
    summarizer_timeout: float = 30.0
    """Seconds for one request to the summarizer."""
    summarizer_daily_calls: int = 200
    """Requests to the summarizer a day, of the whole store; 0 leaves it to the offline one."""
    summarizer_daily_tokens: int = 1_000_000
    """Tokens that the summarizer may use a day, of the whole store; 0 leaves it to the offline one."""
    chunk_tokens: int = 400
    """Longest chunk of a document, in tokens."""
    chunk_overlap: int = 80
    """How much of a chunk the next one repeats, in tokens."""
    document_bytes: int = 1_048_576
    """Largest document that is read, in bytes."""
    documents_most: int = 20_000
    """Most documents of one source."""
    documents_sync: str = "open search"
    """When documents are looked at again: any of `open search`, or `none` (only when asked, or watched)."""
    documents_limit: int = 6
    """Passages of documents that a search gives."""
    documents_least: float = 0.35
    """The least score of a passage."""
    documents_decay_days: float = 30.0
    """Days in which a dated document loses half of its score; 0 switches that off."""
    documents_diversity: float = 0.7
    """1 ranks passages by their score alone; less also by how much they differ."""
    documents_in_recall: int = 2
    """Passages of documents that a recall adds when it found fewer than two memories; 0 for none."""
    watch_debounce_ms: int = 1_500
    """How long a watched folder must be quiet before it is synced."""
    hook_seconds: float = 2.0
    """How long a hook may take before the host goes on without it."""
    hook_url: str = ""
    """A server that hooks ask instead of opening the store, such as `http://127.0.0.1:8765`; empty for none."""
    hook_token_file: str = ""
    """A file with the token for it; empty is the variable MEMORANDA_TOKEN."""
    breaker_seconds: float = 60.0
    """How long an embedder that failed is left alone, or a memory whose hooks ran out of time twice; 0 for never."""
    time_zone: str = ""
    """Where the people are, such as `Europe/Warsaw`; empty is the machine's own zone. For times of day only."""
    grace_days: int = 30
    """Days in which a forgotten memory can be restored; then it is erased."""
    sweep: bool = True
    """Erase what was forgotten longer ago than that when the store is opened; `maintain` does it, too."""
    ttl_days: tuple[str, ...] = ()
    """Days that memories of a kind hold unless they say otherwise, as `episode=365`; in the environment with `|`."""
    scope_cap: int = 0
    """Live memories that one scope may have; upkeep lets go of the least important, then oldest; 0 for any number."""
    stale_days: float = 60.0
    """After so many days without a change a memory counts as stale, in reports."""
    misses: str = "count"
    """What is noted of queries that found nothing: `count` (a digest, how often), `text` (also the query), `none`."""
    tags_kept: int = 50
    """Automatic tags that one scope keeps."""
    backups: str = ""
    """Folder for backups; empty is `NAME-backups` beside the store. Erasing reaches what lies in it."""
    backups_kept: int = 7
    """Backups that are kept in that folder when a new one is made there; 0 for any number."""
    key_file: str = ""
    """A file with the key of an encrypted store; else the key is MEMORANDA_KEY in the environment, if there is one."""
    busy_seconds: float = 30.0
    """How long to wait for another process that writes."""
    read_only: bool = False
    """Look, and change nothing: everything that would write is refused. The store has to be there."""
    follow: bool = True
    """Embed new memories in the background as they come."""
    limit_threads: bool = True
    """Hold the numeric library to one thread while it embeds."""
    server_host: str = "127.0.0.1"
    """The address that `serve` listens on. Other machines reach it only when this is not a loopback address."""
    server_port: int = 8_765
    """The port that `serve` listens on; 0 takes any that is free."""
    server_hosts: tuple[str, ...] = ()
    """More names by which callers may reach the server, such as a proxy's; in the environment, separated by `|`."""
    server_roots: tuple[str, ...] = ()
    """Folders that documents and mirrors may be in when they are named over HTTP: `DIR` for admins of the whole store,
    `SCOPE=DIR` for admins of that scope and those below; empty for none."""
    server_max_body: int = 1_048_576
    """Largest body of a request, in bytes. Transcripts may have 64 MiB."""
    server_rate: int = 6_000
    """Requests a minute of one token, a sixth of them at once; 0 for any number."""
    server_timeout: float = 60.0
    """Seconds for one request; work that tells of its progress may take longer."""
    server_threads: int = 8
    """Requests that are worked on at the same time; 256 more may wait."""
    server_drain: float = 20.0
    """Seconds that requests have to finish when the server is told to stop."""
    server_maintain_hours: float = 24.0
    """Hours from one upkeep of a served store to the next; 0 leaves it to `maintain`."""
    server_watch: bool = True
    """Watch the folders of documents while the store is served."""
    server_log: str = "auto"
    """How the server's log looks: `json`, `text`, or `auto` (text on a terminal)."""
    server_log_scopes: bool = False
    """Name the scope of each request in the log. Scopes often are names of people."""

    def __repr__(self) -> str:
        shown = (f"{name}={hidden(value)!r}" for name, value in zip(self._fields, self, strict=True))
        return f"Settings({', '.join(shown)})"

    def changed(self, values: Mapping[str, Any]) -> "Settings":
        """The same with other values; those that are None stay as they are."""
        return _with(self, {name: value for name, value in values.items() if value is not None}, "the arguments")

    @property
    def priors(self) -> tuple[str, ...]:
        """What a chat may add to recall."""
        return () if self.recall_priors == "none" else tuple(self.recall_priors.replace(",", " ").split())

    @property
    def grace_ms(self) -> int:
        return self.grace_days * DAY_MS

    @property
    def ttl_ms(self) -> dict[str, int]:
        """How long memories of a kind hold, for those kinds that have an end."""
        return {kind: int(float(days) * DAY_MS) for kind, _, days in (each.partition("=") for each in self.ttl_days)}

    def backups_folder(self) -> Path:
        """Where backups are made, and looked for."""
        path = self.store_path()
        return Path(self.backups).expanduser() if self.backups else path.with_name(f"{path.name}-backups")

    def store_address(self) -> Address | None:
        """Where a store in PostgreSQL is; None when the ledger is a file."""
        refuse_mistyped(self.store)
        return address_of(self.store) if is_address(self.store) else None

    def store_path(self) -> Path:
        """Where the ledger is; of one in PostgreSQL, a name in the folder for what it keeps here."""
        address = self.store_address()
        if address is not None:
            folder = Path(self.local_folder).expanduser() if self.local_folder else _data_folder()
            return folder / f"postgres-{address.digest}" / "store"
        path = Path(self.store).expanduser() if self.store else _data_folder() / "memoranda.db"
        if not path.name:  # `.` and `/`: nothing can stand beside them under their name
            raise InvalidInput(f"{path} is a folder", hint="Give the path of a file, such as memoranda.db.")
        return path

    def cache_folder(self) -> Path | None:
        """Where prepared model files go; None when nothing may be kept."""
        if self.cache == "none":
            return None
        return Path(self.cache).expanduser() if self.cache else _cache_folder()


def load(arguments: Mapping[str, Any] | None = None, *, environ: Mapping[str, str] | None = None) -> Settings:
    """Settings from all four sources. Arguments that are None count as not given."""
    environment = os.environ if environ is None else environ
    settings = _with(Settings(), _from_file(environment), "the settings file")
    settings = _with(settings, _from_environment(environment), "the environment")
    return settings.changed(arguments or {})


def secret(name: str) -> str | None:
    """A key from the environment. Keys are never settings: they are not shown, stored or passed on."""
    return os.environ.get(name) or None


def use_one_thread() -> None:
    """For a process of our own, before numpy is imported: its library then starts no threads at all."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _from_file(environment: Mapping[str, str]) -> dict[str, Any]:
    named = environment.get(_PREFIX + "CONFIG")
    path = Path(named).expanduser() if named else _config_folder() / "config.toml"
    if not path.exists():
        if named:
            raise ConfigError(f"MEMORANDA_CONFIG names {path}, which does not exist")
        return {}
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", hint="Correct the file, or remove it.") from error


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in Settings._fields:
        value = environment.get(_PREFIX + name.upper())
        if value is not None and value != "":
            found[name] = value
    return found


def _with(settings: Settings, values: Mapping[str, Any], where: str) -> Settings:
    checked: dict[str, Any] = {}
    for name, value in values.items():
        if name not in Settings._fields:
            raise ConfigError(f"{where} sets {name!r}, which is not a setting")
        checked[name] = _coerced(name, value, type(getattr(settings, name)), where)
    return settings._replace(**checked)


def _coerced(name: str, value: Any, kind: type, where: str) -> Any:
    if isinstance(value, str) and kind is bool:
        if value.casefold() in ("1", "true", "yes", "on"):
            return True
        if value.casefold() in ("0", "false", "no", "off"):
            return False
        raise ConfigError(f"{where}: {name} is yes or no, not {value!r}")
    if kind is tuple:
        phrases = _phrases(name, value, where)
        _check_choice(name, phrases, where)
        return phrases
    if isinstance(value, str) and kind in (int, float):
        try:
            value = kind(value)
        except ValueError as error:
            raise ConfigError(f"{where}: {name} is a number, not {value!r}") from error
    if isinstance(value, int) and not isinstance(value, bool) and kind is float:
        value = float(value)
    if isinstance(value, Path) and kind is str:
        value = str(value)
    if type(value) is not kind:
        raise ConfigError(f"{where}: {name} is of type {kind.__name__}, not {type(value).__name__}")
    if isinstance(value, int | float) and not 0 <= value <= _LARGEST:
        raise ConfigError(f"{where}: {name} is not a number from 0 to {_LARGEST:,}")
    _check_choice(name, value, where)
    return value


def _phrases(name: str, value: Any, where: str) -> tuple[str, ...]:
    """A list of short texts; from the environment, one text with `|` between them."""
    listed = value.split("|") if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not all(isinstance(each, str) for each in listed):
        raise ConfigError(f"{where}: {name} is a list of texts", hint=f'Write {name} = ["one", "another"].')
    phrases = tuple(dict.fromkeys(each.strip() for each in listed if each.strip()))
    longest = _LONGEST_PATH if name in _OF_PLACES else _LONGEST_PHRASE
    most = _MOST_PLACES if name in _OF_PLACES else _MOST_PHRASES
    if len(phrases) > most or any(len(each) > longest for each in phrases):
        raise ConfigError(f"{where}: {name} has at most {most:,} texts of at most {longest:,} characters")
    return phrases


def _check_choice(name: str, value: Any, where: str) -> None:
    if name in _CHOICES and value not in _CHOICES[name]:
        raise ConfigError(f"{where}: {name} is one of {', '.join(_CHOICES[name])}, not {value!r}")
    if name == "time_zone" and value:
        from zoneinfo import ZoneInfo

        try:
            ZoneInfo(value)
        except (ValueError, OSError) as error:
            hint = "Use one like Europe/Warsaw."
            raise ConfigError(f"{where}: there is no time zone {value!r}", hint=hint) from error
    if name == "ttl_days":
        _check_lifetimes(value, where)
    if name in _RANGES and not _RANGES[name][0] <= value <= _RANGES[name][1]:
        least, most = _RANGES[name]
        raise ConfigError(f"{where}: {name} is a number from {least:,} to {most:,}, not {value:,}")
    if name == "recall_priors" and value != "none":
        from memoranda.domain.request import PRIORS

        unknown = sorted(set(value.replace(",", " ").split()) - set(PRIORS))
        if unknown:
            known = ", ".join(sorted(PRIORS))
            raise ConfigError(f"{where}: {name} has {unknown[0]!r}, which is none of: {known}", hint="Or use `none`.")


def _check_lifetimes(value: tuple[str, ...], where: str) -> None:
    named: set[str] = set()
    for each in value:
        kind, _, days = each.partition("=")
        try:
            known = kind in KINDS and kind not in named and _SHORTEST_DAYS <= float(days) <= _LARGEST
        except ValueError:
            known = False
        named.add(kind)
        if not known:
            hint = f'Write ttl_days = ["episode=365"]; the kinds are {", ".join(KINDS)}.'
            raise ConfigError(f"{where}: ttl_days has {each[:40]!r}, which is not KIND=DAYS, once each", hint=hint)


def _data_folder() -> Path:
    return _platform_folder("XDG_DATA_HOME", ".local/share", "Library/Application Support", "LOCALAPPDATA")


def _cache_folder() -> Path:
    return _platform_folder("XDG_CACHE_HOME", ".cache", "Library/Caches", "LOCALAPPDATA") / "models"


def _config_folder() -> Path:
    return _platform_folder("XDG_CONFIG_HOME", ".config", "Library/Application Support", "APPDATA")


def _platform_folder(variable: str, linux: str, mac: str, windows: str) -> Path:
    home = Path.home()
    if os.environ.get(variable):
        return Path(os.environ[variable]) / "memoranda"
    if sys.platform == "win32":
        return Path(os.environ.get(windows) or home) / "memoranda"
    return home / (mac if sys.platform == "darwin" else linux) / "memoranda"
