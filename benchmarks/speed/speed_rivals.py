"""What headwise is compared with in speed.py: Transformers that pad their batches."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn, relu
from torch.nn.functional import cross_entropy

from headwise.nn.encoders import TransformerConfig
from headwise.nn.task_layers.layer_configs import ClassifierConfig
from headwise.nn.task_layers.output_layers import Classifier
from headwise.text.text_configs import WordConfig

_SCORES = 1 << 27  # most attention scores of a layer at once (half a GiB), more texts are taken in parts


class PaddedTransformer(nn.Module):
    """A Transformer of 2019: padded batches, attention in separate steps with explicit masks.

    It has the sizes of headwise's own, and what the two have in common is the same: post-norm, ReLU,
    biases, dropout on what each sub-layer adds and inside the feed-forward layer.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.layers = nn.ModuleList(PaddedLayer(config) for _ in range(config.layers))

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        """`[texts, longest, width]` and which of them are real `[texts, longest]` -> the states."""
        for layer in self.layers:
            x = layer(x, keep)
        return x


class PaddedLayer(nn.Module):
    """Multi-head attention and a feed-forward layer."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        c, inner = config, config.heads * config.head_size
        self.heads = c.heads
        self.query, self.key, self.value = (nn.Linear(c.width, inner) for _ in range(3))
        self.out = nn.Linear(inner, c.width)
        self.up = nn.Linear(c.width, c.feedforward)
        self.down = nn.Linear(c.feedforward, c.width)
        self.norm1, self.norm2 = nn.LayerNorm(c.width), nn.LayerNorm(c.width)
        self.dropout = nn.Dropout(c.dropout)

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        query, key, value = (
            projection(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for projection in (self.query, self.key, self.value)
        )
        scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
        weights = scores.masked_fill(~keep[:, None, None, :], float("-inf")).softmax(-1)
        mixed = (weights @ value).transpose(1, 2).flatten(2)
        z = self.norm1(x + self.dropout(self.out(mixed)))
        return self.norm2(z + self.dropout(self.down(self.dropout(relu(self.up(z))))))


class FastPath(nn.Module):
    """`torch.nn.TransformerEncoder`, whose eval mode has a fused fast path that leaves padding out."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        c = config
        layer = nn.TransformerEncoderLayer(c.width, c.heads, c.feedforward, c.dropout, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, c.layers, enable_nested_tensor=True)

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        """As `PaddedTransformer`."""
        with warnings.catch_warnings():  # nested tensors call themselves a prototype
            warnings.simplefilter("ignore")
            return self.encoder(x, src_key_padding_mask=~keep)


@dataclass(frozen=True)
class PaddedRun:
    """A padded encoder at work on a batch.

    Attributes:
        run: Encodes the texts that are timed.
        share: What part of the batch's texts those are; they take this part of its time.
    """

    run: Callable[[], None]
    share: float


def padded_run(encoder: nn.Module, sizes: Sequence[int], width: int, heads: int, most: int) -> PaddedRun:
    """Time a padded encoder on texts of these lengths.

    Args:
        encoder: In eval mode.
        sizes: Rows of each text.
        width: Features of a row.
        heads: Its heads.
        most: Attention scores of a layer that are timed at most: where the batch has more, a part of its
            texts is, padded as before (a text at least; the longest, and others evenly from all lengths).
    """
    longest = max(sizes)
    fitting = max(1, most // (heads * longest**2))
    lengths = pick(sizes, fitting)
    x = torch.randn(len(lengths), longest, width)
    keep = torch.arange(longest) < torch.tensor(lengths)[:, None]
    at_once = max(1, _SCORES // (heads * longest**2))

    def run() -> None:
        with torch.inference_mode():
            for rows, mask in zip(x.split(at_once), keep.split(at_once), strict=True):
                encoder(rows, mask)

    return PaddedRun(run, len(lengths) / len(sizes))


def pick(sizes: Sequence[int], count: int) -> list[int]:
    """`count` of the lengths, evenly from the longest to the shortest; all if there are no more."""
    ordered = sorted(sizes, reverse=True)
    count = min(count, len(ordered))
    return [ordered[place * len(ordered) // count] for place in range(count)]


class PaddedModel(nn.Module):
    """A text classifier as headwise's default for the papers, around the padded Transformer."""

    def __init__(self, words: int, config: TransformerConfig, labels: int):
        super().__init__()
        word_config = WordConfig()
        self.vectors = nn.Embedding(words, config.width)
        self.dropout = nn.Dropout(word_config.dropout)
        self.node = nn.Parameter(torch.randn(config.width) * 0.02)
        self.encoder = PaddedTransformer(config)
        self.classifier = Classifier(config.width, labels, ClassifierConfig())

    def forward(self, words: Tensor, keep: Tensor) -> Tensor:
        """Padded word numbers `[texts, longest]`, and which are real -> logits `[texts, labels]`."""
        vectors = self.dropout(self.vectors(words))
        x = torch.cat([self.node.expand(len(words), 1, -1), vectors], dim=1)
        keep = torch.cat([keep.new_ones(len(words), 1), keep], dim=1)
        states = self.encoder(x, keep)
        top = states.masked_fill(~keep[..., None], float("-inf")).amax(1)
        return self.classifier(states[:, 0] + top)


def padded_training_step(
    model: PaddedModel, texts: Sequence[Tensor], targets: Tensor, heads: int, most: int = _SCORES
) -> Callable[[], None]:
    """A step of AdamW on texts `[words]`. Where attention would not fit into memory, the gradients of parts
    of the batch are added up, as one does."""
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    longest = max(map(len, texts)) + 1
    at_once = max(1, most // (heads * longest**2))
    parts = []
    for start in range(0, len(texts), at_once):
        part = list(texts[start : start + at_once])
        words = nn.utils.rnn.pad_sequence(part, batch_first=True)
        keep = torch.arange(words.shape[1]) < torch.tensor([len(text) for text in part])[:, None]
        parts.append((words, keep, targets[start : start + at_once]))

    def run() -> None:
        model.train()
        for words, keep, target in parts:
            loss = cross_entropy(model(words, keep), target, reduction="sum") / len(texts)
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return run
