"""Label shift: labels that are more or less common than in training."""

import numpy as np
import pytest

from headwise.models.label_evaluation import label_shift_messages


def messages(chances, has):
    return [
        message.text
        for message in label_shift_messages(("a", "b"), np.array(chances), np.array(has), "texts")
    ]


def drawn(texts, chance):
    """Labels that are as likely as the model says."""
    chances = chance.dirichlet(np.ones(2), size=texts)
    return chances, np.eye(2)[(chance.random(texts) < chances[:, 1]).astype(int)]


def test_what_chance_does_is_not_told():
    chance = np.random.default_rng(0)
    assert not any(messages(*drawn(texts, chance)) for texts in (1, 2, 10, 100, 1_000) for _ in range(50))


def test_the_label_that_differs_the_most_is_told():
    chance = np.random.default_rng(0)
    chances, has = drawn(1_000, chance)
    mask = (has[:, 0] == 1) | (chance.random(1_000) < 0.1)
    (message,) = messages(chances[mask], has[mask])
    numbers, expected = has[mask].sum(axis=0), chances[mask].sum(axis=0)
    openings = [
        f"{name!r} is the label of {numbers[n]:.0f} of {mask.sum()} texts here"
        for n, name in enumerate("ab")
    ]
    assert any(
        message.startswith(f"{opening}, and of {expected[n]:.0f} by") for n, opening in enumerate(openings)
    )
    assert "headwise calibrate" in message


@pytest.mark.parametrize(("count", "expected"), [(9_000, False), (7_000, True)])
def test_a_difference_that_does_not_matter_is_none(count, expected):
    """Of 10,000 texts a few more or less are no chance any more."""
    chances = np.tile([0.95, 0.05], (10_000, 1))
    has = np.zeros((10_000, 2))
    has[:count, 0] = has[count:, 1] = 1
    assert bool(messages(chances[:, :1], has[:, :1])) == expected


def test_a_model_that_is_certain_says_no_more_for_one_text():
    assert not messages([[1.0, 0.0]] * 30, [[0, 1]] + [[1, 0]] * 29)
