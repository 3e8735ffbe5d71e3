"""Floor for words: SQLite FTS5 with bm25, any of the query's words, the scope as a column."""

import re
from collections.abc import Sequence

import apsw

from bench.workers.base import Store


class Fts5(Store):
    packages = ("apsw-sqlite3mc",)

    def open(self) -> None:
        self._connection = apsw.Connection(str(self.folder / "fts5.db"))
        self._connection.execute("pragma journal_mode = wal; pragma synchronous = full").fetchall()
        self._connection.execute("create virtual table kept using fts5(text, scope unindexed)")

    def add(self, i: int, text: str, scope: str) -> None:
        self._connection.execute("insert into kept (rowid, text, scope) values (?, ?, ?)", (i, text, scope))

    def add_many(self, items: Sequence[tuple[int, str, str]], deadline: float) -> int:
        with self._connection:
            self._connection.executemany("insert into kept (rowid, text, scope) values (?, ?, ?)", items)
        return len(items)

    def search(self, query: str, scope: str, k: int) -> list[int]:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", query.casefold())))
        if not words:
            return []
        rows = self._connection.execute(
            "select rowid, text from kept where kept match ? and scope = ? order by rank limit ?", (words, scope, k)
        )
        return [row[0] for row in rows]

    def close(self) -> None:
        self._connection.close()


STORE = Fts5
