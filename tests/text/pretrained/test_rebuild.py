"""From files: equal encoders, without weights; hostile files build nothing."""

import json

import pytest
import torch

from headwise.artifacts.load import _SkipInitialisation
from headwise.nn.embeddings.pretrained import PretrainedEmbedding, PretrainedError
from headwise.nn.layout import Layout
from headwise.text.text_configs import PretrainedConfig

transformers = pytest.importorskip("transformers", reason="needs pip install '.[pretrained]'")

TEXTS = [["the", "cat", "eating"], [], ["a"] * 45]
LAYOUT = Layout([len(text) for text in TEXTS])


def through_json(files):
    return json.loads(json.dumps(files))


def rebuilt(embedding, files=None, width=8):
    return PretrainedEmbedding.from_files(
        embedding.config, width, through_json(files or embedding.to_files())
    )


def test_equal_after_the_files(make):
    embedding = make(width=6, layers=(0, 2), pooling="last", max_pieces=20)
    copy = rebuilt(embedding, width=6)
    copy.load_state_dict(embedding.state_dict(), assign=True)
    words, summary = embedding(TEXTS, LAYOUT)
    again, summary_again = copy.eval()(TEXTS, LAYOUT)
    assert torch.equal(words.values, again.values)
    assert torch.equal(summary, summary_again)
    assert copy.to_files() == embedding.to_files()


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("albert", {"embedding_size": 4, "num_hidden_groups": 1}),
        ("camembert", {"pad_token_id": 1}),
        ("convbert", {"embedding_size": 8, "conv_kernel_size": 3, "head_ratio": 1}),
        ("deberta", {}),
        ("deberta-v2", {"relative_attention": True, "position_buckets": 4, "pos_att_type": ["c2p", "p2c"]}),
        ("distilbert", {"sinusoidal_pos_embds": True}),
        ("electra", {"embedding_size": 4}),
        ("modernbert", {"local_attention": 8, "cls_token_id": 2, "sep_token_id": 3}),
        ("mpnet", {"pad_token_id": 1}),
        ("roberta", {"pad_token_id": 1}),
        ("xlm-roberta", {"pad_token_id": 1}),
    ],
)
def test_every_architecture(encoder, make, kind, settings):
    """Loaded, run in batches, rebuilt from files, run again."""
    embedding = make(encoder(kind, **settings), overlap=2)
    with torch.no_grad():
        words, summary = embedding(TEXTS, LAYOUT)
        for text, vectors, of_text in zip(TEXTS, words, summary, strict=True):
            alone, summary_alone = embedding([text], Layout([len(text)]))
            torch.testing.assert_close(alone.values, vectors, atol=1e-5, rtol=1e-4)
            torch.testing.assert_close(summary_alone[0], of_text, atol=1e-5, rtol=1e-4)
        copy = rebuilt(embedding)
        assert not [name for name, buffer in copy.named_buffers() if buffer.is_meta]
        copy.load_state_dict(embedding.state_dict(), assign=True)
        again, summary_again = copy.eval()(TEXTS, LAYOUT)
    assert torch.equal(words.values, again.values)
    assert torch.equal(summary, summary_again)


@pytest.mark.parametrize("kind", ["bert", "modernbert"])
def test_building_on_the_meta_device(encoder, make, kind):
    """As the store does: parameters without memory or random numbers, tables as they must be."""
    embedding = make(encoder(kind), width=6)
    state = torch.get_rng_state()
    with torch.device("meta"), _SkipInitialisation():
        copy = rebuilt(embedding, width=6)
    assert torch.equal(torch.get_rng_state(), state)
    assert copy.project is not None
    assert copy.project.weight.is_meta
    for (name, ours), theirs in zip(copy.named_buffers(), embedding.buffers(), strict=True):
        assert torch.equal(ours, theirs), name
    copy.load_state_dict(embedding.state_dict(), assign=True)
    torch.testing.assert_close(copy.eval()(TEXTS, LAYOUT)[0].values, embedding(TEXTS, LAYOUT)[0].values)


def test_a_large_encoder_takes_no_memory(make):
    files = through_json(make().to_files())
    files["pretrained.json"]["encoder"] |= {"vocab_size": 1 << 24, "hidden_size": 1 << 16}
    copy = PretrainedEmbedding.from_files(PretrainedConfig(overlap=4), 1 << 16, files)
    table = copy.encoder.get_input_embeddings().weight
    assert table.is_meta
    assert table.numel() == 1 << 40


