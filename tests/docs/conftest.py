"""Training runs of pages and notebooks, which are short in the tests."""

import contextlib
from dataclasses import replace

import pytest

from headwise.app import training_request
from headwise.app.configuration import RunConfig, build_config


def _shortened(*layers) -> RunConfig:
    config = build_config(*layers)
    train = replace(config.train, epochs=min(config.train.epochs, 2), folds=min(config.train.folds, 2))
    return replace(config, train=train)


@pytest.fixture(scope="session")
def short_runs():
    """A context in which training runs have two epochs and two folds at most."""

    @contextlib.contextmanager
    def short_runs():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(training_request, "build_config", _shortened)
            yield

    return short_runs
