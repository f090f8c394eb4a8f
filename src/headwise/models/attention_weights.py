"""attention_weights: the attention weights of every head of a model in a text."""

import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from headwise.data.example import Example, as_example
from headwise.data.pair import Pair
from headwise.data.sentence import Tagged
from headwise.data.windows import Window, cut_windows
from headwise.encoders.weights import Look, Node, record
from headwise.errors import ConfigError
from headwise.models.answers.pairs import as_pair
from headwise.models.any_model import AnyModel
from headwise.models.language_model import NOTHING, LanguageModel
from headwise.models.pair_model import PairReader
from headwise.models.tag_model import TagModel
from headwise.models.text_model import TextModel
from headwise.ragged import Ragged


@dataclass(frozen=True)
class AttentionMap:
    """The weights of one attention module in one text, or in one window of a long text.

    Attributes:
        layer: Number of the layer, from 1.
        module: Name of the attention module in the encoder; some layers have several.
        text: Index of the text: 0, for pairs 0 or 1.
        words: The words of the whole text.
        seen: The words of the attended text: the same text, or the other one of a pair.
        weights: `[heads, queries, keys]`; see `headwise.encoders.weights.Look`.
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
    seen: tuple[str, ...]
    weights: Tensor
    queries: tuple[Node, ...]
    keys: tuple[Node, ...]
    heads: tuple[str, ...]
    error: float

    def name(self, node: Node) -> str:
        """Display name of a node: the word, the words of a span, or its kind in brackets."""
        if node.stop == node.start:
            return f"[{node.name}]"
        words = self.seen if node.name == "other" else self.words
        return " ".join(words[node.start : node.stop])

    def between_words(self) -> Tensor:
        """Weights between words, `[heads, words, attended words]`.

        The weight of a span is divided evenly among its words; weights of nodes without words are left out.
        Rows of words that are no queries here are 0.
        """
        of = _standing(self.queries, len(self.words)).to(self.weights)
        to = _standing(self.keys, len(self.seen)).to(self.weights)
        looks = [node.name in ("word", "state") for node in self.queries]
        of = of * torch.tensor(looks, device=of.device)[:, None]
        return of.T @ self.weights @ (to / to.sum(1, keepdim=True).clamp(min=1))


def _standing(nodes: Sequence[Node], words: int) -> Tensor:
    """Incidence matrix `[nodes, words]`, 1 where a node covers a word."""
    place = torch.arange(words, device="cpu")
    ranges = torch.tensor([(node.start, node.stop) for node in nodes], device="cpu").reshape(-1, 2, 1)
    return ((place >= ranges[:, 0]) & (place < ranges[:, 1])).long()


def attention_weights(
    model: TextModel | LanguageModel, text: str | Example | Pair | Tagged | Sequence[str]
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
    if not isinstance(model, AnyModel):
        raise ConfigError(
            f"expected a model, got a {type(model).__name__}; headwise.load_model(folder) gives that of a "
            "folder, estimator.model_ that of an estimator"
        )
    model = _twin(model, {}).eval()  # a copy, so that concurrent calls of the model are not recorded
    with record(getattr(model, "encoder", model), getattr(model, "interaction", None)) as looks:
        words, windows = _run(model, text)
    below = 1 + max((_number(look) for look in looks if not _on_top(look)), default=-1)
    full_texts = [(text, Window(0, len(tokens), 0, len(tokens))) for text, tokens in enumerate(words)]
    return [_placed(look, below, words, full_texts if _on_top_of_all(look) else windows) for look in looks]


def _twin(module: Any, made: dict[int, Any]) -> Any:
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
    attributes["_modules"] = {name: _twin(child, made) for name, child in module._modules.items()}
    return twin


def _run(
    model: TextModel | LanguageModel, text: Any
) -> tuple[list[tuple[str, ...]], list[tuple[int, Window]]]:
    """Run the model; returns the words of its texts, and the text and window of each row of the batch."""
    if isinstance(model, LanguageModel):
        symbols = model.symbols
        content = as_example(text).text
        content = content.split() if symbols.unit == "words" else content
        numbers = symbols.encode(
            content.encode() if symbols.unit == "bytes" and isinstance(content, str) else content
        )
        inputs = [NOTHING, *numbers.tolist()][: model.context]
        model(Ragged.from_lengths(torch.tensor(inputs, device=model.device), [len(inputs)]))
        names = ("", *(symbols.names[number] for number in inputs[1:]))
        return [names], [(0, Window(0, len(names), 0, len(names)))]
    if not isinstance(model, TextModel):
        raise ConfigError(
            f"a model of the task {model.config.task} reads no texts, whose words a head could look at"
        )
    cut = model.features.tokenizer.words
    if isinstance(model, PairReader):
        pair = as_pair(text)
        (both,) = model.encoded([pair])
        read = [(cut(pair.first), len(both.first)), (cut(pair.second), len(both.second))]
        encoded = [both]
    elif isinstance(model, TagModel):
        sentence = _sentence(model, text)
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


def _sentence(model: TagModel, text: Any) -> Tagged:
    """The sentence of a text, which is tokenised, or of a list of words."""
    if isinstance(text, Tagged):
        return text
    content: Any = text
    if isinstance(text, list | tuple) and text and all(isinstance(word, str) for word in text):
        return Tagged(tuple(text), ())
    return model.sentence(as_example(content))


def _number(look: Look) -> int:
    """Number of the layer in a module's name, from 0; -1 without one (the pooling on top)."""
    return max((int(part) for part in re.findall(r"\d+", look.module)[-1:]), default=-1)


def _on_top(look: Look) -> bool:
    """Whether the module belongs to layers above the encoder's own, which are numbered from 0 again."""
    return look.module.startswith("pair_") or _on_top_of_all(look)


def _on_top_of_all(look: Look) -> bool:
    """Whether the module belongs to layers above the encoder, which read whole texts, not windows."""
    return look.module.startswith("interaction")


def _placed(
    look: Look, below: int, words: list[tuple[str, ...]], windows: list[tuple[int, Window]]
) -> AttentionMap:
    number = _number(look)
    across = any(node.name == "other" for node in look.keys)
    at = (look.text + across * (len(windows) // 2)) % len(windows)
    (text, window), (seen, seen_window) = windows[look.text], windows[at]
    queries, keys = (
        tuple(replace(node, start=node.start + span.start, stop=node.stop + span.start) for node in nodes)
        for nodes, span in ((look.queries, window), (look.keys, seen_window))
    )
    return AttentionMap(
        layer=below if number < 0 else number + 1 + below * _on_top(look),
        module=look.module,
        text=text,
        words=words[text],
        seen=words[seen],
        weights=look.weights.cpu(),
        queries=queries,
        keys=keys,
        heads=look.heads,
        error=look.error,
    )
