"""Linear models as buffers of a torch module: saved with the model, and not trained by gradient descent."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from torch import Tensor

from headwise.core.config import JsonObject
from headwise.linear.linear_model import LinearModel
from headwise.linear.linear_tables import TextTableFormat
from headwise.linear.linear_warm_start import max_abs_weights, prune
from headwise.linear.linear_weights import Floats
from headwise.linear.tag_crf import CrfTagger, TagTableFormat
from headwise.linear.tfidf_features import BLOCK_NAMES
from headwise.nn.embeddings.character_embedding import ClusterTable
from headwise.nn.layers.table_buffers import TableBuffers
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.task_layers.layer_configs import LinearMemberConfig


class TextLinearBuffers(TableBuffers[LinearModel]):
    """A `LinearModel` as buffers, which the solver fits (no gradient descent).

    Args:
        tables: Its sizes, and the names of the buffers.
    """

    tables: TextTableFormat
    keys: Tensor
    idf: Tensor
    ends: Tensor
    columns: Tensor
    weights: Tensor
    steps: Tensor
    bias: Tensor
    mean: Tensor
    dense: Tensor

    def __init__(self, tables: TextTableFormat):
        super().__init__(tables)
        self.vectors, self.form = tables.vectors, tables.form

    @classmethod
    def of(cls, model: LinearModel) -> Self:
        """Convert a fitted linear model."""
        vocabularies = [model.blocks[name] for name in BLOCK_NAMES if name in model.blocks]
        vectors = 0 if model.scale is None else len(model.scale.mean)
        weights = prune(model.coefficients.weights)
        stored_weights = int(weights.nnz) if isinstance(weights, csr_matrix) else 0
        linear_model = cls(
            TextTableFormat(
                features=sum(map(len, vocabularies)),
                words=len(model.blocks["words"]) if "words" in model.blocks else 0,
                vectors=vectors,
                classes=model.classes,
                tokenizer=model.tokenizer,
                sets=len(model.coefficients.bias) == model.classes,
                pairs=model.pairs,
                stored_weights=stored_weights,
                reach=model.reach,
                form=model.form,
                edges=model.edges,
                tabular=model.tabular,
            )
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

    def sizes(self) -> JsonObject:
        """The sizes to store in `LinearMemberConfig`."""
        tables = self.tables
        return {
            "features": tables.features,
            "words": tables.words,
            "characters": tables.features - tables.words,
            "vectors": tables.vectors,
            "kept": tables.stored_weights,
            "reach": tables.reach,
            "form": tables.form,
            "edges": tables.edges,
        }

    def forward(
        self, texts: Sequence[Any], dense: NDArray | None = None, numbers: NDArray | None = None
    ) -> Floats:
        """Calibrated logits of texts or pairs, `[texts, classes]`; see `LinearModel.scores`."""
        return self.contents().scores(texts, dense, numbers)


def with_linear_sizes(config: ModelConfig, sizes: Mapping[str, int]) -> ModelConfig:
    """The configuration with these sizes of the linear model; no sizes mean no linear model."""
    values: JsonObject = {name: getattr(LinearMemberConfig, name) for name in LinearMemberConfig.SIZES}
    values |= sizes
    return replace(config, linear_model=replace(config.linear_model, **values))


_LEAST = 0.05  # features with smaller weights only are dropped


class TagLinearBuffers(TableBuffers[CrfTagger]):
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
            values |= {f"group_{name}": table for name, table in groups.tables().items()}
        linear_model.fill(values)
        return linear_model

    def sizes(self) -> dict[str, int]:
        """The sizes to store in `LinearMemberConfig`."""
        return {"features": len(self.keys), "grouped": self.groups}

    def contents(self) -> CrfTagger:
        """The CRF; built once."""
        crf, (shared,) = super().contents(), self._shared
        if shared is not None and crf.groups is None:
            self._contents = crf = replace(crf, groups=shared.contents())
        return crf

    def forward(self, sentences: Sequence[Sequence[str]]) -> Floats:
        """Map the words of sentences to the emission scores of each word, `[words, tags]`."""
        return self.contents().emissions(sentences)[0]
