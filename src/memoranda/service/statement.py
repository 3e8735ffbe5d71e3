"""The statement of an erasure: made and signed when something is erased, and looked at again whenever somebody asks.

It says what was searched, where, and that nothing was found; never what was erased. Whoever has the store's files could
sign one: it proves what this store says, and that nobody has changed it since.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memoranda.domain.clock import iso
from memoranda.domain.errors import MemorandaError, Refused
from memoranda.domain.ids import new_id
from memoranda.domain.results import Check, Verification
from memoranda.domain.scope import Scope
from memoranda.domain.statement import FORMAT, Asked, canonical, checked_statement
from memoranda.domain.text import so_many
from memoranda.domain.version import __version__
from memoranda.ledger.erasing import Erasing
from memoranda.ledger.fence import lifted
from memoranda.service.engine import Engine
from memoranda.service.erasure import Erased, store_files
from memoranda.service.signing import is_signed, public_half, public_key, signing_key

if TYPE_CHECKING:
    from memoranda.service.proof import Scanned, Scanner

_AGAIN = "Erase it again, or find out who brought it back."


def state(engine: Engine, asked: Asked, done: Erased, *, scope: Scope, name_subject: bool) -> dict[str, Any]:
    """The signed statement of what was done."""
    from memoranda.service.fingerprints import Fingerprints

    receipt = done.receipt
    identity = new_id()
    key = None if name_subject else engine.ledger.key_for("erasure subject")
    statement: dict[str, Any] = {
        "format": FORMAT,
        "id": identity,
        "store": store_name(engine),
        "software": {"name": "memoranda", "version": __version__},
        "made_at": iso(engine.clock.now()),
        "begun_at": iso(done.begun_at),
        "ended_at": iso(done.ended_at),
        "actor": engine.actor,
        "scope": scope.path,
        "asked": asked.as_json(key=key),
        "state": receipt.state,
        "ids": list(receipt.ids),
        "counts": {
            "memories": len(receipt.ids),
            **done.counted._asdict(),
            "messages": receipt.messages,
            "conversations": receipt.conversations,
            "summaries": receipt.summaries,
            "mirrors": receipt.mirrored,
            "backups": receipt.backups,
            "sources": receipt.sources,
            "tokens": receipt.tokens,
        },
        "searched": {
            "files": len(done.scanned),
            "bytes": sum(each.bytes for each in done.scanned),
            "needles": len(done.needles.all),
            "found": receipt.found,
            "left_out": done.needles.shared,
        },
        "places": [_place(engine, each, len(done.needles.all)) for each in done.scanned],
        "pending": receipt.pending,
        "untouchable": list(receipt.untouchable),
        "notes": [*receipt.notes, *_unsearched(done)],
        "fingerprints": Fingerprints(engine.ledger).sealed(
            done.needles.lasting, telling=done.needles.telling, identity=identity
        ),
    }
    return _signed(engine, statement)


def _unsearched(done: Erased) -> tuple[str, ...]:
    """Said plainly, so that nobody takes a search for nothing for a proof."""
    if done.needles.all:
        return ()
    return (
        "nothing was searched for in the files: what was erased is shorter than six bytes, or stands word for word in "
        "what is kept. That it is gone from the ledger is all that this says",
    )


def store_name(engine: Engine) -> str:
    """By which a statement knows its store; says nothing else of it."""
    return engine.ledger.key_for("erasure store")[:16].hex()


def _place(engine: Engine, scanned: "Scanned", needles: int) -> dict[str, Any]:
    return {
        "place": _kind(engine, scanned.path),
        "file": scanned.file,
        "bytes": scanned.bytes,
        "sha256": scanned.sha256,
        "needles": needles,
        "found": scanned.found,
    }


def _kind(engine: Engine, name: str) -> str:
    """What a file is to the store."""
    path, store = Path(name), engine.ledger.path
    if path.parent == engine.settings.backups_folder().absolute() or path.parent == engine.settings.backups_folder():
        return "backup"
    if name in engine.ledger.files():
        return "ledger"
    for corpus in engine.corpora():
        if path.is_relative_to(corpus.path):
            return f"index of {corpus.called}"
    return "beside the store" if path.is_relative_to(store.parent) and path.name.startswith(store.name) else "mirror"


# -- signing --


def _signed(engine: Engine, statement: dict[str, Any]) -> dict[str, Any]:
    key = signing_key(engine)
    statement["public_key"] = public_half(key)
    return {**statement, "signature": key.sign(canonical(statement)).hex()}


def check_signature(statement: Mapping[str, Any], *, known: str = "", whose: str = "the key that was given") -> Check:
    """Whether nobody has changed the statement since it was signed; with a key that is known, also by whom. `whose`
    says how that one is called."""
    signer = str(statement["public_key"])
    wanted = known.strip().casefold()
    if wanted and wanted != signer:
        fix = "Ask whoever gave you the key, or the statement, which one is right."
        return Check("signature", False, f"it is signed with another key than {whose}", fix)
    if not is_signed(canonical(statement), signature=str(statement["signature"]), signer=signer):
        return Check(
            "signature", False, "it does not fit: the statement was changed", "Use the file as it was written."
        )
    return Check("signature", True, f"fits {whose if wanted else f'the key in it, {signer[:16]}'}")


# -- looking again --


def check_alone(statement: Mapping[str, Any], *, why: str, known: str = "") -> Verification:
    """What can be said without the store: the signature, and what it says. Without a key that is known from elsewhere
    that is nothing: anybody can sign."""
    told = checked_statement(statement)
    fix = "" if known else "Name the store with --store; or give --public-key, to check the signature alone."
    untold = Check("places", bool(known), f"not looked at: {why}", fix)
    return Verification((check_signature(told, known=known), _claim(told), untold))


@lifted()
def verify(engine: Engine, scope: Scope, statement: Mapping[str, Any], *, known: str = "") -> Verification:
    """Check the signature, with a public key that is known from elsewhere or the store's own, then look again in all
    places for what was erased."""
    told = checked_statement(statement)
    if told["store"] != store_name(engine):
        return check_alone(told, why="this is the statement of another store", known=known)
    if not scope.contains(told["scope"]):
        raise Refused(
            "this statement is of a scope that is not here or below",
            hint="Look again from the scope that it was made in, or from one above.",
        )
    signature = (
        check_signature(told, known=known)
        if known
        else check_signature(told, known=public_key(engine), whose="the key of this store")
    )
    if not signature.ok:
        return Verification((signature,))
    looked = tuple(_looked_again(engine, told))
    return Verification((signature, _claim(told, done_since=all(check.ok for check in looked)), *looked))


def _claim(told: Mapping[str, Any], *, done_since: bool = False) -> Check:
    """What it says. What was pending then may be done by now; that shows when everything is looked at again."""
    pending = str(told.get("pending") or "")
    detail = f"{so_many(len(told['ids']), 'memory')}, {told['state']} at {told['made_at']}"
    if told["state"] == "purged":
        return Check("statement", True, detail)
    if done_since:
        return Check("statement", True, f"{detail}; what was pending then is done: nothing is found any more")
    return Check("statement", False, f"{detail}: {pending}", "See to what was left, then look again.")


def _looked_again(engine: Engine, told: Mapping[str, Any]) -> Iterator[Check]:
    from memoranda.service.fingerprints import Fingerprints
    from memoranda.service.proof import blocks
    from memoranda.service.traces import VECTOR_BYTES, kept

    rows = Erasing(engine.ledger.database)
    back = len(rows.with_ids(told["ids"]))
    yield Check("ids", not back, f"{back} of {len(told['ids'])} are in the ledger", _AGAIN if back else "")
    prints = Fingerprints(engine.ledger)
    patterns, telling = prints.opened(told["fingerprints"]["sealed"], identity=told["id"])
    if not patterns:
        yield Check(
            "fingerprints", True, "there are none: nothing can be looked for in files, only whether ids are back"
        )
    scanner = prints.scanner(patterns)
    said = {mark for block in blocks(kept(engine)) for mark in scanner.found_in(block)}
    again = len(said & telling)
    detail = f"{again} of {len(telling)} pieces stand in what is kept now"
    yield Check("what is kept", not again, f"{detail}, written since" if again else detail, _AGAIN if again else "")
    # What is kept again is no remainder.
    said.update(prints.mark(body) for body in rows.vectors(VECTOR_BYTES))
    yield from _files_looked_at(engine, prints.scanner(each for each in patterns if each.mark not in said))


def _files_looked_at(engine: Engine, scanner: "Scanner") -> Iterator[Check]:
    from memoranda.service.erased_beside import files_beside
    from memoranda.service.mirror_notes import known_mirrors

    engine.ledger.database.checkpoint()
    own = store_files(engine)
    mirrored = [str(file) for root in known_mirrors(engine) for file in sorted(root.rglob("*.md")) if file.is_file()]
    yield from _scanned(scanner, (*own, *files_beside(engine, own), *mirrored), engine)
    yield from _backups_looked_at(engine, scanner)


def _scanned(scanner: "Scanner", files: Sequence[str], engine: Engine) -> Iterator[Check]:
    from memoranda.service.proof import scan

    for each in scan(files, scanner, key=engine.key):
        yield _read(each, "Run `memoranda maintain`; remove what is not the store's own.")


def _read(each: "Scanned", fix: str) -> Check:
    if each.unread:
        return Check(each.file, False, "encrypted with a key that is not known here", "Remove it.")
    return Check(each.file, not each.found, f"{each.bytes:,} bytes read, {each.found} found", fix if each.found else "")


def _backups_looked_at(engine: Engine, scanner: "Scanner") -> Iterator[Check]:
    from memoranda.service.erased_beside import backup_in_clear, backups_of

    found, unclear = backups_of(engine)
    for why in unclear:
        yield Check("backup", False, why, "Remove it, or move it out of the folder of backups.")
    for backup in found:
        name = Path(backup.path).name
        try:
            for each in backup_in_clear(engine, backup, scanner):
                again = "Run `memoranda maintain`: backups are then written anew. Remove what bears a backup's name."
                yield _read(each, again)._replace(name=Path(each.path).name)
        except (MemorandaError, OSError) as error:
            yield Check(name, False, f"not looked at: {error}", getattr(error, "hint", "Check the file."))
