"""What every encoder takes and gives."""

from dataclasses import dataclass

from torch import Tensor

from headwise.ragged import Ragged


@dataclass(frozen=True)
class Encoded:
    """What an encoder says of a batch.

    Attributes:
        tokens: The state of every token, in the layout of the input.
        summary: `[texts, width]`, a state of the text as a whole where the encoder keeps one (a
            classification node, a relay, a root); None where it does not.
    """

    tokens: Ragged
    summary: Tensor | None = None
