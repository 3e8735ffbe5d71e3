"""Checking a ledger against itself. Reports, and changes nothing."""

from memoranda.domain.results import Check
from memoranda.domain.text import content_hash
from memoranda.ledger.database import Database

_WAY_OUT = "Restore a backup; keep this file. Nothing was changed."

_CROSS_CHECKS = {
    "revisions": """
        select count(*) from memory m where not exists (
            select 1 from revision r
            where r.number = m.number and r.seq = (select max(seq) from revision where number = m.number)
              and r.state = m.state and r.kind = m.kind and r.trust = m.trust and r.confidence = m.confidence
              and r.tags = m.tags and r.metadata = m.metadata and r.updated_at = m.updated_at)
    """,
    "events": "select count(*) from revision r where not exists (select 1 from event e where e.seq = r.seq)",
    "erased": """
        select count(*) from event e join memory m on m.number = e.number where e.action = 'erased'
    """,
    # What is summed up is stood for by a summary of its own conversation, and by nothing else.
    "conversations": """
        select count(*) from message m where
            (m.status = 'compacted') <> exists (
                select 1 from message s
                where s.number = m.stood_for_by and s.kind = 'summary' and s.conversation = m.conversation)
    """,
}


def checked(database: Database) -> list[Check]:
    """The file, the hash of every text, and whether rows, revisions and events agree."""
    broken = database.integrity()
    checks = [Check("file", not broken, "; ".join(broken[:3]) or "sound", _WAY_OUT if broken else "")]
    with database.read() as connection:
        rows = connection.execute(
            "select text, content_hash from memory union all select text, content_hash from message"
        )
        changed = sum(content_hash(str(text)) != digest for text, digest in rows)
        checks.append(Check("texts", not changed, f"{changed} differ from their hash", _WAY_OUT if changed else ""))
        for name, statement in _CROSS_CHECKS.items():
            row = connection.execute(statement).fetchone()
            wrong = int(row[0]) if row else 0
            checks.append(Check(name, wrong == 0, f"{wrong} wrong", _WAY_OUT if wrong else ""))
    return checks
