"""What a report says where something simpler is as good as a model."""

import pytest

from headwise.report.remarks import compare_with, on_labels
from headwise.report.rival import Rival
from headwise.tasks import TASKS

CLASSIFY, NUMBERS, LANGUAGE = (TASKS[name].sheet({}) for name in ("classify", "regress", "language-model"))


def rival(low: float, high: float, p: float = 0.01) -> Rival:
    gap = {"accuracy": (low + high) / 2, "score": (low + high) / 2, "interval": [low, high], "p_value": p}
    return Rival("linear", {"accuracy": 0.5, "mae": 1.0}, gap)


@pytest.mark.parametrize("sheet", [CLASSIFY, NUMBERS])
@pytest.mark.parametrize(
    ("bounds", "said"),
    [((-0.2, -0.1), "is better than this model; use it"), ((-0.1, 0.1), "do not tell"), ((0.1, 0.2), None)],
)
def test_by_the_interval(sheet, bounds, said):
    found = compare_with(sheet, {"accuracy": 0.4, "mae": 2.0}, rival(*bounds), "use it")
    assert (found is None) == (said is None)
    assert found is None or said in found.text
    assert found is None or found.warning == ("better" in said)


def test_of_few_items_an_interval_says_nothing():
    found = compare_with(CLASSIFY, {"accuracy": 0.0}, rival(-1.0, -1.0, 1.0), "use it")
    assert found is not None
    assert "do not tell the model and the baseline apart (p is 1.00)" in found.text
    assert not found.warning


def test_by_the_scores_alone():
    key = LANGUAGE.headline.key
    for own, other, better in ((4.0, 3.0, True), (3.0, 4.0, False)):
        found = compare_with(LANGUAGE, {key: own}, Rival("frequencies", {key: other}), "train longer")
        assert (found is not None) == better
    assert compare_with(CLASSIFY, {"accuracy": 0.4}, None, "") is None


def scores(matrix):
    return {"labels": [{"label": name} for name in "abc"], "confusion": matrix}


def test_a_guess_that_is_as_good():
    [found, *_] = on_labels(CLASSIFY, scores([[3, 1, 0], [1, 1, 0], [0, 0, 0]]))
    assert "always 'a' would be right as often" in found.text
    found = on_labels(CLASSIFY, scores([[3, 1, 0], [1, 0, 0], [1, 0, 0]]))
    assert "always 'a' would be right more often" in found[0].text
    assert "66.7 %" in found[0].text
    assert found[0].warning
    assert found[1].text == "never predicted: 'c'"
    assert on_labels(CLASSIFY, scores([[3, 1, 0], [1, 2, 0], [0, 0, 1]])) == []
    *_, never = on_labels(CLASSIFY, scores([[3, 1, 0], [1, 1, 0], [1, 0, 0]]), thresholds=True)
    assert "--classifier.thresholds f1 gives rare labels too" in never.text
    assert on_labels(NUMBERS, {}) == []
