"""The tensors of models that predict without torch: their names, shapes and types in a model folder."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from headwise.artifacts.weights import TensorSpec
from headwise.nn.encoders.encoder_configs import MSTransformerConfig, output_width
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.task_layers.layer_configs import ClassifierConfig
from headwise.text.text_configs import CharacterConfig
from headwise.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from headwise.nn.encoders.transformer_configs import MSSANConfig

LinearShapes = Mapping[str, tuple[DTypeLike, tuple[int, ...]]]
"""Types and shapes of the tables of a linear model, by name."""


class TensorSpecs(dict[str, TensorSpec]):
    """Shapes and types of the tensors of a model, by name."""

    def add(self, name: str, *shape: int, dtype: DTypeLike = np.float32) -> None:
        """Add a tensor."""
        self[name] = TensorSpec(shape, np.dtype(dtype))

    def linear(self, name: str, inputs: int, outputs: int, *, bias: bool = True) -> None:
        """Add the tensors of a linear layer."""
        self.add(f"{name}.weight", outputs, inputs)
        if bias:
            self.add(f"{name}.bias", outputs)

    def norm(self, name: str, width: int) -> None:
        """Add the tensors of a layer norm."""
        self.add(f"{name}.weight", width)
        self.add(f"{name}.bias", width)

    def attention(self, name: str, width: int, inner: int, *, bias: bool) -> None:
        """Add the tensors of multi-head attention."""
        for part in ("query", "key", "value"):
            self.linear(f"{name}.{part}", width, inner, bias=bias)
        self.linear(f"{name}.out", inner, width, bias=bias)

    def perceptron(self, name: str, inputs: int, outputs: int, head: ClassifierConfig) -> None:
        """Add the tensors of a two-layer perceptron and of the norm before it."""
        if head.normalize != "none":
            self.norm(f"{name}.layers.0", inputs)
        if head.normalize == "batch":
            self.add(f"{name}.layers.0.running_mean", inputs)
            self.add(f"{name}.layers.0.running_var", inputs)
            self.add(f"{name}.layers.0.num_batches_tracked", dtype=np.int64)
        self.linear(f"{name}.layers.1", inputs, head.hidden)
        self.linear(f"{name}.layers.4", head.hidden, outputs)

    def linear_model(self, shapes: LinearShapes) -> None:
        """Add the tables of a linear model."""
        for name, (dtype, shape) in shapes.items():
            self.add(f"linear_model.{name}", *shape, dtype=dtype)

    def embedding(
        self, config: ModelConfig, vocabulary: Vocabulary, listed: tuple[str, ...], width: int
    ) -> None:
        """Add the tensors of word vectors.

        Args:
            config: The configuration of the model.
            vocabulary: Its vocabulary.
            listed: Words of its base; empty without a base.
            width: Features that the word vectors are projected to.
        """
        base, size = config.base, vector_size(config)
        count = len(vocabulary) - vocabulary.extra
        if not base.name:
            self.add("embedding.vectors.weight", count, size)
            if vocabulary.extra:
                self.add("embedding.extra.weight", vocabulary.extra, size)
        else:
            rows = len(listed) + base.subwords
            self.add("embedding.values", rows, size, dtype=np.int8)
            self.add("embedding.scales", rows)
            self.add("embedding.weights", len(listed) + 1)
            if base.train:
                self.add("embedding.vectors.weight", count, size)
            self.norm("embedding.norm", size)
        if size != width:
            self.linear("embedding.project", size, width)

    def encoder(self, encoder: Any) -> None:
        """Add the tensors of MS-Transformer or MS-SAN."""
        width, head_size = encoder.width, encoder.head_size
        if isinstance(encoder, MSTransformerConfig):
            if encoder.classification_node:
                self.add("encoder.node.state", width)
            for number, priors in enumerate(encoder.layer_priors):
                name = f"encoder.blocks.{number}"
                self.attention(f"{name}.attention", width, len(priors) * head_size, bias=encoder.bias)
                self.norm(f"{name}.norm", width)
            return
        for number, priors in enumerate(encoder.layer_priors):
            name = fusion_name(encoder, number)
            self.attention(f"{name}.attention", width, len(priors) * head_size, bias=encoder.bias)
            for part in ("input", "output", "gate_input"):
                self.linear(f"{name}.gate.{part}", width, width, bias=False)
            self.linear(f"{name}.gate.gate_output", width, width)
            self.linear(f"{name}.up", width, encoder.feedforward)
            self.linear(f"{name}.down", encoder.feedforward, width)
            self.norm(f"{name}.norm", width)

    def text_vectors(self, config: ModelConfig) -> int:
        """Add the tensors of the readout; returns the features of a text vector."""
        width = output_width(config.encoder)
        if config.readout.startswith("attentive"):
            self.linear("readout.attentive.up", width, width)
            self.linear("readout.attentive.down", width, width)
        return width * (1 + ("," in config.readout))

    def interaction(self, config: ModelConfig) -> None:
        """Add the tensors of the layers between the texts of a pair."""
        pair, width = config.pair, output_width(config.encoder)
        if pair.interaction == "none":
            return
        for number in range(pair.cross_layers):
            name = cross_name(number)
            if pair.interaction == "match":
                self.linear(f"{name}.look", width, width, bias=False)
                self.linear(f"{name}.compare", 4 * width, width)
                self.norm(f"{name}.norm", width)
                continue
            inner = pair.cross_heads * pair.cross_head_size
            self.attention(name, width, inner, bias=False)
            self.norm(f"{name}.norm1", width)
            self.linear(f"{name}.up", width, pair.cross_feedforward)
            self.linear(f"{name}.down", pair.cross_feedforward, width)
            self.norm(f"{name}.norm2", width)

    def characters(self, config: CharacterConfig, alphabet: int, words: int, width: int) -> None:
        """Add the tensors of the spelling of words.

        Args:
            config: Its configuration.
            alphabet: Number of characters.
            words: Features of word vectors.
            width: Features that these, with the spelling, are projected to.
        """
        name, size = SPELLING, config.vector_size
        if config.network != "none":
            self.add(f"{name}.vectors.weight", alphabet, size)
        if config.network == "cnn":
            self.add(f"{name}.network.filters.weight", config.features, size, config.window)
            self.add(f"{name}.network.filters.bias", config.features)
        if config.network == "lstm":
            hidden = config.features // 2
            for way in ("", "_reverse"):
                for part, inputs in (("ih", size), ("hh", hidden)):
                    self.add(f"{name}.network.lstm.weight_{part}_l0{way}", 4 * hidden, inputs)
                    self.add(f"{name}.network.lstm.bias_{part}_l0{way}", 4 * hidden)
        if config.ngrams:
            self.add(f"{name}.ngrams.weight", config.buckets, config.ngrams)
        if config.shape:
            from headwise.text.character_features import SHAPES

            self.linear(f"{name}.shape", len(SHAPES), config.shape)
        if config.clusters:
            from headwise.text.static_embeddings.word_groups import CLUSTER_ROWS, ClusterTableFormat

            self.add(f"{name}.clusters.weight", CLUSTER_ROWS, config.clusters)
            for table, (dtype, shape) in ClusterTableFormat(config.clustered).shapes().items():
                self.add(f"{CLUSTERS}.{table}", *shape, dtype=dtype)
        self.linear("spelling.project", words + config.size, width)

    def tagger(self, config: ModelConfig, tags: int) -> None:
        """Add the tensors of the head of a tagger and of its CRF."""
        head, width = config.tagger, output_width(config.encoder)
        if head.hidden:
            self.linear("tagger.layers.1", width, head.hidden)
            self.linear("tagger.layers.4", head.hidden, tags)
        else:
            self.linear("tagger.layers.1", width, tags)
        if head.crf:
            from headwise.runtime.chain_tagger import chain_shapes

            for name, shape in chain_shapes(tags).items():
                self.add(f"{CHAIN}.{name}", *shape)


SPELLING = "spelling.characters"
"""Name of the layer that reads the spelling of words."""
CLUSTERS = f"{SPELLING}.cluster_table"
"""Name of the clusters of words that a tagger reads."""
CHAIN = "tagger.crf"
"""Name of the CRF of a tagger."""


def fusion_name(encoder: "MSSANConfig", number: int) -> str:
    """Name of a layer of MS-SAN."""
    stack, layer = divmod(number, encoder.layers)
    return f"encoder.stacks.{stack}.{layer}"


def cross_name(number: int) -> str:
    """Name of a layer between the texts of a pair."""
    return f"interaction.blocks.{number}"


def vector_size(config: ModelConfig) -> int:
    """Features of a word vector."""
    return config.base.size if config.base.name else config.words.vector_size
