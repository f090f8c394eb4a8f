"""The classification node: a learned row in front of every text (BERT's [CLS])."""

import torch
from torch import nn

from headwise.encoders.base import Encoded
from headwise.ragged import Ragged


class ClassificationNode(nn.Module):
    """A learned node that an encoder treats like any token and whose last state sums up the text."""

    def __init__(self, width: int):
        super().__init__()
        self.state = nn.Parameter(nn.init.normal_(torch.empty(width), std=0.02))

    def prepend(self, x: Ragged) -> Ragged:
        """The node in front of every text; a text without words becomes the node alone."""
        return x.prepend(self.state)

    def split(self, nodes: Ragged) -> Encoded:
        """Take the node's states apart from the tokens'."""
        summary, tokens = nodes.split_first()
        return Encoded(tokens, summary)
