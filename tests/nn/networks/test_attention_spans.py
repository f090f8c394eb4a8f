"""Attention spans of encoders whose heads are known by construction, ours and of Hugging Face."""

import json

import numpy as np
import pytest
import torch

from headwise.app.cli import main
from headwise.artifacts import save_model
from headwise.core.errors import ConfigError
from headwise.models.pictures import attention_span_figure, distances_by_layer
from headwise.nn.embeddings.pretrained.hub import PretrainedEncoder
from headwise.nn.embeddings.pretrained.word_pieces import PieceTokenizer
from headwise.nn.encoders import TransformerConfig
from headwise.nn.networks.attention_inspection import HeadSpan, attention_spans, mean_distance
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.tag_model import TagModel
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.text.character_features import Alphabet
from headwise.text.vocabulary import Vocabulary

TEXTS = ["a b c d e f g h", "b a", ""]


def model_of(*priors, **more) -> TextClassifierModel:
    torch.manual_seed(0)
    sizes = {"width": 8, "heads": len(priors), "head_size": 4, "layers": 2, "feedforward": 8}
    encoder = TransformerConfig(**sizes, priors=priors, positions="none", **more)
    return TextClassifierModel(
        ModelConfig(encoder=encoder, readout="mean"), Vocabulary.build([list("abcdefgh")]), ["x", "y"]
    )


def test_windows_of_our_own():
    actual = attention_spans(model_of("window(1)", "later + window(3)", classification_node=False), TEXTS)
    assert [(reach.layer, reach.head) for reach in actual] == [(1, 1), (1, 2), (2, 1), (2, 2)]
    for reach in actual:
        assert reach.mean == reach.spread == reach.head - 1
        assert reach.counts.tolist() == ([10] if reach.head == 1 else [0, 8])  # the last words see nothing
    assert actual[1].prior == "later + window 3"
    assert distances_by_layer(actual)[2].tolist() == [10, 8]


def shifted(steps: int) -> PretrainedEncoder:
    """A BERT of one head, in which every piece looks at the one so many steps ahead."""
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    size = 16
    settings = {"hidden_size": size, "num_attention_heads": 1, "num_hidden_layers": 1, "vocab_size": 9}
    config = transformers.BertConfig(**settings, intermediate_size=4, max_position_embeddings=size)
    encoder = transformers.BertModel(config, add_pooling_layer=False)
    table, attention = encoder.embeddings, encoder.encoder.layer[0].attention.self
    with torch.no_grad():
        for embedding in (table.word_embeddings, table.token_type_embeddings):
            embedding.weight.zero_()
        table.position_embeddings.weight.copy_(torch.eye(size))  # a position is one-hot, also when normed
        attention.query.weight.copy_(20 * torch.eye(size).roll(steps, 0))
        attention.key.weight.copy_(torch.eye(size))
    words = tokenizers.models.WordLevel(
        {w: n for n, w in enumerate(["[UNK]", *"abcdefgh"])}, unk_token="[UNK]"
    )
    tokenizer = tokenizers.Tokenizer(words)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return PretrainedEncoder(encoder, PieceTokenizer(tokenizer.to_str()), size, False)


@pytest.mark.parametrize("steps", [0, 2])
def test_a_bert_that_looks_ahead(steps):
    (head,) = attention_spans(shifted(steps), ["a b c d e f g h"])
    assert head.counts[steps] >= 8 - steps  # those whose goal is beyond the end look anywhere
    if steps == 0:
        assert head.mean == 0
        assert head.spread < 0.01


def test_an_encoder_stays_as_it_was():
    source = shifted(0)
    source.encoder.set_attn_implementation("sdpa")
    source.encoder.train()
    attention_spans(source, ["a b"])
    with pytest.raises(ConfigError, match="expected a text"):
        attention_spans(source, [1])
    assert source.encoder.config._attn_implementation == "sdpa"
    assert source.encoder.training


def test_a_text_longer_than_the_window_is_read_in_parts():
    (head,) = attention_spans(shifted(0), [" ".join("abcdefgh" * 5)])
    assert head.counts.tolist() == [40]


def test_nothing_to_see():
    with pytest.raises(ConfigError, match="no head looked"):
        attention_spans(model_of("forward"), [""])
    assert mean_distance(torch.zeros(0).numpy()) == 0


def test_the_picture():
    drawn = attention_span_figure(
        attention_spans(model_of("window(1)", "forward", "later"), TEXTS), "A < B"
    )
    assert drawn.startswith("<svg")
    assert "A &lt; B" in drawn
    assert drawn.count("<polyline") == 5  # three heads, and the two layers that there are


def test_a_picture_of_heads_that_look_beyond_it():
    heads = [HeadSpan(1, 1, np.array([0] * 30 + [5]), 30.0)]
    assert "nan" not in attention_span_figure(heads, "far")


def test_the_command(tmp_path, capsys):
    model = model_of("window(1)", "later + window(3)")
    save_model(model, tmp_path / "model", data={}, training={}, metrics={})
    (tmp_path / "texts.txt").write_text("a b c d e\nb c\n\n", encoding="utf-8")
    words = ["probe", str(tmp_path / "model"), str(tmp_path / "texts.txt")]
    assert main([*words, "--svg", str(tmp_path / "reach.svg")]) == 0
    out = capsys.readouterr().out
    assert "1:0.0  2:1.0" in out
    assert (tmp_path / "reach.svg").read_text(encoding="utf-8").startswith("<svg")
    assert main([*words, "--most", "-1"]) == 2
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    heads = json.loads(capsys.readouterr().out)
    assert [head["mean"] for head in heads] == [0.0, 1.0, 0.0, 1.0]
    assert heads[1]["counts"] == [0, 5]


def test_the_command_reads_a_file_as_the_model_does(tmp_path, capsys):
    torch.manual_seed(0)
    encoder = TransformerConfig(width=8, heads=1, head_size=4, layers=1, feedforward=8, priors=("later",))
    config = ModelConfig(task="tag", encoder=encoder)
    tagger = TagModel(
        config, Vocabulary.build([list("abcdefgh")]), ["O", "N"], "plain", Alphabet.build(["a"])
    )
    save_model(tagger, tmp_path / "model", data={}, training={}, metrics={})
    (tmp_path / "words.tsv").write_text("word\ttag\na\tO\nb\tN\nc\tO\n\nd\tO\ne\tN\n", encoding="utf-8")
    assert main(["probe", str(tmp_path / "model"), str(tmp_path / "words.tsv"), "--json"]) == 0
    out, err = capsys.readouterr()
    assert sum(json.loads(out)[0]["counts"]) == 3  # of five words the last of each sentence sees nothing
    assert "token='word'" in err
