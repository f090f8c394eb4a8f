"""Masked language modelling: some words of a text are masked and predicted (Devlin et al., NAACL 2019).

It pretrains an encoder before it sees labels. Output weights are tied to the input word vectors: with the
state `h` of a masked position, word `w` has the logit `g(h) . v_w + b_w`. Training uses a sampled softmax
over some thousand random words (`sampled_losses`), evaluation the full softmax.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu


class MaskedWordHead(nn.Module):
    """Projection from states of masked words to the space of word vectors, `g`, with the output biases.

    Args:
        width: Features of a state.
        size: Dimensions of a word vector.
        words: Number of words that can be predicted.
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
    """Sampled softmax: the negative log-likelihood of each masked word, `[hidden]`, with the partition
    function estimated from random words (Bengio & Senecal 2003).

    `exp(logit)` of a drawn word is divided by its expected count among the drawn words, so the expected sum
    is that of the softmax. Draws of the target itself are left out, as the sum includes it already.

    Args:
        guesses: Predicted vectors, `[hidden, size]`.
        targets: Ids of the masked words, `[hidden]`.
        drawn: Ids of the random words, `[drawn]`.
        logs: Logarithm of the expected count of each word, `[words]`.
        table: The word vectors, `[words, size]`.
        bias: Output biases, `[words]`.
    """
    right = (guesses * table[targets]).sum(1).float() + bias[targets]
    negatives = (guesses @ table[drawn].t().to(guesses.dtype)).float() + bias[drawn] - logs[drawn]
    negatives = negatives.masked_fill(drawn == targets[:, None], -torch.inf)
    logits = torch.cat([right[:, None], negatives], dim=1)
    return cross_entropy(logits, torch.zeros_like(targets), reduction="none")
