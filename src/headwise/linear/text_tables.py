"""A linear model of texts as tables of numbers, as which a model folder keeps it: numpy alone.

The weights of a feature are whole numbers between -127 and 127, times one number of its own: a tenth of
what most of them would take otherwise, at no loss of accuracy. Of very many labels only the weights that
are worth it are kept (`headwise.linear.thinning`), feature by feature, with the labels that they are of.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_matrix

from headwise.linear.form import FORM
from headwise.linear.pair_features import GROUPS, NUMBERS
from headwise.linear.solver import Floats, Machine
from headwise.linear.text_features import Block, Vocabulary
from headwise.linear.text_model import DenseScale, LinearModel

BLOCKS: tuple[Block, ...] = ("words", "characters")
MOST_DENSE = 1 << 24
"""Features times columns up to which the weights that were kept stand among zeros in memory."""

Tables = Mapping[str, NDArray]
"""Tables by their names, with floating-point numbers of 32 bits."""


@dataclass(frozen=True)
class TextTables:
    """How large the tables of a linear model are, and what they mean.

    Attributes:
        features: Words, word pairs and runs of characters that it knows.
        words: How many of them are words and word pairs; these come first.
        vectors: Numbers of the vectors of texts that it reads beside them; 0 if it reads none.
        classes: Number of labels.
        tokenizer: Finds the words.
        sets: A text may have any number of the labels.
        pairs: It reads pairs: each feature has `GROUPS` rows of weights, and there are `NUMBERS` beside.
        kept: How many weights it has; 0 if it has them all.
        reach: How far apart the words of a pair of words are at most.
        form: It reads the form of texts.
        edges: Words make pairs with the beginning and the end of a text too.
    """

    features: int
    words: int
    vectors: int
    classes: int
    tokenizer: str
    sets: bool = False
    pairs: bool = False
    kept: int = 0
    reach: int = 1
    form: bool = False
    edges: bool = False

    @property
    def columns(self) -> int:
        """Scores of a text."""
        return 1 if self.classes == 2 and not self.sets else self.classes

    @property
    def rows(self) -> int:
        """Rows of weights."""
        return self.features * (GROUPS if self.pairs else 1)

    def shapes(self) -> dict[str, tuple[DTypeLike, tuple[int, ...]]]:
        """The type and shape of each table, by its name."""
        rows, columns, kept = self.rows, self.columns, self.kept
        dense = self.vectors + (NUMBERS if self.pairs else FORM * self.form)
        found: dict[str, tuple[DTypeLike, tuple[int, ...]]] = {
            "keys": (np.int32, (self.features,)),
            "idf": (np.float32, (self.features,)),
            "weights": (np.int8, (kept,) if kept else (rows, columns)),
        }
        if kept:
            found["ends"] = (np.int32, (rows,))
            found["columns"] = (np.int16 if columns <= 1 << 15 else np.int32, (kept,))
        found |= {"steps": (np.float32, (rows,)), "bias": (np.float32, (columns,))}
        if self.vectors:
            found["mean"] = (np.float32, (self.vectors,))
        if dense:
            found["dense"] = (np.float32, (dense, columns))
        return found

    def misplaced(self, tables: Tables) -> Iterator[str]:
        """What is wrong with where the weights that were kept are said to belong."""
        if not self.kept:
            return
        ends, columns = tables["ends"].astype(np.int64), tables["columns"]
        sizes = np.diff(ends, prepend=0)
        if not len(ends) or ends[-1] != self.kept or (sizes < 0).any():
            yield f"expert.ends: they do not part {self.kept} weights among {len(ends)} features"
        if (columns < 0).any() or (columns >= self.columns).any():
            yield f"expert.columns: they are not all numbers of {self.columns} labels"

    def model(self, tables: Tables) -> LinearModel:
        """The linear model that tables of these shapes are."""
        keys, idf = tables["keys"].view(np.uint32), tables["idf"]
        parts = {"words": slice(None, self.words), "characters": slice(self.words, None)}
        blocks: dict[Block, Vocabulary] = {
            name: Vocabulary(keys[parts[name]], idf[parts[name]])
            for name in BLOCKS
            if len(keys[parts[name]])
        }
        dense, scale = np.zeros((0, self.columns), dtype=np.float32), None
        if self.vectors or self.pairs or self.form:
            dense = tables["dense"]
        if self.vectors:
            scale = DenseScale(tables["mean"], 1.0)
        machine = Machine(self._weights(tables), dense, tables["bias"])
        how = (self.classes, self.tokenizer, scale, self.pairs, self.reach, self.form, self.edges)
        return LinearModel(blocks, machine, *how)

    def _weights(self, tables: Tables) -> Floats | csr_matrix:
        """As numbers, `[features, columns]`; not sparse unless that would take much memory, as products are
        slower then."""
        weights, steps = tables["weights"], tables["steps"]
        if not self.kept:
            return weights * steps[:, None]
        ends = np.append(np.int32(0), tables["ends"])
        values = weights * np.repeat(steps, np.diff(ends))
        shape = len(steps), self.columns
        sparse = csr_matrix((values, tables["columns"].astype(np.int32), ends), shape=shape)
        return np.asarray(sparse.toarray()) if shape[0] * shape[1] <= MOST_DENSE else sparse
