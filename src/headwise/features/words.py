"""WordFeatures: from texts to the word numbers that a model reads."""

from collections.abc import Iterable, Sequence

import numpy as np
import torch

from headwise.features.tokenize import get_tokenizer
from headwise.features.vocabulary import Vocabulary
from headwise.ragged import Ragged


class WordFeatures:
    """A tokeniser and a vocabulary.

    Args:
        tokenizer: Its name, see `headwise.features.tokenize`.
        vocabulary: Numbers of the words.
    """

    def __init__(self, tokenizer: str, vocabulary: Vocabulary):
        self.tokenizer = get_tokenizer(tokenizer)
        self.vocabulary = vocabulary

    def encode(self, texts: Iterable[str]) -> list[np.ndarray]:
        """The word numbers of each text, `[words]`, int64."""
        return [self.vocabulary.encode(self.tokenizer.words(text)) for text in texts]


def batch_of(encoded: Sequence[np.ndarray], device: torch.device | str = "cpu") -> Ragged:
    """Some encoded texts as one batch of word numbers, `[total]`, int64."""
    flat = np.concatenate(encoded) if encoded else np.zeros(0, dtype=np.int64)
    return Ragged.from_lengths(torch.from_numpy(flat).to(device), [len(words) for words in encoded])
