"""TextExpert: a linear model of texts, or text pairs, as part of a saved model, with 8-bit weights."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from torch import Tensor

from headwise.linear.buffers import Buffers
from headwise.linear.solver import Floats
from headwise.linear.text_model import LinearModel
from headwise.linear.text_tables import BLOCKS, TextTables
from headwise.linear.thinning import largest, thinned


class TextExpert(Buffers[LinearModel]):
    """A `LinearModel` as buffers, which the solver fits (no gradient descent). See `TextTables` for the
    buffers and the arguments."""

    keys: Tensor
    idf: Tensor
    ends: Tensor
    columns: Tensor
    weights: Tensor
    steps: Tensor
    bias: Tensor
    mean: Tensor
    dense: Tensor

    def __init__(
        self,
        features: int,
        words: int,
        vectors: int,
        classes: int,
        tokenizer: str,
        *,
        sets: bool = False,
        pairs: bool = False,
        stored_weights: int = 0,
        reach: int = 1,
        form: bool = False,
        edges: bool = False,
    ):
        how = {
            "sets": sets,
            "pairs": pairs,
            "stored_weights": stored_weights,
            "reach": reach,
            "form": form,
            "edges": edges,
        }
        super().__init__(TextTables(features, words, vectors, classes, tokenizer, **how))
        self.words, self.vectors, self.classes, self.tokenizer = words, vectors, classes, tokenizer
        self.pairs, self.stored_weights, self.reach = pairs, stored_weights, reach
        self.form, self.edges = form, edges

    @classmethod
    def of(cls, model: LinearModel) -> Self:
        """Convert a fitted linear model."""
        vocabularies = [model.blocks[name] for name in BLOCKS if name in model.blocks]
        words = len(model.blocks["words"]) if "words" in model.blocks else 0
        vectors = 0 if model.scale is None else len(model.scale.mean)
        sets = len(model.machine.bias) == model.classes
        weights = thinned(model.machine.weights)
        stored_weights = int(weights.nnz) if isinstance(weights, csr_matrix) else 0
        features = sum(map(len, vocabularies))
        how: dict[str, Any] = {"sets": sets, "pairs": model.pairs, "stored_weights": stored_weights}
        how |= {"reach": model.reach, "form": model.form, "edges": model.edges}
        expert = cls(features, words, vectors, model.classes, model.tokenizer, **how)
        nothing = np.zeros(0, dtype=np.uint32)
        keys = np.concatenate([nothing, *(vocabulary.keys for vocabulary in vocabularies)]).view(np.int32)
        idf = np.concatenate(
            [np.zeros(0, dtype=np.float32), *(vocabulary.idf for vocabulary in vocabularies)]
        )
        steps = largest(weights) / np.float32(127)
        values: dict[str, Any] = {"keys": keys, "idf": idf, "steps": steps, "bias": model.machine.bias}
        divisors = np.where(steps > 0, steps, 1)
        if not isinstance(weights, csr_matrix):
            values["weights"] = np.rint(weights / divisors[:, None])
        elif stored_weights:
            ends = np.asarray(weights.indptr)
            values |= {"ends": ends[1:], "columns": weights.indices}
            values["weights"] = np.rint(weights.data / np.repeat(divisors, np.diff(ends)))
        if model.scale is not None:
            values["mean"] = model.scale.mean
        if len(model.machine.dense):
            values["dense"] = model.machine.dense.copy()
            values["dense"][:vectors] *= np.float32(model.scale.weight if model.scale else 1)
        expert.fill(values)
        return expert

    @property
    def features(self) -> int:
        """Number of features: words, word pairs and character n-grams."""
        return len(self.keys)

    def sizes(self) -> dict[str, Any]:
        """The sizes to store in `ExpertConfig`."""
        characters = self.features - self.words
        return {
            "features": self.features,
            "words": self.words,
            "characters": characters,
            "vectors": self.vectors,
            "kept": self.stored_weights,
            "reach": self.reach,
            "form": self.form,
            "edges": self.edges,
        }

    def forward(
        self, texts: Sequence[Any], dense: NDArray | None = None, numbers: NDArray | None = None
    ) -> Floats:
        """Calibrated logits of texts or pairs, `[texts, classes]`; see `LinearModel.scores`."""
        return self.linear_model().scores(texts, dense, numbers)
