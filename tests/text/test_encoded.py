"""Encoded texts and batches of them."""

import pickle

import numpy as np
import torch

from headwise.nn.embeddings.encoded_batches import batch_of
from headwise.text.syntax import tree_distances
from headwise.text.text_features import EncodedText


def text(*words: int, spelling=None, heads=None) -> EncodedText:
    array = None if heads is None else np.array(heads)
    return EncodedText(np.array(words, dtype=np.int64), spelling, array)


def test_length_and_unknown_words():
    assert len(text(3, 0, 0)) == 3
    assert text(3, 0, 0).unknown == 2
    assert (len(text()), text().unknown) == (0, 0)


def test_a_batch_is_the_texts_one_after_the_other():
    batch = batch_of([text(1, 2), text(), text(3)])
    assert batch.words.values.tolist() == [1, 2, 3]
    assert batch.layout.sizes == (2, 0, 1)
    assert (batch.layout.trees, batch.spelling) == (None, (None, None, None))
    assert batch_of([]).words.values.dtype == torch.int64


def test_the_trees_are_in_the_layout():
    batch = batch_of([text(1, 2, heads=[2, 0]), text(heads=[]), text(3, 4, 5, heads=[2, 0, 2])])
    trees = batch.layout.trees
    assert [tree.tolist() for tree in trees][2] == tree_distances([2, 0, 2]).tolist()
    assert trees[1].shape == (0, 0)
    again = pickle.loads(pickle.dumps(batch)).layout.trees
    assert [tree.tolist() for tree in again] == [tree.tolist() for tree in trees]
    assert batch_of([text(1, heads=[0]), text(2)]).layout.trees is None


def test_the_spelling_comes_along():
    assert batch_of([text(1, 2, spelling="ab"), text(spelling="")]).spelling == ("ab", "")
