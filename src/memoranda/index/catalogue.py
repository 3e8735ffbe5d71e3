"""The catalogue: which documents there are, and the chunks that mirror them. Derived from the files.

One sync at a time writes it; whoever calls sees to that. A chunk whose text stays keeps its number and its vector,
wherever in its file it goes. It may be thrown away at any time.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from memoranda.domain.document import FileSeen
from memoranda.domain.errors import LedgerDamaged
from memoranda.domain.keys import Key
from memoranda.domain.memory import Trust
from memoranda.index import catalogue_rows as rows
from memoranda.index.catalogue_feed import OF_CHUNKS, ChunkFeed
from memoranda.index.catalogue_rows import FORMAT, FileRead, Holding, Kept, KnownFile, Passage
from memoranda.ledger import vectors
from memoranda.ledger.connection import Connection
from memoranda.ledger.dialect import in_parts, placeholders
from memoranda.ledger.sqlite import SqliteDatabase


class Catalogue:
    """One generation of the catalogue."""

    def __init__(self, path: Path, *, busy_seconds: float = 30.0, key: Key | None = None) -> None:
        self.path = path
        self.database = SqliteDatabase(path, durable=False, busy_seconds=busy_seconds, key=key)
        try:
            with self.database.read() as connection:
                prepared = connection.execute("select 1 from sqlite_schema where name = 'meta'").fetchone()
            if prepared is None:
                self.database.write(rows.prepare)
            if self.meta("format") != FORMAT:
                raise LedgerDamaged("the catalogue has another format and has to be made anew")
        except BaseException:
            self.database.close()
            raise
        self.feed = ChunkFeed(self.database)

    # -- what it says of itself --

    def meta(self, key: str) -> str:
        with self.database.read() as connection:
            row = connection.execute("select value from meta where key = :key", {"key": key}).fetchone()
            return "" if row is None else str(row[0])

    def set_meta(self, key: str, value: str) -> None:
        self.database.write(lambda connection: rows.set_meta(connection, key, value))

    # -- files --

    def known(self, scope: str, source: str) -> dict[str, KnownFile]:
        """The files of a source, by path."""
        with self.database.read() as connection:
            selected = connection.execute(
                """
                select number, path, size, modified_ns, inode, digest, settled, stale from file
                where scope = :scope and source = :source
                """,
                {"scope": scope, "source": source},
            )
            return {
                path: KnownFile(number, FileSeen(path, size, modified, inode), digest, bool(settled), bool(stale))
                for number, path, size, modified, inode, digest, settled, stale in selected
            }

    def apply(
        self,
        scope: str,
        source: str,
        *,
        put: Sequence[FileRead] = (),
        touch: Sequence[FileRead] = (),
        stale: Sequence[int] = (),
        drop: Sequence[int] = (),
        seeds: "Catalogue | None" = None,
        fingerprint: str = "",
    ) -> tuple[int, int]:
        """One step of a sync, all or nothing: (chunks that came, chunks that went).

        `put` is mirrored anew; of `touch` only the path, the matter and what the disk tells are other than before.
        With `seeds`, vectors of this fingerprint are taken over from another catalogue.
        """
        wanted = {chunk.digest for read in put for chunk in read.chunks}
        seeded = seeds.vectors_of(fingerprint, wanted) if seeds is not None and fingerprint else ()

        def job(connection: Connection) -> tuple[int, int]:
            by_content = {each.content_hash: each for each in seeded}
            came = went = 0
            left: list[int] = []
            for read in touch:
                rows.touch(connection, read)
            for read in put:
                number = rows.put_file(connection, scope, source, read)
                new, gone = rows.mirror(connection, scope, number, read.chunks)
                for chunk, digest in new:
                    rows.give_vector(connection, chunk, digest, by_content.get(digest), fingerprint)
                came += len(new)
                left += gone
            # After all that came: text that goes from one file to another takes its vector along.
            went += rows.drop_chunks(connection, left)
            for number in stale:
                connection.execute("update file set stale = 1 where number = :number", {"number": number})
            for number in drop:
                went += rows.drop(connection, number)
            return came, went

        return self.database.write(job)

    def files(self, scope: str, source: str, paths: Iterable[str]) -> tuple[FileRead, ...]:
        """What is known of these files, as it was read."""
        found: list[FileRead] = []
        with self.database.read() as connection:
            for path in paths:
                place = {"scope": scope, "source": source, "path": path}
                row = connection.execute(rows.SELECT_FILE, place).fetchone()
                if row is not None:
                    chunks = connection.execute(rows.SELECT_CHUNKS, {"file": row[0]}).fetchall()
                    found.append(rows.to_file(row, chunks))
        return tuple(found)

    def drop_source(self, scope: str, source: str) -> tuple[int, int]:
        """Let go of all files of a source: how many files, how many chunks."""

        def job(connection: Connection) -> tuple[int, int]:
            selected = connection.execute(
                "select number from file where scope = :scope and source = :source", {"scope": scope, "source": source}
            ).fetchall()
            numbers = [int(str(row[0])) for row in selected]
            rows.tell_troubles(connection, scope, source, {})
            return len(numbers), sum([rows.drop(connection, number) for number in numbers])

        return self.database.write(job)

    def sources(self) -> tuple[tuple[str, str], ...]:
        """(scope, name) of every source that it has files of."""
        with self.database.read() as connection:
            selected = connection.execute("select distinct scope, source from file order by scope, source")
            return tuple((str(scope), str(source)) for scope, source in selected)

    def troubles(self, scope: str, source: str) -> dict[str, str]:
        """What was wrong with files of a source when a sync last looked: reasons by path."""
        with self.database.read() as connection:
            selected = connection.execute(
                "select path, reason from trouble where scope = :scope and source = :source order by path",
                {"scope": scope, "source": source},
            )
            return {str(path): str(reason) for path, reason in selected}

    def set_troubles(self, scope: str, source: str, troubles: Mapping[str, str]) -> None:
        """These and no others. Nothing is written when they are the same as before."""
        if troubles != self.troubles(scope, source):
            self.database.write(lambda connection: rows.tell_troubles(connection, scope, source, troubles))

    # -- chunks --

    def passages(self, numbers: Sequence[int]) -> dict[int, Passage]:
        """These chunks, with what is known of their files; one that is gone is missing."""
        found: dict[int, Passage] = {}
        with self.database.read() as connection:
            for listed, values in in_parts("number", numbers):
                selected = connection.execute(
                    f"""
                    select {rows.SELECTED}
                    from chunk c join file f on f.number = c.file where c.number in ({listed})
                    """,  # noqa: S608
                    values,
                )
                found.update((int(row[0]), rows.to_passage(row)) for row in selected)
        return found

    def numbers(self, scope: str, source: str, *, path: str = "") -> frozenset[int]:
        """Numbers of the chunks of a source; of one file, or of a folder when the path ends with a slash."""
        # Not `like`: a path may have its signs in it.
        folder = path if path.endswith("/") else ""
        with self.database.read() as connection:
            selected = connection.execute(
                """
                select c.number from chunk c join file f on f.number = c.file
                where f.scope = :scope and f.source = :source
                  and (:path = '' or f.path = :path or (:folder <> '' and substr(f.path, 1, length(:folder)) = :folder))
                """,
                {"scope": scope, "source": source, "path": path, "folder": folder},
            )
            return frozenset(int(row[0]) for row in selected)

    def numbers_asking(self, scope: str, source: str, trust: Sequence[Trust]) -> frozenset[int]:
        """Numbers of the chunks of a source whose files ask for one of these trusts."""
        listed, values = placeholders("trust", tuple(trust))
        with self.database.read() as connection:
            selected = connection.execute(
                f"""
                select c.number from file f join chunk c on c.file = f.number
                where f.scope = :scope and f.source = :source and f.trust in ({listed})
                """,  # noqa: S608
                {"scope": scope, "source": source, **values},
            )
            return frozenset(int(row[0]) for row in selected)

    def texts(self, scope: str = "", source: str = "") -> list[str]:
        """The texts of all chunks, or of one source."""
        with self.database.read() as connection:
            selected = connection.execute(
                """
                select c.text from chunk c join file f on f.number = c.file
                where :source = '' or (f.scope = :scope and f.source = :source)
                """,
                {"scope": scope, "source": source},
            )
            return [str(row[0]) for row in selected]

    def holding(self, scope: str, source: str, *, fingerprint: str = "") -> Holding:
        """How much there is of one source."""
        with self.database.read() as connection:
            space = vectors.space(connection, fingerprint)
            row = connection.execute(
                """
                select (select count(*) from file where scope = :scope and source = :source),
                       count(*),
                       coalesce(sum(exists (select 1 from vector v where v.space = :space and v.number = c.number)), 0)
                from chunk c join file f on f.number = c.file where f.scope = :scope and f.source = :source
                """,
                {"scope": scope, "source": source, "space": space[0] if space else 0},
            ).fetchone()
        return Holding(*(int(value) for value in row or (0, 0, 0)))

    def dimensions(self, fingerprint: str) -> int:
        """Of the vectors of a space; 0 when there are none."""
        with self.database.read() as connection:
            space = vectors.space(connection, fingerprint)
            return space[1] if space else 0

    def vectors_of(self, fingerprint: str, digests: Iterable[str]) -> tuple[Kept, ...]:
        """Vectors that were made of these texts."""
        wanted = tuple(digests)
        found: list[Kept] = []
        with self.database.read() as connection:
            space = vectors.space(connection, fingerprint)
            if space is None:
                return ()
            for listed, values in in_parts("digest", wanted):
                selected = connection.execute(
                    f"""
                    select content_hash, body from {OF_CHUNKS.vector}
                    where space = :space and content_hash in ({listed}) group by content_hash
                    """,  # noqa: S608
                    {"space": space[0], **values},
                )
                found += [Kept(str(digest), space[1], bytes(body)) for digest, body in selected]
        return tuple(found)

    def close(self) -> None:
        """May be called twice."""
        self.database.close()
