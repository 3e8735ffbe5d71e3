"""A model folder as fastembed expects it, small enough to make in a test: one embedding table, nothing more."""

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

SENTENCES = (
    "anna prefers short answers .",
    "the boiler manual is in the cellar .",
    "灯 在 书 房 。",
    "zażółć gęślą jaźń",
    "long half of a pair query : passage",
)
LENGTH = 16


def make_model(folder: Path, *, model_file: str = "model.onnx", seed: int = 7) -> Path:
    folder.mkdir(parents=True)
    words = dict.fromkeys(word for sentence in SENTENCES for word in sentence.split())
    vocabulary = {word: number for number, word in enumerate(["[PAD]", "[UNK]", *words])}
    table = np.random.default_rng(seed).standard_normal((len(vocabulary), LENGTH)).astype(np.float32)

    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "tiny",
        [
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "sequence"]),
            helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "sequence"]),
        ],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", LENGTH])],
        [numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path = folder / model_file
    path.parent.mkdir(exist_ok=True)
    onnx.save(model, str(path))

    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.BertNormalizer(strip_accents=False, lowercase=True)])
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 64, "pad_token": "[PAD]"}))
    (folder / "config.json").write_text(json.dumps({"hidden_size": LENGTH, "pad_token_id": 0}))
    (folder / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[PAD]", "unk_token": "[UNK]"}))
    return folder
