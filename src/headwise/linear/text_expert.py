"""TextExpert: a linear model of texts, or of text pairs, as part of a saved model, its weights in bytes."""

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from torch import Tensor, nn

from headwise.linear.form import FORM
from headwise.linear.pair_features import GROUPS, NUMBERS
from headwise.linear.solver import Floats, Machine
from headwise.linear.text_features import Block, Vocabulary
from headwise.linear.text_model import DenseScale, LinearModel
from headwise.linear.thinning import largest, thinned

BLOCKS: tuple[Block, ...] = ("words", "characters")
MOST_DENSE = 1 << 24
"""Features times columns up to which the weights that were kept stand among zeros in memory."""


class TextExpert(nn.Module):
    """A `LinearModel` as buffers: trained by the solver, not by gradient.

    The weights of a feature are whole numbers between -127 and 127, times one number of its own: a tenth of
    what most of them would take otherwise, at no loss of accuracy. Of very many labels only the weights
    that are worth it are kept (`headwise.linear.thinning`), feature by feature, with the labels that they
    are of.

    Args:
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
        kept: int = 0,
        reach: int = 1,
        form: bool = False,
        edges: bool = False,
    ):
        super().__init__()
        columns = 1 if classes == 2 and not sets else classes
        self.words, self.vectors, self.classes, self.tokenizer = words, vectors, classes, tokenizer
        self.pairs, self.kept, self.reach = pairs, kept, reach
        self.form, self.edges = form, edges
        rows, dense = features * (GROUPS if pairs else 1), vectors + (NUMBERS if pairs else FORM * form)
        self.register_buffer("keys", torch.zeros(features, dtype=torch.int32))
        self.register_buffer("idf", torch.zeros(features))
        shape = (kept,) if kept else (rows, columns)
        self.register_buffer("weights", torch.zeros(shape, dtype=torch.int8))
        if kept:
            number = torch.int16 if columns <= 1 << 15 else torch.int32
            self.register_buffer("ends", torch.zeros(rows, dtype=torch.int32))
            self.register_buffer("columns", torch.zeros(kept, dtype=number))
        self.register_buffer("steps", torch.zeros(rows))
        self.register_buffer("bias", torch.zeros(columns))
        if vectors:
            self.register_buffer("mean", torch.zeros(vectors))
        if dense:
            self.register_buffer("dense", torch.zeros(dense, columns))
        self._model: LinearModel | None = None

    @classmethod
    def of(cls, model: LinearModel) -> Self:
        """The expert that a linear model makes."""
        vocabularies = [model.blocks[name] for name in BLOCKS if name in model.blocks]
        words = len(model.blocks["words"]) if "words" in model.blocks else 0
        vectors = 0 if model.scale is None else len(model.scale.mean)
        sets = len(model.machine.bias) == model.classes
        weights = thinned(model.machine.weights)
        kept = int(weights.nnz) if isinstance(weights, csr_matrix) else 0
        features = sum(map(len, vocabularies))
        how: dict[str, Any] = {"sets": sets, "pairs": model.pairs, "kept": kept}
        how |= {"reach": model.reach, "form": model.form, "edges": model.edges}
        expert = cls(features, words, vectors, model.classes, model.tokenizer, **how)
        nothing = np.zeros(0, dtype=np.uint32)
        keys = np.concatenate([nothing, *(own.keys for own in vocabularies)]).view(np.int32)
        idf = np.concatenate([np.zeros(0, dtype=np.float32), *(own.idf for own in vocabularies)])
        steps = largest(weights) / np.float32(127)
        values: dict[str, Any] = {"keys": keys, "idf": idf, "steps": steps, "bias": model.machine.bias}
        divisors = np.where(steps > 0, steps, 1)
        if not isinstance(weights, csr_matrix):
            values["weights"] = np.rint(weights / divisors[:, None])
        elif kept:
            ends = np.asarray(weights.indptr)
            values |= {"ends": ends[1:], "columns": weights.indices}
            values["weights"] = np.rint(weights.data / np.repeat(divisors, np.diff(ends)))
        if model.scale is not None:
            values["mean"] = model.scale.mean
        if len(model.machine.dense):
            values["dense"] = model.machine.dense.copy()
            values["dense"][:vectors] *= np.float32(model.scale.weight if model.scale else 1)
        for name, value in values.items():
            getattr(expert, name).copy_(torch.from_numpy(np.ascontiguousarray(value)))
        return expert

    @property
    def features(self) -> int:
        """Words, word pairs and runs of characters that it knows."""
        return len(self.keys)

    def sizes(self) -> dict[str, Any]:
        """What `ExpertConfig` is to say of it."""
        characters = self.features - self.words
        return {
            "features": self.features,
            "words": self.words,
            "characters": characters,
            "vectors": self.vectors,
            "kept": self.kept,
            "reach": self.reach,
            "form": self.form,
            "edges": self.edges,
        }

    def linear_model(self) -> LinearModel:
        """The linear model that it is; made once (the buffers are not to be changed after that)."""
        if self._model is None:
            keys = self.keys.cpu().numpy().view(np.uint32)
            idf, steps = self.idf.float().cpu().numpy(), self.steps.float().cpu().numpy()
            parts = {"words": slice(None, self.words), "characters": slice(self.words, None)}
            blocks: dict[Block, Vocabulary] = {
                name: Vocabulary(keys[parts[name]], idf[parts[name]])
                for name in BLOCKS
                if len(keys[parts[name]])
            }
            columns = len(self.bias)
            dense, scale = np.zeros((0, columns), dtype=np.float32), None
            if self.vectors or self.pairs or self.form:
                dense = self.dense.float().cpu().numpy()
            if self.vectors:
                scale = DenseScale(self.mean.float().cpu().numpy(), 1.0)
            machine = Machine(self._weights(steps), dense, self.bias.float().cpu().numpy())
            how = (self.classes, self.tokenizer, scale, self.pairs, self.reach, self.form, self.edges)
            self._model = LinearModel(blocks, machine, *how)
        return self._model

    def _weights(self, steps: Floats) -> Floats | csr_matrix:
        """As numbers, `[features, columns]`; not sparse unless that would take much memory, as products are
        slower then."""
        weights = self.weights.cpu().numpy()
        if not self.kept:
            return weights * steps[:, None]
        ends = np.append(np.int32(0), self.ends.cpu().numpy())
        values = weights * np.repeat(steps, np.diff(ends))
        shape = len(steps), len(self.bias)
        sparse = csr_matrix((values, self.columns.cpu().numpy().astype(np.int32), ends), shape=shape)
        return np.asarray(sparse.toarray()) if shape[0] * shape[1] <= MOST_DENSE else sparse

    def forward(
        self, texts: Sequence[Any], dense: NDArray | None = None, numbers: NDArray | None = None
    ) -> Floats:
        """Calibrated logits of texts or pairs, `[texts, classes]`, from what it reads beside them too."""
        return self.linear_model().scores(texts, dense, numbers)

    def _load_from_state_dict(self, *args: Any, **keywords: Any) -> None:
        self._model = None
        super()._load_from_state_dict(*args, **keywords)
        *_, errors = args
        if self.kept and not errors:
            errors.extend(self._misplaced())

    def _misplaced(self) -> Iterator[str]:
        """What is wrong with where the weights are said to belong."""
        ends = self.ends.long()
        sizes = torch.diff(ends, prepend=ends.new_zeros(1))
        if not len(ends) or ends[-1] != self.kept or (sizes < 0).any():
            yield f"expert.ends: they do not part {self.kept} weights among {len(ends)} features"
        if (self.columns < 0).any() or (self.columns >= len(self.bias)).any():
            yield f"expert.columns: they are not all numbers of {len(self.bias)} labels"
