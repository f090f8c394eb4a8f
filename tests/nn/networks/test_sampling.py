"""Sampling from language models, and prompts."""

import numpy as np
import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.data.errors import DataError
from headwise.data.items.symbols import SymbolVocabulary
from headwise.nn.encoders import BPTransformerConfig
from headwise.nn.networks.language_model import (
    LanguageModel,
    SampleConfig,
    encode_prompt,
    generate,
    sample_symbol,
    text_of,
)
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.task_layers.layer_configs import LanguageConfig

CHARACTERS = SymbolVocabulary("characters", (*"abc ", "<unk>"), (5, 4, 3, 2, 0), unknown=4)
WORDS = SymbolVocabulary("words", ("the", "cat", "<eos>", "<unk>"), (5, 4, 3, 2), unknown=3)
BYTES = SymbolVocabulary("bytes", tuple(map(chr, "aé".encode())), (1, 1, 1))


@pytest.fixture
def model():
    torch.manual_seed(0)
    encoder = BPTransformerConfig(
        width=8, heads=2, head_size=4, layers=2, feedforward=8, k=2, clip=1, causal=True
    )
    config = ModelConfig(task="language-model", encoder=encoder, language=LanguageConfig(context=6))
    return LanguageModel(config, CHARACTERS).eval()


def test_it_depends_on_the_seed_alone(model):
    config = SampleConfig(length=30, temperature=1.0)
    texts = [list(generate(model, [0, 1], config)) for _ in range(2)]
    assert texts[0] == texts[1]
    assert len(texts[0]) == 30
    assert texts[0] != list(generate(model, [0, 1], SampleConfig(length=30, temperature=1.0, seed=1)))


def test_it_never_gives_a_symbol_that_training_never_saw(model):
    with torch.no_grad():
        model.bias[4] = 100.0
    assert 4 not in list(generate(model, [], SampleConfig(length=50, temperature=5.0)))


def test_the_most_probable(model):
    for config in (SampleConfig(length=12, temperature=0.0), SampleConfig(length=12, top_k=1)):
        before = [0]
        for number in generate(model, [0], config):
            logits = model.next_logits(before)
            logits[4] = float("-inf")
            assert number == int(logits.argmax())
            before.append(number)


def test_choice_is_by_probability():
    logits = torch.tensor([2.0, 1.0, 0.0, -1.0])
    generator = torch.Generator().manual_seed(0)

    def shares(**config):
        actual = [sample_symbol(logits, SampleConfig(**config), generator) for _ in range(4000)]
        return torch.from_numpy(np.bincount(actual, minlength=4) / 4000)

    torch.testing.assert_close(shares(temperature=1.0), logits.softmax(0).double(), atol=0.03, rtol=0)
    torch.testing.assert_close(shares(temperature=0.5), (2 * logits).softmax(0).double(), atol=0.03, rtol=0)
    top = shares(temperature=1.0, top_k=2)
    torch.testing.assert_close(top[:2], logits[:2].softmax(0).double(), atol=0.03, rtol=0)
    assert not top[2:].any()
    torch.testing.assert_close(
        shares(temperature=1.0, top_k=99), logits.softmax(0).double(), atol=0.03, rtol=0
    )


def test_prompts():
    assert encode_prompt(CHARACTERS, "ab c") == [0, 1, 3, 2]
    assert encode_prompt(CHARACTERS, "") == []
    assert encode_prompt(WORDS, "the  cat\nthe") == [0, 1, 2, 0]
    assert encode_prompt(WORDS, "the cat\n") == [0, 1, 2]
    assert encode_prompt(WORDS, "the <unk>") == [0, 3]
    assert encode_prompt(BYTES, "aé") == [0, 1, 2]


@pytest.mark.parametrize(
    ("symbols", "prompt", "strange"),
    [(CHARACTERS, "a dog", "'d', 'o', 'g'"), (WORDS, "the dog", "'dog'"), (BYTES, "b", "'b'")],
)
def test_prompts_that_are_not_known(symbols, prompt, strange):
    message = f"the prompt has {symbols.unit} that the model does not know: {strange}"
    with pytest.raises(DataError, match=message):
        encode_prompt(symbols, prompt)


def test_text_as_it_comes():
    assert list(text_of(CHARACTERS, iter([0, 3, 4]))) == ["a", " ", "\ufffd"]
    assert "".join(text_of(WORDS, iter([0, 1, 2, 1]))) == "the cat\ncat"
    assert "".join(text_of(WORDS, iter([0, 1]), after="a")) == " the cat"
    assert "".join(text_of(WORDS, iter([0, 1]), after="a\n")) == "the cat"
    assert list(text_of(BYTES, iter([0, 1, 2]))) == ["a", "", "é", ""]
    assert "".join(text_of(BYTES, iter([0, 1]))) == "a\ufffd"


def test_errors(model):
    with pytest.raises(ConfigError, match="temperature must be at least 0"):
        SampleConfig(temperature=-1)
    with pytest.raises(ConfigError, match="eval mode"):
        next(generate(model.train(), [], SampleConfig()))
