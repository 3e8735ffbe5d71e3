"""Makes fixtures/thane: a store of facts as Thane keeps it, by the columns that it documents.

    python tests/importers/make_fixtures/thane.py tests/importers/fixtures/thane

Thane is a Go program that is built from source and was not run for this; see the README of the fixture.
"""

import json
import sqlite3
import struct
import sys
from pathlib import Path

COLUMNS = """
    id text primary key, category text not null, key text not null, value text not null, source text,
    confidence real default 1.0, embedding blob, created_at text not null, updated_at text not null,
    accessed_at text not null, deleted_at text, subjects text, ref text, unique (category, key)
"""
DAY = "2026-08-{:02d}T07:30:00Z"
VECTOR = struct.pack("<4f", 0.1, 0.2, 0.3, 0.4)
FACTS = [
    # category, key, value, source, confidence, subjects, ref, deleted
    ("device", "reading_lamp", "light.office", "conversation", 1.0, ["entity:light.office", "zone:study"], None, False),
    ("user", "name", "The user's name is Anna.", "conversation", 1.0, None, None, False),
    ("preference", "evening_brightness", "40 percent after sunset", "observation", 0.7, ["zone:study"], None, False),
    ("routine", "leaves_home", "leaves home at seven on weekdays", "observation", 0.6, None, None, False),
    ("architecture", "network/wifi", "The router stands in the hall.", "docs/network.md", 0.9, None, "net.md", False),
    ("home", "boiler", "The boiler is in the cellar.", "conversation", 1.0, None, None, True),
    ("weather", "note", "Zażółć gęślą jaźń.", None, None, None, None, False),
]


def main(target):
    target.mkdir(parents=True, exist_ok=True)
    path = target / "knowledge.sqlite"
    path.unlink(missing_ok=True)
    store = sqlite3.connect(path)
    store.execute(f"create table facts ({COLUMNS})")
    store.execute("create virtual table facts_fts using fts5(key, value, source, content=facts, content_rowid=rowid)")
    for number, (category, key, value, source, confidence, subjects, ref, deleted) in enumerate(FACTS, start=1):
        row = (
            f"0198f000-0000-7000-8000-{number:012d}",
            category,
            key,
            value,
            source,
            confidence,
            VECTOR if number % 2 else None,
            DAY.format(number),
            DAY.format(number + 7),
            DAY.format(number + 14),
            DAY.format(28) if deleted else None,
            json.dumps(subjects) if subjects else None,
            ref,
        )
        store.execute(f"insert into facts values ({', '.join('?' * len(row))})", row)
    store.execute("insert into facts_fts(facts_fts) values ('rebuild')")
    store.commit()
    store.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
