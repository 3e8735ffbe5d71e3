"""What the command line shows: text for people, JSON for programs. The only place here that makes text.

Memory text is untrusted: control characters never reach the terminal. Colours and tables with borders only when
somebody is looking.
"""

import json
import sys
import time
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from memoranda.domain.clock import SystemClock, iso
from memoranda.domain.memory import Memory
from memoranda.domain.pack import Pack
from memoranda.domain.ports import Progress
from memoranda.domain.receipt import EraseReceipt
from memoranda.domain.results import (
    Changed,
    Erasure,
    Hit,
    IndexStatus,
    Listing,
    Recall,
    Remembered,
    Replay,
    Revision,
    Stats,
    Verification,
    WhyNot,
)
from memoranda.domain.text import so_many

if TYPE_CHECKING:
    from memoranda.cli.explanation import Difference
    from memoranda.domain.governance import Grading
    from memoranda.service.maintaining import Maintenance

_SOON_SECONDS = 1.0
SHORT_ID = 8
_SAFE_CONTROLS = "\t"


def _is_plain(char: str) -> bool:
    return char in _SAFE_CONTROLS or unicodedata.category(char) not in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")


def _code(char: str) -> str:
    """As JSON writes it: one code, or two for what is beyond the first plane."""
    pair = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{pair[place : place + 4]}" for place in range(0, len(pair), 4))


def clean(text: str) -> str:
    """One line without anything that a terminal would obey or that hides or reorders text."""
    shown = []
    for char in text:
        if char in "\r\n":
            shown.append(" ⏎ ")
        elif not _is_plain(char):
            shown.append(f"\\u{{{ord(char):x}}}")
        else:
            shown.append(char)
    return "".join(shown)


def _hit_row(hit: Hit) -> tuple[str, str, str, str]:
    """What is not trusted says so where no memory can write."""
    memory = hit.memory
    kind = memory.kind if memory.trust == "trusted" else f"{memory.kind} ({memory.trust})"
    return f"{hit.score:.2f}", hit.id[:SHORT_ID], kind, clean(memory.text)


def said_yes(question: str) -> bool:
    """Whether somebody who looks says so; who cannot be asked has not."""
    if not sys.stdin.isatty():
        return False
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


def proof_of(receipt: EraseReceipt) -> str:
    """What was looked through for traces, and how many there were."""
    read = f"{sum(each.bytes for each in receipt.scanned):,} bytes of {so_many(len(receipt.scanned), 'file')} read"
    return f"proof: {read}, {so_many(receipt.needles, 'trace')} looked for, {receipt.found} found"


def _reach(erasure: Erasure) -> str:
    """How much an erasure takes, in words."""
    receipt = erasure.receipt
    parts = [so_many(len(erasure.ids), "memory")]
    if receipt.conversations:
        parts.append(so_many(receipt.conversations, "conversation"))
    if receipt.messages:
        parts.append(f"what {so_many(receipt.messages, 'message says', 'messages say')}")
    return ", ".join(parts)


