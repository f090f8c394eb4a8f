"""Training a language model: what it learns, and that a run goes on as if it had not been stopped."""

import math

import numpy as np
import pytest
import torch

from headwise.core.errors import HeadwiseError, TrainingInterrupted
from headwise.data.items.symbols import SymbolVocabulary
from headwise.data.readers.streams import SymbolStream
from headwise.nn.encoders import BPTransformerConfig, TransformerConfig
from headwise.nn.networks.language_model import LanguageModel
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.task_layers.layer_configs import LanguageConfig
from headwise.training.language_objectives import LanguageObjective
from headwise.training.loop import run_epochs
from headwise.training.settings import TrainConfig

SYMBOLS = SymbolVocabulary("characters", tuple("abcdef "), (1,) * 7)
SIZES = {"width": 16, "heads": 2, "head_size": 8, "layers": 2, "feedforward": 32}
ENCODER = BPTransformerConfig(**SIZES, k=2, clip=2, causal=True, attention_dropout=0.1)


def text(length, seed=0):
    """Words abc, def and so on, in random order: what comes next is often certain."""
    random = np.random.default_rng(seed)
    words = random.choice(["abc", "def", "face", "bed"], length)
    return SymbolStream(SYMBOLS.encode(" ".join(words)[:length]), "", SYMBOLS)


def model_of(encoder=ENCODER, **config):
    language = LanguageConfig(**{"context": 16, **config})
    return LanguageModel(ModelConfig(task="language-model", encoder=encoder, language=language), SYMBOLS)


def objective_of(encoder=ENCODER, **config):
    torch.manual_seed(0)
    return LanguageObjective(model_of(encoder, **config), text(400), text(90, 1))


@pytest.mark.parametrize(
    "encoder",
    [
        ENCODER,
        TransformerConfig(
            **SIZES,
            classification_node=False,
            positions="none",
            priors=("forward + window(5)", "forward + word-distance(1)"),
        ),
    ],
)
def test_it_learns_what_there_is_to_learn(encoder, tmp_path):
    objective = objective_of(encoder)
    start = objective.evaluate()["loss"]
    assert 1.5 < start < 3.5
    config = TrainConfig(epochs=15, batch_texts=4, learning_rate=0.015, score="loss")
    run_epochs(objective.model, objective, config, tmp_path)
    scores = objective.evaluate()
    assert scores["loss"] < 0.9  # after a space there are four words to choose from
    assert scores["bits"] == pytest.approx(scores["loss"] / math.log(2))


def test_an_epoch():
    assert objective_of().lengths.tolist() == [16] * 25
    assert objective_of(windows=3).lengths.tolist() == [16] * 3
    assert objective_of(context=1000).lengths.tolist() == [400]


def test_the_loss_is_a_mean_over_symbols_summed_over_windows():
    objective = objective_of(context=1000, dropout=0.0)  # one window: the whole text
    objective.model.eval()
    mean_loss = objective.model.score(objective.train).loss
    assert objective.loss([0]).item() == pytest.approx(mean_loss, rel=1e-5)
    assert objective.loss([0, 0]).item() == pytest.approx(2 * mean_loss, rel=1e-5)


def test_a_run_that_was_stopped_ends_like_one_that_was_not(tmp_path):
    config = TrainConfig(epochs=3, batch_texts=4, learning_rate=0.01, score="loss", checkpoint_seconds=0)
    complete = objective_of(windows=10)
    run_epochs(complete.model, complete, config, tmp_path / "whole")

    class Stop(Exception):
        pass

    def stop_in_the_second_epoch(report):
        if report.progress.step == 5:
            raise Stop

    stopped = objective_of(windows=10)
    with pytest.raises((Stop, TrainingInterrupted)):
        run_epochs(stopped.model, stopped, config, tmp_path / "stopped", report=stop_in_the_second_epoch)
    again = objective_of(windows=10)
    torch.manual_seed(99)
    run_epochs(again.model, again, config, tmp_path / "stopped", resume=True)
    for ours, theirs in zip(again.model.parameters(), complete.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_a_text_without_symbols():
    with pytest.raises(HeadwiseError, match="the dev text has no symbols"):
        LanguageObjective(model_of(), text(20), text(0))
