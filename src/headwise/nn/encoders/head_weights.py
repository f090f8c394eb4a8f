"""Recording of attention weights, computed from the definitions while the encoder runs its fast paths.

The fast paths never hold the attention weights. `record_attention` hooks the attention modules: from the
inputs of a module it computes the weights by the reference implementation
(`headwise.nn.attention.reference`, `headwise.nn.attention.graph_attention.graph_weights`), from the
weights the expected output, and compares that with the module's output.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import elu, pad

from headwise.core.errors import ConfigError
from headwise.nn.attention import SelfAttention, reference
from headwise.nn.attention.graph_attention import Graph, graph_weights
from headwise.nn.encoders.bp_graph import PartitionGraph
from headwise.nn.encoders.bp_transformer import GraphSelfAttention, MemoryAttention
from headwise.nn.encoders.disan import DirectionalAttention
from headwise.nn.encoders.set_transformer import MAB
from headwise.nn.encoders.star_transformer import StarStep, projected
from headwise.nn.layout import Layout
from headwise.nn.priors import PositionPairs
from headwise.nn.priors.learned import attach_terms
from headwise.nn.ragged import Ragged


@dataclass(frozen=True)
class AttentionNode:
    """A row of an encoder.

    Attributes:
        name: Kind of the row: word, other (a word of the pair's other text), state (of a word, if there are
            rows for word vectors too), node, relay, span, point, seed, or nothing (beyond the ends of a
            ring).
        start: The first word that the row covers, from 0.
        stop: One past its last word; equal to `start` if it covers no word, or the whole text.
    """

    name: str
    start: int = 0
    stop: int = 0


@dataclass(frozen=True)
class RecordedAttention:
    """The weights of one attention module in one text.

    Attributes:
        module: Name of the attention module in the encoder.
        text: Index of the text in the batch.
        weights: `[heads, queries, keys]`; a row sums to 1, or to 0 if a query sees nothing. The heads of
            DiSAN are its features, each of which has separate weights.
        queries: The rows that attend.
        keys: The rows that are attended to.
        heads: The prior of each head as text; empty if heads have none.
        error: Largest absolute difference in the batch between the module's output and that computed from
            the weights.
    """

    module: str
    text: int
    weights: Tensor
    queries: tuple[AttentionNode, ...]
    keys: tuple[AttentionNode, ...]
    heads: tuple[str, ...] = ()
    error: float = 0.0


ReadWeights = Callable[..., tuple[list[RecordedAttention], *tuple[Tensor, ...]]]
"""A function from the inputs of a module to its attention weights and its expected outputs."""


@contextmanager
def record_attention(
    encoder: nn.Module, interaction: nn.Module | None = None
) -> Generator[list[RecordedAttention]]:
    """Context manager that appends the attention weights of each call of the encoder to the list it yields.
    The encoder must be in eval mode: dropout would change the weights.

    Args:
        encoder: The encoder.
        interaction: The cross-attention layers of pairs on top of it
            (`headwise.nn.task_layers.pair_layers`), if any.

    Raises:
        ConfigError: There is no attention.
    """
    records: list[RecordedAttention] = []
    front = getattr(encoder, "node", None) is not None
    above = () if interaction is None else interaction.named_modules(prefix="interaction")
    watched = [
        (name, module, read)
        for name, module in encoder.named_modules()
        for kind, read in READERS.items()
        if isinstance(module, kind)
    ]
    watched += [
        (name, module, read)
        for name, module in above
        if (read := getattr(type(module), "attention_records", None)) is not None
    ]
    if not watched:
        raise ConfigError(f"{type(encoder).__name__} has no attention whose weights could be shown")

    def watch(
        name: str,
        read: ReadWeights,
        module: nn.Module,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        output: Ragged | Tensor | tuple[Ragged | Tensor, ...],
    ) -> None:
        new, *rebuilt = read(module, *args, name=name, front=front, **kwargs)
        outputs = output if isinstance(output, tuple) else (output,)
        rows = [tensor.values if isinstance(tensor, Ragged) else tensor for tensor in outputs]
        errors = [(row - again).abs() for row, again in zip(rows, rebuilt, strict=True)]
        error = max(
            (float(errors_of_output.max()) for errors_of_output in errors if errors_of_output.numel()),
            default=0.0,
        )
        records.extend(replace(record, module=name, error=error) for record in new)

    hooks = [
        module.register_forward_hook(partial(watch, name, read), with_kwargs=True)
        for name, module, read in watched
    ]
    try:
        with torch.no_grad():
            yield records
    finally:
        for hook in hooks:
            hook.remove()


def _word_nodes(count: int, name: str = "word") -> tuple[AttentionNode, ...]:
    return tuple(AttentionNode(name, place, place + 1) for place in range(count))


def _self(
    module: SelfAttention, x: Ragged, *, front: bool, **_: object
) -> tuple[list[RecordedAttention], Tensor]:
    heads = len(module.priors)
    query, key, value = (
        projection(x.values).unflatten(-1, (heads, -1))
        for projection in (module.query, module.key, module.value)
    )
    priors, names = attach_terms(module.priors, module.learned), tuple(map(str, module.priors))
    records, mixed = [], torch.zeros_like(value)
    for text, (start, size) in enumerate(_cuts(x.layout)):
        rows = slice(start, start + size)
        tree = x.layout.trees[text] if x.layout.trees else None
        parts = x.layout.marks_of(text), x.layout.matrices_of(text)
        pairs = PositionPairs.of_length(size, x.device, tree, *parts)
        q, k, v = query[rows], key[rows], value[rows]
        weights = [reference.head_weights(q[:, h], k[:, h], p, pairs) for h, p in enumerate(priors)]
        for h, prior in enumerate(priors):
            mixed[rows, h] = reference.mix(weights[h], v[:, h], prior, pairs)
        nodes = (AttentionNode("node"), *_word_nodes(size - 1)) if front else _word_nodes(size)
        records.append(RecordedAttention("", text, torch.stack(weights), nodes, nodes, names))
    return records, module.out(mixed.flatten(1))


def _graph(
    module: GraphSelfAttention, h: Tensor, graph: PartitionGraph, spans: bool = True, **_: object
) -> tuple[list[RecordedAttention], Tensor]:
    heads, total = module.heads, graph.layout.total
    h = pad(h, (0, 0, 0, graph.nodes - len(h)))  # spans begin as 0
    query, key, value = projected(heads, h if spans else h[:total], h)
    table = None if module.relative is None else module.relative[: module.labels]
    weights = query.new_zeros(*query.shape[:2], graph.nodes)
    if total:
        weights[:, :total] = _dense(query[:, :total], key, graph.context, table)
    owner, nodes = _partition_nodes(graph)
    for row in range(total, query.shape[1]):
        start = sum(graph.layout.sizes[: owner[row]])
        span = slice(start + nodes[row].start, start + nodes[row].stop)
        scores = query[:, row, None] @ key[:, span].transpose(-1, -2) / query.shape[-1] ** 0.5
        weights[:, row, span] = scores.softmax(-1)[:, 0]
    records = []
    for text in range(graph.layout.texts):
        rows = [row for row in range(graph.nodes) if owner[row] == text]
        asking = [row for row in rows if row < query.shape[1]]
        of, to = (tuple(nodes[row] for row in chosen) for chosen in (asking, rows))
        records.append(RecordedAttention("", text, weights[:, asking][:, :, rows], of, to))
    return records, heads.merge(weights @ value)


def _partition_nodes(graph: PartitionGraph) -> tuple[list[int], list[AttentionNode]]:
    """The text of each node of a batch, and the position or span of each node."""
    owner, nodes = [], []
    for level, counts in enumerate(graph.counts):
        for text, count in enumerate(counts.tolist()):
            size, most = 2**level, graph.layout.sizes[text]
            name = "span" if level else "word"
            nodes += [AttentionNode(name, m * size, min((m + 1) * size, most)) for m in range(count)]
            owner += [text] * count
    return owner, nodes


def _dense(query: Tensor, key: Tensor, graph: Graph, table: Tensor | None = None) -> Tensor:
    """The weights of a graph's edges as `[heads, rows, key rows]`."""
    weights = graph_weights(query, key, graph, table)
    index = graph.neighbours.clamp(min=0).expand(len(query), -1, -1)
    return weights.new_zeros(*query.shape[:2], key.shape[1]).scatter_add(-1, index, weights)


