"""Training runs of pages and notebooks, which are short in the tests."""

import contextlib
from dataclasses import replace
from functools import partial

import pytest

from headwise.app import training_request
from headwise.app.configuration import RunConfig, build_config
from headwise.nn.encoders import ENCODER_CONFIGS, ENCODERS
from headwise.nn.priors import PRIORS
from headwise.training import text_objectives
from headwise.training.linear_probe import fit_linear_probe
from headwise.training.memoized_fits import memoized, memoizing


def _shortened(*layers) -> RunConfig:
    config = build_config(*layers)
    train = config.train
    epochs, folds, batch = min(train.epochs, 2), min(train.folds, 2), max(train.batch_texts, 64)
    return replace(config, train=replace(train, epochs=epochs, folds=folds, batch_texts=batch))


@pytest.fixture(scope="session")
def short_runs():
    """A context in which training runs have two epochs and two folds at most, and large batches. The pages
    train on the same texts again and again: their linear models and linear probes are fitted once. What is
    registered in it is not afterwards."""
    fits, tables = {}, (PRIORS, ENCODERS, ENCODER_CONFIGS)

    @contextlib.contextmanager
    def short_runs():
        before = [set(table) for table in tables]
        with pytest.MonkeyPatch.context() as patch, memoizing(fits):
            patch.setattr(training_request, "build_config", _shortened)
            patch.setattr(text_objectives, "fit_linear_probe", partial(memoized, fit_linear_probe))
            yield
        for table, names in zip(tables, before, strict=True):
            for name in {*table} - names:
                del table[name]

    return short_runs
