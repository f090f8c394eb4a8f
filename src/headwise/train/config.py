"""Settings of a training run."""

from dataclasses import dataclass

from headwise.errors import ConfigError


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
    patience: int = 5
    """Stop after this many epochs without a better dev score; 0 = never."""
    score: str = "accuracy"
    """What is to be best on dev: accuracy, macro_f1 or loss (the lowest)."""
    seed: int = 0
    """Seed of everything random."""
    precision: str = "float32"
    """float32, or bfloat16 for the matrix products where the processor is fast at it."""
    device: str = "auto"
    """auto, cpu, cuda, ..."""
    checkpoint_seconds: float = 60.0
    """How often the state is saved, besides the end of each epoch."""

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_texts", "batch_tokens", "accumulate"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("learning_rate", "vectors_learning_rate", "weight_decay", "clip", "patience"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ConfigError(f"{name} must not be negative, got {getattr(self, name)}")
        for name in ("warmup", "average"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 0 and less than 1, got {getattr(self, name)}")
        for name, known in (
            ("schedule", ("linear", "cosine", "constant")),
            ("score", ("accuracy", "macro_f1", "loss")),
            ("precision", ("float32", "bfloat16")),
        ):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
