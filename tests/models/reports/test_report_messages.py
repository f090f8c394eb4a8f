"""Messages of a report where a simpler system is as good as the model."""

import pytest

from headwise.models.report_messages import (
    baseline_message,
    label_messages,
    label_set_messages,
    plain_tag_messages,
    regression_messages,
)
from headwise.models.report_parts import ComparisonSystem
from headwise.models.tasks import find_task

CLASSIFY, NUMBERS, LANGUAGE = (
    find_task(name).metric_table({}) for name in ("classify", "regress", "language-model")
)


def rival(low: float, high: float, p: float = 0.01) -> ComparisonSystem:
    gap = {"accuracy": (low + high) / 2, "score": (low + high) / 2, "interval": [low, high], "p_value": p}
    return ComparisonSystem("linear", {"accuracy": 0.5, "mae": 1.0}, gap)


@pytest.mark.parametrize("metric_table", [CLASSIFY, NUMBERS])
@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ((-0.2, -0.1), "is better than this model; use it"),
        ((-0.1, 0.1), "do not differ"),
        ((0.1, 0.2), None),
    ],
)
def test_by_the_interval(metric_table, bounds, expected):
    message = baseline_message(metric_table, {"accuracy": 0.4, "mae": 2.0}, rival(*bounds), "use it")
    assert (message is None) == (expected is None)
    assert message is None or expected in message.text
    assert message is None or message.warning == ("better" in expected)


def test_of_few_items_an_interval_says_nothing():
    message = baseline_message(CLASSIFY, {"accuracy": 0.0}, rival(-1.0, -1.0, 1.0), "use it")
    assert message is not None
    assert "do not differ significantly on the test texts (p is 1.00)" in message.text
    assert not message.warning


def test_by_the_scores_alone():
    key = LANGUAGE.primary_metric.key
    for score, rival_score, better in ((4.0, 3.0, True), (3.0, 4.0, False)):
        message = baseline_message(
            LANGUAGE, {key: score}, ComparisonSystem("frequencies", {key: rival_score}), "train longer"
        )
        assert (message is not None) == better
    assert baseline_message(CLASSIFY, {"accuracy": 0.4}, None, "") is None


def scores(matrix):
    return {"labels": [{"label": name} for name in "abc"], "confusion": matrix}


def test_a_guess_that_is_as_good():
    [message, *_] = label_messages(CLASSIFY, scores([[3, 1, 0], [1, 1, 0], [0, 0, 0]]))
    assert "always 'a' would be right as often" in message.text
    messages = label_messages(CLASSIFY, scores([[3, 1, 0], [1, 0, 0], [1, 0, 0]]))
    assert "always 'a' would be right more often" in messages[0].text
    assert "66.7 %" in messages[0].text
    assert messages[0].warning
    assert messages[1].text == "never predicted: 'c'"
    assert label_messages(CLASSIFY, scores([[3, 1, 0], [1, 2, 0], [0, 0, 1]])) == []
    *_, never = label_messages(CLASSIFY, scores([[3, 1, 0], [1, 1, 0], [1, 0, 0]]), thresholds=True)
    assert "--classifier.thresholds f1 gives rare labels too" in never.text
    assert label_messages(NUMBERS, {}) == []


def numbers(mae=1.0, median_mae=2.0, r2=0.5):
    return {"mae": mae, "median": 3.5, "median_mae": median_mae, "r2": r2}


SIZES = [str(10**n) for n in range(-3, 5)]


def test_a_number_that_is_nearer_than_the_models():
    assert regression_messages(numbers(), SIZES) == []
    assert regression_messages({}, SIZES) == []  # of an old folder
    [message] = regression_messages(numbers(mae=2.5, r2=-1), ["1", "2", "4"])
    assert message.warning
    assert message.text == "always 3.5 would be nearer (mean absolute error 2 in place of 2.5)"
    [message] = regression_messages(numbers(r2=-1.25), ["1", "2"])
    assert message.warning
    assert "variance explained -1.25" in message.text


