"""Entity scores against conlleval, seqeval and counting."""

import random
import warnings

import pytest

from headwise.metrics.tag_schemes import TagSpan, read_spans
from headwise.metrics.tagging_scores import compare_entities, score_entities


def draw_tags(letters: str, seed: str, texts: int = 40, longest: int = 11):
    """Random gold tags, and predictions of which most are right; many fit no scheme."""
    draw = random.Random(seed)
    tags = ["O", "O", *(f"{letter}-{kind}" for letter in letters for kind in ("PER", "LOC-X"))]
    lengths = [draw.randrange(1, longest + 1) for _ in range(texts)]
    gold = [[draw.choice(tags) for _ in range(n)] for n in lengths]
    predicted = []
    for truth in gold:
        noise = [draw.choice(tags) for _ in truth]
        predicted.append([t if draw.random() < 0.7 else o for t, o in zip(truth, noise, strict=True)])
    return gold, predicted


def scores_of(gold, predicted):
    return score_entities(*([read_spans(tags) for tags in texts] for texts in (predicted, gold)))


def rounded(score) -> tuple[float, float, float, int]:
    return (round(score.precision, 6), round(score.recall, 6), round(score.f1, 6), score.spans)


# What seqeval 1.2.2 gives for `draw_tags(letters, scheme)`: precision, recall, F1 and support.
SEQEVAL = [
    ("iob1", "BI", (0.575758, 0.666667, 0.617886, 57), (0.675325, 0.712329, 0.693333, 73), 0.659341),
    ("iob2", "BI", (0.6, 0.56962, 0.584416, 79), (0.583333, 0.688525, 0.631579, 61), 0.606272),
    ("bioes", "BIES", (0.730769, 0.703704, 0.716981, 81), (0.780822, 0.780822, 0.780822, 73), 0.747541),
]


@pytest.mark.parametrize(("scheme", "letters", "location", "person", "micro"), SEQEVAL)
def test_figures_of_seqeval(scheme, letters, location, person, micro):
    scores = scores_of(*draw_tags(letters, scheme))
    assert [score.type for score in scores.types] == ["LOC-X", "PER"]
    assert [rounded(score) for score in scores.types] == [location, person]
    assert round(scores.f1, 6) == micro
    assert scores.macro_f1 == pytest.approx((location[2] + person[2]) / 2, abs=1e-6)


@pytest.mark.parametrize(("scheme", "letters"), [("iob1", "BI"), ("iob2", "BI"), ("bioes", "BIES")])
def test_as_seqeval(scheme, letters):
    """Where seqeval is installed; it does not know L and U."""
    metrics = pytest.importorskip("seqeval.metrics")
    for seed in range(100):
        gold, predicted = draw_tags(letters, str(seed), texts=5, longest=6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = metrics.f1_score(gold, predicted)
        assert scores_of(gold, predicted).f1 == pytest.approx(theirs)


def conlleval(gold, predicted):
    """(right, predicted, true) phrases by the rules of the perl script conlleval (E. Tjong Kim Sang, 2004)
    for B and I, as it goes through the words of both columns at once."""

    def ends(before, tag):
        return before[0] != "O" and (tag[0] in "BO" or before[2:] != tag[2:])

    def starts(before, tag):
        return tag[0] == "B" or (tag[0] == "I" and (before[0] == "O" or before[2:] != tag[2:]))

    right = predictions = there = 0
    for truth, guess in zip(gold, predicted, strict=True):
        both, before = False, ("O", "O")
        for now in zip([*truth, "O"], [*guess, "O"], strict=True):
            over = [ends(b, tag) for b, tag in zip(before, now, strict=True)]
            new = [starts(b, tag) for b, tag in zip(before, now, strict=True)]
            if both and all(over):
                right, both = right + 1, False
            elif both and (any(over) or now[0][2:] != now[1][2:]):
                both = False
            both = both or (all(new) and now[0][2:] == now[1][2:])
            there, predictions, before = there + new[0], predictions + new[1], now
    return right, predictions, there


@pytest.mark.parametrize("seed", range(50))
def test_as_conlleval(seed):
    gold, predicted = draw_tags("BI", str(seed))
    right, predictions, there = conlleval(gold, predicted)
    scores = scores_of(gold, predicted)
    assert (scores.predicted, scores.spans) == (predictions, there)
    assert scores.precision == pytest.approx(right / predictions)
    assert scores.recall == pytest.approx(right / there)
    assert scores.f1 == pytest.approx(2 * right / (predictions + there))


def test_by_hand():
    gold = [[TagSpan(0, 2, "A"), TagSpan(3, 4, "B")], [], [TagSpan(1, 2, "A")]]
    guess = [[TagSpan(0, 2, "A"), TagSpan(3, 4, "A")], [TagSpan(0, 1, "C")], []]
    scores = score_entities(guess, gold)
    assert (scores.texts, scores.spans, scores.predicted) == (3, 3, 3)
    assert scores.precision == scores.recall == scores.f1 == pytest.approx(1 / 3)
    assert [(entity.type, entity.precision, entity.recall, entity.f1) for entity in scores.types] == [
        ("A", 0.5, 0.5, 0.5),
        ("B", 0.0, 0.0, 0.0),
        ("C", 0.0, 0.0, 0.0),
    ]
    assert scores.macro_f1 == pytest.approx(1 / 6)
    low, high = scores.f1_interval
    assert 0 <= low < scores.f1 < high <= 1


def test_nothing_to_find():
    scores = score_entities([[], []], [[], []])
    assert (scores.f1, scores.f1_interval, scores.macro_f1, scores.types) == (0.0, (0.0, 0.0), 0.0, ())
    with pytest.raises(ValueError, match="no texts"):
        score_entities([], [])
    with pytest.raises(ValueError, match="shorter"):
        score_entities([[], []], [[]])


def test_compare():
    gold = [[TagSpan(0, 1, "A")]] * 40
    first, second = gold[:36] + [[]] * 4, gold[:20] + [[]] * 20
    comparison = compare_entities(first, second, gold)
    assert comparison.score == pytest.approx(72 / 76 - 40 / 60)
    low, high = comparison.interval
    assert 0 < low < comparison.score < high
    assert comparison.p_value < 0.001
    assert compare_entities(first, first, gold).p_value == 1.0
