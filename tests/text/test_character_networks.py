"""Networks over the characters of words, against the definition word by word."""

import pytest
import torch

from headwise.nn.embeddings.character_embedding import CharacterCNN, CharacterLSTM
from headwise.nn.ragged import Ragged

LENGTHS = [4, 1, 7, 2, 4]


@pytest.fixture
def characters() -> Ragged:
    random = torch.Generator().manual_seed(0)
    values = torch.randn(sum(LENGTHS), 5, generator=random, dtype=torch.float64)
    return Ragged.from_lengths(values, LENGTHS)


@pytest.mark.parametrize("window", [1, 3, 5])
def test_cnn(characters, window):
    network = CharacterCNN(5, 6, window).double()
    filters = network.filters
    reach = window // 2
    expected = []
    for word in characters:
        padded = torch.nn.functional.pad(word, (0, 0, reach, reach))
        seen = [
            torch.einsum("ki,oik->o", padded[at : at + window], filters.weight) + filters.bias
            for at in range(len(word))
        ]
        expected.append(torch.tanh(torch.stack(seen)).amax(0))
    torch.testing.assert_close(network(characters), torch.stack(expected))


def test_lstm(characters):
    network = CharacterLSTM(5, 6).double()
    expected = []
    for word in characters:
        states, _ = network.lstm(word[:, None])
        expected.append(torch.cat([states[-1, 0, :3], states[0, 0, 3:]]))
    torch.testing.assert_close(network(characters), torch.stack(expected))


@pytest.mark.parametrize("make", [lambda: CharacterCNN(2, 2, 3), lambda: CharacterLSTM(2, 2)])
def test_gradients(make):
    network = make().double()
    values = torch.randn(6, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda v: network(Ragged.from_lengths(v, [3, 1, 2])), (values,))
