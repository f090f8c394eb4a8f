"""NetworkTagger: a tagger whose network is computed in NumPy."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from headwise.data.items.dataset import cut_batches
from headwise.runtime.chain_tagger import ChainTagger
from headwise.runtime.character_network import SpellingVectors
from headwise.runtime.encoders import spans_of, word_states
from headwise.runtime.layers import Affine, Floats, Perceptron
from headwise.runtime.limits import check_finite
from headwise.runtime.text_network import BLOCK, DistinctInputs, WindowedEncoder, WordInputs
from headwise.text.text_features import EncodedText


class TaggerInputs:
    """Word vectors of a tagger: those of an embedding, and those of the spelling.

    Args:
        words: Vectors of the words.
        spelling: Vectors of their spelling; None without.
        project: From both, side by side, to inputs of the encoder; None without spelling.
    """

    def __init__(self, words: WordInputs, spelling: SpellingVectors | None, project: Affine | None):
        self.words, self.spelling, self.project = words, spelling, project

    def of(self, texts: Sequence[EncodedText]) -> DistinctInputs:
        """The words of texts, whose `spelling` is a `CharacterInput`."""
        read = self.words.of([EncodedText(text.words, text.spelling.pieces) for text in texts])
        if self.spelling is None or self.project is None:
            return read
        words = [*chain.from_iterable(text.spelling.words for text in texts)]
        numbers: dict[str, int] = {}
        places = np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.int64)
        first = np.empty(len(numbers), dtype=np.int64)
        first[places[::-1]] = np.arange(len(words))[::-1]
        rows = [read.rows[read.places[first]], self.spelling([*numbers])]
        return DistinctInputs(self.project(np.concatenate(rows, axis=1)), places, None)


class TagNetwork:
    """A network that gives each word a score of each tag.

    Args:
        inputs: Its word vectors.
        encoder: Its encoder.
        head: From the state of a word to the scores.
    """

    def __init__(self, inputs: TaggerInputs, encoder: WindowedEncoder, head: Perceptron | Affine):
        self.inputs, self.encoder, self.head = inputs, encoder, head

    def __call__(self, texts: Sequence[EncodedText], batch_tokens: int) -> Floats:
        """Scores of the tags, text after text, `[words, tags]`.

        Args:
            texts: Encoded texts, the longest first.
            batch_tokens: Maximum number of words that are encoded at once.
        """
        lengths = np.array([*map(len, texts)], dtype=np.int64)
        read = self.inputs.of(texts)
        table = self.encoder.encoder.table(read.rows)
        starts, ends = spans_of(lengths)
        parts = [np.zeros((0, self.outputs), dtype=np.float32)]
        for block in cut_batches(range(len(texts)), lengths, len(texts), min(batch_tokens, BLOCK)):
            first, last = block[0], block[-1]  # blocks are neighbours
            encoded = self.encoder.encode(
                table, read.places[starts[first] : ends[last]], lengths[first : last + 1]
            )
            parts.append(self.head(word_states(encoded)))
        return np.concatenate(parts)

    @property
    def outputs(self) -> int:
        """Number of tags."""
        last = self.head if isinstance(self.head, Affine) else self.head.second
        return last.weight.shape[1]


class NetworkTagger(ChainTagger):
    """A tagger whose network is computed in NumPy.

    Attributes:
        network: The network.
        config: The configuration of the model folder, a `headwise.nn.networks.model_config.ModelConfig`.
    """

    network: TagNetwork
    config: Any

    def word_outputs(self, encoded: Sequence[EncodedText], batch_tokens: int) -> Floats:
        return check_finite(self.network(encoded, batch_tokens))
