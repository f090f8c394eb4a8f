"""A linear CRF as 8-bit buffers."""

import numpy as np
import pytest

from headwise.data.items.examples import TaggedSentence
from headwise.linear.tag_crf import CrfTagger, fit_crf
from headwise.nn.networks.linear_members import TagLinearBuffers
from headwise.text.static_embeddings.word_groups import LEVELS, WordClusters, word_hash

TRAIN = [
    TaggedSentence(("dogs", "bark", "."), ("NN", "VB", ".")),
    TaggedSentence(("cats", "run"), ("NN", "VB")),
] * 10
WORDS = [["dogs", "run", "never"], [], ["."]]


def test_says_what_the_crf_says_in_the_order_that_is_asked_for_also_when_it_was_saved():
    crf = fit_crf(TRAIN, "plain")
    tags = ["VB", ".", "NN"]
    linear_model = TagLinearBuffers.of(crf, tags)
    order = [crf.tags.index(tag) for tag in tags]
    expected = crf.emissions(WORDS)[0][:, order]
    np.testing.assert_allclose(linear_model(WORDS), expected, atol=0.1)
    np.testing.assert_array_equal(linear_model.transitions, crf.transitions[order][:, order])
    loaded = TagLinearBuffers(linear_model.sizes()["features"], tags)
    loaded(WORDS)  # before the weights are there
    loaded.load_state_dict(linear_model.state_dict())
    np.testing.assert_array_equal(loaded(WORDS), linear_model(WORDS))


def test_features_that_say_next_to_nothing_are_left_out():
    weights = np.array([[0.01, -0.02], [0.5, -0.01]], dtype=np.float32)
    crf = CrfTagger(("a", "b"), "plain", np.array([3, 7], np.uint32), weights, np.eye(2, dtype=np.float32))
    linear_model = TagLinearBuffers.of(crf, crf.tags)
    assert linear_model.keys.tolist() == [7]
    np.testing.assert_allclose(linear_model.contents().weights, weights[1:], atol=0.002)


def test_groups_of_words_are_kept_with_it():
    keys = np.array([word_hash(word) for word in ("dogs", "cats", "run")], dtype=np.uint32)
    numbers = np.repeat(np.array([[0], [0], [1]], dtype=np.int16), len(LEVELS), axis=1)
    crf = fit_crf(TRAIN, "plain", groups=WordClusters(keys, numbers))
    linear_model = TagLinearBuffers.of(crf, crf.tags)
    np.testing.assert_allclose(linear_model(WORDS), crf.emissions(WORDS)[0], atol=0.1)
    sizes = linear_model.sizes()
    assert sizes["grouped"] == 3
    loaded = TagLinearBuffers(sizes["features"], crf.tags, sizes["grouped"])
    loaded.load_state_dict(linear_model.state_dict())
    np.testing.assert_array_equal(loaded(WORDS), linear_model(WORDS))
    forged = linear_model.state_dict() | {"group_keys": linear_model.get_buffer("group_keys")[[0, 0, 1]]}
    with pytest.raises(RuntimeError, match="twice"):
        loaded.load_state_dict(forged)
