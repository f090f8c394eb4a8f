"""The model card is complete, and no text becomes markup."""

import re
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from headwise.artifacts.model_card import escape, model_card

MARKDOWN = MarkdownIt("commonmark").enable("table")
NASTY = [
    "<script>alert(1)</script>",
    "a|b",
    "`x`",
    "**x**",
    "[x](http://y)",
    "# x",
    "x\n\n- y",
    "\u202eevil",
]


def card(model, data=None, metrics=None, training=None) -> str:
    return model_card(
        model, data=data or {}, metrics=metrics or {}, dtype="float32", training=training or {}
    )


def rows(page: str) -> list[list[str]]:
    """The cells of all rows of all tables, as a reader sees them."""
    html = MARKDOWN.render(page)
    cells = [
        re.findall(r"<t[hd]>(.*?)</t[hd]>", row, re.S) for row in re.findall(r"<tr>(.*?)</tr>", html, re.S)
    ]
    return [[unescape(cell) for cell in row] for row in cells]


def test_all_of_it(make_model):
    scores = {"accuracy": 0.875, "accuracy_interval": [0.8, 0.925], "macro_f1": 0.8, "texts": 100}
    labels = [{"label": "x", "precision": 0.5, "recall": 0.25, "f1": 0.333, "texts": 4}]
    page = card(
        make_model(),
        {
            "train": {"sha256": "ab12", "texts": 12345, "labels": {"x": 12000, "y": 345}},
            "test": {"texts": 100},
        },
        {
            "dev": {"epoch": 3, "accuracy": 0.9, "macro_f1": 0.85, "loss": 0.3},
            "test": {**scores, "labels": labels},
            "baseline": {
                "name": "TF-IDF + linear SVM",
                "accuracy": 0.859,
                "accuracy_interval": [0.8, 0.9],
                "macro_f1": 0.85,
                "difference": {"accuracy": 0.016, "interval": [-0.01, 0.04], "p_value": 0.25},
            },
            "calibration": {
                "expected_calibration_error_before": 0.12,
                "expected_calibration_error_after": 0.034,
            },
        },
    )
    table = rows(page)
    assert ["x", "12,000", "50.0 %", "25.0 %", "33.3 %"] in table
    assert ["y", "345", "–", "–", "–"] in table
    assert ["train", "12,345", "ab12"] in table
    assert ["this model", "dev", "–", "90.0 %", "–", "85.0 %"] in table
    assert ["this model", "test", "100", "87.5 %", "80.0 – 92.5 %", "80.0 %"] in table
    assert ["TF-IDF + linear SVM", "test", "100", "85.9 %", "80.0 – 90.0 %", "85.0 %"] in table
    assert "+1.6 points (95 % interval -1.0 to +4.0, McNemar p = 0.250)" in page
    assert "12.0 % before, 3.4 % after" in page
    assert page.startswith("# ")  # no front matter
    assert "headwise predict" in page
    assert "load_model(" in page


def test_scores_of_folds_are_called_out_of_fold(make_model):
    scores = {"accuracy": 0.9, "macro_f1": 0.85, "loss": 0.3}
    calibration = {f"expected_calibration_error_{when}": 0.1 for when in ("before", "after")}
    data = {"train": {"texts": 210}, "dev": {"texts": 45}}
    page, plain = (
        card(make_model(), data, {"dev": {**scores, "texts": 255, **folds}, "calibration": calibration})
        for folds in ({"folds": 3}, {})
    )
    assert ["this model", "out of fold", "255", "90.0 %", "85.0 %"] in rows(page)
    assert "Train and dev texts were learned from together, in 3 folds" in page
    assert "Expected calibration error out of fold: 10.0 %" in page
    assert "Scores out of fold look" in page
    assert "on dev" not in page
    assert ["this model", "dev", "255", "90.0 %", "85.0 %"] in rows(plain)
    assert "error on dev: 10.0 %" in plain
    assert "fold" not in plain.replace("folder", "").replace("FOLDER", "")


def test_nothing_but_the_model(make_model):
    page = card(make_model())
    assert "## Quality" not in page
    assert "## Data" not in page
    assert ["y", "–", "–", "–", "–"] in rows(page)


@pytest.mark.parametrize(
    "odd", [None, 3, "x", [1], {"labels": 3}, {"accuracy": "<b>"}, {"labels": [1, {"label": []}]}]
)
def test_metrics_and_data_of_any_kind(make_model, odd):
    for part in ("train", "dev", "test", "baseline", "calibration"):
        page = card(make_model(), {part: odd}, {part: odd})
        assert "<b>" not in page
        page = card(
            make_model(), {}, {"baseline": {"difference": odd, "accuracy_interval": odd, "name": odd}}
        )
        assert "<b>" not in page


def test_many_labels(make_model):
    page = card(make_model(labels=tuple(f"label{number}" for number in range(60))))
    assert "label49" in page
    assert "label50" not in page
    assert "and 10 more" in page


def test_nasty_labels_and_names(make_model):
    data = {"train": {"texts": 1, "sha256": NASTY[0], "labels": dict.fromkeys(NASTY, 7)}}
    page = card(make_model(labels=tuple(NASTY)), data, {"baseline": {"name": NASTY[1], "accuracy": 0.5}})
    html = MARKDOWN.render(page)
    plain = MARKDOWN.render(
        card(make_model(labels=tuple("abcdefgh")), {"train": {"texts": 1}}, {"dev": {"a": 1}})
    )
    assert re.findall("</?[a-z0-9]+", html) == re.findall("</?[a-z0-9]+", plain)
    assert [row[0] for row in rows(page) if row[1] == "7"] == [
        *NASTY[:6],
        "\\u000a".join(("x", "", "- y")),
        "\\u202eevil",
    ]


@given(st.text(max_size=40))
@settings(max_examples=100, deadline=None)
def test_any_text_is_shown_as_it_is(text):
    page = f"| a | b |\n| --- | --- |\n| x{escape(text)}y | z |\n"
    html = MARKDOWN.render(page)
    (cell,) = re.findall(r"<td>(.*?)</td>\n<td>z</td>", html, re.S)
    assert "<" not in cell
    assert "\n" not in cell
    if not any(ord(character) < 32 or ord(character) >= 0x7F for character in text):
        assert unescape(cell) == f"x{text}y"


def test_long_labels_are_cut():
    assert escape("x" * 200) == "x" * 80 + "…"


def test_the_code_imports_what_it_needs_and_no_more(make_model):
    import ast

    page = model_card(make_model(), data={}, metrics={}, dtype="float32")
    tree = ast.parse(page.split("```python\n")[1].split("```")[0])
    imported = {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert imported == {"load_model"}
    assert imported <= used


def test_the_origin_of_a_model(make_model):
    weeks = [f"week-{number}.csv" for number in range(1, 10)]
    page = card(
        make_model(),
        {"train": {"texts": 12}, "files": {"train": weeks, "dev": ["<b>.csv", 3], "test": "no list"}},
        training={"finished": "2024-01-15T06:00:00+00:00", "previous": {"name": "2024|01"}},
    )
    assert ["Training finished", "2024-01-15T06:00:00+00:00"] in rows(page)
    assert ["Started from the model", "2024|01"] in rows(page)
    shown = unescape(MARKDOWN.render(page))
    assert "Files: train: week-1.csv, week-2.csv, 6 more, week-9.csv; dev: <b>.csv." in shown
    assert "Files" not in card(make_model(), {"train": {"texts": 12}})
