"""Configuration of distillation: learning from a teacher's labels of unlabelled texts."""

from dataclasses import dataclass

from headwise.core.config import check_range


@dataclass(frozen=True)
class DistillationConfig:
    """How a model learns from the answers of a teacher."""

    most: int = 50_000
    """Most unlabelled texts that are taken, a random sample of the file; 0 = all."""
    column: str | None = None
    """The column of the unlabelled texts: its name, or its number from 1."""
    label_weight: float = 1.0
    """How much a text that people have labelled counts, where one that the teacher has labelled counts
    1."""
    temperature: float = 1.0
    """Below 1 the teacher's probabilities are sharpened, above 1 they are flattened."""
    linear: bool = True
    """Of a sentence encoder: the teacher reads words and characters beside its vectors, as cross-validation
    likes it; off = logistic regression on the vectors alone."""
    revision: str = "main"
    """Of a sentence encoder on the hub: branch, tag or commit."""
    max_pieces: int = 128
    """Of a sentence encoder: most word pieces of a text that it reads."""

    def __post_init__(self) -> None:
        check_range(self, "most", low=0)
        check_range(self, "label_weight", "temperature", low=0.01, high=10_000)
        check_range(self, "max_pieces", low=8)
