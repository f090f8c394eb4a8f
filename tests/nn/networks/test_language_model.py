"""LanguageModel: nothing that is to come is seen, whatever the encoder; every symbol is scored once."""

import math

import numpy as np
import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.data.items.symbols import SymbolVocabulary
from headwise.data.readers.streams import SymbolStream
from headwise.nn.encoders import BPTransformerConfig, MSSANConfig, MSTransformerConfig, TransformerConfig
from headwise.nn.networks.language_model import START_OF_TEXT, LanguageModel, scored_rows, window_batch
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.ragged import Ragged
from headwise.nn.task_layers.language_layers import LanguageWindow
from headwise.nn.task_layers.layer_configs import LanguageConfig

SYMBOLS = SymbolVocabulary("characters", tuple("abcdefg"), (1,) * 7)
SIZES = {"width": 8, "heads": 2, "head_size": 4, "layers": 4}
BLOCK = {**SIZES, "feedforward": 12}
PLAIN = {"classification_node": False}

ENCODERS = {
    "bpt": BPTransformerConfig(**BLOCK, k=2, clip=2, causal=True),
    "bpt k=1": BPTransformerConfig(**BLOCK, k=1, clip=2, causal=True),
    "bpt learned positions": BPTransformerConfig(
        **BLOCK, k=2, causal=True, relative=False, positions="learned", max_positions=40
    ),
    "transformer": TransformerConfig(**BLOCK, **PLAIN, priors=("forward",)),
    "transformer, windows and distances": TransformerConfig(
        **BLOCK, **PLAIN, priors=("forward + window(5)", "forward + word-distance(0.5)")
    ),
    "transformer, shaw and rotary": TransformerConfig(
        **BLOCK, **PLAIN, positions="none", priors=("forward + shaw(3)", "forward + rotary")
    ),
    "transformer, xl and buckets": TransformerConfig(
        **BLOCK, **PLAIN, positions="none", priors=("forward + transformer-xl", "forward + t5-buckets")
    ),
    "ms-transformer": MSTransformerConfig(**SIZES, **PLAIN, priors=("forward + window(3)", "forward")),
    "ms-san": MSSANConfig(**BLOCK, priors=("forward",)),
}


def config_of(encoder, language=None):
    language = language or LanguageConfig(unit="bytes")
    return ModelConfig(task="language-model", encoder=encoder, language=language)


def model_of(encoder, context=32, symbols=SYMBOLS):
    torch.manual_seed(0)
    language = LanguageConfig(context=context, dropout=0.0)
    model = LanguageModel(config_of(encoder, language), symbols).double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)  # what begins at 0 could hide a leak
    return model


def stream(length, seed=0, symbols=SYMBOLS):
    ids = np.random.default_rng(seed).integers(0, len(symbols), length, dtype=np.uint8)
    return SymbolStream(ids, "", symbols)


def log_probabilities(model, texts):
    """`[length, symbols]` for each text of symbols."""
    inputs = Ragged.from_list([torch.tensor([START_OF_TEXT, *text][:-1]) for text in texts])
    return inputs.with_values(model.logits(model(inputs).values).log_softmax(-1))


@pytest.fixture(params=list(ENCODERS))
def model(request):
    return model_of(ENCODERS[request.param])


@pytest.mark.parametrize("length", [1, 2, 5, 23])
def test_a_later_symbol_changes_nothing_earlier(model, length):
    """Also beside texts of other lengths."""
    text, more_texts = stream(length).ids.tolist(), [[1], stream(13, 1).ids.tolist(), [2, 3]]
    with torch.no_grad():
        before = log_probabilities(model, [more_texts[0], text, *more_texts[1:]])[1]
        shortened = log_probabilities(model, [text[: place + 1] for place in range(length)])
        for place in range(length):
            changed = [*text]
            changed[place] = (changed[place] + 3) % 7
            after = log_probabilities(model, [more_texts[0], changed, *more_texts[1:]])[1]
            torch.testing.assert_close(after[: place + 1], before[: place + 1], rtol=0, atol=0)
            if place + 1 < length:
                assert not torch.allclose(after[place + 1], before[place + 1])
            # Nor does it matter that there is no later symbol at all.
            torch.testing.assert_close(shortened[place], before[: place + 1], rtol=1e-9, atol=1e-9)


def test_no_gradient_flows_from_later_symbols(model):
    length = 21
    vectors = torch.randn(length, 8, dtype=torch.float64, requires_grad=True)
    states = model.encoder(Ragged.from_lengths(vectors, [length])).tokens.values
    for place in range(length):
        [gradient] = torch.autograd.grad(states[place].sin().sum(), vectors, retain_graph=True)
        felt = gradient.abs().max(-1).values > 0
        assert not felt[place + 1 :].any()
        assert felt[place]


