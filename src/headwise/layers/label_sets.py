"""Multi-label classification: the loss of independent binary decisions for each label."""

from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits


def label_set_loss(
    logits: Tensor, targets: Tensor, *, label_smoothing: float = 0.0, weights: Tensor | None = None
) -> Tensor:
    """Binary cross-entropy of each text, the mean over its labels, `[texts]`.

    Args:
        logits: `[texts, labels]`.
        targets: `[texts, labels]`, 0 or 1, float.
        label_smoothing: Share of each target that is spread evenly over 0 and 1.
        weights: `[labels]`; a weight of w has the effect of w times as many texts with this label.
    """
    targets = targets * (1 - label_smoothing) + label_smoothing / 2
    losses = binary_cross_entropy_with_logits(logits, targets, pos_weight=weights, reduction="none")
    return losses.mean(1)
