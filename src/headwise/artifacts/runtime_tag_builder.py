"""The builder of taggers without torch."""

from collections.abc import Mapping
from dataclasses import replace

from numpy.typing import NDArray

from headwise.artifacts.runtime_builders import NetworkBuilder, Tables, windowed_encoder, word_inputs
from headwise.artifacts.tensor_specs import CHAIN, CLUSTERS, SPELLING, TensorSpecs, vector_size
from headwise.core.config import JsonObject
from headwise.linear.tag_crf import TagTableFormat
from headwise.nn.networks.model_config import ModelConfig
from headwise.runtime.chain_tagger import CrfScores
from headwise.runtime.character_network import SpellingVectors
from headwise.runtime.layers import LayerWeights
from headwise.runtime.tag_network import NetworkTagger, TaggerInputs, TagNetwork
from headwise.runtime.text_network import WordInputs
from headwise.runtime.word_lookup import BaseLookup
from headwise.text.character_features import character_encoder
from headwise.text.static_embeddings.word_groups import ClusterTableFormat, WordClusters
from headwise.text.vocabulary import Vocabulary


def clusters_of(tables: Mapping[str, NDArray], name: str) -> WordClusters | None:
    """The clusters of words in tables with names that begin so; None where there are none.

    Raises:
        ValueError: Their values are no clusters.
    """
    if f"{name}.keys" not in tables:
        return None
    stored = {table: tables[f"{name}.{table}"] for table in ("keys", "numbers")}
    table_format = ClusterTableFormat(len(stored["keys"]))
    for problem in table_format.errors(stored):
        raise ValueError(problem)
    return table_format.build(stored)


class TaggerBuilder(NetworkBuilder[TagTableFormat, NetworkTagger]):
    """Builds taggers."""

    def __init__(
        self, config: ModelConfig, vocabulary: Vocabulary, listed: tuple[str, ...], described: JsonObject
    ):
        super().__init__(config, vocabulary, listed, described)
        if config.windows.long == "truncate":
            raise ValueError("windows: long = truncate leaves words without a tag; choose split or error")
        if config.characters.size:
            self.width = vector_size(config)  # the spelling joins word vectors before the projection
        self.clusters: WordClusters | None = None
        self.tagger = NetworkTagger()
        self.tagger.name_tags(
            described["tags"], described["written"], config.tagger.scheme, described["alphabet"]
        )
        self._set_chain({})
        linear, tags = config.linear_model, self.tagger.tags
        self.linear = TagTableFormat(linear.features, tags, linear.grouped) if linear.features else None

    def _set_chain(self, arrays: Tables) -> None:
        head, tags = self.config.tagger, len(self.tagger.tags)
        self.tagger.set_chain(CrfScores.of(arrays, tags), learned=head.crf, constraints=head.constraints)

    def specs(self) -> TensorSpecs:
        specs, config = super().specs(), self.config
        if config.characters.size:
            characters = len(self.tagger.alphabet)
            specs.characters(config.characters, characters, vector_size(config), config.encoder.width)
        specs.tagger(config, len(self.tagger.tags))
        return specs

    def network(self, inputs: WordInputs, weights: LayerWeights) -> TagNetwork:
        config = self.config
        joined = TaggerInputs(inputs, None, None)
        if config.characters.size:
            alphabet, clusters = self.tagger.alphabet, self.clusters
            spelling = SpellingVectors(config.characters, alphabet, weights, SPELLING, clusters)
            joined = TaggerInputs(inputs, spelling, weights.affine("spelling.project"))
        hidden = config.tagger.hidden
        head = weights.perceptron("tagger", "none") if hidden else weights.affine("tagger.layers.1")
        return TagNetwork(joined, windowed_encoder(config, weights), head)

    def model(self, weights: LayerWeights, tables: Tables) -> NetworkTagger:
        config, tagger = self.config, self.tagger
        words = word_inputs(config, weights, self.listed)
        prepare = words.lookup.prepare if isinstance(words.lookup, BaseLookup) else None
        tagger.config, tagger.features = config, self.features(character_encoder(prepare))
        self.clusters = clusters_of(weights.arrays, CLUSTERS)
        tagger.network = self.network(words, weights)
        prefix = f"{CHAIN}."
        self._set_chain(
            {name.removeprefix(prefix): a for name, a in weights.arrays.items() if name.startswith(prefix)}
        )
        tagger.linear_model = None if self.linear is None else self.linear.build(tables)
        if tagger.linear_model is not None and self.clusters is not None:
            tagger.linear_model = replace(tagger.linear_model, groups=self.clusters)
        tagger.encoder_weight, tagger.linear_weight = 1.0, 0.0
        tagger.linear_share, tagger.outside = 0.0, 0.0
        return tagger
