"""The data: turns of real chat where they are to be had, recombined ones beyond that, and their vectors.

Everything is made once, from a fixed seed, and kept in a folder that the workers read.
"""

import json
import random
from pathlib import Path

import numpy as np

from bench.paths import OUT, log

SEED = 20261115
QUERIES = 300
_BATCH = 512
_PARTS = (
    ("Anna", "The reading lamp", "Our old boiler", "The team", "A friend of mine", "My sister", "That film"),
    ("likes", "was moved next to", "reminds me of", "came before", "never liked", "is older than", "paid for"),
    ("the green kitchen", "a long train ride", "strong coffee", "the harbour", "an early meeting", "two dogs"),
    ("in winter", "since last May", "on Tuesdays", "as far as I know", "for the third time", "near the station"),
)


def prepared(size: int, turns: Path, known: Path | None) -> Path:
    """The folder with at least `size` documents; made when it is not there."""
    folder = OUT / f"data-{size}"
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        _make(folder, size, turns, known)
        (folder / "complete").touch()
    return folder


def _make(folder: Path, size: int, turns: Path, known: Path | None) -> None:
    rng = random.Random(SEED)
    real = _turns(turns) if turns.exists() else _sentences(rng, 20_000)
    rng.shuffle(real)
    questions = [text for text in real if text.endswith("?") and 25 <= len(text) <= 200][:QUERIES]
    asked = set(questions)
    documents = [text for text in real if text not in asked][:size]
    log(f"{len(documents)} real texts, {size - len(documents)} recombined, {len(questions)} queries")
    vectors = _vectors(documents + questions, known)
    parents = _recombine(rng, documents, size)
    made = _perturbed(vectors, parents)
    everything = np.concatenate([vectors[: len(documents) - len(parents)], made, vectors[-len(questions) :]])
    everything.astype(np.float32).tofile(folder / "vectors.f32")
    (folder / "documents.json").write_text(json.dumps(documents))
    (folder / "queries.json").write_text(json.dumps(questions))


def _turns(path: Path) -> list[str]:
    with path.open(encoding="utf-8") as lines:
        texts = [turn[1].strip() for line in lines for turn in json.loads(line)["turns"]]
    return [text for text in dict.fromkeys(texts) if text]


def _sentences(rng: random.Random, count: int) -> list[str]:
    made: dict[str, None] = {}
    while len(made) < count:
        words = " ".join(rng.choice(part) for part in _PARTS)
        made[words + f", number {rng.randrange(10_000)}" + rng.choice(".?")] = None
    return list(made)


def _recombine(rng: random.Random, documents: list[str], size: int) -> list[int]:
    """Append texts made of two real ones until there are enough; the number of the first parent of each."""
    real = len(documents)
    seen = set(documents)
    parents: list[int] = []
    while len(documents) < size:
        first, second = rng.randrange(real), rng.randrange(real)
        left, right = documents[first].split(), documents[second].split()
        text = " ".join(left[: (len(left) + 1) // 2] + right[len(right) // 2 :])
        if text not in seen:
            seen.add(text)
            documents.append(text)
            parents.append(first)
    return parents


def _perturbed(vectors: np.ndarray, parents: list[int]) -> np.ndarray:
    """The vectors of recombined texts: a parent's with noise (about as long as itself), of length one again."""
    rng = np.random.default_rng(SEED)
    made = vectors[np.asarray(parents, np.int64)] if parents else vectors[:0]
    made = made + rng.standard_normal(made.shape, np.float32) / np.sqrt(np.float32(made.shape[1]))
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def _vectors(texts: list[str], known: Path | None) -> np.ndarray:
    """Vectors of the bundled embedder; `known` is a folder with some made before (texts.json, V.npy)."""
    from memoranda.config import load
    from memoranda.embedding.use import UseEmbedder

    rows = np.empty((len(texts), 512), np.float32)
    missing = list(range(len(texts)))
    if known is not None:
        places = {text.strip(): at for at, text in enumerate(json.loads((known / "texts.json").read_text()))}
        stored = np.load(known / "V.npy", mmap_mode="r")
        missing = [at for at, text in enumerate(texts) if text not in places]
        for at, text in enumerate(texts):
            if text in places:
                rows[at] = stored[places[text]]
    embedder = UseEmbedder(load().cache_folder())
    for start in range(0, len(missing), _BATCH):
        log(f"embedding {start} of {len(missing)}")
        chosen = missing[start : start + _BATCH]
        rows[chosen] = embedder.embed([texts[at] for at in chosen], "document")
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
