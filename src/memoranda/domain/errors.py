"""Every error that Memoranda raises, in one tree.

MemorandaError                 each has .hint: the next move, in one sentence
├── InvalidInput               (also a ValueError) empty text, bad scope, bad date ...
├── NotFound                   (also a LookupError) no such memory in this scope
├── Ambiguous                  an id prefix that fits several memories
├── Refused                    a rule said no: erased text, trust, scope
├── Conflict                   the memory is not in the state that the call needs
├── ConfigError                a setting is wrong
├── LedgerError                the store itself
│   ├── LedgerLocked · LedgerNewer · LedgerDamaged · LedgerFull
│   └── KeyMissing · KeyWrong · KeyUnwanted      of an encrypted store
└── ProviderError              an embedder or an index loaded by name
    ├── ProviderMissing        the extra to install
    ├── IndexRefused           it gave back what a filter keeps out
    ├── ProviderUnavailable    timeout, 5xx, no network
    └── ProviderRejected       too long, wrong dimensions
        └── ServiceRejected    whatever the text: bad key, quota, no such model

No class knows a status code or an exit code: each front end has one table.
"""


class MemorandaError(Exception):
    """The root. `hint` says what to do next."""

    default_hint = "Run `memoranda doctor` to see what is wrong."

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint or self.default_hint
        self.add_note(f"Hint: {self.hint}")  # a traceback shows it, too


class InvalidInput(MemorandaError, ValueError):
    """What was passed in cannot be used; nothing was stored."""

    default_hint = "Correct the value and call again; nothing was stored."


class NotFound(MemorandaError, LookupError):
    """No such memory is visible from this scope. Says the same whether it exists elsewhere or not."""

    default_hint = "Check the id and the scope; `list` shows what this scope can see."


class Ambiguous(MemorandaError):
    """A short id that fits more than one memory."""

    default_hint = "Give more characters of the id."

    def __init__(self, message: str, *, candidates: tuple[str, ...] = (), hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.candidates = candidates


class Refused(MemorandaError):
    """A rule of the store said no."""

    default_hint = "The rule is named in the message; it cannot be switched off from here."


class Conflict(MemorandaError):
    """The memory is in another state than the call expects."""

    default_hint = "Look at `history` to see what happened to it."


class ConfigError(MemorandaError):
    """A setting, a file of settings or an environment variable is wrong."""

    default_hint = "Correct the setting; docs/reference/settings.md lists them all."


class LedgerError(MemorandaError):
    """The store could not do what was asked."""


class LedgerLocked(LedgerError):
    """Another process held the store for longer than we wait."""

    default_hint = "Try again; if it stays locked, look for a process that keeps the store open in a transaction."


class LedgerUnavailable(LedgerError):
    """The database server does not answer, or not in time. What was acknowledged before is safe."""

    default_hint = "Check that the server runs and can be reached; the same call may be made again."


class StoreMoved(LedgerError):
    """The store was moved to another place, or is being moved to this one. It is read, and not written to."""

    default_hint = "Use the store that it was moved to; `memoranda migrate --reopen` takes a move back."


class LedgerNewer(LedgerError):
    """The file was written by a newer Memoranda."""

    default_hint = "Upgrade: pip install --upgrade memoranda. The file was not touched."


class LedgerDamaged(LedgerError):
    """The file is not a ledger, or it is broken. It is never repaired by starting empty."""

    default_hint = "Restore a backup of the file; keep the damaged one. Nothing was overwritten."


class LedgerFull(LedgerError):
    """No space left. The write did not happen; everything acknowledged before is safe."""

    default_hint = "Free some space and call again; what was stored before is intact."


class KeyMissing(LedgerError):
    """The file is encrypted, and no key was given."""

    default_hint = "Name the file with the key in the setting key_file, or put the key into MEMORANDA_KEY."


class KeyWrong(LedgerError):
    """The file is encrypted with another key. Nothing was changed."""

    default_hint = (
        "Give the key that it was encrypted with. If that is the one, its first page is damaged: restore a backup."
    )


class KeyUnwanted(LedgerError):
    """A key was given, but the file is not encrypted."""

    default_hint = "Run `memoranda encrypt` to encrypt the store, or take key_file or MEMORANDA_KEY away."


class ProviderError(MemorandaError):
    """Something loaded by name (an embedder, an index) failed."""

    retryable = False


class ProviderMissing(ProviderError):
    """The provider's package is not installed."""


class IndexRefused(ProviderError):
    """An index gave back what a filter keeps out, or lost what it should find. Nothing of anybody was asked of it."""

    default_hint = "Set index_home to 'embedded' to go on; the index that was refused has to be repaired."


class ProviderUnavailable(ProviderError):
    """Timeout, connection refused, 429 or 5xx."""

    default_hint = "Check the address and the network; recall goes on by words meanwhile."
    retryable = True

    def __init__(self, message: str, *, retry_after: float | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class ProviderRejected(ProviderError):
    """The provider answered no: too long, bad key, wrong dimensions."""

    default_hint = "Check the key, the model's name and its dimensions."


class ServiceRejected(ProviderRejected):
    """The service says no whatever the text is: the key, the quota, the model's name, the address.

    After any other ProviderRejected the texts of a batch are asked for again in smaller parts.
    """
