"""fastembed with a model folder made here; nothing is downloaded."""

import importlib.util
import json
import shutil

import numpy as np
import pytest

from memoranda.domain.errors import ConfigError, ProviderMissing, ProviderUnavailable, ServiceRejected
from memoranda.embedding.fastembed import FastembedEmbedder
from memoranda.embedding.pipeline import EmbeddingPipeline, Skipped

from .model_folder import LENGTH, make_model


def one(embedder, text, role="document"):
    return np.asarray(embedder.embed([text], role)[0])


def test_a_folder_is_known_by_its_name_and_its_contents(model_folder, tmp_path):
    embedder = FastembedEmbedder(str(model_folder))
    assert embedder.name == "fastembed:tiny"
    assert embedder.dimensions == LENGTH
    assert embedder.fingerprint.startswith("fastembed:tiny|")
    assert str(model_folder.parent) not in embedder.fingerprint

    moved = shutil.copytree(model_folder, tmp_path / "tiny")
    assert FastembedEmbedder(str(moved)).fingerprint == embedder.fingerprint
    retrained = make_model(tmp_path / "other" / "tiny", seed=8)
    assert FastembedEmbedder(str(retrained)).fingerprint != embedder.fingerprint
    assert FastembedEmbedder(str(model_folder), pooling="cls").fingerprint != embedder.fingerprint


def test_two_models_in_one_process_do_not_mix(model_folder, tmp_path):
    other = make_model(tmp_path / "tiny", seed=8, model_file="onnx/model.onnx")
    first, second, again = (FastembedEmbedder(str(folder)) for folder in (model_folder, other, model_folder))
    assert np.allclose(one(first, "anna"), one(again, "anna"))
    assert not np.allclose(one(first, "anna"), one(second, "anna"))


def test_mean_pooling_leaves_the_padding_out(model_folder):
    embedder = FastembedEmbedder(str(model_folder))
    alone = one(embedder, "anna")
    beside = np.asarray(embedder.embed(["anna", "the boiler manual is in the cellar"], "document")[0])
    assert np.allclose(alone, beside, atol=1e-6)


def test_cls_pooling_takes_the_first_token(model_folder):
    embedder = FastembedEmbedder(str(model_folder), pooling="cls")
    assert np.allclose(one(embedder, "anna prefers"), one(embedder, "anna short"), atol=1e-6)


@pytest.mark.parametrize(("mode", "pooling"), [("pooling_mode_cls_token", "cls"), ("pooling_mode_mean_tokens", "mean")])
def test_pooling_is_read_from_the_folder(tmp_path, mode, pooling):
    folder = make_model(tmp_path / "bge-tiny")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({mode: True}))
    given = FastembedEmbedder(str(folder), pooling=pooling)
    assert FastembedEmbedder(str(folder)).fingerprint == given.fingerprint


def test_pooling_is_known_for_families_that_do_not_say(tmp_path):
    folder = str(make_model(tmp_path / "bge-tiny"))
    assert FastembedEmbedder(folder).fingerprint == FastembedEmbedder(folder, pooling="cls").fingerprint


def test_prefixes_follow_the_folders_name(tmp_path):
    plain = FastembedEmbedder(str(make_model(tmp_path / "tiny")))
    prefixed = FastembedEmbedder(str(make_model(tmp_path / "multilingual-e5-small")))
    assert np.allclose(one(prefixed, "anna", "query"), one(plain, "query: anna"))
    assert np.allclose(one(prefixed, "anna", "document"), one(plain, "passage: anna"))


def test_through_the_pipeline_it_gives_unit_vectors(model_folder):
    pipeline = EmbeddingPipeline(FastembedEmbedder(str(model_folder), threads=1))
    for outcome in pipeline.embed(["anna", "the boiler", "long " * 9000, "half \ud83d"], "document"):
        assert not isinstance(outcome, Skipped)
        assert abs(float(np.linalg.norm(outcome)) - 1) < 1e-6


def test_it_can_be_used_after_close(model_folder):
    embedder = FastembedEmbedder(str(model_folder))
    before = one(embedder, "anna")
    embedder.close()
    assert np.allclose(one(embedder, "anna"), before)


def test_the_folder_is_only_read(tmp_path):
    folder = make_model(tmp_path / "tiny")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    one(FastembedEmbedder(str(folder)), "anna")
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json", "tokenizer_config.json"])
def test_an_incomplete_folder_is_refused_at_once(tmp_path, missing):
    folder = make_model(tmp_path / "tiny")
    (folder / missing).unlink()
    with pytest.raises(ConfigError, match=missing):
        FastembedEmbedder(str(folder))


def test_a_config_that_is_not_json_is_refused_at_once(tmp_path):
    folder = make_model(tmp_path / "tiny")
    (folder / "config.json").write_text("{")
    with pytest.raises(ConfigError, match=r"config\.json"):
        FastembedEmbedder(str(folder))


def test_dimensions_are_learnt_when_the_folder_does_not_say(tmp_path):
    folder = make_model(tmp_path / "tiny")
    (folder / "config.json").unlink()
    pipeline = EmbeddingPipeline(FastembedEmbedder(str(folder)))
    assert pipeline.dimensions is None
    pipeline.embed(["anna"], "document")
    assert pipeline.dimensions == LENGTH


@pytest.mark.parametrize("spoilt", ["model.onnx", "tokenizer.json", "tokenizer_config.json"])
def test_a_broken_model_is_a_providers_error(tmp_path, spoilt):
    folder = make_model(tmp_path / "tiny")
    (folder / spoilt).write_text("{")
    with pytest.raises(ServiceRejected, match="cannot be loaded"):
        FastembedEmbedder(str(folder)).embed(["anna"], "document")


def test_a_model_that_fails_on_a_text_is_a_providers_error(model_folder):
    embedder = FastembedEmbedder(str(model_folder), pooling="none")
    (outcome,) = EmbeddingPipeline(embedder).embed(["anna"], "document")
    assert outcome == Skipped("fastembed:tiny: the model failed (ValueError)")


@pytest.mark.parametrize("path", ["/no/such/folder", "./no-such-folder", "~/no-such-folder"])
def test_a_folder_that_is_not_there_is_no_models_name(path):
    with pytest.raises(ConfigError, match="no such folder"):
        FastembedEmbedder(path)


def test_an_unknown_name_is_refused():
    embedder = FastembedEmbedder("nobody/knows-this")
    assert (embedder.fingerprint, embedder.dimensions) == ("fastembed:nobody/knows-this|prep1|auto", None)
    with pytest.raises(ServiceRejected, match="does not know"):
        embedder.embed(["anna"], "document")


def test_a_download_that_fails_is_unavailable(monkeypatch):
    def no_network(*_, **__):
        raise ValueError("Could not load model from any source.")

    monkeypatch.setattr("fastembed.TextEmbedding.__init__", no_network)
    with pytest.raises(ProviderUnavailable, match="could not be downloaded"):
        FastembedEmbedder("BAAI/bge-small-en-v1.5").embed(["anna"], "document")


def test_a_missing_package_says_what_to_install(monkeypatch, model_folder):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ProviderMissing) as caught:
        FastembedEmbedder(str(model_folder))
    assert caught.value.hint == 'pip install "memoranda[fastembed]"'
