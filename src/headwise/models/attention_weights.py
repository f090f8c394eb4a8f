"""attention_weights: what every head of a model looks at in a text."""

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
    """The weights of one attention of an encoder in one text, or in one window of a long one.

    Attributes:
        layer: Its layer, from 1.
        module: The name of the attention in the encoder; some have more than one in a layer.
        text: 0; of a pair 0 or 1.
        words: The words of the whole text.
        seen: Those of the text that is looked at: the same, or the pair's other.
        weights: `[heads, queries, keys]`; see `headwise.encoders.weights.Look`.
        queries: What looks. Words are counted in the whole text.
        keys: What is looked at.
        heads: The prior of each head; empty where heads have none.
        error: How far the encoder's fast path is from what follows from these weights.
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
        """What a node is called: the word, the words of a span, or its kind in brackets."""
        if node.stop == node.start:
            return f"[{node.name}]"
        words = self.seen if node.name == "other" else self.words
        return " ".join(words[node.start : node.stop])

    def between_words(self) -> Tensor:
        """`[heads, words, words that are looked at]`: what each word takes of each. What is taken of a span
        is shared evenly by its words, what is taken of a node that stands for no word is left out; rows of
        words that do not look here are 0."""
        of = _standing(self.queries, len(self.words)).to(self.weights)
        to = _standing(self.keys, len(self.seen)).to(self.weights)
        looks = [node.name in ("word", "state") for node in self.queries]
        of = of * torch.tensor(looks, device=of.device)[:, None]
        return of.T @ self.weights @ (to / to.sum(1, keepdim=True).clamp(min=1))


def _standing(nodes: Sequence[Node], words: int) -> Tensor:
    """`[nodes, words]`, 1 where a node stands for a word."""
    place = torch.arange(words, device="cpu")
    ranges = torch.tensor([(node.start, node.stop) for node in nodes], device="cpu").reshape(-1, 2, 1)
    return ((place >= ranges[:, 0]) & (place < ranges[:, 1])).long()


def attention_weights(
    model: TextModel | LanguageModel, text: str | Example | Pair | Tagged | Sequence[str]
) -> list[AttentionMap]:
    """What every head of a model's encoder looks at in a text, layer by layer.

    The model runs as it does when it predicts; the weights are computed beside it from the definition of
    attention, and `AttentionMap.error` says how far the two are apart.

    Args:
        model: Of any task on texts.
        text: A text; for models of pairs a pair of texts, for taggers also a sentence as its words. An
            `Example` may bring its parse.

    Raises:
        ConfigError: The encoder has no attention (an LSTM), the model does not read texts, or it is given
            something else than one.
    """
    if not isinstance(model, AnyModel):
        raise ConfigError(
            f"expected a model, got a {type(model).__name__}; headwise.load_model(folder) gives that of a "
            "folder, estimator.model_ that of an estimator"
        )
    model = _twin(model, {}).eval()  # what is recorded is what this call reads, whoever else uses the model
    with record(getattr(model, "encoder", model), getattr(model, "interaction", None)) as looks:
        words, windows = _run(model, text)
    below = 1 + max((_number(look) for look in looks if not _on_top(look)), default=-1)
    whole = [(text, Window(0, len(own), 0, len(own))) for text, own in enumerate(words)]
    return [_placed(look, below, words, whole if _on_top_of_all(look) else windows) for look in looks]


def _twin(module: Any, made: dict[int, Any]) -> Any:
    """A module with the same parameters, but with hooks and a mode of its own, as its modules have."""
    if module is None or id(module) in made:
        return made.get(id(module))
    twin = made[id(module)] = copy(module)
    own = vars(twin)
    own |= {name: value.copy() for name, value in own.items() if name.endswith(("_hooks", "_with_kwargs"))}
    own["_modules"] = {name: _twin(child, made) for name, child in module._modules.items()}
    return twin


def _run(
    model: TextModel | LanguageModel, text: Any
) -> tuple[list[tuple[str, ...]], list[tuple[int, Window]]]:
    """Let a model read; its texts, and each text of the encoder's batch: of which text it is a part."""
    if isinstance(model, LanguageModel):
        symbols = model.symbols
        own = as_example(text).text
        own = own.split() if symbols.unit == "words" else own
        numbers = symbols.encode(own.encode() if symbols.unit == "bytes" and isinstance(own, str) else own)
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
    words = [tuple(own[:size]) for own, size in read]
    most, overlap = model.window
    return words, [
        (t, w) for t, (_, n) in enumerate(read) for w in cut_windows(n, most or max(n, 1), overlap)
    ]


def _sentence(model: TagModel, text: Any) -> Tagged:
    """A text cut into words, or the words that are given."""
    if isinstance(text, Tagged):
        return text
    given: Any = text
    if isinstance(text, list | tuple) and text and all(isinstance(word, str) for word in text):
        return Tagged(tuple(text), ())
    return model.sentence(as_example(given))


def _number(look: Look) -> int:
    """The layer that the name of a module says, from 0; -1 where it says none (the pooling on top)."""
    return max((int(part) for part in re.findall(r"\d+", look.module)[-1:]), default=-1)


def _on_top(look: Look) -> bool:
    """Whether it is of layers that stand on the others and are counted from 0 again."""
    return look.module.startswith("pair_") or _on_top_of_all(look)


def _on_top_of_all(look: Look) -> bool:
    """Whether it is of layers that stand on the encoder, for which windows are whole texts again."""
    return look.module.startswith("interaction")


def _placed(
    look: Look, below: int, words: list[tuple[str, ...]], windows: list[tuple[int, Window]]
) -> AttentionMap:
    number = _number(look)
    across = any(node.name == "other" for node in look.keys)
    at = (look.text + across * (len(windows) // 2)) % len(windows)
    (text, window), (seen, other) = windows[look.text], windows[at]
    queries, keys = (
        tuple(replace(node, start=node.start + own.start, stop=node.stop + own.start) for node in nodes)
        for nodes, own in ((look.queries, window), (look.keys, other))
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
