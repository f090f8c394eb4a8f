"""TextEncoderModel: the base class of models with a fixed number of outputs for each text, with the head on
one vector per text and the linear member of the ensemble."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from headwise.core.config import JsonObject
from headwise.core.errors import ConfigError
from headwise.data.items.dataset import in_chunks
from headwise.linear.linear_warm_start import LinearWarmStart
from headwise.linear.tabular_features import encode_rows, tabular_features, tabular_rows
from headwise.metrics.novelty import unit_vectors
from headwise.metrics.target_scale import Scale
from headwise.nn.embeddings.base_embedding import BaseEmbedding
from headwise.nn.embeddings.encoded_batches import TextBatch
from headwise.nn.embeddings.pretrained import PretrainedEmbedding
from headwise.nn.encoders.encoder import Encoded
from headwise.nn.encoders.encoder_configs import output_width
from headwise.nn.encoders.pooling import NO_CLS, Readout
from headwise.nn.networks.linear_members import TextLinearBuffers, with_linear_sizes
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.word_model import WordModel
from headwise.nn.task_layers.layer_configs import ClassifierConfig
from headwise.nn.task_layers.output_layers import Classifier
from headwise.runtime.ensemble_outputs import (
    ensemble_logits,
    item_probabilities,
    linear_scores,
)
from headwise.runtime.limits import check_finite
from headwise.runtime.novelty_member import NoveltyMember
from headwise.runtime.outputs import (
    AnyOutputs,
    MultiLabelOutputs,
    NumberOutputs,
    OutputsAttribute,
    OutputsType,
    item_predictions,
)
from headwise.text.on_demand_texts import OnDemandTexts, encode_texts
from headwise.text.static_embeddings.base_encoder import BaseEncoder, open_base_encoder
from headwise.text.static_embeddings.base_vectors import BaseError
from headwise.text.vocabulary import Vocabulary

_TEXTS_AT_ONCE = 1_024  # whose vectors are computed together


def new_probe(size: int, head: Classifier, outputs: int) -> nn.Linear:
    """A linear probe from text vectors (or comparison features) of a base, `[texts, size]`, to the outputs.

    The last layer of the head and the probe are set to 0, so that training starts from the probe, which
    `headwise.training.linear_probe` fits.
    """
    probe = nn.Linear(size, outputs)
    for parameter in (*head.layers[-1].parameters(), *probe.parameters()):
        nn.init.zeros_(parameter)
    return probe


class ReferenceVectors(nn.Module):
    """Vectors of training texts as a buffer of 8-bit numbers, which the model folder saves.

    Args:
        texts: Number of vectors.
        size: Size of a vector.
    """

    values: Tensor

    def __init__(self, texts: int, size: int):
        super().__init__()
        self.register_buffer("values", torch.zeros(texts, size, dtype=torch.int8))
        self._units: np.ndarray | None = None

    def units(self) -> np.ndarray:
        """The vectors at length 1, float32 `[texts, size]`; computed once."""
        if self._units is None:
            self._units = unit_vectors(self.values.cpu().numpy())
        return self._units

    def _load_from_state_dict(self, *args: Any, **keywords: Any) -> None:
        self._units = None
        super()._load_from_state_dict(*args, **keywords)

    @classmethod
    def of(cls, vectors: np.ndarray) -> "ReferenceVectors":
        """The vectors `[texts, size]`, each scaled so that its largest number is 127."""
        stored = cls(*vectors.shape)
        largest = np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-12)
        stored.values.copy_(torch.from_numpy(np.rint(vectors * (127 / largest)).astype(np.int8)))
        return stored


class TextEncoderModel(NoveltyMember, WordModel, Generic[OutputsType]):
    """Base class of models with a fixed number of outputs for each text, which may be ensembles of the
    network and a linear model (see `EnsembleMembers`).

    Args:
        config: See `ModelConfig`.
        vocabulary: The word vocabulary.
        outputs: What the model makes of the outputs of the network.
        files: See `WordModel`.

    Attributes:
        previous_linear_model: During training, the linear model of a previous model, for warm start.
        base_encoder: The encoder of the base that the model started from, until the probe has read it.
    """

    linear_model: TextLinearBuffers | None
    previous_linear_model: LinearWarmStart | None = None
    base_encoder: BaseEncoder | None = None
    outputs: OutputsType

    labels = OutputsAttribute[tuple[str, ...]]()
    temperature = OutputsAttribute[float]()
    biases = OutputsAttribute[list[float] | None]()
    thresholds = OutputsAttribute[list[float] | None]()
    separator = OutputsAttribute[str]()
    scale = OutputsAttribute[Scale]()
    calibrated = OutputsAttribute[Callable[[np.ndarray], np.ndarray]]()
    probabilities = OutputsAttribute[Callable[[np.ndarray], np.ndarray]]()
    chosen_labels = OutputsAttribute[Callable[[np.ndarray], np.ndarray]]()
    linear_scores, logits = linear_scores, ensemble_logits
    predict_proba, predict = item_probabilities, item_predictions

    def __init_subclass__(cls, outputs: type[AnyOutputs] | None = None) -> None:
        """Set what model folders save of these outputs."""
        super().__init_subclass__()
        if outputs is not None:
            cls.FITTED, cls.read_outputs = outputs.FITTED, staticmethod(outputs.read_outputs)

    def __init__(
        self,
        config: ModelConfig,
        vocabulary: Vocabulary,
        outputs: OutputsType,
        files: Mapping[str, Any] | None = None,
    ):
        super().__init__(config, vocabulary, files)
        self.outputs = outputs
        if config.readout == "attentive,cls" and not config.pretrained.name:
            raise ConfigError(NO_CLS)
        self.readout = Readout(config.readout, output_width(config.encoder), config.encoder.width)
        numbers = isinstance(outputs, NumberOutputs)
        self.create_head(config.regressor.perceptron if numbers else config.classifier)
        self.create_linear_model()
        if files is None and config.base.name and config.base.encoder == "on":
            self.start_from_base_encoder(open_base_encoder(config.base.name))
        texts = config.unknown.texts
        self.reference_vectors = ReferenceVectors(texts, config.base.size) if texts else None

    def outputs_json(self) -> JsonObject:
        return self.outputs.to_json()

    def create_head(self, perceptron: ClassifierConfig) -> None:
        """Create the layers above the readout."""
        self.head = Classifier(self.readout.width, self.outputs.count, perceptron)
        self.probe = None
        if isinstance(self.embedding, BaseEmbedding) and self.config.base.probe:
            self.probe = new_probe(self.embedding.config.size, self.head, self.outputs.count)

    @torch.no_grad()
    def start_from_base_encoder(self, encoder: BaseEncoder) -> None:
        """Start from the encoder of the base; the probe and the last layer of the head stay as they are.

        Raises:
            BaseError: HW803, its weights do not fit the settings of the model.
        """
        parameters = dict(self.named_parameters())
        last: Any = self.head.layers[-1]
        hidden = last.in_features
        shapes = {name: tuple(parameters[name].shape) for name in encoder.weights if name in parameters}
        if (
            shapes != {name: values.shape for name, values in encoder.weights.items()}
            or encoder.outputs.shape[1] != self.config.base.size + hidden
        ):
            section = "regressor" if isinstance(self.outputs, NumberOutputs) else "classifier"
            raise BaseError(
                f"base {self.config.base.name!r}: its encoder does not fit these settings of encoder, "
                f"{section} and model.readout; leave them out, or use --base.encoder off "
                "(in Python: recipe={'base': {'encoder': 'off'}})",
                code="HW803",
            )
        for name, values in encoder.weights.items():
            parameters[name].copy_(torch.from_numpy(values))
        self.base_encoder = None if self.probe is None else encoder.for_labels(self.outputs.count)

    def create_linear_model(self) -> None:
        """Create an untrained linear model of the configured size, if it is enabled."""
        sets, pairs = isinstance(self.outputs, MultiLabelOutputs), self.reads_pairs
        config, tokenizer = self.config.linear_model, self.config.words.tokenizer
        tables = config.table_format(self.outputs.count, tokenizer, sets=sets, pairs=pairs)
        self.linear_model = None if tables is None else TextLinearBuffers(tables)
        self.encoder_weight, self.linear_weight, self.linear_share = 1.0, 0.0, 0.0

    def add_linear_model(
        self,
        linear_model: TextLinearBuffers,
        weight: float,
        *,
        encoder_weight: float = 1.0,
        share: float = 0.0,
    ) -> None:
        """Add a linear model to the ensemble.

        Args:
            linear_model: The linear model.
            weight: Ensemble weight of its scores.
            encoder_weight: Ensemble weight of the encoder's outputs.
            share: See `linear_share`.
        """
        self.config = with_linear_sizes(self.config, linear_model.sizes())
        self.linear_model, self.linear_weight = linear_model.to(self.device), weight
        self.encoder_weight, self.linear_share = encoder_weight, share

    def remove_linear_model(self) -> None:
        """Remove the linear model from the ensemble."""
        self.config = with_linear_sizes(self.config, {})
        self.create_linear_model()

    def set_references(self, vectors: np.ndarray | None) -> None:
        """Store vectors of training texts, `[texts, size]`, for the novelty detector; None for none."""
        self.reference_vectors = None if vectors is None else ReferenceVectors.of(vectors).to(self.device)
        texts = 0 if vectors is None else len(vectors)
        self.config = replace(self.config, unknown=replace(self.config.unknown, texts=texts))

    @property
    def references(self) -> np.ndarray | None:
        return None if self.reference_vectors is None else self.reference_vectors.units()

    def encoded(self, items: Sequence[Any]) -> Sequence[Any]:
        """Encode texts, with the features of the columns beside them if the model reads such columns.

        Texts that are too many for memory are encoded each time that they are needed, unless the states of
        a pretrained encoder, a parser or a function of the user's come with them.

        Raises:
            ConfigError: HW147, an item lacks these columns, or has others.
        """
        features = self.features
        repeatable = features.parser is None and not features.matrices and not self.reads_pairs
        if not repeatable or isinstance(self.embedding, PretrainedEmbedding):
            return self._encode(items)
        return encode_texts(self._encode, items)

    def _encode(self, items: Sequence[Any]) -> Sequence[Any]:
        encoded = self.features.encode(items)
        encodings = self.config.linear_model.tabular
        if not encodings:
            return encoded
        rows = tabular_rows(encodings, items)
        features = zip(encoded, encode_rows(encodings, rows), rows, strict=True)
        return [replace(text, tabular=values, row=row) for text, values, row in features]

    def forward(self, batch: TextBatch) -> Tensor:
        """Texts -> outputs of the network, `[texts, outputs]`, without the linear model."""
        return self.read(self.encode(batch))

    def read(self, encoded: Encoded) -> Tensor:
        """States of words -> `[texts, outputs]`."""
        outputs = self.head(self.readout(encoded))
        return outputs if self.probe is None else outputs + self.probe(encoded.cls)

    @property
    def embedding_size(self) -> int:
        """Number of features of `embeddings`."""
        return self.readout.width * (2 if self.reads_pairs else 1)

    def embeddings(self, encoded: Sequence[Any]) -> NDArray[np.float32]:
        """The vectors that the head reads, `[texts, features]`, in the order of the encoded texts; of a
        pair the vectors of both texts, concatenated."""

        def vectors_of(batch: TextBatch) -> Tensor:
            vectors = self.readout(self.contextual(self.encode(batch)))
            return torch.cat(vectors.chunk(2), dim=1) if self.reads_pairs else vectors

        return self._computed(encoded, self.embedding_size, vectors_of)

    def head_states(self, encoded: Sequence[Any]) -> NDArray[np.float32]:
        """The hidden layer of the head, `[texts, hidden]`, in the order of the encoded texts."""
        last: Any = self.head.layers[-1]
        hidden_layers = self.head.layers[:-1]
        return self._computed(
            encoded,
            last.in_features,
            lambda batch: hidden_layers(self.readout(self.contextual(self.encode(batch)))),
        )

    @torch.no_grad()
    def _computed(
        self, encoded: Sequence[Any], size: int, compute: Callable[[TextBatch], Tensor], **sizes: int
    ) -> NDArray[np.float32]:
        """The rows that a function computes of each batch, `[texts, size]`, in the order of the encoded
        texts.

        Args:
            encoded: Encoded texts or pairs.
            size: Features of a row.
            compute: From a batch to its rows, `[texts, size]`.
            sizes: See `batches`.
        """
        rows = np.zeros((len(encoded), size), dtype=np.float32)
        for places, batch in self.batches(encoded, **sizes):
            rows[places] = compute(batch).float().cpu().numpy()
        return check_finite(rows)

    def contextual(self, encoded: Encoded) -> Encoded:
        """States of words after the layers between encoder and readout; here there are none."""
        return encoded

    @property
    def has_base_vectors(self) -> bool:
        """Whether there are `base_vectors`."""
        return isinstance(self.embedding, BaseEmbedding)

    def base_vectors(self, encoded: Sequence[Any]) -> np.ndarray | None:
        """Text vectors from the base, without corrections, `[texts, size]`; None without a base."""
        if not isinstance(self.embedding, BaseEmbedding):
            return None
        embedding, batch = self.embedding, _TEXTS_AT_ONCE
        parts = (embedding.texts([text.spelling for text in part]) for part in in_chunks(encoded, batch))
        vectors, first = np.zeros((len(encoded), embedding.config.size), dtype=np.float32), 0
        for part in parts:
            vectors[first : first + len(part)] = part
            first += len(part)
        return vectors

    @torch.no_grad()
    def word_contributions(self, encoded: Sequence[Any], *, trained: bool = False) -> list[np.ndarray]:
        """The contribution of each word to the text vector from the base, `[words, size]` for each text.

        Args:
            encoded: Encoded texts.
            trained: Whether vectors include the trained corrections.
        """
        if not isinstance(self.embedding, BaseEmbedding):
            raise ValueError("the model has no base")
        values: list[np.ndarray] = [np.zeros(0)] * len(encoded)
        for places, batch in self.batches(encoded):
            rows = self.embedding.word_contributions(batch.words, batch.spelling, trained=trained)
            parts = np.split(rows.cpu().double().numpy(), np.cumsum(batch.layout.sizes)[:-1])
            for place, part in zip(places, parts, strict=True):
                values[place] = part
        return values

    def texts_of(self, encoded: Sequence[Any]) -> Sequence[Any]:
        """The original texts of encoded texts, or pairs of texts."""
        return encoded.texts if isinstance(encoded, OnDemandTexts) else [text.text for text in encoded]

    def linear_inputs(
        self, encoded: Sequence[Any], *, vectors: bool = True
    ) -> tuple[Sequence[Any], np.ndarray | None, np.ndarray | None]:
        """See `EnsembleMembers.linear_inputs`."""
        width = self.config.linear_model.tabular_width
        tabular = tabular_features(encoded, width) if width else None
        return self.texts_of(encoded), self.base_vectors(encoded) if vectors else None, tabular

    def remember(self, encoded: Iterable[Any]) -> None:
        """Cache the states of a frozen pretrained encoder for these texts."""
        if isinstance(self.embedding, PretrainedEmbedding):
            self.embedding.remember([text.spelling for text in encoded])

    def outputs_of(
        self, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """The network's outputs, `[texts, outputs]` float32, in the order of the encoded texts or pairs."""
        return self._computed(
            encoded, self.outputs.count, self, batch_texts=batch_texts, batch_tokens=batch_tokens
        )
