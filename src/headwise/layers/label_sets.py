"""Multi-label classification: any number of labels for each text, each a yes or no of its own."""

from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits


def label_set_loss(
    logits: Tensor, targets: Tensor, *, label_smoothing: float = 0.0, weights: Tensor | None = None
) -> Tensor:
    """Binary cross-entropy of each text, the mean over its labels, `[texts]`.

    Args:
        logits: `[texts, labels]`.
        targets: `[texts, labels]`, 0 or 1, float.
        label_smoothing: Share of each target that is spread evenly over yes and no.
        weights: `[labels]`: the texts with a label count as if there were that many times more of them.
    """
    targets = targets * (1 - label_smoothing) + label_smoothing / 2
    losses = binary_cross_entropy_with_logits(logits, targets, pos_weight=weights, reduction="none")
    return losses.mean(1)
