"""Attention span of the heads of an encoder, measured on texts (MS-Trans, Figure 3; Guo et al. 2020).

The key with most weight of each query is an edge; the distances of the edges of a head, or of a layer, show
at what scale it works. Special tokens ([CLS], a classification node, a relay) are no queries and no keys
here. The distance of a span of words is that of its nearest word.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from headwise.data.example import Example, as_example
from headwise.encoders.weights import Node
from headwise.errors import ConfigError
from headwise.features.pretrained.source import Pretrained
from headwise.features.tokenize import get_tokenizer
from headwise.models.attention_weights import attention_weights


@dataclass(frozen=True)
class HeadReach:
    """Attention span of one head, in words (for a pretrained encoder, in word pieces).

    Attributes:
        layer: Number of the layer, from 1.
        head: Number of the head in the layer, from 1, counted through all its attention modules.
        counts: Number of queries by the distance of their edge, `[distances]`.
        spread: Mean distance of all keys, weighted by attention.
        prior: The prior of the head as text; empty without one.
    """

    layer: int
    head: int
    counts: NDArray[np.int64]
    spread: float
    prior: str = ""

    @property
    def mean(self) -> float:
        """Mean distance of the edges."""
        return mean_distance(self.counts)

    def to_json(self) -> dict[str, Any]:
        """The values as JSON data."""
        summary = {"layer": self.layer, "head": self.head, "mean": self.mean, "weighted": self.spread}
        return {**summary, "prior": self.prior, "counts": self.counts.tolist()}


def mean_distance(counts: NDArray[np.int64]) -> float:
    """Mean of a histogram of distances, `[distances]`; 0 if it is empty."""
    return float((counts * np.arange(len(counts))).sum() / max(counts.sum(), 1))


class _Tally:
    """Running counts of one head."""

    def __init__(self, prior: str):
        self.prior, self.counts, self.spread, self.queries = prior, np.zeros(0, np.int64), 0.0, 0

    def add(self, weights: torch.Tensor, distance: torch.Tensor) -> None:
        """Add queries by the weights and distances of their keys, both `[queries, keys]`."""
        looks = weights.sum(-1) > 0
        if not bool(looks.any()):
            return
        weights, distance = weights[looks], distance[looks]
        edges = distance.gather(-1, weights.argmax(-1, keepdim=True)).flatten()
        counts = np.bincount(edges.numpy())
        size = max(len(counts), len(self.counts))
        self.counts = np.pad(self.counts, (0, size - len(self.counts)))
        self.counts[: len(counts)] += counts
        self.spread += float(((weights * distance).sum(-1) / weights.sum(-1)).sum())
        self.queries += len(weights)


def probe(model: Any, texts: Iterable[Any]) -> list[HeadReach]:
    """Attention span of every head of an encoder on texts, layer by layer.

    Args:
        model: A headwise model of texts, or a `Pretrained`, an encoder of Hugging Face
            (`headwise.features.pretrained.hub.load`).
        texts: Inputs of `attention_weights`; a hundred are enough.

    Raises:
        ConfigError: The encoder has no attention among words, or there is no text with two words.
    """
    tallies: dict[tuple[int, int], _Tally] = {}
    if isinstance(model, Pretrained):
        with _telling_weights(model.encoder):
            for text in texts:
                _pretrained(model, text, tallies)
    else:
        for text in texts:
            _own(model, text, tallies)
    reaches = [
        HeadReach(layer, head, tally.counts, tally.spread / tally.queries, tally.prior)
        for (layer, head), tally in sorted(tallies.items())
        if tally.queries
    ]
    if not reaches:
        raise ConfigError("no head looked from word to word: the texts are empty, or no head does that")
    return reaches


def _own(model: Any, text: Any, tallies: dict[tuple[int, int], _Tally]) -> None:
    firsts: dict[tuple[int, str], int] = {}  # where the heads of each attention of a layer begin
    for attention in attention_weights(model, text):
        queries = [n for n, node in enumerate(attention.queries) if node.name in ("word", "state")]
        keys = [
            n for n, node in enumerate(attention.keys) if node.stop > node.start and node.name != "other"
        ]
        if not queries or not keys:
            continue
        distance = _distances([attention.queries[n] for n in queries], [attention.keys[n] for n in keys])
        heads_before = sum(layer == attention.layer for layer, _ in firsts)
        first = firsts.setdefault(
            (attention.layer, attention.module), heads_before * len(attention.weights)
        )
        for head, weights in enumerate(attention.weights[:, queries][:, :, keys]):
            prior = attention.heads[head] if attention.heads else ""
            tallies.setdefault((attention.layer, first + head + 1), _Tally(prior)).add(weights, distance)


def _distances(queries: Sequence[Node], keys: Sequence[Node]) -> torch.Tensor:
    """Distance in words from each query to the nearest word of each key, `[queries, keys]`."""
    at = torch.tensor([node.start for node in queries])[:, None]
    start, last = torch.tensor([[node.start, node.stop - 1] for node in keys]).T
    return (start - at).clamp(min=0) + (at - last).clamp(min=0)


@contextmanager
def _telling_weights(encoder: Any) -> Iterator[None]:
    """Make an encoder of Hugging Face return its attention weights, in eval mode; restores it at the
    end."""
    kind, training = encoder.config._attn_implementation, encoder.training
    encoder.eval().set_attn_implementation("eager")  # other implementations return no weights
    try:
        yield
    finally:
        encoder.train(training).set_attn_implementation(kind)


@torch.no_grad()
def _pretrained(source: Pretrained, text: str | Example, tallies: dict[tuple[int, int], _Tally]) -> None:
    encoder, tokenizer = source.encoder, source.tokenizer
    (pieces,) = tokenizer.pieces([get_tokenizer("whitespace").words(as_example(text).text)])
    before, after = len(tokenizer.prefix), len(tokenizer.suffix)
    room = source.window - before - after
    for start in range(0, len(pieces.ids), room):
        part = pieces.ids[start : start + room].tolist()
        ids = torch.tensor([[*tokenizer.prefix, *part, *tokenizer.suffix]])
        place = torch.arange(len(part))
        distance = (place[:, None] - place).abs()
        out = encoder(input_ids=ids, attention_mask=torch.ones_like(ids), output_attentions=True)
        for layer, heads in enumerate(out.attentions, start=1):
            inner = heads[0][:, before : before + len(part), before : before + len(part)].float()
            for head, weights in enumerate(inner, start=1):
                tallies.setdefault((layer, head), _Tally("")).add(weights, distance)
