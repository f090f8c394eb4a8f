"""The storage format of a linear text model in model folders: tables of numbers.

The weights of a feature are integers from -127 to 127, times one scale per feature: a tenth of the usual
size, at no loss of accuracy. With very many labels, only the important weights are stored
(`headwise.linear.linear_warm_start`), feature by feature, with their label columns.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike, NDArray

from headwise.core.surface_features import FEATURE_COUNT
from headwise.linear.linear_model import DenseScale, LinearModel
from headwise.linear.linear_weights import Floats, LinearWeights
from headwise.linear.pair_features import GROUPS, NUMBERS
from headwise.linear.tfidf_features import BLOCK_NAMES, BlockName, FeatureVocabulary

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MOST_DENSE = 1 << 24
"""Features times columns up to which pruned weights are expanded to a dense matrix in memory."""

Tables = Mapping[str, NDArray]
"""Tables by name; floating-point numbers have 32 bits."""


@dataclass(frozen=True)
class TextTableFormat:
    """The tables that store a linear model.

    Attributes:
        features: Number of words, word pairs and character n-grams.
        words: Number of words and word pairs among them; these come first.
        vectors: Size of the text vectors; 0 without.
        classes: Number of labels.
        tokenizer: Name of the tokenizer.
        sets: Whether a text may have any number of labels.
        pairs: Whether it reads text pairs: `GROUPS` rows of weights per feature, and `NUMBERS` comparison
            features.
        stored_weights: Number of stored weights after pruning; 0 if all are stored.
        reach: Maximum distance between the words of a pair.
        form: Whether it reads surface features.
        edges: Whether words also form pairs with the beginning and the end of a text.
        tabular: Number of features of the columns beside the text.
    """

    features: int
    words: int
    vectors: int
    classes: int
    tokenizer: str
    sets: bool = False
    pairs: bool = False
    stored_weights: int = 0
    reach: int = 1
    form: bool = False
    edges: bool = False
    tabular: int = 0

    @property
    def columns(self) -> int:
        """Number of scores per text."""
        return 1 if self.classes == 2 and not self.sets else self.classes

    @property
    def rows(self) -> int:
        """Number of rows of weights."""
        return self.features * (GROUPS if self.pairs else 1)

    def shapes(self) -> dict[str, tuple[DTypeLike, tuple[int, ...]]]:
        """The dtype and shape of each table, by name."""
        rows, columns, stored = self.rows, self.columns, self.stored_weights
        dense = self.vectors + (NUMBERS if self.pairs else FEATURE_COUNT * self.form) + self.tabular
        tables: dict[str, tuple[DTypeLike, tuple[int, ...]]] = {
            "keys": (np.int32, (self.features,)),
            "idf": (np.float32, (self.features,)),
            "weights": (np.int8, (stored,) if stored else (rows, columns)),
        }
        if stored:
            tables["ends"] = (np.int32, (rows,))
            tables["columns"] = (np.int16 if columns <= 1 << 15 else np.int32, (stored,))
        tables |= {"steps": (np.float32, (rows,)), "bias": (np.float32, (columns,))}
        if self.vectors:
            tables["mean"] = (np.float32, (self.vectors,))
        if dense:
            tables["dense"] = (np.float32, (dense, columns))
        return tables

    def errors(self, tables: Tables) -> Iterator[str]:
        """Errors in the positions of pruned weights, as messages."""
        if not self.stored_weights:
            return
        ends, columns = tables["ends"].astype(np.int64), tables["columns"]
        sizes = np.diff(ends, prepend=0)
        if not len(ends) or ends[-1] != self.stored_weights or (sizes < 0).any():
            problem = f"they do not part {self.stored_weights} weights among {len(ends)} features"
            yield f"linear_model.ends: {problem}"
        if (columns < 0).any() or (columns >= self.columns).any():
            yield f"linear_model.columns: they are not all numbers of {self.columns} labels"

    @np.errstate(over="ignore")  # infinite weights are reported when the model predicts
    def build(self, tables: Tables) -> LinearModel:
        """The linear model that the tables store."""
        keys, idf = tables["keys"].view(np.uint32), tables["idf"]
        parts = {"words": slice(None, self.words), "characters": slice(self.words, None)}
        blocks: dict[BlockName, FeatureVocabulary] = {
            name: FeatureVocabulary(keys[parts[name]], idf[parts[name]])
            for name in BLOCK_NAMES
            if len(keys[parts[name]])
        }
        dense, scale = np.zeros((0, self.columns), dtype=np.float32), None
        if "dense" in self.shapes():
            dense = tables["dense"]
        if self.vectors:
            scale = DenseScale(tables["mean"], 1.0)
        coefficients = LinearWeights(self._weights(tables), dense, tables["bias"])
        settings = self.pairs, self.reach, self.form, self.edges, self.tabular
        return LinearModel(blocks, coefficients, self.classes, self.tokenizer, scale, *settings)

    def _weights(self, tables: Tables) -> "Floats | csr_matrix":
        """The weights, `[features, columns]`; dense unless that would take much memory, as sparse products
        are slower."""
        weights, steps = tables["weights"], tables["steps"]
        if not self.stored_weights:
            return weights * steps[:, None]
        ends = np.append(np.int32(0), tables["ends"])
        sizes, columns = np.diff(ends), tables["columns"].astype(np.int32)
        values, shape = weights * np.repeat(steps, sizes), (len(steps), self.columns)
        if shape[0] * shape[1] > MOST_DENSE:
            from scipy.sparse import csr_matrix  # slow to load, and most predictions do without

            return csr_matrix((values, columns, ends), shape=shape)
        dense = np.zeros(shape, dtype=np.float32)
        dense[np.repeat(np.arange(len(steps)), sizes), columns] = values
        return dense
