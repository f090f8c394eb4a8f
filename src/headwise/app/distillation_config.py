"""Configuration of distillation: learning from a teacher's labels of unlabelled texts."""

from dataclasses import dataclass

from headwise.core.config import check_range


@dataclass(frozen=True)
class DistillationConfig:
    """How a model learns from the answers of a teacher."""

    most: int = 50_000
    """Largest number of unlabelled texts, a random sample of the file; 0 = all."""
    column: str | None = None
    """Column of the unlabelled texts: its name, or its number from 1."""
    label_weight: float = 1.0
    """Training weight of texts with human labels; texts labelled by the teacher have weight 1."""
    temperature: float = 1.0
    """Temperature of the teacher's probabilities: below 1 sharpens them, above 1 flattens them."""
    linear: bool = True
    """For a sentence encoder: add a linear model on words and characters, with a weight chosen by
    cross-validation; off = logistic regression on the vectors alone."""
    revision: str = "main"
    """For a sentence encoder on the hub: branch, tag or commit."""
    max_pieces: int = 128
    """For a sentence encoder: largest number of word pieces of a text."""

    def __post_init__(self) -> None:
        check_range(self, "most", low=0)
        check_range(self, "label_weight", "temperature", low=0.01, high=10_000)
        check_range(self, "max_pieces", low=8)
