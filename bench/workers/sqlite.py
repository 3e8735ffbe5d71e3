"""Floor for writing: a bare SQLite insert (id and text) with WAL and an fsync at each commit."""

import apsw

from bench.workers.base import Store


class Sqlite(Store):
    packages = ("apsw-sqlite3mc",)

    def open(self) -> None:
        self._connection = apsw.Connection(str(self.folder / "bare.db"))
        self._connection.execute("pragma journal_mode = wal; pragma synchronous = full").fetchall()
        self._connection.execute("create table kept (id integer primary key, text text not null)")

    def add(self, i: int, text: str, scope: str) -> None:
        self._connection.execute("insert into kept (id, text) values (?, ?)", (i, text))

    def search(self, query: str, scope: str, k: int) -> list[int]:
        raise NotImplementedError

    def close(self) -> None:
        self._connection.close()


STORE = Sqlite
