"""Models in a notebook: facts without scripts, and no text becomes markup."""

import re
from html import unescape

from headwise.artifacts import load_model, save_model
from headwise.artifacts.model_card import model_html
from headwise.artifacts.model_info import ModelInfo

NASTY = "<script>alert(1)</script>"
SCORES = {"accuracy": 0.875, "accuracy_interval": [0.8, 0.925]}
DATA = {"train": {"texts": 12345}, "test": {"texts": 100}}
METRICS = {
    "test": SCORES,
    "baseline": {
        "name": NASTY,
        "accuracy": 0.859,
        "difference": {"accuracy": 0.016, "interval": [-0.01, 0.04], "p_value": 0.25},
    },
}


def plain_text(html: str) -> str:
    return unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", html, flags=re.S))


def test_what_is_known_stands_there(make_model):
    html = model_html(make_model(labels=(NASTY, "plain")), ModelInfo({"data": DATA, "metrics": METRICS}))
    for phrase in ("text classifier", "2 labels", NASTY, "plain", "12,345 train, 100 test", "87.5 %"):
        assert phrase in plain_text(html)
    assert "80.0 – 92.5 %" in plain_text(html)
    assert "+1.6 points" in plain_text(html)
    assert "<script" not in html


def test_of_what_is_not_known_nothing_is_said(make_model):
    hostile = {"data": {"train": {"texts": "many"}}, "metrics": {"test": 3, "baseline": {"name": "x"}}}
    for info in ({}, {"data": [], "metrics": None}, hostile):
        assert "MB in memory" in model_html(make_model(), ModelInfo(info))


def test_a_loaded_model_shows_the_folder_that_it_came_from(make_model, tmp_path):
    assert make_model()._repr_html_() is None  # then a notebook shows the layers
    save_model(make_model(), tmp_path / "m", data=DATA, training={}, metrics=METRICS)
    model = load_model(tmp_path / "m")
    assert "87.5 %" in model._repr_html_()
    metrics = METRICS | {"test": SCORES | {"accuracy": 0.1}}
    save_model(make_model(), tmp_path / "m", data=DATA, training={}, metrics=metrics)
    assert "12,345 train" in model._repr_html_()
    assert "10.0 %" not in model._repr_html_()  # those of another model
