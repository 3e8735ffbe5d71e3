"""Rows of the catalogue: its tables, and what happens to them when a file comes, changes or goes."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from memoranda.domain.document import Chunk, FileSeen, Matter
from memoranda.domain.memory import Trust
from memoranda.index.catalogue_feed import OF_CHUNKS
from memoranda.ledger import vectors
from memoranda.ledger.connection import Connection

FORMAT = "2"
SCHEMA = """
create table if not exists meta (key text primary key, value text not null) without rowid;
create table if not exists file (
    number integer primary key autoincrement, scope text not null, source text not null, path text not null,
    size integer not null, modified_ns integer not null, inode integer not null, settled integer not null,
    stale integer not null default 0, digest text not null, title text not null, tags text not null,
    dated integer, trust text, unique (scope, source, path)
);
create table if not exists chunk (
    number integer primary key autoincrement, file integer not null references file (number) on delete cascade,
    scope text not null, start_line integer not null, end_line integer not null, text text not null,
    heading text not null, content_hash text not null
);
create index if not exists chunk_file on chunk (file);
create index if not exists chunk_scope on chunk (scope);
create table if not exists trouble (
    scope text not null, source text not null, path text not null, reason text not null,
    primary key (scope, source, path)
) without rowid;
create table if not exists change (seq integer primary key autoincrement, number integer not null);
create table if not exists space (
    id integer primary key autoincrement, fingerprint text not null unique, dimensions integer not null
);
create table if not exists vector (
    space integer not null references space (id), number integer not null references chunk (number) on delete cascade,
    content_hash text not null, body blob not null, primary key (space, number)
) without rowid;
create index if not exists vector_number on vector (number);
create index if not exists vector_content on vector (content_hash, space);
"""

SELECTED = """
    c.number, c.file, c.scope, f.source, c.start_line, c.end_line, c.text, c.heading, c.content_hash,
    f.path, f.size, f.modified_ns, f.inode, f.trust, f.dated, f.stale
"""
SELECT_FILE = """
    select number, path, size, modified_ns, inode, digest, title, tags, dated, trust from file
    where scope = :scope and source = :source and path = :path
"""
SELECT_CHUNKS = """
    select start_line, end_line, text, heading, content_hash from chunk where file = :file order by start_line, end_line
"""


class KnownFile(NamedTuple):
    """A file as it was when it was last read."""

    number: int
    seen: FileSeen
    digest: str
    settled: bool
    """Whether it had rested for long enough that a later change must show."""
    stale: bool
    """Whether it could not be read since."""

    def is_as(self, seen: FileSeen) -> bool:
        """Whether the disk tells of it what it told when it was read, so that it need not be read again."""
        return self.settled and self.looks_like(seen)

    def looks_like(self, seen: FileSeen) -> bool:
        """The same, but a change within the moment in which it was written would not show."""
        return not self.stale and self.seen == seen


class FileRead(NamedTuple):
    """A file that was read: what goes into the catalogue."""

    seen: FileSeen
    settled: bool
    digest: str
    matter: Matter
    chunks: tuple[Chunk, ...] = ()
    number: int | None = None
    """Of the file that it was before, under this path or another."""


class Passage(NamedTuple):
    """A chunk with what is known of its file."""

    number: int
    file: int
    scope: str
    source: str
    chunk: Chunk
    seen: FileSeen
    trust: Trust | None
    dated: int | None
    stale: bool


class Kept(NamedTuple):
    """A vector that was paid for."""

    content_hash: str
    dimensions: int
    body: bytes


class Holding(NamedTuple):
    """How much there is."""

    files: int
    chunks: int
    vectors: int


def prepare(connection: Connection) -> None:
    """Make the tables."""
    connection.execute(SCHEMA).fetchall()
    connection.execute(
        "insert into meta (key, value) values ('format', :format) on conflict (key) do nothing", {"format": FORMAT}
    )


def set_meta(connection: Connection, key: str, value: str) -> None:
    """Write down what the catalogue says of itself."""
    connection.execute(
        "insert into meta (key, value) values (:key, :value) on conflict (key) do update set value = excluded.value",
        {"key": key, "value": value},
    )


def tell_troubles(connection: Connection, scope: str, source: str, troubles: Mapping[str, str]) -> None:
    """Write down what is wrong with the files of a source, by path."""
    place = {"scope": scope, "source": source}
    connection.execute("delete from trouble where scope = :scope and source = :source", place)
    for path, reason in troubles.items():
        connection.execute(
            "insert into trouble (scope, source, path, reason) values (:scope, :source, :path, :reason)",
            {**place, "path": path, "reason": reason},
        )


def _columns(read: FileRead) -> dict[str, Any]:
    return {
        **read.seen._asdict(),
        "settled": read.settled,
        "digest": read.digest,
        "title": read.matter.title,
        "tags": json.dumps(list(read.matter.tags), ensure_ascii=False),
        "dated": read.matter.dated,
        "trust": read.matter.trust,
    }


_UPDATE = """
    update file set path = :path, size = :size, modified_ns = :modified_ns, inode = :inode, settled = :settled,
                    stale = 0, digest = :digest, title = :title, tags = :tags, dated = :dated, trust = :trust
    where number = :number
