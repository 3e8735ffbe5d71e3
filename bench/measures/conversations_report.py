"""What the measure of conversations found, as tables."""

from typing import Any

from bench.measures.conversations import PASSAGES
from bench.tables import table, times


def report(result: dict[str, Any]) -> str:
    append = [
        [row["batch"], row["ours"], row["bare"], times(row["bare"], row["ours"]), row["p50_ms"], row["p95_ms"]]
        for row in result["append"]
    ]
    lengths = [
        [
            row["what"], row["messages"], row["window_ms"], row["compact_ms"], row["folded"], row["tokens_before"],
            row["tokens_after"], row["window_after_ms"], row["append_after_ms"],
        ]
        for row in result["lengths"]
    ]  # fmt: skip
    imports = [
        [
            row["format"], row["messages"], row["megabytes"], row["megabytes"] / row["seconds"],
            row["messages"] / row["seconds"], row["again_seconds"], row["added_again"],
        ]
        for row in result["import"]
    ]  # fmt: skip
    searches = [
        [
            row["embedder"], row["messages"], row["p50_ms"], row["p95_ms"], row["one_conversation_ms"],
            row["passages"], row["followed_seconds"], row["n"],
        ]
        for row in result["search"]
    ]  # fmt: skip
    quality = [
        [
            row["embedder"], row["set"], row["questions"], 100 * row["any_hit"], 100 * row["every_hit"],
            100 * row["any_shown"], 100 * row["nothing"], row["hits"], row["messages"], row["p50_ms"],
        ]
        for row in result["quality"]
    ]  # fmt: skip
    tables = [
        table(
            "Durable appends, messages/s",
            ["batch", "ours", "bare SQLite", "bare / ours", "batch p50 ms", "batch p95 ms"],
            append,
        ),
        table(
            "By the length of a conversation",
            [
                "what", "messages", "window ms", "compact ms", "folded", "tokens before", "tokens after",
                "window after ms", "one append after ms",
            ],
            lengths,
        ),
        table(
            "Import of transcripts",
            ["format", "messages", "MB", "MB/s", "messages/s", "again, s", "added again"],
            imports,
        ),
        table(
            "Search of transcripts",
            ["embedder", "messages", "p50 ms", "p95 ms", "one conversation p50 ms", "passages", "followed, s", "n"],
            searches,
        ),
    ]  # fmt: skip
    if quality:
        head = [
            "embedder", "set", "questions", "evidence hit", "all evidence hit", "shown", "nothing found",
            "hits a question", "messages a question", "p50 ms",
        ]  # fmt: skip
        tables.append(table(f"Evidence in the first {PASSAGES} passages, % of questions", head, quality))
    return "\n".join(tables)
