"""Batches that do not fit into the memory are cut, and the update is the same."""

import logging

import numpy as np
import pytest
import torch
from torch import nn

from headwise.core.errors import HeadwiseError
from headwise.training.loop import run_epochs
from headwise.training.settings import TrainConfig

CONFIG = TrainConfig(epochs=2, batch_texts=8, accumulate=2, learning_rate=0.01, average=0.0)
FULL = "[enforce fail at alloc_cpu.cpp:1] DefaultCPUAllocator: can't allocate memory"


class Small:
    """A line through points, learnt on a machine with little memory.

    Args:
        most: Points that fit.
    """

    def __init__(self, most: int):
        chance = torch.Generator().manual_seed(0)
        self.points = torch.randn(40, 3, generator=chance)
        torch.manual_seed(1)
        self.model, self.most, self.lengths = nn.Linear(2, 1), most, np.arange(1, 41)

    def loss(self, texts):
        rows = self.points[list(texts)]
        loss = (self.model(rows[:, :2])[:, 0] - rows[:, 2]).square().sum()
        if len(texts) > self.most:
            loss.backward()  # it may have come as far as that
            raise RuntimeError(FULL)
        return loss

    def evaluate(self):
        return {"loss": 0.0, "accuracy": 0.0}


def where(text: int) -> str:
    return f"a.csv:{text + 1}"


def test_cut_in_two_and_the_same_update(tmp_path, monkeypatch):
    complete, cut = Small(8), Small(3)
    run_epochs(complete.model, complete, CONFIG, tmp_path / "whole")
    (handler := logging.Handler()).emit = (records := []).append
    logger = logging.getLogger("headwise")
    monkeypatch.setattr(logger, "handlers", [handler])
    monkeypatch.setattr(logger, "level", logging.INFO)
    run_epochs(cut.model, cut, CONFIG, tmp_path / "cut", where=where)
    torch.testing.assert_close(cut.model.weight, complete.model.weight)
    logged = "\n".join(record.getMessage() for record in records)
    assert "a batch of 8 texts does not fit into the memory (its longest: a.csv:40, 40 words)" in logged


def test_a_text_that_does_not_fit_is_named(tmp_path):
    small = Small(0)
    with pytest.raises(HeadwiseError, match=r"one text \(a\.csv:\d+, \d+ words\)") as error:
        run_epochs(small.model, small, CONFIG, tmp_path, where=where)
    assert error.value.code == "HW410"


def test_other_errors_are_not_taken_for_it(tmp_path, monkeypatch):
    small = Small(8)
    monkeypatch.setattr(small, "loss", lambda texts: torch.zeros(2) @ torch.zeros(3))
    with pytest.raises(RuntimeError):
        run_epochs(small.model, small, CONFIG, tmp_path)