def _star(
    step: StarStep, h: Tensor, e: Tensor, s: Tensor, ring: Graph, layout: Layout, **_: object
) -> tuple[list[RecordedAttention], Tensor, Tensor]:
    total, relays, records = layout.total, step.relays, []
    query, key, value = step.ring_rows(step.before(h), e, s)
    weights = _dense(query, key, ring) if total else query.new_zeros(len(query), 0, key.shape[1])
    new = step.new_satellites(step.ring_attention.merge(weights @ value), h)
    ask, relay_key, relay_value = projected(step.relay_attention, s, torch.cat([s, new]))
    mixed = torch.zeros_like(ask)
    for text, (start, size) in enumerate(_cuts(layout)):
        words = torch.arange(start, start + size, device=h.device)
        rows = torch.arange(relays * text, relays * (text + 1), device=h.device)
        columns = torch.cat(
            [words, total + words, 2 * total + rows, words.new_tensor([2 * total + len(s)])]
        )
        relay_nodes = (AttentionNode("relay"),) * relays
        beyond = (*_word_nodes(size, "state"), *_word_nodes(size), *relay_nodes, AttentionNode("nothing"))
        records.append(
            RecordedAttention(
                "", text, weights[:, words][:, :, columns], _word_nodes(size, "state"), beyond
            )
        )
        seen = torch.cat([rows, len(s) + words])
        scores = ask[:, rows] @ relay_key[:, seen].transpose(-1, -2) / ask.shape[-1] ** 0.5
        of_relay = scores.softmax(-1)
        mixed[:, rows] = of_relay @ relay_value[:, seen]
        nodes = (*relay_nodes, *_word_nodes(size, "state"))
        records.append(RecordedAttention("", text, of_relay, relay_nodes, nodes))
    return records, new, step.new_relay(step.relay_attention.merge(mixed), s)


