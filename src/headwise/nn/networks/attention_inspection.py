"""The attention weights of a model in a text, and the attention span of its heads over many texts.

`attention_weights` gives the weights of every head in one text. `attention_spans` measures how far the
heads look (MS-Transformer, Figure 3). The key with most weight of each query is an edge. The
distances of the edges of a head, or of a layer, show at what scale it works. Special tokens ([CLS], a
classification node, a relay) are no queries and no keys here. The distance of a span of words is that of
its nearest word.
"""

import re
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headwise.core.config import JsonObject
from headwise.core.deprecation import renamed_parameters
from headwise.core.errors import ConfigError
from headwise.core.tokenizer import get_tokenizer
from headwise.data.items.dataset import TextWindow, cut_windows
from headwise.data.items.examples import Example, Pair, TaggedSentence, as_example
from headwise.nn.embeddings.pretrained.hub import PretrainedEncoder
from headwise.nn.encoders.head_weights import AttentionNode, RecordedAttention, record_attention
from headwise.nn.networks.base_model import BaseModel
from headwise.nn.networks.language_model import START_OF_TEXT, LanguageModel
from headwise.nn.networks.tag_model import TagModel
from headwise.nn.networks.text_models import PairEncoderModel
from headwise.nn.networks.word_model import WordModel
from headwise.nn.ragged import Ragged
from headwise.runtime.pair_outputs import as_pair


@renamed_parameters(seen="attended_words")
@dataclass(frozen=True)
class AttentionMap:
    """The weights of one attention module in one text, or in one window of a long text.

    Attributes:
        layer: Number of the layer, from 1.
        module: Name of the attention module in the encoder; some layers have several.
        text: Index of the text: 0, for pairs 0 or 1.
        words: The words of the whole text.
        attended_words: The words of the attended text: the same text, or the other one of a pair.
        weights: `[heads, queries, keys]`; see `headwise.nn.encoders.head_weights.RecordedAttention`.
        queries: The attending nodes. Words are numbered in the whole text.
        keys: The attended nodes.
        heads: The prior of each head; empty if heads have none.
        error: Largest absolute difference between the encoder's output and that computed from these
            weights.
    """

    layer: int
    module: str
    text: int
    words: tuple[str, ...]
    attended_words: tuple[str, ...]
    weights: Tensor
    queries: tuple[AttentionNode, ...]
    keys: tuple[AttentionNode, ...]
    heads: tuple[str, ...]
    error: float

    def name(self, node: AttentionNode) -> str:
        """Display name of a node: the word, the words of a span, or its kind in brackets."""
        if node.stop == node.start:
            return f"[{node.name}]"
        words = self.attended_words if node.name == "other" else self.words
        return " ".join(words[node.start : node.stop])

    def between_words(self) -> Tensor:
        """Weights between words, `[heads, words, attended words]`.

        The weight of a span is divided evenly among its words; weights of nodes without words are left out.
        Rows of words that are no queries here are 0.
        """
        of = _word_incidence(self.queries, len(self.words)).to(self.weights)
        to = _word_incidence(self.keys, len(self.attended_words)).to(self.weights)
        are_words = [node.name in ("word", "state") for node in self.queries]
        of = of * torch.tensor(are_words, device=of.device)[:, None]
        return of.T @ self.weights @ (to / to.sum(1, keepdim=True).clamp(min=1))


def _word_incidence(nodes: Sequence[AttentionNode], words: int) -> Tensor:
    """Incidence matrix `[nodes, words]`, 1 where a node covers a word."""
    place = torch.arange(words, device="cpu")
    ranges = torch.tensor([(node.start, node.stop) for node in nodes], device="cpu").reshape(-1, 2, 1)
    return ((place >= ranges[:, 0]) & (place < ranges[:, 1])).long()


def attention_weights(
    model: WordModel | LanguageModel, text: str | Example | Pair | TaggedSentence | Sequence[str]
) -> list[AttentionMap]:
    """Attention weights of every head of a model's encoder in a text, layer by layer.

    The model runs in prediction mode; the weights are computed separately by the definition of attention,
    and `AttentionMap.error` is the difference between the two.

    Args:
        model: A model of any task on texts.
        text: A text; a pair of texts for models of pairs; for taggers also a list of words. An `Example`
            may have a parse.

    Raises:
        ConfigError: The encoder has no attention (an LSTM), the model does not read texts, or `text` has
            another type.
    """
    if not isinstance(model, BaseModel):
        raise ConfigError(
            f"expected a model, got a {type(model).__name__}; headwise.load_model(folder) gives that of a "
            "folder, estimator.model_ that of an estimator"
        )
    model = _shared_copy(model, {}).eval()  # a copy, so that concurrent calls of the model are not recorded
    with record_attention(getattr(model, "encoder", model), getattr(model, "interaction", None)) as records:
        words, windows = _run_model(model, text)
    below = 1 + max((_layer_number(record) for record in records if not _on_top(record)), default=-1)
    full_texts = [(text, TextWindow(0, len(tokens), 0, len(tokens))) for text, tokens in enumerate(words)]
    return [
        _attention_map(record, below, words, full_texts if _on_top_of_all(record) else windows)
        for record in records
    ]


