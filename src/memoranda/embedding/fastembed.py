"""A better local model than the bundled one, run by the `fastembed` package: an extra.

Given a folder, it is read from there and nothing is downloaded; given a name, fastembed downloads it once.
"""

import hashlib
import importlib.util
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from memoranda.domain.errors import ConfigError, ProviderMissing, ProviderRejected, ProviderUnavailable, ServiceRejected
from memoranda.domain.ports import Role
from memoranda.embedding.preparation import Prefixes, clean, fingerprint, prefixes_for

Pooling = Literal["mean", "cls", "last", "none"]

_MODEL_FILES = (
    "model.onnx",
    "model_optimized.onnx",
    "model_quantized.onnx",
    "onnx/model.onnx",
    "onnx/model_quantized.onnx",
)
_NEEDED = ("tokenizer.json", "tokenizer_config.json")
_READ = (*_NEEDED, "config.json", "special_tokens_map.json")
_LENGTHS = ("hidden_size", "d_model", "dim", "n_embd")
_CLS_FAMILIES = ("bge-", "arctic-embed", "mxbai-embed", "gte-")
_MESSAGE_LENGTH = 200

_registering = threading.Lock()


class FastembedEmbedder:
    """Loaded at the first call. `pooling` is read from the folder when it is not given; named models know theirs."""

    def __init__(
        self,
        model_or_path: str,
        *,
        cache_dir: str | None = None,
        threads: int | None = None,
        pooling: Pooling | None = None,
        prefixes: Prefixes | None = None,
    ) -> None:
        if importlib.util.find_spec("fastembed") is None:
            raise ProviderMissing("fastembed is not installed", hint='pip install "memoranda[fastembed]"')
        path = Path(model_or_path).expanduser()
        self._folder = path if path.is_dir() else None
        if self._folder is None and (path.is_absolute() or model_or_path.startswith((".", "~"))):
            raise ConfigError("fastembed: there is no such folder", hint="Give a folder, or a model's name.")
        self._model = path.resolve().name if self._folder else model_or_path
        self._cache_dir = cache_dir
        self._threads = threads
        self._prefixes = prefixes_for(self._model) if prefixes is None else prefixes
        self._lock = threading.Lock()
        self._loaded: Any = None
        self._digest = ""
        self._dimensions: int | None = None
        if self._folder is not None:
            self._model_file = _model_file(self._folder)
            self._pooling = pooling or _pooling_of(self._folder, self._model)
            self._dimensions = _length_of(self._folder)

    @property
    def name(self) -> str:
        return f"fastembed:{self._model}"

    @property
    def fingerprint(self) -> str:
        """A folder is known by its contents: it may be moved, and another model in its place is noticed."""
        place = f"{self._contents()}|{self._pooling}" if self._folder else ""
        return fingerprint(self.name, place=place, prefixes=self._prefixes, dimensions=self._dimensions)

    @property
    def dimensions(self) -> int | None:
        return self._dimensions

    def embed(self, texts: Sequence[str], role: Role) -> list[Any]:
        """One row for each text, in order."""
        model = self._ready()
        prepared = self._prefixes.applied([clean(text) for text in texts], role)
        ask = model.query_embed if role == "query" else model.passage_embed
        try:
            return list(ask(prepared))
        except Exception as error:  # onnxruntime and tokenizers raise bare Exceptions
            raise ProviderRejected(f"{self.name}: the model failed ({type(error).__name__})") from error

    def close(self) -> None:
        """Let go of the model; a later call loads it again."""
        with self._lock:
            self._loaded = None

    def __repr__(self) -> str:
        return f"FastembedEmbedder({self.name!r})"

    def _ready(self) -> Any:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load_folder(self._folder) if self._folder else self._load_named()
            return self._loaded

    def _load_named(self) -> Any:
        from fastembed import TextEmbedding

        known = {str(model["model"]).lower() for model in TextEmbedding.list_supported_models()}
        if self._model.lower() not in known:
            raise ServiceRejected(
                f"{self.name}: fastembed does not know this model", hint="Choose a model of fastembed, or a folder."
            )
        try:
            return TextEmbedding(self._model, cache_dir=self._cache_dir, threads=self._threads)
        except Exception as error:  # whatever the download or onnxruntime raises
            raise ProviderUnavailable(
                f"{self.name}: could not be downloaded or loaded ({type(error).__name__})"
            ) from error

    def _load_folder(self, folder: Path) -> Any:
        from fastembed import TextEmbedding
        from fastembed.common.model_description import ModelSource, PoolingType

        poolings = {
            "mean": PoolingType.MEAN,
            "cls": PoolingType.CLS,
            "last": PoolingType.LAST_TOKEN,
            "none": PoolingType.DISABLED,
        }
        # fastembed keeps one table for the process, by name: the same contents and settings have the same name.
        registered = f"memoranda/{self._contents()}-{self._pooling}"
        with _registering:
            if registered not in {model["model"] for model in TextEmbedding.list_supported_models()}:
                TextEmbedding.add_custom_model(
                    model=registered,
                    pooling=poolings[self._pooling],
                    normalization=True,
                    sources=ModelSource(hf=registered),
                    dim=self._dimensions or 0,
                    model_file=self._model_file,
                )
        try:
            # The cache folder is named only so that fastembed makes none of its own.
            return TextEmbedding(
                registered,
                cache_dir=str(folder),
                threads=self._threads,
                specific_model_path=str(folder),
                local_files_only=True,
            )
        except Exception as error:  # onnxruntime and tokenizers raise bare Exceptions
            message = " ".join(str(error).split())[:_MESSAGE_LENGTH]
            raise ServiceRejected(
                f"{self.name}: cannot be loaded: {message}", hint="Check the files of the model's folder."
            ) from error

    def _contents(self) -> str:
        if not self._digest and self._folder is not None:
            whole = hashlib.blake2b(digest_size=8)
            weights = sorted(path.name for path in (self._folder / self._model_file).parent.glob("*.onnx_data"))
            place = Path(self._model_file).parent
            for name in (self._model_file, *(str(place / weight) for weight in weights), *_READ):
                path = self._folder / name
                if path.is_file():
                    with path.open("rb") as file:
                        whole.update(f"{name}\0".encode() + hashlib.file_digest(file, "blake2b").digest())
            self._digest = whole.hexdigest()
        return self._digest


def _model_file(folder: Path) -> str:
    found = next((name for name in _MODEL_FILES if (folder / name).is_file()), None)
    missing = [name for name in _NEEDED if not (folder / name).is_file()]
    if found is None:
        missing.insert(0, "model.onnx")
    if found is None or missing:
        raise ConfigError(
            f"fastembed: the model's folder has no {' and no '.join(missing)}",
            hint="Copy the whole folder of the model, with its tokenizer.json and tokenizer_config.json.",
        )
    return found


def _pooling_of(folder: Path, model: str) -> Pooling:
    settings = _settings(folder / "1_Pooling" / "config.json")
    if settings.get("pooling_mode_cls_token"):
        return "cls"
    if settings.get("pooling_mode_lasttoken"):
        return "last"
    if not settings and any(family in model.lower() for family in _CLS_FAMILIES):
        return "cls"
    return "mean"


def _length_of(folder: Path) -> int | None:
    settings = _settings(folder / "config.json")
    return next((settings[key] for key in _LENGTHS if isinstance(settings.get(key), int)), None)


def _settings(path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ConfigError(f"fastembed: {path.name} in the model's folder is not JSON") from error
    return settings if isinstance(settings, dict) else {}