def _mab(
    module: MAB, x: Ragged, y: Ragged, *, name: str, **_: object
) -> tuple[list[RecordedAttention], Tensor]:
    query, key, value = module.projected(x, y)
    text_weights, seen = _across(query, key, value, x.layout, y.layout, module.scale)
    records = []
    kinds = {"gather": ("point", "word"), "spread": ("word", "point"), "pma": ("seed", "word")}
    of, to = next((node_kinds for part, node_kinds in kinds.items() if part in name), ("word", "word"))
    for text, weights in enumerate(text_weights):
        asking, keys = (
            _word_nodes(n) if kind == "word" else (AttentionNode(kind),) * n
            for kind, n in zip((of, to), weights.shape[1:], strict=True)
        )
        records.append(RecordedAttention("", text, weights, asking, keys))
    return records, module.added(x, query, seen).values


def _memory(
    module: MemoryAttention, rows: Tensor, layout: Layout, memory: Ragged, *_: object, **__: object
) -> tuple[list[RecordedAttention], Tensor]:
    records, seen = cross_text_attention(*module.projected(rows, memory), layout, memory.layout)
    return records, module.out(seen)


def cross_text_attention(
    query: Tensor, key: Tensor, value: Tensor, queries: Layout, keys: Layout, of: str = "word"
) -> tuple[list[RecordedAttention], Tensor]:
    """Cross-attention weights of rows to the other text of their pairs, and outputs, `[rows, heads *
    size]`.

    Args:
        query: `[rows, heads, size]`.
        key: `[words, heads, size]`.
        value: As `key`.
        queries: The rows of each text.
        keys: The words of the text that each looks at.
        of: What the rows are: word, or node.
    """
    text_weights, seen = _across(query, key, value, queries, keys, query.shape[-1] ** -0.5)
    records = []
    for text, weights in enumerate(text_weights):
        asking = _word_nodes(weights.shape[1]) if of == "word" else (AttentionNode(of),) * weights.shape[1]
        records.append(RecordedAttention("", text, weights, asking, _word_nodes(weights.shape[2], "other")))
    return records, seen.flatten(1)


def _across(
    query: Tensor, key: Tensor, value: Tensor, queries: Layout, keys: Layout, scale: float
) -> tuple[list[Tensor], Tensor]:
    """The attention weights of each text, `[heads, queries, keys]`, and the output that follows from them,
    in the shape of `query`."""
    text_weights, seen = [], torch.zeros_like(query)
    for (start, size), (first, count) in zip(_cuts(queries), _cuts(keys), strict=True):
        rows, columns = slice(start, start + size), slice(first, first + count)
        scores = torch.einsum("qhd,khd->hqk", query[rows], key[columns]) * scale
        text_weights.append(scores.softmax(-1))
        seen[rows] = torch.einsum("hqk,khd->qhd", text_weights[-1], value[columns])
    return text_weights, seen


def _disan(module: DirectionalAttention, x: Ragged, **_: object) -> tuple[list[RecordedAttention], Tensor]:
    h = elu(module.map(x.values))
    query, key, seen = module.query(h), module.key(h), torch.zeros_like(h)
    records = []
    for text, (start, size) in enumerate(_cuts(x.layout)):
        rows, place = slice(start, start + size), torch.arange(size, device=h.device)
        visible = place[None] < place[:, None] if module.before else place[None] > place[:, None]
        scores = module.bound * torch.tanh((query[rows, None] + key[None, rows]) / module.bound)
        weights = scores.exp() * visible[..., None]
        weights = weights / weights.sum(1, keepdim=True).clamp(min=torch.finfo(h.dtype).tiny)
        seen[rows] = torch.einsum("ijd,jd->id", weights, h[rows])
        records.append(
            RecordedAttention("", text, weights.permute(2, 0, 1), _word_nodes(size), _word_nodes(size))
        )
    return records, module.gated(h, seen)


def _cuts(layout: Layout) -> list[tuple[int, int]]:
    """Where each text begins, and how many rows it has."""
    return list(zip(layout.offsets.tolist(), layout.sizes, strict=False))


READERS: dict[type, ReadWeights] = {
    SelfAttention: _self,
    GraphSelfAttention: _graph,
    MemoryAttention: _memory,
    MAB: _mab,
    DirectionalAttention: _disan,
    StarStep: _star,
}