def test_gradients(model):
    """The loss of ragged windows against finite differences, in the direction of a random vector."""
    text = stream(40)
    inputs, targets = window_batch(
        text.ids, [LanguageWindow(0, 0, 9), LanguageWindow(5, 5, 6), LanguageWindow(20, 20, 33)]
    )
    for module in model.modules():
        if hasattr(module, "drop"):
            module.drop = 0.0

    def loss():
        return model.losses(model(inputs).values, targets).double().sum()

    parameters = [p for p in model.parameters() if p.requires_grad]
    gradients = torch.autograd.grad(loss(), parameters, allow_unused=True)
    directions = [torch.randn_like(p) for p in parameters]
    expected = sum((g * d).sum() for g, d in zip(gradients, directions, strict=True) if g is not None)
    step, values = 1e-6, []
    with torch.no_grad():
        for sign in (1, -2):
            for parameter, direction in zip(parameters, directions, strict=True):
                parameter += sign * step * direction
            # float32 in the loss would drown the difference
            states = model(inputs).values
            chosen = model.logits(states).log_softmax(-1).gather(1, targets[:, None])
            values.append(-chosen.sum())
    torch.testing.assert_close((values[0] - values[1]) / (2 * step), expected, rtol=1e-4, atol=1e-4)


def test_windows_of_a_text():
    text = np.array([5, 6, 7, 8, 9], dtype=np.uint8)
    windows = [LanguageWindow(0, 0, 2), LanguageWindow(1, 3, 5), LanguageWindow(4, 4, 5)]
    inputs, targets = window_batch(text, windows)
    assert [piece.tolist() for piece in inputs] == [[START_OF_TEXT, 5], [5, 6, 7, 8], [8]]
    assert targets.tolist() == [5, 6, 6, 7, 8, 9, 9]
    assert targets[scored_rows(windows)].tolist() == [5, 6, 8, 9, 9]


@pytest.mark.parametrize("length", [1, 7, 8, 9, 21, 64])
@pytest.mark.parametrize("context", [1, 2, 7, 8])
def test_score_by_brute_force(length, context):
    """Each symbol from what the windows say may be seen before it, one at a time."""
    model, text = model_of(ENCODERS["transformer"], context), stream(length)
    ids, nats = text.ids.tolist(), 0.0
    for place in range(length):
        if place < context:
            first = 0
        else:
            step = max(1, context // 2)
            first = context + (place - context) // step * step + step - context
        before = [START_OF_TEXT, *ids][first : place + 1]
        with torch.no_grad():
            state = model(Ragged.from_list([torch.tensor(before)])).values[-1:]
            nats -= float(model.logits(state).log_softmax(-1)[0, ids[place]])
    for batch_tokens in (1, 20, 10_000):
        scores = model.score(text, batch_tokens=batch_tokens)
        assert scores.symbols == length
        assert scores.nats == pytest.approx(nats, rel=1e-5)
        assert scores.bits == pytest.approx(nats / length / math.log(2), rel=1e-5)


def test_score_leaves_the_mode():
    model = model_of(ENCODERS["bpt"], 8).train()
    assert model.score(stream(30), batch_tokens=8).symbols == 30
    assert model.training


def test_next_logits_are_cut_to_the_context():
    model, ids = model_of(ENCODERS["bpt"], 6), stream(20).ids.tolist()
    for count in (0, 1, 5, 6, 20):
        before = [START_OF_TEXT, *ids[:count]][-6:]
        with torch.no_grad():
            states = model(Ragged.from_list([torch.tensor(before)])).values
            expected = model.logits(states[-1])
        torch.testing.assert_close(model.next_logits(ids[:count]), expected)


def test_training_begins_not_far_from_a_guess():
    torch.manual_seed(0)
    symbols = SymbolVocabulary("bytes", tuple(map(chr, range(100))), (1,) * 100)
    for encoder in (ENCODERS["bpt"], ENCODERS["transformer"]):
        model = LanguageModel(config_of(encoder), symbols)
        assert model.score(stream(300, symbols=symbols)).loss == pytest.approx(math.log(100), rel=0.25)


def test_a_text_in_place_of_a_batch(model):
    with pytest.raises(ConfigError, match=r"not a str; use headwise.nn.networks.language_model.generate"):
        model("abc")


def test_errors():
    with pytest.raises(ConfigError, match="causal = true"):
        model_of(BPTransformerConfig(**BLOCK))
    with pytest.raises(ConfigError, match="512 symbols, but the encoder's learned positions end at 40"):
        model_of(ENCODERS["bpt learned positions"], 512)
    with pytest.raises(ConfigError, match="7 characters; a language model of bytes"):
        LanguageModel(config_of(ENCODERS["bpt"]), SYMBOLS)
    with pytest.raises(ConfigError, match="needs two or more"):
        LanguageModel(config_of(ENCODERS["bpt"]), SymbolVocabulary("bytes", ("a",), (1,)))
