"""Characters that are drawn: the same one looks more alike than two, and sets say how many there are."""

import numpy as np
import pytest
import torch


@pytest.fixture
def characters():
    from benchmarks.papers import unique_characters

    return unique_characters


def test_sets(characters):
    images, counts = characters.character_sets(3, 40)
    assert images.values.shape[1:] == (28, 28)
    assert set(images.layout.sizes) == {6, 7, 8, 9, 10}
    assert all(1 <= count <= size for count, size in zip(counts, images.layout.sizes, strict=True))
    assert 0 <= images.values.min() < images.values.max() <= 1
    again, _ = characters.character_sets(3, 40)
    assert torch.equal(images.values, again.values)


def test_training_and_test_have_other_characters(characters):
    train, test = (characters.control_points(part) for part in (characters.TRAIN, characters.TEST))
    assert (len(train), len(test)) == (1200, 423)
    assert not np.isin(test.reshape(-1), train.reshape(-1)).any()


def test_a_character_looks_like_itself(characters):
    points, random = characters.control_points()[:60], np.random.default_rng(1)
    first, second = (characters.draw(points, random).reshape(60, -1) for _ in range(2))
    likeness = np.corrcoef(first, second)[:60, 60:]
    assert np.diag(likeness).mean() > 2 * np.abs(likeness - np.diag(np.diag(likeness))).mean()


@pytest.mark.parametrize(("name", "after"), [("sab+mean", [64, 1]), ("rff+dot", [64, 1]), ("sab+pma", [1])])
def test_what_follows_the_pooling_is_the_papers(characters, name, after):
    """Supplement, Table 3: a hidden layer after the mean, none after PMA."""
    sets = characters.Counter(name).sets
    decoder = getattr(sets, "model", sets).decoder
    linears = [m.out_features for m in decoder.modules() if isinstance(m, characters.nn.Linear)]
    assert linears == after