def _shared_copy(module: Any, made: dict[int, Any]) -> Any:
    """A copy of a module and its submodules that shares parameters, but not hooks and mode."""
    if module is None or id(module) in made:
        return made.get(id(module))
    twin = made[id(module)] = copy(module)
    attributes = vars(twin)
    attributes |= {
        name: value.copy()
        for name, value in attributes.items()
        if name.endswith(("_hooks", "_with_kwargs"))
    }
    attributes["_modules"] = {name: _shared_copy(child, made) for name, child in module._modules.items()}
    return twin


def _run_model(
    model: WordModel | LanguageModel, text: Any
) -> tuple[list[tuple[str, ...]], list[tuple[int, TextWindow]]]:
    """Run the model; returns the words of its texts, and the text and window of each row of the batch."""
    if isinstance(model, LanguageModel):
        symbols = model.symbols
        content = as_example(text).text
        content = content.split() if symbols.unit == "words" else content
        numbers = symbols.encode(
            content.encode() if symbols.unit == "bytes" and isinstance(content, str) else content
        )
        inputs = [START_OF_TEXT, *numbers.tolist()][: model.context]
        model(Ragged.from_lengths(torch.tensor(inputs, device=model.device), [len(inputs)]))
        names = ("", *(symbols.names[number] for number in inputs[1:]))
        return [names], [(0, TextWindow(0, len(names), 0, len(names)))]
    if not isinstance(model, WordModel):
        raise ConfigError(
            f"a model of the task {model.config.task} reads no texts, whose words a head could look at"
        )
    cut = model.features.tokenizer.words
    if isinstance(model, PairEncoderModel):
        pair = as_pair(text)
        (both,) = model.encoded([pair])
        read = [(cut(pair.first), len(both.first)), (cut(pair.second), len(both.second))]
        encoded = [both]
    elif isinstance(model, TagModel):
        sentence = _tokenised_sentence(model, text)
        encoded = model.encode_sentences([sentence])
        read = [(sentence.tokens, len(encoded[0]))]
    else:
        example = as_example(text)
        encoded = model.features.encode([example])
        read = [(cut(example.text), len(encoded[0]))]
    batch = model.collate(encoded, model.device)
    model.encode(batch) if getattr(model, "interaction", None) is None else model(batch)
    words = [tuple(tokens[:size]) for tokens, size in read]
    most, overlap = model.window
    return words, [
        (t, w) for t, (_, n) in enumerate(read) for w in cut_windows(n, most or max(n, 1), overlap)
    ]


def _tokenised_sentence(model: TagModel, text: Any) -> TaggedSentence:
    """The sentence of a text, which is tokenised, or of a list of words."""
    if isinstance(text, TaggedSentence):
        return text
    content: Any = text
    if isinstance(text, list | tuple) and text and all(isinstance(word, str) for word in text):
        return TaggedSentence(tuple(text), ())
    return model.sentence(as_example(content))


def _layer_number(record: RecordedAttention) -> int:
    """Number of the layer in a module's name, from 0; -1 without one (the pooling on top)."""
    return max((int(part) for part in re.findall(r"\d+", record.module)[-1:]), default=-1)


def _on_top(record: RecordedAttention) -> bool:
    """Whether the module belongs to layers above the encoder's own, which are numbered from 0 again."""
    return record.module.startswith("pair_") or _on_top_of_all(record)


def _on_top_of_all(record: RecordedAttention) -> bool:
    """Whether the module belongs to layers above the encoder, which read whole texts, not windows."""
    return record.module.startswith("interaction")


