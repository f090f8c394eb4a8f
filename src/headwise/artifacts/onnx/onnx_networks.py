"""The networks of exported models, as onnxruntime runs them: they are called as those of
`headwise.runtime`."""

from collections.abc import Sequence

import numpy as np

from headwise.artifacts.onnx.onnx_runner import Runner
from headwise.data.items.dataset import cut_batches
from headwise.runtime.layers import Floats
from headwise.text.text_features import EncodedPair, EncodedText


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
        for places in _batches(texts, batch_texts, batch_tokens):
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
        for places in _batches(pairs, batch_texts, batch_tokens):
            firsts, seconds = ([side(pairs[place]) for place in places] for side in (_first, _second))
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


def _batches(
    items: Sequence[EncodedText] | Sequence[EncodedPair], batch_items: int, batch_tokens: int
) -> list[list[int]]:
    """Indices of texts or pairs, batch by batch, the longest first."""
    lengths = np.array([len(item) for item in items], dtype=np.int64)
    order = np.argsort(-lengths, kind="stable")
    return [list(places) for places in cut_batches(order, lengths, batch_items, batch_tokens)]


def _first(pair: EncodedPair) -> EncodedText:
    return pair.first


def _second(pair: EncodedPair) -> EncodedText:
    return pair.second
