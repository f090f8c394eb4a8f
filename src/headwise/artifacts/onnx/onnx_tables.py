"""What an exported model computes or stores outside the graphs of its network.

A graph of its own computes character features, once for each distinct word. The arrays of a base and of a
linear model are in safetensors files, which are read as untrusted data.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from headwise.artifacts.model_folder import StoreError, current_tensor_name
from headwise.artifacts.onnx.onnx_settings import BaseSizes
from headwise.linear.linear_weights import Floats
from headwise.runtime.word_lookup import BaseLookup, WordLookup
from headwise.text.character_features import Alphabet, CharacterFeatureCache
from headwise.text.static_embeddings.base_vectors import QuantizedMatrix, StaticEmbeddings
from headwise.text.static_embeddings.word_groups import WordClusters
from headwise.text.text_configs import CharacterConfig
from headwise.text.text_features import EncodedText

CHARACTER_INPUTS = ("letters", "lengths", "grams", "counts", "shapes", "clusters")
"""Possible inputs of the graph of character features."""
_LETTERS = 1 << 16  # characters per batch, padding included


class CharacterAugmentedLookup:
    """Word vectors of a tagger, concatenated with character features.

    Args:
        reader: Looks up word vectors.
        spelling: Computes the character features; None if the model has none.
    """

    def __init__(self, reader: WordLookup | BaseLookup, spelling: "CharacterFeatureGraph | None"):
        self.reader, self.spelling = reader, spelling
        self.size = reader.size + (0 if spelling is None else spelling.size)

    def words(self, texts: Sequence[EncodedText]) -> tuple[Floats, Floats]:
        """See `WordLookup.words`."""
        without_characters = [replace(text, spelling=text.spelling.pieces) for text in texts]
        vectors, weights = self.reader.words(without_characters)
        if self.spelling is None:
            return vectors, weights
        spelled = self.spelling([text.spelling.words for text in texts])
        return np.concatenate([vectors, spelled], axis=1), weights


class CharacterFeatureGraph:
    """Computes character features, once for each distinct word of a batch.

    Args:
        graph: The graph, see `headwise.artifacts.onnx.padded_network.CharacterGraph`.
        config: Configuration of the features.
        alphabet: The character vocabulary.
        clusters: The clusters of words; None if the configuration has none.
    """

    def __init__(
        self,
        graph: Callable[[Any], list[Floats]],
        config: CharacterConfig,
        alphabet: Alphabet,
        clusters: WordClusters | None = None,
    ):
        self.graph, self.size = graph, config.size
        self._spell = CharacterFeatureCache(config, alphabet, clusters)

    def __call__(self, texts: Sequence[Sequence[str]]) -> Floats:
        """Tokenised texts -> character features of their words, text after text, `[words, size]`."""
        numbers: dict[str, int] = {}
        places = [numbers.setdefault(word, len(numbers)) for word in chain.from_iterable(texts)]
        words = list(numbers)
        features = np.zeros((len(words), self.size), dtype=np.float32)
        for part in _word_batches(words):
            features[part] = self.graph(self._read([words[place] for place in part]))[0]
        return features[places]

    def _read(self, words: Sequence[str]) -> dict[str, NDArray]:
        spelled = [self._spell[word] for word in words]
        letters, lengths = _padded([word.characters for word in spelled])
        grams, counts = _padded([word.ngrams for word in spelled])
        shapes = np.stack([word.shape for word in spelled])
        clusters = np.array([word.clusters for word in spelled], dtype=np.int64)
        return dict(zip(CHARACTER_INPUTS, (letters, lengths, grams, counts, shapes, clusters), strict=True))


def _word_batches(words: Sequence[str]) -> Iterator[list[int]]:
    """Batches of word indices, with words of similar lengths, that fit into memory."""
    order = sorted(range(len(words)), key=lambda place: -len(words[place]))
    start = 0
    while start < len(order):
        most = max(1, _LETTERS // max(1, len(words[order[start]])))
        yield order[start : start + most]
        start += most


def _padded(rows: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of ids padded with 0, `[rows, longest]`, and their lengths, `[rows]`."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    padded = np.zeros((len(rows), max(1, lengths.max(initial=0))), dtype=np.int64)
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = np.concatenate(rows)
    return padded, lengths


WORDS, BASE, LINEAR_MODEL, CHAIN = "words.", "base.", "linear_model.", "chain."
"""Prefixes of the array names: word vectors, base, linear model, CRF."""
NOVELTY_TABLE = "novelty.values"
"""The name of the array of vectors of training texts, for the novelty detector."""
Shapes = Mapping[str, tuple[DTypeLike, tuple[int, ...]]]


def base_shapes(listed: int, word_count: int, sizes: BaseSizes) -> Shapes:
    """Types and shapes of the arrays of a base.

    Args:
        listed: Number of words that the base lists.
        word_count: Size of the training vocabulary, `<unk>` included.
        sizes: Sizes in the settings.
    """
    rows = listed + sizes.subwords
    shapes: dict[str, tuple[DTypeLike, tuple[int, ...]]] = {
        "values": (np.int8, (rows, sizes.size)),
        "scales": (np.float32, (rows,)),
        "weights": (np.float32, (listed + 1,)),
    }
    if sizes.trained:
        shapes["vectors"] = (np.float32, (word_count, sizes.size))
    return shapes


def base_of(tables: Mapping[str, NDArray], words: tuple[str, ...]) -> StaticEmbeddings:
    """The base with these arrays."""
    values, scales, listed_count = tables["values"], tables["scales"], len(words)
    listed, runs = (
        QuantizedMatrix(values[part], scales[part])
        for part in (slice(listed_count), slice(listed_count, None))
    )
    return StaticEmbeddings("exported", words, listed, runs, tables["weights"])


def to_safetensors(tables: Mapping[str, NDArray]) -> bytes:
    """The content of a safetensors file; arrays that float16 represents without loss are stored in it."""
    return save({name: np.ascontiguousarray(_stored_table(table)) for name, table in tables.items()})


def from_safetensors(content: bytes, shapes: Shapes, where: str) -> dict[str, NDArray]:
    """Read arrays of these types and shapes from an untrusted file.

    Raises:
        StoreError: HW509, it holds something else; HW510, a number is NaN or infinite.
    """
    try:
        tables = {current_tensor_name(name): table for name, table in load(content).items()}
    except (SafetensorError, ValueError, KeyError) as error:
        raise StoreError(f"{where}: cannot be read: {error!s:.200}", code="HW509") from None
    if tables.keys() != shapes.keys():
        strange = sorted(tables.keys() ^ shapes.keys())[0]
        lacks = "lacks" if strange in shapes else "holds"
        raise StoreError(f"{where}: it {lacks} {strange:.200}, unlike its settings", code="HW509")
    return {name: _validated(name, table, *shapes[name], where) for name, table in tables.items()}


def _stored_table(table: NDArray) -> NDArray:
    if table.dtype != np.float32:
        return table
    with np.errstate(over="ignore"):
        half = table.astype(np.float16)
    return half if np.array_equal(half.astype(np.float32), table) else table


def _validated(name: str, table: NDArray, kind: DTypeLike, shape: tuple[int, ...], where: str) -> NDArray:
    kinds = (np.float32, np.float16) if kind == np.float32 else (kind,)
    if table.shape != shape or table.dtype not in kinds:
        raise StoreError(
            f"{where}: {name} is {table.dtype} {list(table.shape)!s:.80}, but the settings ask for "
            f"{np.dtype(kind)} {list(shape)}",
            code="HW509",
        )
    if not np.isfinite(table).all():
        raise StoreError(f"{where}: {name} holds NaN or infinite numbers", code="HW510")
    return table.astype(kind)