@pytest.mark.parametrize(
    ("labels", "advised"),
    [
        (SIZES, True),
        ([size.replace(".", ",") for size in SIZES], True),
        ([*SIZES, "0"], False),
        ([*SIZES, "-1"], False),
        ([*SIZES, "n/a"], False),
        ([str(n) for n in range(1, 1_000)], False),  # of many sizes, but as many large as small
        (["1", "2", "3", "40"], False),
        ([], False),
    ],
)
def test_of_many_sizes_the_logarithm_is_advised(labels, advised):
    [message] = regression_messages(numbers(mae=2.5), labels)
    assert ("train on their logarithm" in message.text) == advised


def test_tasks_know_what_to_remark():
    """Numbers are those of the training, which the folder names."""
    labels = dict.fromkeys(SIZES, 1)
    for name in ("regress", "pair-score"):
        [message] = find_task(name).score_messages(labels, numbers(mae=2.5))
        assert "train on their logarithm" in message.text
        assert find_task(name).score_messages({}, numbers()) == []
    [message] = find_task("classify").score_messages({}, scores([[3, 1, 0], [1, 1, 0], [0, 0, 0]]))
    assert "always 'a'" in message.text


def test_the_number_that_would_be_nearer_is_not_rounded():
    scores = {"mae": 250.0, "median_mae": 200.0, "median": 1700049500.5, "r2": -0.1}
    [message] = regression_messages(scores, SIZES[:2])
    assert message.text.startswith("always 1700049500.5 would be nearer (mean absolute error 200 in place")


@pytest.mark.parametrize(
    ("score", "counts", "expected"),
    [
        (0.4, {"x": 10, "y": 2}, "giving every text 'x' would have a higher micro F1 (47.6 %)"),
        (20 / 42, {"x": 10, "y": 2}, "giving every text 'x' would have as high a micro F1 (47.6 %)"),
        (0.5, {"x": 10, "y": 2}, None),
        (0.5, {"y": 15, "x": 15}, "giving every text 'y', 'x' would have a higher micro F1 (66.7 %)"),
        (0.0, {}, None),
    ],
)
def test_sets_of_the_commonest_labels(score, counts, expected):
    rows = [{"label": label, "texts": count} for label, count in counts.items()]
    messages = label_set_messages({"micro_f1": score, "texts": 30, "labels": rows})
    assert [(message.text, message.warning) for message in messages] == (
        [(expected, True)] if expected else []
    )


def test_labels_of_which_nothing_is_found():
    """Their probabilities may still tell such texts from others, where a threshold is for F1."""
    rows = [
        {"label": name, "texts": n, "recall": recall} for name, n, recall in (("a", 20, 0.9), ("b", 4, 0.0))
    ]
    [message] = label_set_messages(
        {"micro_f1": 0.9, "texts": 30, "labels": [*rows, {"label": "c", "texts": 0}]}
    )
    assert message.text.startswith(
        "no text with 'b' is found by its threshold: where none may be missed, cut"
    )
    assert not message.warning


@pytest.mark.parametrize(
    ("accuracy", "expected"),
    [
        (0.9, "always 'O' would be right as often (90.0 %)"),
        (0.8, "always 'O' would be right more often (90.0 %)"),
        (0.95, None),
    ],
)
def test_the_commonest_tag(accuracy, expected):
    rows = [{"tag": "A", "words": 10}, {"tag": "O", "words": 90}]
    messages = plain_tag_messages({"tokens": {"accuracy": accuracy, "tags": rows}})
    assert [(message.text, message.warning) for message in messages] == (
        [(expected, True)] if expected else []
    )
    assert (
        plain_tag_messages({"tokens": {"accuracy": accuracy, "tags": rows}, "entities": {"f1": 0.1}}) == []
    )


@pytest.mark.parametrize("rows", [None, "ab", 3, [3], [{}], [{"label": "x", "texts": "7", "words": None}]])
def test_scores_of_a_folder_that_are_none(rows):
    assert label_set_messages({"micro_f1": 0.1, "texts": 3, "labels": rows}) == []
    assert (
        label_set_messages({"micro_f1": 0.1, "texts": None, "labels": [{"label": "x", "texts": 2}]}) == []
    )
    assert plain_tag_messages({"tokens": {"accuracy": 0.1, "tags": rows}}) == []