@pytest.mark.parametrize(
    "change",
    [
        {"model_type": "never-heard-of"},
        {"model_type": "gpt2"},
        {"model_type": ["bert"]},
        {"model_type": None},
        {"auto_map": {"AutoModel": "own.Own"}},
        {"attn_implementation": "owner/kernel"},
        {"_attn_implementation": "owner/kernel"},
        {"_attn_implementation_internal": "owner/kernel"},
        {"experts_implementation": "owner/kernel"},
        {"quantization_config": {"load_in_4bit": True}},
        {"nested": {"auto_map": {}}},
        {"num_hidden_layers": 10**6},
        {"num_hidden_layers": 0},
        {"num_hidden_layers": "3"},
        {"num_hidden_layers": 3.5},
        {"num_labels_of_layers": 10**9},
        {"hidden_size": 10**12},
        {"hidden_size": -8},
        {"hidden_size": 9},
        {"vocab_size": 10},
        {"num_attention_heads": 0},
        {"hidden_act": "never-heard-of"},
        {"layer_types": ["full_attention"] * 10**4},
        {"max_position_embeddings": 0},
        {"self": 1},
        {"cls": 1},
    ],
    ids=str,
)
def test_hostile_settings(make, change):
    files = through_json(make().to_files())
    files["pretrained.json"]["encoder"] |= change
    with pytest.raises(PretrainedError, match=r"HW707.*the model: pretrained\.json"):
        PretrainedEmbedding.from_files(PretrainedConfig(overlap=4), 8, files)


def test_large_tables_are_refused(encoder, make):
    """They are not among the weights, so that no size of a file vouches for them."""
    files = through_json(make(encoder("bert")).to_files())
    files["pretrained.json"]["encoder"]["max_position_embeddings"] = 1 << 24
    with pytest.raises(PretrainedError, match=r"HW707.*tables have more than"):
        PretrainedEmbedding.from_files(PretrainedConfig(), 8, files)


def test_numbers_of_labels_are_not_read(make):
    files = through_json(make().to_files())
    files["pretrained.json"]["encoder"] |= {"num_labels": 1 << 24, "return_dict": False}
    assert rebuilt(make(), files).encoder.config.return_dict


@pytest.mark.parametrize(
    "change",
    [
        {"pretrained.json": None},
        {"pretrained.json": {}},
        {"pretrained.json": []},
        {"tokenizer.json": None},
        {"tokenizer.json": "{}"},
        {"tokenizer.json": '"' * 100},
    ],
    ids=str,
)
def test_damaged_files(make, change):
    with pytest.raises(PretrainedError, match="HW707"):
        rebuilt(make(), make().to_files() | change)


@pytest.mark.parametrize("change", [{"window": 0}, {"window": -(10**9)}, {"window": "40"}, {"summary": 1}])
def test_damaged_description(make, change):
    files = make().to_files()
    with pytest.raises(PretrainedError, match="HW707"):
        rebuilt(make(), files | {"pretrained.json": files["pretrained.json"] | change})


def test_layers_beyond_the_encoder_are_refused(make):
    config = PretrainedConfig(overlap=4, layers=(1, 5))
    with pytest.raises(PretrainedError, match=r"HW707.*layers: the encoder has 3 layers, not 5"):
        PretrainedEmbedding.from_files(config, 8, make().to_files())


def test_a_window_beyond_the_tables_is_not_believed(make):
    files = make().to_files()
    larger = files | {"pretrained.json": files["pretrained.json"] | {"window": 10**6}}
    assert rebuilt(make(), larger).to_files() == files


def test_pieces_that_the_encoder_does_not_know_are_refused(make):
    files = make().to_files()
    data = json.loads(files["tokenizer.json"])
    data["model"]["vocab"]["beyond"] = 60
    with pytest.raises(PretrainedError, match=r"HW707.*pieces up to number 60"):
        rebuilt(make(), files | {"tokenizer.json": json.dumps(data)})


def test_settings_of_heads_are_not_kept(encoder, make):
    folder = encoder()
    config = transformers.AutoConfig.from_pretrained(folder)
    config.id2label = {n: f"label {n}" for n in range(5)}
    config.save_pretrained(folder)
    description = make(folder).to_files()["pretrained.json"]["encoder"]
    assert description.keys().isdisjoint({"id2label", "label2id", "architectures", "dtype", "torch_dtype"})
    assert description["model_type"] == "bert"
    assert description["hidden_size"] == 8
