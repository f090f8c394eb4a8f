"""A weight is nearly as many texts or pairs: it is relative, and ratios add 1 to sums of weights."""

import numpy as np
import pytest

from headwise.data.items.label_types import LABEL_SET_TYPE, NUMERIC_LABEL_TYPE, SINGLE_LABEL_TYPE, LabelType
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.linear.linear_settings import LinearSettings
from headwise.linear.targets import LabelTargets, TextWeights
from headwise.linear.tfidf_features import BlockReader
from headwise.linear.training_data import TrainingData, TrainingTexts

RANDOM = np.random.default_rng(0)
WORDS = [f"w{n}" for n in range(60)]
TEXTS = [" ".join(RANDOM.choice(WORDS, 12)) for _ in range(200)]
SETS = np.array([[f"{word} " in text for word in ("w1", "w2")] for text in TEXTS])
SETS ^= RANDOM.random(SETS.shape) < 0.1
ALIKE = RANDOM.random(200) < 0.5
PAIRS = [
    (text, " ".join(RANDOM.choice(text.split() if similar else WORDS, 6)))
    for text, similar in zip(TEXTS, ALIKE, strict=True)
]
SCORES = (2 * ALIKE - 1 + RANDOM.normal(0, 0.3, 200)).astype(np.float32)
TIMES = RANDOM.integers(0, 4, 200)


def label_type_of(targets: np.ndarray) -> LabelType:
    if targets is SETS:
        return LABEL_SET_TYPE
    return NUMERIC_LABEL_TYPE if targets is SCORES else SINGLE_LABEL_TYPE


@pytest.mark.parametrize(
    ("items", "targets", "classes"),
    [(TEXTS, SETS, 2), (PAIRS, ALIKE.astype(np.int64), 2), (PAIRS, SCORES, 1)],
)
@pytest.mark.parametrize(("ratios", "most"), [(True, 0.3), (False, 0.05)])
def test_a_weight_is_nearly_as_many(items, targets, classes, ratios, most):
    def scores_of(numbers, strength, weights=None):
        settings = LinearSettings(ratios=ratios and targets is not SCORES, strength=strength)
        examples = LinearExamples(
            [items[number] for number in numbers],
            targets[numbers],
            classes,
            label_type_of(targets),
            sample_weight=weights,
            pairs=items is PAIRS,
        )
        fitted = fit_linear(examples, settings=settings, folds=1)
        return fitted.model.scores(items, None, None)

    every = np.arange(200)
    expected = scores_of(np.repeat(every, TIMES), 0.2)
    # The weights are relative: their mean goes into the strength.
    weighed, plain = scores_of(every, 0.2 * TIMES[TIMES > 0].mean(), TIMES), scores_of(every, 0.2)
    assert np.abs(weighed - expected).mean() < most * np.abs(plain - expected).mean()


@pytest.mark.parametrize("items", [TEXTS, PAIRS], ids=["texts", "pairs"])
@pytest.mark.parametrize("block", ["words", "characters"])
def test_a_weight_is_as_many_in_how_rare_words_are(items, block):
    reader, every = BlockReader(block, pairs=items is PAIRS), np.repeat(np.arange(200), TIMES)
    again, repeated = reader.fit([items[number] for number in every], max_features=10**6)
    vocabulary, weighed = reader.fit(items, max_features=10**6, weights=TIMES)
    np.testing.assert_array_equal(vocabulary.keys, again.keys)
    np.testing.assert_allclose(vocabulary.idf, again.idf, rtol=1e-6)
    np.testing.assert_allclose(weighed[every].toarray(), repeated.toarray(), atol=1e-6)


@pytest.mark.parametrize(
    ("items", "targets", "classes"),
    [(TEXTS, SETS, 2), (TEXTS, SCORES, 1), (PAIRS, ALIKE.astype(np.int64), 2), (PAIRS, SCORES, 1)],
)
def test_what_counts_nothing_leaves_no_trace(items, targets, classes):
    """Neither in words, nor in mean and deviation of numbers, nor in what a mistake costs."""
    counts = (TIMES > 0).astype(float)
    settings = LinearSettings(ratios=targets is not SCORES, dense=1.0, form=items is TEXTS)
    vectors = np.random.default_rng(1).normal(size=(200, 4)).astype(np.float32)
    vectors[counts == 0] += 9

    def fitted(numbers, weights=None):
        return fit_linear(
            LinearExamples(
                [items[number] for number in numbers],
                targets[numbers],
                classes,
                dense=vectors[numbers],
                label_type=label_type_of(targets),
                sample_weight=weights,
                pairs=items is PAIRS,
            ),
            settings=settings,
            folds=1,
        ).model

    weighted, alone = fitted(np.arange(200), counts), fitted(np.flatnonzero(counts))
    for name, block in alone.blocks.items():
        np.testing.assert_array_equal(weighted.blocks[name].idf, block.idf)
    np.testing.assert_allclose(weighted.scale.mean, alone.scale.mean, atol=1e-6)
    scores = [model.scores(items, vectors, None) for model in (weighted, alone)]
    assert (
        np.abs(scores[0] - scores[1]).max() < 0.1 * np.abs(scores[1]).max()
    )  # the order of texts is another


def test_names_of_labels_do_not_tell_how_rare_words_are_by_their_weights():
    targets = LabelTargets.of(np.zeros(200, np.int64), 2)
    importance = TextWeights.of(targets, np.repeat([1.0, 50.0], [198, 2]), text_count=198)
    source = TrainingTexts(TEXTS, targets, importance, np.arange(200) >= 198)
    data = TrainingData.of(source, BlockReader("words"), 10**6)
    plain, _ = BlockReader("words").fit(TEXTS, max_features=10**6)
    np.testing.assert_array_equal(data.blocks["words"][0].idf, plain.idf)
