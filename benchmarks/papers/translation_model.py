"""An encoder-decoder of BP-Transformers (Ye et al. 2019), and its search for the best translation.

The encoder sees both sides, the decoder looks back; between the decoder's self-attention and feed-forward
layer its tokens see those of the source (`BPTMemoryBlock`). From a k of the text's length on, and with
sinusoids in place of relative positions, that is the plain Transformer: the rival.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from headwise.nn.encoders.bp_graph import partition_graph
from headwise.nn.encoders.bp_transformer import BPTMemoryBlock, BPTransformer
from headwise.nn.encoders.encoder import Positions
from headwise.nn.encoders.transformer_configs import BPTransformerConfig
from headwise.nn.ragged import Ragged

BEGIN, END, UNKNOWN = 0, 1, 2
Begun = tuple[float, list[int]]
"""The log-probability of words, and the words."""
_WHOLE = 1024  # k of a plain Transformer


@dataclass(frozen=True)
class Sizes:
    """Settings of a translator; `k` 0 is the plain Transformer."""

    k: int = 4
    clip: int = 2
    width: int = 256
    layers: int = 3
    heads: int = 4
    feedforward: int = 512
    dropout: float = 0.1

    def blocks(self, causal: bool) -> BPTransformerConfig:
        """The settings of the encoder's blocks, or of the decoder's."""
        return BPTransformerConfig(
            width=self.width,
            layers=self.layers,
            heads=self.heads,
            head_size=self.width // self.heads,
            feedforward=self.feedforward,
            k=self.k or _WHOLE,
            clip=self.clip if self.k else 0,
            causal=causal,
            relative=bool(self.k),
            positions="none" if self.k else "sinusoidal",
            dropout=self.dropout,
            attention_dropout=self.dropout,
        )


class Translator(nn.Module):
    """From word numbers of one language to those of another.

    Args:
        sizes: See `Sizes`.
        source: Words of the source's vocabulary.
        target: Of the target's, whose vectors are also the weights of the softmax.
    """

    def __init__(self, sizes: Sizes, source: int, target: int):
        super().__init__()
        self.sizes = sizes
        self.source, self.target = (nn.Embedding(words, sizes.width) for words in (source, target))
        for vectors in (self.source, self.target):
            nn.init.normal_(vectors.weight, std=sizes.width**-0.5)
        self.dropout = nn.Dropout(sizes.dropout)
        self.encoder = BPTransformer(sizes.blocks(causal=False))
        config = sizes.blocks(causal=True)
        self.positions, self.norm = (
            Positions(config.positions, config.width, config.max_positions),
            nn.LayerNorm(config.width),
        )
        self.decoder = nn.ModuleList(BPTMemoryBlock(config) for _ in range(sizes.layers))
        self.bias = nn.Parameter(torch.zeros(target))

    def encode(self, source: Ragged) -> Ragged:
        """Word numbers -> the states of the words, `[width]`."""
        return self.encoder.token_states(self._embed(self.source, source))

    def decode(self, target: Ragged, memory: Ragged, rows: Tensor | None = None) -> Tensor:
        """Beginnings of translations -> logits of what follows each of their words, or of the rows asked
        for, `[rows, words]`."""
        config = self.sizes.blocks(causal=True)
        graph = partition_graph(target.layout, config.k, config.clip, True)
        h = self.norm(self.positions(self._embed(self.target, target)).values)
        for number, block in enumerate(self.decoder, start=1):
            h = block(h, graph, memory, spans=bool(self.sizes.k) and number < self.sizes.layers)
        return linear(h if rows is None else h[rows], self.target.weight, self.bias)

    def forward(self, source: Ragged, target: Ragged) -> Tensor:
        """Logits of the words after each of the target's."""
        return self.decode(target, self.encode(source))

    def _embed(self, vectors: nn.Embedding, words: Ragged) -> Ragged:
        return words.map(lambda numbers: self.dropout(vectors(numbers) * self.sizes.width**0.5))

    @torch.no_grad()
    def translate(self, source: Ragged, beam: int = 5, most: int = 60) -> list[list[int]]:
        """The translations found with a beam, without a penalty for length; `beam` 1 takes the best word at
        each step. In every step all beginnings are read anew.

        Args:
            source: Word numbers.
            beam: Hypotheses per sentence.
            most: Longest translation, in words.
        """
        memory = self.encode(source)
        begun: list[list[Begun]] = [[(0.0, [BEGIN])] for _ in range(len(source))]
        done: list[list[Begun]] = [[] for _ in range(len(source))]
        open_ = [text for text, n in enumerate(source.layout.sizes) if n]
        for _ in range(most):
            if not open_:
                break
            rows = [(text, *hypothesis) for text in open_ for hypothesis in begun[text]]
            flat = torch.tensor([word for _, _, words in rows for word in words])
            texts = Ragged.from_lengths(flat, [len(words) for _, _, words in rows])
            last = texts.offsets[1:] - 1
            logits = self.decode(texts, memory[[text for text, _, _ in rows]], last)
            chances, word_ids = logits.float().log_softmax(-1).topk(beam)
            longer: dict[int, list[Begun]] = {text: [] for text in open_}
            for row, log_chances, next_ in zip(rows, chances.tolist(), word_ids.tolist(), strict=True):
                text, score, words = row
                longer[text] += [(score + c, [*words, w]) for c, w in zip(log_chances, next_, strict=True)]
            for text, candidates in longer.items():
                best = sorted(candidates, key=lambda hypothesis: -hypothesis[0])[:beam]
                done[text] += [hypothesis for hypothesis in best if hypothesis[1][-1] == END]
                begun[text] = [hypothesis for hypothesis in best if hypothesis[1][-1] != END]
            open_ = [text for text in open_ if begun[text] and not _sure(done[text], begun[text])]
        best = [max(finished or unfinished) for finished, unfinished in zip(done, begun, strict=True)]
        return [[word for word in words if word not in (BEGIN, END)] for _, words in best]


def _sure(done: Sequence[Begun], begun: Sequence[Begun]) -> bool:
    """Whether nothing that is begun can become better than what is done: scores only fall."""
    return bool(done) and max(done)[0] >= max(begun)[0]
