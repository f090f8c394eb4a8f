"""RowEmbedding: an embedding that an optimiser can update row by row."""

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn.functional import embedding


class RowEmbedding(nn.Embedding):
    """`torch.nn.Embedding` whose optimiser may postpone updates of the rows that a batch does not read.

    Attributes:
        before_lookup: Called with the ids `[total]` before their rows are read in training mode; with it,
            gradients are sparse. None where the optimiser updates all rows in each step.
    """

    before_lookup: Callable[[Tensor], None] | None = None

    def forward(self, input: Tensor) -> Tensor:
        if self.before_lookup is None or not self.training:
            return super().forward(input)
        self.before_lookup(input)
        return embedding(input, self.weight, sparse=True)  # the optimiser leaves out the padding row
