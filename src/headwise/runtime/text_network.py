"""TextNetwork: from encoded texts to the outputs of a network, in blocks that stay in the caches."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwise.core import native
from headwise.data.items.dataset import TextWindow, cut_batches, cut_windows
from headwise.runtime.encoders import EncodedTexts, EncoderNetwork, Indices, WordTable, spans_of
from headwise.runtime.layers import Affine, Floats, LayerNorm, Perceptron
from headwise.runtime.limits import check_finite
from headwise.runtime.prediction_models import PredictionModel, TextInputs
from headwise.runtime.word_lookup import BaseLookup, WordLookup, text_vectors
from headwise.text.static_embeddings.base_vectors import unique_with_inverse
from headwise.text.text_features import EncodedPair, EncodedText

PORTION = 1 << 17  # words whose table is made at once
BLOCK = 2_048  # words that are encoded at once


class DistinctInputs(NamedTuple):
    """The words of texts, each different one once.

    Attributes:
        rows: Inputs of the encoder, `[kinds, width]`.
        places: The row of each word, text after text, `[total]`.
        summaries: Text vectors of a base, `[texts, size]`; None without a base.
    """

    rows: Floats
    places: Indices
    summaries: Floats | None


class WordInputs:
    """Word vectors as inputs of an encoder.

    Args:
        lookup: The vectors.
        norm: Normalises vectors of a base; None for trained word vectors.
        project: Projects them; None if the encoder has their width.
    """

    def __init__(self, lookup: WordLookup | BaseLookup, norm: LayerNorm | None, project: Affine | None):
        self.lookup, self.norm, self.project = lookup, norm, project

    def of(self, texts: Sequence[EncodedText]) -> DistinctInputs:
        """The words of texts."""
        if isinstance(self.lookup, WordLookup):
            numbers = np.concatenate([np.zeros(0, dtype=np.int64), *(text.words for text in texts)])
            used, places = unique_with_inverse(numbers, len(self.lookup.table))
            return DistinctInputs(self._inputs(self.lookup.table[used]), places.astype(np.int64), None)
        vectors, weights, places = self._corrected(self.lookup, texts)
        lengths = np.array([*map(len, texts)], dtype=np.int64)
        summaries = text_vectors(vectors, weights, places, lengths)
        return DistinctInputs(self._inputs(vectors), places, summaries)

    @staticmethod
    def _corrected(lookup: BaseLookup, texts: Sequence[EncodedText]) -> tuple[Floats, Floats, Indices]:
        """Vectors of the different words with their trained corrections, their weights, and the row of each
        word."""
        vectors, weights, places = lookup.different([text.spelling for text in texts])
        if lookup.corrections is None:
            return vectors, weights, places
        numbers = np.concatenate([np.zeros(0, dtype=np.int64), *(text.words for text in texts)])
        kinds = np.zeros(len(vectors), dtype=np.int64)
        kinds[places] = numbers
        if not np.array_equal(kinds[places], numbers):  # a word that has two ids
            vectors, weights, kinds = vectors[places], weights[places], numbers
            places = np.arange(len(numbers))
        vectors, trained = vectors.copy(), np.flatnonzero(kinds)
        vectors[trained] += lookup.corrections[kinds[trained]]
        return vectors, weights, places

    def _inputs(self, vectors: Floats) -> Floats:
        rows = np.array(vectors, dtype=np.float32, order="C")
        if self.norm is not None:
            rows = self.norm(rows, np.zeros_like(rows))
        return rows if self.project is None else self.project(rows)


class TextReadout:
    """From the states of words to a vector of each text (see `headwise.nn.encoders.pooling`).

    Args:
        name: Name of the readout.
        attentive: The scores of attentive pooling; None if the readout has none.
    """

    NAMES = ("node+max", "node,max", "mean,max", "node", "max", "mean", "attentive", "attentive,max")

    def __init__(self, name: str, attentive: Perceptron | None):
        self.name, self.attentive = name, attentive

    def __call__(self, encoded: EncodedTexts) -> Floats:
        """Text vectors, `[texts, width]`."""
        name = self.name
        if name == "node+max":
            return self._node(encoded) + self._top(encoded)
        return np.concatenate([self._part(part, encoded) for part in name.split(",")], axis=1)

    def _part(self, name: str, encoded: EncodedTexts) -> Floats:
        rows, starts, ends, _ = encoded
        if name == "mean":
            return native.pool_means(rows, starts, ends)
        if name == "node":
            return self._node(encoded)
        if name == "max":
            return self._top(encoded)
        if self.attentive is None:
            raise ValueError(f"no weights for the readout {name}")
        return native.pool_attentively(self.attentive(rows), rows, starts, ends)

    @staticmethod
    def _node(encoded: EncodedTexts) -> Floats:
        if encoded.summary is None:
            raise ValueError("the encoder has no classification node")
        return encoded.summary

    @staticmethod
    def _top(encoded: EncodedTexts) -> Floats:
        tops = native.pool_tops(*encoded[:3])
        if encoded.summary is None:
            return tops
        empty = (encoded.starts == encoded.ends)[:, None]
        return np.where(empty, encoded.summary, np.maximum(tops, encoded.summary))


class WindowedEncoder:
    """An encoder that reads long texts in windows (see `headwise.nn.encoders.long_texts`).

    Args:
        encoder: The encoder.
        words: Maximum number of words read at once; 0 for no limit.
        overlap: Words that neighbouring windows share at least.
    """

    def __init__(self, encoder: EncoderNetwork, words: int, overlap: int):
        self.encoder, self.words, self.overlap = encoder, words, overlap

    def encode(self, table: WordTable, places: Indices, lengths: Indices) -> EncodedTexts:
        """See `EncoderNetwork.encode`."""
        if not self.words or lengths.max(initial=0) <= self.words:
            return self.encoder.encode(table, places, lengths)
        starts, ends = spans_of(lengths)
        plan = [
            (text, window)
            for text, length in enumerate(lengths.tolist())
            for window in cut_windows(length, self.words, self.overlap)
        ]
        sizes = np.array([window.stop - window.start for _, window in plan])
        parts, summary = list[Floats](), None
        for group in cut_batches(range(len(plan)), sizes, len(plan), BLOCK):
            encoded = self._windows(table, places, starts, [plan[place] for place in group], parts)
            if encoded.summary is not None:
                if summary is None:
                    summary = np.zeros((len(lengths), encoded.summary.shape[1]), dtype=np.float32)
                for state, (text, window) in zip(encoded.summary, (plan[n] for n in group), strict=True):
                    share = (window.last - window.first) / lengths[text] if lengths[text] else 1.0
                    summary[text] += state * np.float32(share)
        return EncodedTexts(np.concatenate(parts), starts, ends, summary)

    def _windows(
        self,
        table: WordTable,
        places: Indices,
        starts: Indices,
        group: Sequence[tuple[int, TextWindow]],
        parts: list[Floats],
    ) -> EncodedTexts:
        """Encode windows, and append the states of the words that belong to them to `parts`."""
        read = [places[starts[text] + w.start : starts[text] + w.stop] for text, w in group]
        lengths = np.array([*map(len, read)], dtype=np.int64)
        encoded = self.encoder.encode(table, np.concatenate(read), lengths)
        parts += [
            encoded.rows[start + w.first - w.start : start + w.last - w.start]
            for start, (_, w) in zip(encoded.starts.tolist(), group, strict=True)
        ]
        return encoded


def cut_portions(
    items: Sequence[EncodedText] | Sequence[EncodedPair], batch_texts: int, batch_tokens: int
) -> Iterator[tuple[list[int], list[list[int]]]]:
    """Portions of texts or pairs, the longest first, whose words are looked up at once: their indices, and
    the blocks that are encoded at once, by places in the portion."""
    lengths = np.array([*map(len, items)], dtype=np.int64)
    order = np.argsort(-lengths, kind="stable")
    for portion in cut_batches(order, lengths, max(len(items), 1), PORTION):
        most = min(batch_tokens, BLOCK)
        yield portion, cut_batches(range(len(portion)), lengths[portion], batch_texts, most)


class TextNetwork:
    """A network of texts.

    Args:
        inputs: Its word vectors.
        encoder: Its encoder.
        readout: From states to a vector of each text.
        head: From that to the outputs.
        probe: From text vectors of a base to the outputs, which is added; None without one.
    """

    def __init__(
        self,
        inputs: WordInputs,
        encoder: WindowedEncoder,
        readout: TextReadout,
        head: Perceptron,
        probe: Affine | None,
    ):
        self.inputs, self.encoder, self.readout = inputs, encoder, readout
        self.head, self.probe = head, probe

    def __call__(self, texts: Sequence[EncodedText], batch_texts: int, batch_tokens: int) -> Floats:
        """Outputs of texts, `[texts, outputs]`.

        Args:
            texts: Encoded texts.
            batch_texts: Maximum number of texts that are encoded at once.
            batch_tokens: Maximum number of words that are encoded at once.
        """
        out = np.zeros((len(texts), self.head.second.weight.shape[1]), dtype=np.float32)
        for portion, blocks in cut_portions(texts, batch_texts, batch_tokens):
            read = self.inputs.of([texts[place] for place in portion])
            table = self.encoder.encoder.table(read.rows)
            sizes = np.array([len(texts[place]) for place in portion], dtype=np.int64)
            starts, ends = spans_of(sizes)
            for block in blocks:
                first, last = block[0], block[-1]  # blocks are neighbours
                places = read.places[starts[first] : ends[last]]
                encoded = self.encoder.encode(table, places, sizes[first : last + 1])
                outputs = self.head(self.readout(encoded))
                if self.probe is not None and read.summaries is not None:
                    outputs += self.probe(read.summaries[first : last + 1])
                out[[portion[place] for place in block]] = outputs
        return out


class NetworkTextModel(TextInputs, PredictionModel):
    """A model of texts whose network is computed in NumPy.

    Attributes:
        network: The network.
        config: The configuration of the model folder, a `headwise.nn.networks.model_config.ModelConfig`.
    """

    network: TextNetwork
    config: Any

    def outputs_of(
        self, encoded: Sequence[EncodedText], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> NDArray[np.float32]:
        return check_finite(self.network(encoded, batch_texts, batch_tokens))
