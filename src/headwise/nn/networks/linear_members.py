"""Linear models as buffers of a torch module: saved with the model, and not trained by gradient descent.

`ModelBuffers` holds the tables of any linear model that has a `TableFormat`. `TextLinearBuffers` holds a
linear model of texts or text pairs, with 8-bit weights.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_matrix
from torch import Tensor, nn

from headwise.core.config import JsonObject
from headwise.linear.linear_model import LinearModel
from headwise.linear.linear_tables import BLOCKS, TextTableFormat
from headwise.linear.linear_warm_start import max_abs_weights, prune
from headwise.linear.linear_weights import Floats
from headwise.linear.tag_crf import CrfTagger, TagTableFormat
from headwise.nn.embeddings.character_embedding import ClusterTable
from headwise.nn.layers.layer_configs import LinearMemberConfig
from headwise.nn.networks.model_config import ModelConfig

Made = TypeVar("Made", covariant=True)
Shapes = dict[str, tuple[DTypeLike, tuple[int, ...]]]


class TableFormat(Protocol[Made]):
    """The tables (arrays) that store a linear model: their shapes, and how to rebuild the model from
    them."""

    def shapes(self) -> Shapes:
        """The dtype and shape of each table, by name."""
        ...

    def errors(self, tables: Mapping[str, NDArray]) -> Iterator[str]:
        """Errors in the values of tables that have the right shapes, as messages."""
        ...

    def model(self, tables: Mapping[str, NDArray]) -> Made:
        """Build the linear model from its tables."""
        ...


class ModelBuffers(nn.Module, Generic[Made]):
    """A torch module that holds the tables of a linear model as buffers.

    Args:
        tables: Names, dtypes and shapes of the buffers, which are 0 at first.
    """

    def __init__(self, tables: TableFormat[Made]):
        super().__init__()
        self.tables = tables
        for name, (kind, shape) in tables.shapes().items():
            self.register_buffer(name, torch.zeros(shape, dtype=getattr(torch, np.dtype(kind).name)))
        self._made: Made | None = None

    def fill(self, tables: Mapping[str, NDArray]) -> None:
        """Copy the values of tables into the buffers."""
        for name, table in tables.items():
            self.get_buffer(name).copy_(torch.from_numpy(np.ascontiguousarray(table)))

    def linear_model(self) -> Made:
        """The linear model that the buffers hold. It is built once, so the buffers must not change
        afterwards. It copies the arrays: PyTorch may move a buffer to other memory, as when a model is sent
        to another process, and free what an array would still read."""
        if self._made is None:
            self._made = self.tables.model({name: array.copy() for name, array in self._arrays().items()})
        return self._made

    def _arrays(self) -> dict[str, NDArray]:
        return {
            name: (buffer.float() if buffer.is_floating_point() else buffer).cpu().numpy()
            for name, buffer in self.named_buffers()
        }

    def _load_from_state_dict(self, *args: Any, **keywords: Any) -> None:
        self._made = None
        super()._load_from_state_dict(*args, **keywords)
        *_, errors = args
        if not errors:
            errors.extend(self.tables.errors(self._arrays()))


class TextLinearBuffers(ModelBuffers[LinearModel]):
    """A `LinearModel` as buffers, which the solver fits (no gradient descent). See `TextTableFormat` for
    the buffers and the arguments."""

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
        tabular: int = 0,
    ):
        super().__init__(
            TextTableFormat(
                features,
                words,
                vectors,
                classes,
                tokenizer,
                sets=sets,
                pairs=pairs,
                stored_weights=stored_weights,
                reach=reach,
                form=form,
                edges=edges,
                tabular=tabular,
            )
        )
        self.words, self.vectors, self.classes, self.tokenizer = words, vectors, classes, tokenizer
        self.pairs, self.stored_weights, self.reach = pairs, stored_weights, reach
        self.form, self.edges = form, edges

    @classmethod
    def of(cls, model: LinearModel) -> Self:
        """Convert a fitted linear model."""
        vocabularies = [model.blocks[name] for name in BLOCKS if name in model.blocks]
        words = len(model.blocks["words"]) if "words" in model.blocks else 0
        vectors = 0 if model.scale is None else len(model.scale.mean)
        sets = len(model.coefficients.bias) == model.classes
        weights = prune(model.coefficients.weights)
        stored_weights = int(weights.nnz) if isinstance(weights, csr_matrix) else 0
        features = sum(map(len, vocabularies))
        linear_model = cls(
            features,
            words,
            vectors,
            model.classes,
            model.tokenizer,
            sets=sets,
            pairs=model.pairs,
            stored_weights=stored_weights,
            reach=model.reach,
            form=model.form,
            edges=model.edges,
            tabular=model.tabular,
        )
        nothing = np.zeros(0, dtype=np.uint32)
        keys = np.concatenate([nothing, *(vocabulary.keys for vocabulary in vocabularies)]).view(np.int32)
        idf = np.concatenate(
            [np.zeros(0, dtype=np.float32), *(vocabulary.idf for vocabulary in vocabularies)]
        )
        steps = max_abs_weights(weights) / np.float32(127)
        values: JsonObject = {"keys": keys, "idf": idf, "steps": steps, "bias": model.coefficients.bias}
        divisors = np.where(steps > 0, steps, 1)
        if not isinstance(weights, csr_matrix):
            values["weights"] = np.rint(weights / divisors[:, None])
        elif stored_weights:
            ends = np.asarray(weights.indptr)
            values |= {"ends": ends[1:], "columns": weights.indices}
            values["weights"] = np.rint(weights.data / np.repeat(divisors, np.diff(ends)))
        if model.scale is not None:
            values["mean"] = model.scale.mean
        if len(model.coefficients.dense):
            values["dense"] = model.coefficients.dense.copy()
            values["dense"][:vectors] *= np.float32(model.scale.weight if model.scale else 1)
        linear_model.fill(values)
        return linear_model

    @property
    def features(self) -> int:
        """Number of features: words, word pairs and character n-grams."""
        return len(self.keys)

    def sizes(self) -> JsonObject:
        """The sizes to store in `LinearMemberConfig`."""
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


def with_linear_sizes(config: ModelConfig, sizes: Mapping[str, int]) -> ModelConfig:
    """The configuration with these sizes of the linear model; no sizes mean no linear model."""
    nothing = {name: getattr(LinearMemberConfig, name) for name in LinearMemberConfig.SIZES}
    return replace(config, linear_model=replace(config.linear_model, **{**nothing, **sizes}))


_LEAST = 0.05  # features with smaller weights only are dropped


class TagLinearBuffers(ModelBuffers[CrfTagger]):
    """The emission scores of a `CrfTagger` as buffers, which are not trained by gradient descent.

    The weights of a feature are integers from -127 to 127, times one scale per feature.

    Args:
        features: Number of features.
        tags: Names of the tags, in the order of the scores.
        groups: See `TagTableFormat`.
        shared: The clusters of words that the encoder reads, which serve as the CRF's; None if it has its
            own, or none.
    """

    keys: Tensor
    weights: Tensor
    steps: Tensor
    transitions: Tensor

    def __init__(
        self, features: int, tags: Sequence[str], groups: int = 0, shared: ClusterTable | None = None
    ):
        super().__init__(TagTableFormat(features, tuple(tags), groups))
        self.groups, self._shared = groups, (shared,)  # in a tuple: not a part of this module

    @classmethod
    def of(cls, crf: CrfTagger, tags: Sequence[str], shared: ClusterTable | None = None) -> Self:
        """Convert a trained CRF.

        Args:
            crf: A CRF with the same tags.
            tags: The tags in the order of the new scores.
            shared: The clusters that it has read, if the encoder has the same.
        """
        order = [crf.tags.index(tag) for tag in tags]
        largest = np.abs(crf.weights).max(axis=1, initial=0)
        selected = largest >= _LEAST
        steps = largest[selected] / np.float32(127)
        groups = crf.groups if shared is None else None
        linear_model = cls(len(steps), tags, 0 if groups is None else len(groups), shared)
        values = {
            "keys": crf.keys[selected].view(np.int32),
            "weights": np.rint(crf.weights[selected][:, order] / steps[:, None]).astype(np.int8),
            "steps": steps,
            "transitions": crf.transitions[order][:, order],
        }
        if groups is not None:
            values |= {"group_keys": groups.keys.view(np.int32), "group_numbers": groups.numbers}
        linear_model.fill(values)
        return linear_model

    def sizes(self) -> dict[str, int]:
        """The sizes to store in `LinearMemberConfig`."""
        return {"features": len(self.keys), "grouped": self.groups}

    def linear_model(self) -> CrfTagger:
        """The CRF; built once."""
        crf, (shared,) = super().linear_model(), self._shared
        if shared is not None and crf.groups is None:
            self._made = crf = replace(crf, groups=shared.clusters())
        return crf

    def forward(self, sentences: Sequence[Sequence[str]]) -> Floats:
        """Map the words of sentences to the emission scores of each word, `[words, tags]`."""
        return self.linear_model().emissions(sentences)[0]