"""


def touch(connection: Connection, read: FileRead) -> None:
    """Only the path, the matter and what the disk tells are other than before."""
    before = connection.execute(
        "select path, title, tags, dated from file where number = :number", {"number": read.number}
    ).fetchone()
    columns = _columns(read)
    connection.execute(_UPDATE, {**columns, "number": read.number})
    if before is not None and before != tuple(columns[name] for name in ("path", "title", "tags", "dated")):
        # What a file is called, and what it says of itself, is searched, too.
        connection.execute(
            "insert into change (number) select number from chunk where file = :number", {"number": read.number}
        )


def put_file(connection: Connection, scope: str, source: str, read: FileRead) -> int:
    """The number of a file that came or changed."""
    if read.number is not None:
        touch(connection, read)
        return read.number
    row = connection.execute(
        """
        insert into file (scope, source, path, size, modified_ns, inode, settled, digest, title, tags, dated, trust)
        values (:scope, :source, :path, :size, :modified_ns, :inode, :settled, :digest, :title, :tags, :dated, :trust)
        returning number
        """,
        {**_columns(read), "scope": scope, "source": source},
    ).fetchone()
    assert row is not None
    return int(row[0])


def mirror(
    connection: Connection, scope: str, file: int, chunks: Sequence[Chunk]
) -> tuple[list[tuple[int, str]], list[int]]:
    """Give a file these chunks: (number, content hash) of those that are new, and numbers of those to let go of."""
    rows = connection.execute(
        "select number, content_hash, start_line, end_line, heading from chunk where file = :file order by start_line",
        {"file": file},
    ).fetchall()
    there: dict[str, list[tuple[int, int, int, str]]] = {}
    for number, digest, start, end, heading in reversed(rows):
        there.setdefault(digest, []).append((number, start, end, heading))
    new: list[tuple[int, str]] = []
    for chunk in chunks:
        same = there.get(chunk.digest)
        if same:
            _move(connection, same.pop(), chunk)
            continue
        row = connection.execute(
            """
            insert into chunk (file, scope, start_line, end_line, text, heading, content_hash)
            values (:file, :scope, :start_line, :end_line, :text, :heading, :digest) returning number
            """,
            {**chunk._asdict(), "file": file, "scope": scope},
        ).fetchone()
        assert row is not None
        new.append((int(row[0]), chunk.digest))
        _log(connection, int(row[0]))
    return new, [number for same in there.values() for number, *_ in same]


def drop_chunks(connection: Connection, numbers: Sequence[int]) -> int:
    """Let go of chunks; how many."""
    for number in numbers:
        connection.execute("delete from chunk where number = :number", {"number": number})
        _log(connection, number)
    return len(numbers)


def _move(connection: Connection, was: tuple[int, int, int, str], chunk: Chunk) -> None:
    number, start, end, heading = was
    if (start, end, heading) == (chunk.start_line, chunk.end_line, chunk.heading):
        return
    connection.execute(
        "update chunk set start_line = :start, end_line = :end, heading = :heading where number = :number",
        {"start": chunk.start_line, "end": chunk.end_line, "heading": chunk.heading, "number": number},
    )
    if heading != chunk.heading:
        _log(connection, number)


def give_vector(connection: Connection, number: int, digest: str, seed: Kept | None, fingerprint: str) -> None:
    """The vector of the same text elsewhere, if there is one: it was paid for."""
    connection.execute(
        """
        insert into vector (space, number, content_hash, body)
        select space, :number, content_hash, body from vector where content_hash = :digest group by space
        """,
        {"number": number, "digest": digest},
    )
    if connection.changes() or seed is None:
        return
    space, dimensions = vectors.ensure_space(connection, fingerprint, seed.dimensions)
    if dimensions == seed.dimensions:
        vectors.save(connection, OF_CHUNKS, space, [(number, digest, seed.body)])


def drop(connection: Connection, file: int) -> int:
    """Let go of a file; how many chunks went with it."""
    connection.execute("insert into change (number) select number from chunk where file = :file", {"file": file})
    gone = connection.changes()
    connection.execute("delete from file where number = :file", {"file": file})
    return gone


def _log(connection: Connection, number: int) -> None:
    connection.execute("insert into change (number) values (:number)", {"number": number})


def to_file(row: Sequence[Any], chunks: Sequence[Sequence[Any]]) -> FileRead:
    """Rows that were selected by `SELECT_FILE` and `SELECT_CHUNKS`. It has no number: it may go elsewhere."""
    _, path, size, modified, inode, digest, title, tags, dated, trust = row
    return FileRead(
        seen=FileSeen(str(path), int(size), int(modified), int(inode)),
        settled=False,
        digest=str(digest),
        matter=Matter(str(title), tuple(json.loads(tags)), dated, trust),
        chunks=tuple(Chunk(int(start), int(end), *map(str, told)) for start, end, *told in chunks),
    )


def to_passage(row: Sequence[Any]) -> Passage:
    """A row that was selected by `SELECTED`."""
    (number, file, scope, source, start, end, text, heading, digest, path, size, modified, inode, trust, dated,
     stale) = row  # fmt: skip
    return Passage(
        number=int(number),
        file=int(file),
        scope=str(scope),
        source=str(source),
        chunk=Chunk(int(start), int(end), str(text), str(heading), str(digest)),
        seen=FileSeen(str(path), int(size), int(modified), int(inode)),
        trust=trust,
        dated=dated,
        stale=bool(stale),
    )