class Output:
    """Where results go."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.looked_at = sys.stdout.isatty()

    def _json(self, value: Any) -> None:
        print(self.as_text(value))

    def as_text(self, value: Any) -> str:
        """JSON; on a terminal in several lines, and without signs that a terminal would obey."""
        written = json.dumps(value, ensure_ascii=False, indent=2 if self.looked_at else None)
        if not self.looked_at:
            return written
        return "".join(char if char == "\n" or _is_plain(char) else _code(char) for char in written)

    def line(self, text: str = "") -> None:
        print(text)

    def _table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        if self.looked_at:
            from rich.console import Console
            from rich.table import Table
            from rich.text import Text

            table = Table(*columns, box=None, header_style="bold", pad_edge=False)
            for row in rows:
                table.add_row(*(Text(cell) for cell in row))
            Console().print(table)
            return
        for row in rows:
            print("\t".join(row))

    # -- results --

    def remembered(self, results: Sequence[Remembered]) -> None:
        if self.as_json:
            shown = [{"memory": each.memory.as_json(), "receipt": each.receipt.as_json()} for each in results]
            self._json(shown[0] if len(shown) == 1 else shown)
            return
        for each in results:
            what = "reinforced" if each.receipt.outcome == "reinforced" else "remembered"
            also = f", supersedes {each.receipt.superseded[:SHORT_ID]}" if each.receipt.superseded else ""
            print(f"{what} {each.id[:SHORT_ID]} in {each.memory.scope}{also}")
            if each.memory.valid_until is not None and each.memory.valid_until <= SystemClock().now():
                self.note(f"{each.id[:SHORT_ID]} no longer holds: it was valid until {iso(each.memory.valid_until)}")
            if each.memory.trust == "quarantined":
                self.note(f"{each.id[:SHORT_ID]} is quarantined and does not speak: see `memoranda review`")

    def recall(self, found: Recall, *, why: bool) -> None:
        if self.as_json:
            hits = [{"score": hit.score, "memory": hit.memory.as_json()} for hit in found]
            if why:
                hits = [{**shown, "why": hit.receipt.as_json()} for shown, hit in zip(hits, found, strict=True)]
            passages = [each.as_json() for each in found.documents]
            self._json({"hits": hits, "documents": passages, "receipt": found.receipt.as_json()})
            return
        if found:
            self._table(("score", "id", "kind", "text"), [_hit_row(hit) for hit in found])
        else:
            from memoranda.cli.explanation import advice

            print(f"(nothing: {found.receipt.abstained})")
            self.note(advice(found.receipt))
        for each in found.documents:
            print(f"document\t{each.score:.2f}\t{clean(each.citation)}\t{clean(each.snippet)}")
        if why:
            from memoranda.cli import explanation

            self._lines(["", *explanation.why(found)])
        else:
            for trouble in found.receipt.degraded:
                self.note(trouble)

    def pack(self, pack: Pack, found: Recall) -> None:
        """The block and nothing else; what there is to say about it goes beside."""
        if self.as_json:
            self._json({**pack.as_json(), "recall": found.receipt.as_json()})
        elif pack.text:
            print(pack.text)
        else:
            from memoranda.cli.explanation import why_empty

            self.note(why_empty(pack.receipt, found.receipt))
        for trouble in () if self.as_json else found.receipt.degraded:
            self.note(trouble)

    def why_not(self, told: WhyNot) -> None:
        if self.as_json:
            self._json(told.as_json())
        else:
            from memoranda.cli import explanation

            self._lines(explanation.why_not(told))

    def replay(self, replay: Replay, differences: "Sequence[Difference]") -> None:
        if self.as_json:
            self._json({**replay.as_json(), "differences": [each.as_json() for each in differences]})
            return
        self._lines([f"{'same' if replay.same else 'different'}: {replay.reason}", *map(str, differences)])

    def _lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            print(clean(line))

    def memory(self, memory: Memory) -> None:
        if self.as_json:
            self._json(memory.as_json())
            return
        for name, value in memory.as_json().items():
            if value not in (None, "", [], {}):
                print(f"{name:14}{clean(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))}")

    def graded_memory(self, memory: Memory, gradings: "Sequence[Grading]") -> None:
        """A memory, and every grade that it was given, oldest first."""
        if self.as_json:
            self._json({**memory.as_json(), "gradings": [each.as_json() for each in gradings]})
            return
        self.memory(memory)
        for each in gradings:
            how = f"{each.method} {each.version}".strip() + (f" by {each.actor}" if each.actor else "")
            stands = "graded" if each.stands else "was graded"
            why = f": {each.rationale}" if each.rationale else ""
            print(f"{stands:14}{each.score:.2f} {each.label}, {iso(each.graded_at)[:16]}Z, {clean(how + why)}")
        if not gradings:
            print("graded        never")

    def listing(self, listing: Listing) -> None:
        if self.as_json:
            self._json({"total": listing.total, "memories": [memory.as_json() for memory in listing]})
            return
        self._table(
            ("id", "created", "kind", "state", "scope", "text"),
            [
                (
                    memory.id[:SHORT_ID],
                    iso(memory.created_at)[:16],
                    memory.kind,
                    memory.state if memory.trust == "trusted" else f"{memory.state}, {memory.trust}",
                    memory.scope,
                    clean(memory.text),
                )
                for memory in listing
            ],
        )
        print(f"{len(listing)} of {listing.total}", file=sys.stderr)

    def history(self, revisions: Sequence[Revision]) -> None:
        if self.as_json:
            self._json([{"event": each.event.as_json(), "memory": each.memory.as_json()} for each in revisions])
            return
        self._table(
            ("sequence", "at", "action", "state", "confidence", "actor", "reason"),
            [
                (
                    str(each.event.sequence),
                    iso(each.event.at),
                    each.event.action,
                    each.memory.state,
                    f"{each.memory.confidence:.2f}",
                    clean(each.event.actor),
                    clean(each.event.reason),
                )
                for each in revisions
            ],
        )

    def changed(self, changed: Changed) -> None:
        if self.as_json:
            self._json({"memory": changed.memory.as_json(), "receipt": changed.receipt.as_json()})
            return
        until = changed.receipt.erased_after
        also = f"; can be restored until {iso(until)[:10]}" if until else ""
        states = f"{changed.receipt.before} -> {changed.memory.state}"
        print(f"{changed.receipt.action} {changed.id[:SHORT_ID]} ({states}){also}")

    def erasure_preview(self, erasure: Erasure) -> None:
        if self.as_json:
            self._json(
                {
                    "would_erase": list(erasure.ids),
                    "memories": [memory.as_json() for memory in erasure.preview],
                    "messages": erasure.receipt.messages,
                    "conversations": erasure.receipt.conversations,
                    "confirm": erasure.confirm,
                }
            )
            return
        if not (erasure.ids or erasure.receipt.messages or erasure.receipt.conversations):
            print("nothing here fits: nothing would be erased")
            return
        print(f"This would erase {_reach(erasure)} for good:")
        self._table(
            ("id", "scope", "text"),
            [(memory.id[:SHORT_ID], memory.scope, clean(memory.text)) for memory in erasure.preview],
        )
        if len(erasure.preview) < len(erasure.ids):
            print(f"... and {len(erasure.ids) - len(erasure.preview)} more")

    def erasure(self, erasure: Erasure) -> None:
        receipt = erasure.receipt
        if self.as_json:
            self._json({"erased": list(erasure.ids), "purged": erasure.purged, "receipt": receipt.as_json()})
            return
        nothing = not erasure.ids and not receipt.messages and not receipt.conversations and not receipt.pending
        print("nothing here fits: nothing was erased" if nothing else f"erased {_reach(erasure)}; {receipt.state}")
        if receipt.scanned:
            print(proof_of(receipt))
        for note in receipt.notes:
            print(f"note: {clean(note)}")
        if receipt.pending:
            print(f"not proven yet: {clean(receipt.pending)}", file=sys.stderr)

    def stats(self, stats: Stats) -> None:
        if self.as_json:
            self._json(stats.as_json())
            return
        print(f"{so_many(stats.total, 'memory')} seen from {stats.scope} (sequence {stats.sequence})")
        for name in ("by_scope", "by_state", "by_kind", "by_trust", "by_grade"):
            counts = ", ".join(f"{key} {count}" for key, count in getattr(stats, name).items())
            if counts:
                print(f"  {name[3:]:7} {counts}")
        if stats.capture:
            print(f"  capture {', '.join(f'{name} {count}' for name, count in stats.capture.items())}")

    def index_status(self, status: IndexStatus) -> None:
        if self.as_json:
            self._json(status.as_json())
            return
        for name, value in status.as_json().items():
            print(
                f"{name:16} {value:,}"
                if isinstance(value, int) and not isinstance(value, bool)
                else f"{name:16} {value}"
            )

    def maintenance(self, done: "Maintenance") -> None:
        if self.as_json:
            self._json(done.as_json())
            return
        would = "would erase" if done.dry_run else "erased"
        print(f"{would} {len(done.erased.ids)} that were forgotten long ago ({done.erased.state})")
        print(f"{done.expired} {'no longer hold' if done.dry_run else 'ended: they no longer hold'}")
        evicted = sum(each.evicted for each in done.retention)
        if evicted:
            print(f"{evicted} {'would be' if done.dry_run else 'were'} forgotten: their scope is over its cap")
        for each in done.compacted:
            told = f"{so_many(each.folded, 'message')} summed up" if each.done else each.note
            print(f"conversation {clean(each.conversation)}: {told}")
        made = "" if done.dry_run else f"made {so_many(done.vectors_made, 'vector')}; "
        print(f"{made}{so_many(done.vectors_missing, 'vector is', 'vectors are')} missing")
        if done.documents is not None:
            synced = done.documents
            touched = synced.added + synced.changed + synced.renamed
            print(f"documents: {touched} taken in, {synced.removed} gone, {synced.unchanged} as they were")
        entries, segments = done.status.lexical_rows, done.status.segments
        print(
            f"index: {so_many(entries, 'entry')} in {so_many(segments, 'segment')}; self-test {done.status.self_test}"
        )
        if done.pending:
            self.note(done.pending)

    def verification(self, checks: Verification) -> None:
        if self.as_json:
            shown = {"ok": checks.ok, "checks": [check.as_json() for check in checks.checks]}
            self._json({**shown, "repaired": list(checks.repaired)} if checks.repaired else shown)
            return
        for each in checks.repaired:
            print(f"mended: {clean(each)}")
        for check in checks.checks:
            print(f"{'ok  ' if check.ok else 'FAIL'}  {check.name:12} {clean(check.detail)}")
            if check.fix:
                print(f"      fix: {check.fix}")

    def note(self, text: str) -> None:
        """A word to whoever is looking, beside the result."""
        print(f"memoranda: {clean(text)}", file=sys.stderr)

    def error(self, name: str, message: str, hint: str) -> None:
        if self.as_json:
            self._json({"error": {"name": name, "message": message, "hint": hint}})
        else:
            print(f"memoranda: {clean(message)}\n  {clean(hint)}", file=sys.stderr)


@contextmanager
def progress(title: str) -> Iterator[Progress]:
    """A bar on a terminal, a line now and then elsewhere; on stderr, so that results stay clean."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Bar(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task(title)
            yield lambda done, total: bar.update(task, completed=done, total=total)
        return
    tenths = -1
    began = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal tenths
        reached = done * 10 // total if total else tenths
        # What is done at once needs no word.
        if reached != tenths and time.monotonic() - began > _SOON_SECONDS:
            tenths = reached
            print(f"{title}: {done:,} of {total:,}", file=sys.stderr)

    yield tell
