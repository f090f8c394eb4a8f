"""Exported models: the runtime of headwise computes the network where it can, else onnxruntime. The rest is
shared with the torch models."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from headwise.artifacts.onnx.onnx_runner import Runner
from headwise.artifacts.onnx.onnx_settings import ExportSettings
from headwise.core.config import JsonMapping
from headwise.data.items.dataset import cut_batches
from headwise.linear.tag_crf import CrfTagger
from headwise.runtime.chain_tagger import ChainTagger, CrfScores
from headwise.runtime.layers import Affine, Floats
from headwise.runtime.limits import check_finite
from headwise.runtime.outputs import AnyOutputs
from headwise.runtime.pair_network import PairNetwork
from headwise.runtime.prediction_models import (
    BasePairInputs,
    PredictionLinearModel,
    PredictionModel,
    TextInputs,
)
from headwise.runtime.tag_network import TagNetwork
from headwise.runtime.text_network import TextNetwork
from headwise.runtime.word_lookup import BaseLookup
from headwise.text.character_features import character_encoder
from headwise.text.text_features import EncodedPair, EncodedText, TextFeatures
from headwise.text.vocabulary import Vocabulary


class OnnxTextNetwork:
    """A network of texts.

    Args:
        runner: Runs its graphs.
        outputs: Number of outputs for each text.
    """

    def __init__(self, runner: Runner, outputs: int):
        self.runner, self.outputs = runner, outputs

    def __call__(self, texts: Sequence[EncodedText], batch_texts: int, batch_tokens: int) -> Floats:
        """See `headwise.runtime.text_network.TextNetwork`."""
        out = np.zeros((len(texts), self.outputs), dtype=np.float32)
        for places in _index_batches(texts, batch_texts, batch_tokens):
            out[places] = self.runner.outputs([texts[place] for place in places])
        return out


class OnnxPairNetwork:
    """A network of pairs.

    Args:
        runner: Runs its graphs.
        outputs: Number of outputs for each pair.

    Attributes:
        reads_compared: Whether it reads comparison features from a base.
    """

    def __init__(self, runner: Runner, outputs: int):
        self.runner, self.outputs, self.reads_compared = runner, outputs, runner.reads_compared

    def __call__(
        self, pairs: Sequence[EncodedPair], batch_texts: int, batch_tokens: int, compared: Floats | None
    ) -> Floats:
        """See `headwise.runtime.pair_network.PairNetwork`; for `compared` see `Runner.pairs`."""
        out = np.zeros((len(pairs), self.outputs), dtype=np.float32)
        for places in _index_batches(pairs, batch_texts, batch_tokens):
            firsts, seconds = ([getattr(pairs[n], side) for n in places] for side in ("first", "second"))
            features = None if compared is None else compared[places]
            out[places] = self.runner.pairs(firsts, seconds, features)
        return out


class OnnxTagNetwork:
    """A network that gives each word a score of each tag.

    Args:
        runner: Runs its graphs.
        tags: Number of tags.
    """

    def __init__(self, runner: Runner, tags: int):
        self.runner, self.tags = runner, tags

    def __call__(self, texts: Sequence[EncodedText], batch_tokens: int) -> Floats:
        """See `headwise.runtime.tag_network.TagNetwork`."""
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        batches = cut_batches(range(len(texts)), lengths, 256, batch_tokens)
        parts = [self.runner.word_outputs([texts[place] for place in places]) for places in batches]
        return np.concatenate(parts) if parts else np.zeros((0, self.tags), dtype=np.float32)


def _index_batches(
    items: Sequence[EncodedText] | Sequence[EncodedPair], batch_items: int, batch_tokens: int
) -> list[list[int]]:
    """Indices of texts or pairs, batch by batch, the longest first."""
    lengths = np.array([len(item) for item in items], dtype=np.int64)
    order = np.argsort(-lengths, kind="stable")
    return [list(places) for places in cut_batches(order, lengths, batch_items, batch_tokens)]


def text_features_of(
    settings: ExportSettings, vocabulary: Vocabulary, character_encoder: Any
) -> TextFeatures:
    """The text encoder of a model; for `character_encoder` see `TextFeatures`."""
    windows = settings.windows
    return TextFeatures(
        settings.tokenizer,
        vocabulary,
        marks=frozenset(settings.network.marks),
        character_encoder=character_encoder,
        most=None if windows.long == "split" else lambda: windows.words,
        cut=windows.long == "truncate",
    )


class ExportedModel(PredictionModel):
    """A model of texts or pairs.

    Args:
        settings: Settings of its folder.
        vocabulary: Its word vocabulary.
        base: Static embeddings; None without a base.
        linear_model: Its linear model; None without one.
        outputs: What it makes of the outputs of the network.

    Attributes:
        network: Its network: onnxruntime runs two graphs, or the runtime of headwise computes it.
    """

    PAIRS: ClassVar[bool] = False

    def __init__(
        self,
        settings: ExportSettings,
        vocabulary: Vocabulary,
        base: BaseLookup | None,
        linear_model: PredictionLinearModel | None,
        outputs: AnyOutputs,
    ):
        features = text_features_of(settings, vocabulary, None if base is None else base.prepare)
        super().__init__(features, base, linear_model, outputs)
        self.settings = settings


class ExportedTextModel(TextInputs, ExportedModel):
    """A model of texts."""

    network: TextNetwork | OnnxTextNetwork

    def outputs_of(
        self, encoded: Sequence[EncodedText], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> Floats:
        return check_finite(self.network(encoded, batch_texts, batch_tokens))


class ExportedPairModel(BasePairInputs, ExportedModel):
    """A model of pairs of texts.

    Attributes:
        probe: See `headwise.runtime.pair_network.NetworkPairModel`; None where the graphs compute it.
    """

    PAIRS = True
    network: PairNetwork | OnnxPairNetwork
    probe: Affine | None = None

    def outputs_of(
        self, encoded: Sequence[EncodedPair], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> Floats:
        network = self.network
        if isinstance(network, OnnxPairNetwork):
            compared = self.base_vectors(encoded) if network.reads_compared else None
            return check_finite(network(encoded, batch_texts, batch_tokens, compared))
        outputs = network(encoded, batch_texts, batch_tokens)
        if self.probe is not None and (compared := self.base_vectors(encoded)) is not None:
            outputs += self.probe(compared)
        return check_finite(outputs)


class ExportedTagger(ChainTagger):
    """A tagger; its network is two ONNX graphs, three with character features, or one of the runtime.

    Args:
        settings: Settings of its folder.
        vocabulary: Its word vocabulary.
        network: Its network.
        prepare: From tokenised texts to their pieces, if the model has a base.
        linear_model: Its linear CRF; None without one.
        chain: The CRF above its encoder.
        outputs: Result of `read_outputs`.

    Raises:
        HeadwiseError, ValueError: The tags do not belong to the scheme, or allow no tag sequence.
    """

    def __init__(
        self,
        settings: ExportSettings,
        vocabulary: Vocabulary,
        network: TagNetwork | OnnxTagNetwork,
        prepare: Any,
        linear_model: CrfTagger | None,
        chain: CrfScores,
        outputs: JsonMapping,
    ):
        self.settings, self.network, self.linear_model = settings, network, linear_model
        self.features = text_features_of(settings, vocabulary, character_encoder(prepare))
        tags, alphabet = outputs["tags"], outputs["alphabet"]
        self.name_tags(tags, outputs["written"], settings.tags.scheme, alphabet)
        self.set_chain(chain, learned=settings.tags.crf, constraints=settings.tags.constraints)

    def word_outputs(self, encoded: Sequence[EncodedText], batch_tokens: int) -> Floats:
        return check_finite(self.network(encoded, batch_tokens))
