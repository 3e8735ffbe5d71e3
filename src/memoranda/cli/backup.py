"""Commands for the whole store as files: backup, and encrypt, decrypt, rekey. Secrets are never arguments."""

import argparse
import getpass
import os
import stat
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from memoranda import config
from memoranda.cli.actions import Action, add_actions, nothing_more, show
from memoranda.cli.output import Output, progress
from memoranda.cli.store import refuse_missing, settings_of
from memoranda.domain.backup import BackupFile, Resealed
from memoranda.domain.clock import iso
from memoranda.domain.errors import ConfigError, InvalidInput, KeyUnwanted
from memoranda.domain.results import Check
from memoranda.domain.text import so_many

_NEW_KEY = "MEMORANDA_NEW_KEY"
_LONGEST = 4_096
_TOLD = 10


# -- options --


def _add_make(command: argparse.ArgumentParser) -> None:
    command.add_argument("--out", metavar="FILE", help="where to (default: a new file in the folder of backups)")
    command.add_argument("--encrypt", action="store_true", help="with a passphrase, for places that you do not own")
    _add_passphrase(command)


def _add_file(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", metavar="FILE", help="a backup, as `backup list` shows it")
    _add_passphrase(command)


def _add_restore(command: argparse.ArgumentParser) -> None:
    _add_file(command)
    command.add_argument(
        "--to", metavar="ADDRESS", help="a new file, or postgresql://USER@HOST/DATABASE?schema=NAME (default: --store)"
    )
    command.add_argument(
        "--tombstones-from", metavar="STORE", help="a newer store of the same origin: what was erased there stays away"
    )


def _add_passphrase(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--passphrase-file",
        metavar="FILE",
        help="the passphrase is the first line of this file (else MEMORANDA_PASSPHRASE, else you are asked)",
    )


def _add_encrypt(command: argparse.ArgumentParser) -> None:
    command.add_argument("--make-key", metavar="FILE", help="make a new key file and use it; then set key_file to it")
    command.set_defaults(run=_encrypt)


def _add_rekey(command: argparse.ArgumentParser) -> None:
    given = command.add_mutually_exclusive_group()
    given.add_argument("--make-key", metavar="FILE", help="make a new key file and use it")
    given.add_argument("--new-key-file", metavar="FILE", help="use the key in this file (else MEMORANDA_NEW_KEY)")
    command.set_defaults(run=_rekey)


# -- backups --


def _make(arguments: argparse.Namespace, output: Output) -> None:
    from memoranda.service.backing_up import back_up, opened_store

    settings = settings_of(arguments)
    refuse_missing(settings)
    if arguments.passphrase_file and not arguments.encrypt:
        raise InvalidInput("a passphrase is for an encrypted backup", hint="Add --encrypt.")
    passphrase = _passphrase(arguments, new=True) if arguments.encrypt else None
    with opened_store(settings) as engine, progress("backing up") as tell:
        made = back_up(engine, arguments.out, passphrase=passphrase, progress=tell)
    receipt = made.receipt
    lines = [
        made.path,
        f"{receipt.bytes:,} bytes in {receipt.seconds:.1f} s, encrypted: {receipt.manifest.encrypted}",
        f"sha256 {receipt.sha256}",
        *map(_checked, receipt.checks),
        *(f"removed {each}" for each in receipt.removed),
    ]
    show(output, made.as_json(), lines)
    if receipt.manifest.encrypted == "no" and not output.as_json:
        output.note("the backup holds everything in clear; --encrypt protects it")


def _list(arguments: argparse.Namespace, output: Output) -> None:
    from memoranda.service.backing_up import backups_in

    folder = settings_of(arguments).backups_folder()
    found = backups_in(folder)
    lines = [_line(each) for each in found] or [f"(no backups in {folder}; `memoranda backup` makes one)"]
    show(output, {"folder": str(folder), "backups": [each.as_json() for each in found]}, lines)


def _verify(arguments: argparse.Namespace, output: Output) -> int:
    from memoranda.service.backing_up import verify_backup

    settings = settings_of(arguments)
    checked = verify_backup(arguments.file, settings=settings, passphrase=_passphrase_of(arguments, arguments.file))
    show(output, checked.as_json(), [_line(checked.file), *map(_checked, checked.checks)])
    return 0 if checked.ok else 6


def _diff(arguments: argparse.Namespace, output: Output) -> int:
    from memoranda.service.backing_up import compare_backup, opened_store

    settings = settings_of(arguments)
    refuse_missing(settings)
    passphrase = _passphrase_of(arguments, arguments.file)
    with opened_store(settings) as engine:
        found = compare_backup(engine, arguments.file, passphrase=passphrase)
    lines = ["the store says the same as the backup" if found.same else "the store and the backup differ"]
    for name, words in (("new", "only in the store"), ("gone", "only in the backup"), ("changed", "changed")):
        ids = getattr(found, name)
        if ids:
            more = ", ..." if len(ids) > _TOLD else ""
            lines.append(f"{len(ids):,} {words}: {', '.join(ids[:_TOLD])}{more}")
    show(output, found.as_json(), lines)
    return 0 if found.same else 7


def _restore(arguments: argparse.Namespace, output: Output) -> None:
    from memoranda.service.restoring import restore

    settings = settings_of(arguments)
    passphrase = _passphrase_of(arguments, arguments.file)
    with progress("restoring") as tell:
        done = restore(
            arguments.file,
            arguments.to,
            passphrase=passphrase,
            tombstones_from=arguments.tombstones_from,
            settings=settings,
            progress=tell,
        )
    receipt = done.receipt
    lines = [f"restored {done.path} as it was at {iso(receipt.manifest.made_at)}", *map(_checked, receipt.checks)]
    if receipt.erased:
        lines.append(f"{so_many(receipt.erased, 'memory')} stayed away, erased by the newer store")
    show(output, done.as_json(), [*lines, *(f"note: {note}" for note in receipt.notes)])


# -- the key --


def _file(settings: config.Settings) -> Path:
    """The store that is written anew with another key."""
    if settings.store_address() is not None:
        raise KeyUnwanted(
            "a store in PostgreSQL is encrypted by its server, or not at all", hint="Encrypt the disk of the server."
        )
    refuse_missing(settings)
    return settings.store_path()


def _encrypt(arguments: argparse.Namespace, output: Output) -> None:
    from memoranda.service.keys import key_made, key_of
    from memoranda.service.resealing import refuse_encrypted, reseal, working_copy

    settings = settings_of(arguments)
    path = _file(settings)
    refuse_encrypted(path)
    with ExitStack() as stack:
        made = stack.enter_context(key_made(arguments.make_key, path)) if arguments.make_key else None
        key = made or key_of(settings, working_copy(path))
        if key is None:
            raise ConfigError(
                "there is no key to encrypt with",
                hint="Add --make-key FILE, or set key_file, or put a passphrase into MEMORANDA_KEY.",
            )
        tell = stack.enter_context(progress("encrypting"))
        done = reseal(path, before=None, after=key, settings=settings, progress=tell)
    _tell(output, done, "encrypted")
    if arguments.make_key and not output.as_json:
        output.note(f'now set key_file = "{Path(arguments.make_key).expanduser().absolute()}" in config.toml')


def _decrypt(arguments: argparse.Namespace, output: Output) -> None:
    from memoranda.service.resealing import key_before, reseal

    settings = settings_of(arguments)
    path = _file(settings)
    with progress("decrypting") as tell:
        done = reseal(path, before=key_before(path, settings), after=None, settings=settings, progress=tell)
    _tell(output, done, "decrypted")
    if not output.as_json:
        output.note("now take key_file, or MEMORANDA_KEY, out of your settings")


def _rekey(arguments: argparse.Namespace, output: Output) -> None:
    from memoranda.service.keys import key_from_file, key_from_text, key_made
    from memoranda.service.resealing import key_before, reseal, working_copy

    settings = settings_of(arguments)
    path = _file(settings)
    before = key_before(path, settings)
    given = config.secret(_NEW_KEY)
    with ExitStack() as stack:
        if arguments.make_key:
            after = stack.enter_context(key_made(arguments.make_key, path))
        elif arguments.new_key_file:
            after = key_from_file(Path(arguments.new_key_file).expanduser())
        elif given:
            after = key_from_text(given, working_copy(path), name=_NEW_KEY)
        else:
            hint = f"Add --make-key FILE or --new-key-file FILE, or set {_NEW_KEY}."
            raise ConfigError("there is no new key", hint=hint)
        tell = stack.enter_context(progress("encrypting anew"))
        done = reseal(path, before=before, after=after, settings=settings, progress=tell)
    _tell(output, done, "encrypted with the new key:")
    if not output.as_json:
        output.note("now let key_file, or MEMORANDA_KEY, name the new key")


def _tell(output: Output, done: Resealed, what: str) -> None:
    receipt = done.receipt
    counted = (
        f"{so_many(receipt.figures.counts['memories'], 'memory')}, {receipt.bytes:,} bytes in {receipt.seconds:.1f} s"
    )
    show(output, done.as_json(), [f"{what} {done.path}: {counted}", *(f"note: {note}" for note in receipt.notes)])


# -- words --


def _passphrase_of(arguments: argparse.Namespace, file: str) -> str | None:
    """For a backup that has one."""
    from memoranda.service.backing_up import existing, looked_at

    found = looked_at(existing(file))
    if arguments.passphrase_file or found.encrypted == "passphrase":
        return _passphrase(arguments, new=False)
    return config.secret("MEMORANDA_PASSPHRASE") if found.encrypted == "yes" else None


def _passphrase(arguments: argparse.Namespace, *, new: bool) -> str:
    if arguments.passphrase_file:
        try:
            with open(arguments.passphrase_file, encoding="utf-8") as file:
                _refuse_shared(file.fileno(), arguments.passphrase_file)
                return file.readline(_LONGEST).rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            hint = "Check --passphrase-file."
            raise ConfigError(f"{arguments.passphrase_file} cannot be read", hint=hint) from error
    given = config.secret("MEMORANDA_PASSPHRASE")
    if given:
        return given
    if not sys.stdin.isatty():
        raise ConfigError("a passphrase is needed", hint="Set MEMORANDA_PASSPHRASE, or add --passphrase-file FILE.")
    try:
        first = getpass.getpass("Passphrase: ")
        again = getpass.getpass("The same again: ") if new else first
    except EOFError as error:
        raise InvalidInput("no passphrase was given", hint="Try again; nothing was written.") from error
    if again != first:
        raise InvalidInput("the two passphrases differ", hint="Try again; nothing was written.")
    return first


def _refuse_shared(descriptor: int, name: str) -> None:
    mode = os.fstat(descriptor).st_mode
    if os.name == "posix" and stat.S_ISREG(mode) and mode & 0o077:
        raise ConfigError(
            f"the passphrase file {name} can be read by others (mode {mode & 0o777:o})", hint=f"Run: chmod 600 {name}"
        )


def _line(each: BackupFile) -> str:
    if each.manifest is None:
        return (
            f"{each.path}\t{each.bytes:,} bytes\t{each.trouble or 'encrypted; nothing is known of it without its key'}"
        )
    counts = each.manifest.figures.counts
    held = f"{so_many(counts.get('memories', 0), 'memory')}, {so_many(counts.get('messages', 0), 'message')}"
    return "\t".join(
        (each.path, iso(each.manifest.made_at), f"{each.bytes:,} bytes", held, f"encrypted: {each.encrypted}")
    )


def _checked(check: Check) -> str:
    return f"{'ok  ' if check.ok else 'FAIL'}  {check.name:10} {check.detail}"


_ACTIONS = {
    "make": Action("write one and check it", _add_make, _make),
    "list": Action("what lies in the folder of backups", nothing_more, _list),
    "verify": Action("read all of one, and say whether it is well", _add_file, _verify),
    "diff": Action("what the store says otherwise than a backup, by ids", _add_file, _diff),
    "restore": Action(
        "make the store that --to or --store names from one; there must be none yet", _add_restore, _restore
    ),
}

COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "backup": (
        "everything as one file, while the store is in use: make, list, verify, diff, restore",
        lambda command: add_actions(command, _ACTIONS),
    ),
    "encrypt": ("encrypt the store, while nobody uses it", _add_encrypt),
    "decrypt": ("decrypt the store, while nobody uses it", lambda command: command.set_defaults(run=_decrypt)),
    "rekey": ("give an encrypted store another key, while nobody uses it", _add_rekey),
}
