"""Models with a pretrained encoder in the model folder."""

import json
from pathlib import Path

import pytest
import torch

from headwise.artifacts import StoreError, load_model
from headwise.nn.encoders import TransformerConfig
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.nn.task_layers.layer_configs import ClassifierConfig
from headwise.text.text_configs import PretrainedConfig
from headwise.text.vocabulary import Vocabulary

tokenizers = pytest.importorskip("tokenizers", reason="needs the extra: pip install '.[pretrained]'")
transformers = pytest.importorskip("transformers", reason="needs the extra: pip install '.[pretrained]'")

TEXTS = ["the cat", "", "cat cat zzz the"]
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "ca", "##t", *"abcdefghz", "##z"]


@pytest.fixture(scope="module")
def bert(tmp_path_factory) -> Path:
    """A tiny BERT as the hub would have it."""
    folder = tmp_path_factory.mktemp("bert")
    tokenizer = tokenizers.BertWordPieceTokenizer({piece: n for n, piece in enumerate(PIECES)})
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer._tokenizer,
        **{f"{n}_token": f"[{n.upper()}]" for n in ("pad", "unk", "cls", "sep")},
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(PIECES),
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=80,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return folder


@pytest.fixture
def model(bert) -> TextClassifierModel:
    config = ModelConfig(
        pretrained=PretrainedConfig(name=str(bert)),
        encoder=TransformerConfig(width=8, heads=2, head_size=4, layers=1, feedforward=8),
        readout="attentive,cls",
        classifier=ClassifierConfig(hidden=4),
    )
    return TextClassifierModel(config, Vocabulary.build([["the", "cat"]]), ["x", "y"]).eval()


def test_the_folder_needs_no_hub(model, save, bert, monkeypatch):
    folder = save(model)
    monkeypatch.setattr(
        "headwise.nn.embeddings.pretrained.pretrained_embedding.load_pretrained", None
    )  # nothing is looked up
    loaded = load_model(folder)
    torch.testing.assert_close(loaded.predict_proba(TEXTS), model.predict_proba(TEXTS))
    assert {p.device.type for p in (*loaded.parameters(), *loaded.buffers())} == {"cpu"}
    torch.testing.assert_close(load_model(save(loaded)).predict_proba(TEXTS), model.predict_proba(TEXTS))


def test_a_model_without_one_takes_its_files_away(model, make_model, save):
    folder = save(model)
    assert (folder / "tokenizer.json").exists()
    save(make_model(), folder)
    assert not (folder / "tokenizer.json").exists()
    assert not (folder / "pretrained.json").exists()
    load_model(folder)


@pytest.mark.parametrize("name", ["tokenizer.json", "pretrained.json"])
def test_damage_is_seen(model, save, name):
    folder = save(model)
    content = json.loads((folder / name).read_text())
    (folder / name).write_text(json.dumps({**content, "more": 1}))
    with pytest.raises(StoreError, match=name):
        load_model(folder)


def test_a_hostile_encoder_is_refused(model, save, sign):
    folder = save(model)
    content = json.loads((folder / "pretrained.json").read_text())
    content["encoder"]["hidden_size"] = 1 << 20
    (folder / "pretrained.json").write_text(json.dumps(content))
    sign(folder)
    with pytest.raises(StoreError):
        load_model(folder)
