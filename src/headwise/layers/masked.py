"""Masked words: some words of a text are hidden, and told from the others (Devlin et al., NAACL 2019).

Here it is how an encoder learns what goes with what before it sees a label. The words are told by their own
vectors, those that the model reads: a hidden word `w` of the state `h` has the logit `g(h) . v_w + b_w`.
Training tells it from some thousand words drawn at random (`sampled_losses`); a judgement from all.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu

from headwise.config import check_range


@dataclass(frozen=True)
class MaskedConfig:
    """How words are hidden and told."""

    share: float = 0.2
    """Share of the words of a text that are hidden."""
    kept: float = 0.1
    """Of the hidden words, the share that the encoder sees all the same: later it sees all."""
    negatives: int = 4096
    """Random words that a hidden word is told from, in training."""

    def __post_init__(self) -> None:
        check_range(self, "share", low=0, high=1, open=True)
        check_range(self, "kept", low=0, high=1, open=True)
        check_range(self, "negatives", low=1)


class WordGuess(nn.Module):
    """From the states of hidden words to what is compared with the vectors of words.

    Args:
        width: Features of a state.
        size: Features of a word vector.
        words: Words that can be told.
    """

    def __init__(self, width: int, size: int, words: int):
        super().__init__()
        self.inner = nn.Linear(width, size)
        self.norm = nn.LayerNorm(size)
        self.outer = nn.Linear(size, size)
        self.bias = nn.Parameter(torch.zeros(words))
        self.scale = size**-0.5  # vectors of unit deviation would give logits far too large

    def forward(self, states: Tensor) -> Tensor:
        """`[hidden, width]` -> `[hidden, size]`."""
        return self.scale * self.outer(self.norm(gelu(self.inner(states))))


def sampled_losses(
    guesses: Tensor, targets: Tensor, drawn: Tensor, logs: Tensor, table: Tensor, bias: Tensor
) -> Tensor:
    """The negative log-likelihood of each hidden word, the sum over all words estimated from random ones
    (Bengio & Senecal 2003), `[hidden]`.

    Of a word drawn, `exp(logit)` is divided by how often the word is expected among those drawn; where it
    is the right one, it does not count, as that is in the sum anyway. So the expected sum is that of the
    softmax.

    Args:
        guesses: `[hidden, size]`.
        targets: Numbers of the hidden words, `[hidden]`.
        drawn: Numbers of the random words, `[drawn]`.
        logs: That logarithm for each word, `[words]`.
        table: The vectors of the words, `[words, size]`.
        bias: `[words]`.
    """
    right = (guesses * table[targets]).sum(1).float() + bias[targets]
    others = (guesses @ table[drawn].t().to(guesses.dtype)).float() + bias[drawn] - logs[drawn]
    others = others.masked_fill(drawn == targets[:, None], -torch.inf)
    logits = torch.cat([right[:, None], others], dim=1)
    return cross_entropy(logits, torch.zeros_like(targets), reduction="none")
