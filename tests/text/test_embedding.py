"""Word vectors: trained words, extra words, dropout of words."""

import torch

from headwise.nn.embeddings.word_embedding import WordEmbedding
from headwise.nn.ragged import Ragged
from headwise.text.text_configs import WordConfig

CONFIG = WordConfig(vector_size=4, dropout=0.0, word_dropout=0.0)


def numbers(*values: int) -> Ragged:
    return Ragged.from_lengths(torch.tensor(values, dtype=torch.int64), [len(values)])


def test_extra_words_are_looked_up_and_never_trained():
    embedding = WordEmbedding(3, 2, 4, CONFIG)
    matrix = torch.arange(20.0).view(5, 4)
    embedding.start_from(matrix)
    out = embedding(numbers(0, 4, 2, 3, 4))
    torch.testing.assert_close(out.values, matrix[[0, 4, 2, 3, 4]])
    out.values.sum().backward()
    assert embedding.vectors.weight.grad.sum(1).tolist() == [4.0, 0.0, 4.0]
    assert embedding.extra.weight.grad is None


def test_without_extra_words():
    embedding = WordEmbedding(3, 0, 4, CONFIG)
    assert [name for name, _ in embedding.named_parameters()] == ["vectors.weight"]
    assert embedding(numbers()).values.shape == (0, 4)


def test_another_width_is_projected_to():
    assert WordEmbedding(3, 2, 6, CONFIG)(numbers(1, 4)).values.shape == (2, 6)


def test_word_dropout_makes_words_unknown_in_training_only():
    embedding = WordEmbedding(3, 0, 4, WordConfig(vector_size=4, dropout=0.0, word_dropout=0.5))
    torch.manual_seed(0)
    words = Ragged.from_lengths(torch.full((1000,), 2), [1000])
    unknown = (embedding(words).values == embedding.vectors.weight[0]).all(1).float().mean()
    assert 0.4 < unknown < 0.6
    assert (embedding.eval()(words).values == embedding.vectors.weight[2]).all()


def test_vectors_can_be_kept_as_they_begin():
    embedding = WordEmbedding(3, 0, 4, WordConfig(vector_size=4, train_vectors=False))
    assert not embedding.vectors.weight.requires_grad