def _attention_map(
    record: RecordedAttention,
    below: int,
    words: list[tuple[str, ...]],
    windows: list[tuple[int, TextWindow]],
) -> AttentionMap:
    number = _layer_number(record)
    across = any(node.name == "other" for node in record.keys)
    at = (record.text + across * (len(windows) // 2)) % len(windows)
    (text, window), (seen, seen_window) = windows[record.text], windows[at]
    queries, keys = (
        tuple(replace(node, start=node.start + span.start, stop=node.stop + span.start) for node in nodes)
        for nodes, span in ((record.queries, window), (record.keys, seen_window))
    )
    return AttentionMap(
        layer=below if number < 0 else number + 1 + below * _on_top(record),
        module=record.module,
        text=text,
        words=words[text],
        attended_words=words[seen],
        weights=record.weights.cpu(),
        queries=queries,
        keys=keys,
        heads=record.heads,
        error=record.error,
    )


@dataclass(frozen=True)
class HeadSpan:
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

    def to_json(self) -> JsonObject:
        """The values as JSON data."""
        summary = {"layer": self.layer, "head": self.head, "mean": self.mean, "weighted": self.spread}
        return {**summary, "prior": self.prior, "counts": self.counts.tolist()}


def mean_distance(counts: NDArray[np.int64]) -> float:
    """Mean of a histogram of distances, `[distances]`; 0 if it is empty."""
    return float((counts * np.arange(len(counts))).sum() / max(counts.sum(), 1))


class _DistanceSums:
    """Running counts of one head."""

    def __init__(self, prior: str):
        self.prior, self.counts, self.spread, self.queries = prior, np.zeros(0, np.int64), 0.0, 0

    def add(self, weights: torch.Tensor, distance: torch.Tensor) -> None:
        """Add queries by the weights and distances of their keys, both `[queries, keys]`."""
        attends = weights.sum(-1) > 0
        if not bool(attends.any()):
            return
        weights, distance = weights[attends], distance[attends]
        edges = distance.gather(-1, weights.argmax(-1, keepdim=True)).flatten()
        counts = np.bincount(edges.numpy())
        size = max(len(counts), len(self.counts))
        self.counts = np.pad(self.counts, (0, size - len(self.counts)))
        self.counts[: len(counts)] += counts
        self.spread += float(((weights * distance).sum(-1) / weights.sum(-1)).sum())
        self.queries += len(weights)


def attention_spans(model: Any, texts: Iterable[Any]) -> list[HeadSpan]:
    """Attention span of every head of an encoder on texts, layer by layer.

    Args:
        model: A headwise model of texts, or a `PretrainedEncoder`, an encoder of Hugging Face
            (`headwise.nn.embeddings.pretrained.hub.load_pretrained`).
        texts: Inputs of `attention_weights`; a hundred are enough.

    Raises:
        ConfigError: The encoder has no attention among words, or there is no text with two words.
    """
    sums: dict[tuple[int, int], _DistanceSums] = {}
    if isinstance(model, PretrainedEncoder):
        with _return_weights(model.encoder):
            for text in texts:
                _pretrained(model, text, sums)
    else:
        for text in texts:
            _add_headwise_model(model, text, sums)
    reaches = [
        HeadSpan(layer, head, total.counts, total.spread / total.queries, total.prior)
        for (layer, head), total in sorted(sums.items())
        if total.queries
    ]
    if not reaches:
        raise ConfigError("no head looked from word to word: the texts are empty, or no head does that")
    return reaches


def _add_headwise_model(model: Any, text: Any, sums: dict[tuple[int, int], _DistanceSums]) -> None:
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
            place = attention.layer, first + head + 1
            sums.setdefault(place, _DistanceSums(prior)).add(weights, distance)


def _distances(queries: Sequence[AttentionNode], keys: Sequence[AttentionNode]) -> torch.Tensor:
    """Distance in words from each query to the nearest word of each key, `[queries, keys]`."""
    at = torch.tensor([node.start for node in queries])[:, None]
    start, last = torch.tensor([[node.start, node.stop - 1] for node in keys]).T
    return (start - at).clamp(min=0) + (at - last).clamp(min=0)


@contextmanager
def _return_weights(encoder: Any) -> Generator[None]:
    """Make an encoder of Hugging Face return its attention weights, in eval mode; restores it at the
    end."""
    kind, training = encoder.config._attn_implementation, encoder.training
    encoder.eval().set_attn_implementation("eager")  # other implementations return no weights
    try:
        yield
    finally:
        encoder.train(training).set_attn_implementation(kind)


@torch.no_grad()
def _pretrained(
    source: PretrainedEncoder, text: str | Example, sums: dict[tuple[int, int], _DistanceSums]
) -> None:
    encoder, tokenizer = source.encoder, source.tokenizer
    (pieces,) = tokenizer.pieces([get_tokenizer("whitespace").words(as_example(text).text)])
    before, after = len(tokenizer.prefix), len(tokenizer.suffix)
    most_pieces = source.window - before - after
    for start in range(0, len(pieces.ids), most_pieces):
        part = pieces.ids[start : start + most_pieces].tolist()
        ids = torch.tensor([[*tokenizer.prefix, *part, *tokenizer.suffix]])
        place = torch.arange(len(part))
        distance = (place[:, None] - place).abs()
        out = encoder(input_ids=ids, attention_mask=torch.ones_like(ids), output_attentions=True)
        for layer, heads in enumerate(out.attentions, start=1):
            inner = heads[0][:, before : before + len(part), before : before + len(part)].float()
            for head, weights in enumerate(inner, start=1):
                sums.setdefault((layer, head), _DistanceSums("")).add(weights, distance)
