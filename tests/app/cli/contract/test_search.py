"""What every task promises of the search over its settings, and of models without the heads that add
nothing."""

import json
from itertools import islice

import numpy as np
import pytest

from headwise.app.configuration import build_config
from headwise.app.session import ModelSession
from headwise.app.workflows.search_spaces import settings_search_space
from headwise.app.workflows.tune import tune_file
from headwise.artifacts import load_model, read_info
from headwise.core.config import lookup

LEFT_OUT = {
    "test_items_add_up_to_the_headline": ("language-model", "masked-words"),
    "test_settings_are_searched": ("language-model",),
    "test_heads_are_pruned": ("bags", "language-model"),
}


def test_items_add_up_to_the_headline(own):
    session = ModelSession.open(own.model, device="cpu")
    model, task = session.model, session.task
    items = session.read(own.test).items
    judged = task.evaluate(model, items)
    found = task.metric_parts(model, items, judged)
    assert found.shape == (len(items), 3)
    assert np.isfinite(found).all()
    scores = judged.to_json()
    primary_metric = lookup(scores, task.metric_table(scores).primary_metric.key)
    assert found[:, 1].sum() / found[:, 2].sum() == pytest.approx(primary_metric)
    if (loss := lookup(scores, "log_loss")) is not None:
        assert found[:, 0].mean() == pytest.approx(loss, rel=1e-4)


def test_settings_are_searched(own, tmp_path):
    recipe = read_info(own.model)["training"]["recipe"]
    found = tune_file(
        str(own.train),
        tmp_path,
        seeds=1,
        settings=[recipe],
        space=lambda recipe: dict(islice(settings_search_space(recipe).items(), 2)),
    )
    assert found.finished
    assert len(found.tried) == 2
    for section, change in found.best.change.items():
        assert change.items() <= found.settings[section].items()
    assert build_config(found.settings).model.task == own.task
    assert all(np.isfinite([tried.loss, tried.score]).all() for tried in found.tried)


def test_heads_are_pruned(call, own, tmp_path):
    code, out, err = call("heads", own.model, own.test, "--prune", tmp_path / "o", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["heads"] == 2
    assert len(found["removed"]) <= 1  # a layer keeps one
    code, out, err = call("evaluate", tmp_path / "o", own.test, "--json")
    assert code == 0, err
    assert lookup(json.loads(out), found["score"]) == pytest.approx(found["scores"][1])
    assert len(load_model(tmp_path / "o").config.encoder.dropped) == len(found["removed"])
    code, _, err = call("heads", own.model, own.test, "--prune", tmp_path / "o")
    assert code == 2
    assert "--overwrite to replace it, or name another folder" in err
    code, out, err = call("heads", own.model, own.test, "--prune", tmp_path / "o", "--overwrite")
    assert code == 0, err
    assert "heads are removed" in out
