"""Settings of a training run."""

from collections.abc import Mapping
from dataclasses import dataclass

from headwise.core.config import check_choice, check_range
from headwise.core.errors import ConfigError


@dataclass(frozen=True)
class TrainConfig:
    """How a model is trained."""

    epochs: int = 12
    """Most passes over the training texts."""
    learning_rate: float = 1e-3
    """Of AdamW, at its highest."""
    vectors_learning_rate: float = 1e-3
    """The same for the word vectors."""
    weight_decay: float = 0.01
    """Of AdamW, on matrices (not on biases, norms and word vectors)."""
    warmup: float = 0.1
    """Share of the steps over which the learning rate rises from 0."""
    schedule: str = "linear"
    """How it falls afterwards: linear, cosine (both to 0) or constant."""
    batch_texts: int = 32
    """Most texts in a batch."""
    batch_tokens: int = 16_384
    """Most words in a batch."""
    accumulate: int = 1
    """Batches whose gradients are added up before each step."""
    clip: float = 1.0
    """Largest norm of the gradient; 0 = no limit."""
    average: float = 0.0
    """Decay of a moving average of the weights, which then is what is judged and kept; 0 = off."""
    refit: bool = False
    """Once dev has chosen, train again on training and dev texts together (where dev was split off)."""
    folds: int = 0
    """Where dev was split off: choose on all texts, by training this many times without a part of them, and
    train on all at the end; 0 = choose on dev."""
    patience: int = 5
    """Stop after this many epochs without a better dev score; 0 = never."""
    score: str = "accuracy"
    """What is to be best on dev: accuracy, macro_f1, f1 (of spans or label sets) or loss (the lowest);
    last: the last epoch is kept, whatever dev says."""
    seed: int = 0
    """Seed of everything random."""
    precision: str = "float32"
    """float32, or bfloat16 for the matrix products where the processor is fast at it."""
    device: str = "auto"
    """auto, cpu, cuda, ..."""
    checkpoint_seconds: float = 60.0
    """How often the state is saved, besides the end of each epoch."""

    def __post_init__(self) -> None:
        check_range(self, "epochs", "batch_texts", "batch_tokens", "accumulate", low=1)
        check_range(self, "learning_rate", "vectors_learning_rate", "weight_decay", "clip", low=0)
        check_range(self, "patience", "checkpoint_seconds", "folds", low=0)
        if self.folds == 1:
            raise ConfigError("train: folds: 1 leaves nothing to train on; give 2 or more, or 0")
        check_range(self, "seed", low=0, high=2**63 - 1)
        check_range(self, "warmup", "average", low=0, high=1, open=True)
        check_choice(self, "schedule", ("linear", "cosine", "constant"))
        check_choice(self, "score", ("accuracy", "macro_f1", "f1", "loss", "last"))
        check_choice(self, "precision", ("float32", "bfloat16"))

    def merit(self, epoch: int, scores: Mapping[str, float]) -> float:
        """How good an epoch is; the epoch with the highest merit is kept. While a score is 0, as F1 is
        where nothing is found yet, the loss tells epochs apart.

        Args:
            epoch: Its number.
            scores: Of dev, after it.

        Raises:
            ConfigError: There is no such score.
        """
        if self.score == "last":
            return epoch
        if self.score not in scores:
            raise ConfigError(
                f"train: score: {self.score!r} is not known of this task, only {', '.join(scores)}"
            )
        return scores[self.score] if self.score != "loss" and scores[self.score] > 0 else -scores["loss"]
