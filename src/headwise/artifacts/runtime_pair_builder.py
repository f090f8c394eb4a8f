"""The builder of models of pairs without torch."""

from headwise.artifacts.runtime_builders import ItemBuilder, Members, windowed_encoder
from headwise.artifacts.tensor_specs import TensorSpecs, cross_name
from headwise.linear.pair_features import dense_pair_size
from headwise.nn.task_layers.layer_configs import PairConfig
from headwise.runtime.layers import LayerWeights
from headwise.runtime.pair_network import (
    CrossLayer,
    NetworkPairModel,
    PairNetwork,
    SoftAlignmentLayer,
    TransformerCrossLayer,
)
from headwise.runtime.text_network import WordInputs


def cross_layers(config: PairConfig, weights: LayerWeights) -> list[CrossLayer]:
    """The layers between the texts of a pair."""
    names = [cross_name(number) for number in range(config.cross_layers)]
    if config.interaction == "match":
        return [SoftAlignmentLayer.of(weights, name) for name in names]
    if config.interaction == "cross":
        return [TransformerCrossLayer.of(weights, name, config.cross_heads) for name in names]
    return []


class PairBuilder(ItemBuilder[NetworkPairModel]):
    """Builds models of pairs of texts."""

    pairs = True

    def head_inputs(self, specs: TensorSpecs) -> int:
        vector = specs.text_vectors(self.config)
        specs.interaction(self.config)
        return vector * (2 if self.config.pair.features == "concat" else 4)

    def probe_inputs(self) -> int:
        return dense_pair_size(self.config.base.size)

    def network(self, inputs: WordInputs, weights: LayerWeights) -> PairNetwork:
        encoder, readout = windowed_encoder(self.config, weights), self.readout(weights)
        head, pair = weights.perceptron("head", self.head.normalize), self.config.pair
        return PairNetwork(inputs, encoder, cross_layers(pair, weights), readout, pair.features, head)

    def network_model(
        self, members: Members, inputs: WordInputs, weights: LayerWeights
    ) -> NetworkPairModel:
        model = NetworkPairModel(*members)
        model.network, model.config = self.network(inputs, weights), self.config
        model.probe = weights.optional("probe")
        return model
