"""The settings of a training run; `RunConfig` is its complete configuration, apart from its data."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from headwise.core.config import JsonObject, check_choice, check_range, to_dict
from headwise.core.errors import ConfigError
from headwise.data.columns.reading_options import SoftLabelOptions
from headwise.data.splits.split_config import SplitConfig
from headwise.nn.networks.model_config import LABEL_SECTIONS, ModelConfig

if TYPE_CHECKING:
    from headwise.training.warm_start import PreviousModel


@dataclass(frozen=True)
class TrainConfig:
    """How a model is trained."""

    epochs: int = 12
    """Largest number of passes over the training texts."""
    learning_rate: float = 1e-3
    """Peak learning rate of AdamW."""
    vectors_learning_rate: float = 1e-3
    """Peak learning rate of word vectors."""
    weight_decay: float = 0.01
    """Weight decay of AdamW, on matrices (not on biases, norms and word vectors)."""
    warmup: float = 0.1
    """Fraction of the steps in which the learning rate rises from 0."""
    schedule: str = "linear"
    """Decay of the learning rate after the warm-up: linear or cosine (both to 0), or constant."""
    batch_texts: int = 32
    """Largest number of texts in a batch."""
    batch_tokens: int = 16_384
    """Largest number of words in a batch."""
    accumulate: int = 1
    """Batches whose gradients are accumulated before each step."""
    clip: float = 1.0
    """Largest norm of the gradient; 0 = no limit."""
    average: float = 0.0
    """Decay of a moving average of the weights, which is then evaluated and saved; 0 = off."""
    refit: bool = False
    """After dev has chosen the settings, train again on training and dev texts together (only if dev was
    split off)."""
    folds: int = 0
    """If dev was split off: choose by cross-validation with this many folds, then train on all texts; 0 =
    choose on dev."""
    patience: int = 5
    """Stop after this many epochs without a better dev score; 0 = never."""
    stop_if_unused: bool = False
    """Stop after an epoch in which the encoder adds nothing to the linear model on dev."""
    score: str = "accuracy"
    """Dev score that chooses the best epoch: accuracy, macro_f1, f1 (of spans or label sets) or loss (the
    lowest); last: always the last epoch."""
    seed: int = 0
    """Seed of all random numbers."""
    precision: str = "float32"
    """float32, or bfloat16 for matrix products on processors that are fast at it."""
    device: str = "auto"
    """Device: auto, cpu, cuda, ..."""
    checkpoint_seconds: float = 60.0
    """Seconds between saves of the training state within an epoch. It is also saved at the end of an
    epoch if the last save is a second old."""

    def __post_init__(self) -> None:
        check_range(self, "epochs", "batch_texts", "batch_tokens", "accumulate", low=1)
        check_range(self, "learning_rate", "vectors_learning_rate", "weight_decay", "clip", low=0)
        check_range(self, "patience", "checkpoint_seconds", "folds", low=0)
        if self.folds == 1:
            raise ConfigError("folds: 1 leaves nothing to train on; give 2 or more, or 0")
        check_range(self, "seed", low=0, high=2**63 - 1)
        check_range(self, "warmup", "average", low=0, high=1, open=True)
        check_choice(self, "schedule", ("linear", "cosine", "constant"))
        check_choice(self, "score", ("accuracy", "macro_f1", "f1", "loss", "last"))
        check_choice(self, "precision", ("float32", "bfloat16"))

    def selection_score(self, epoch: int, scores: Mapping[str, float]) -> float:
        """The merit of an epoch; the epoch with the highest merit is selected. While a score is 0, as F1 is
        before anything is predicted, the loss ranks the epochs.

        Args:
            epoch: Number of the epoch, from 0.
            scores: Dev scores after it.

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


@dataclass(frozen=True)
class VectorsConfig:
    """Pretrained word vectors to start from."""

    file: str | None = None
    """A file in GloVe or word2vec text format (plain, .gz, .xz), or .npy with a file of words."""
    extra_words: int = 10_000
    """Number of the file's most frequent words that are added to the vocabulary even if no training text
    has them; they take disk space, but no training time."""

    def __post_init__(self) -> None:
        check_range(self, "extra_words", low=0)


@dataclass(frozen=True)
class RunConfig:
    """The configuration of a training run, apart from its data."""

    data: Any = field(default_factory=SoftLabelOptions)
    """The reading options, of the class `options` of the item type."""
    split: SplitConfig = field(default_factory=SplitConfig)
    vectors: VectorsConfig = field(default_factory=VectorsConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    sections: tuple[str, ...] = LABEL_SECTIONS
    """The sections of the model's settings that the task has."""
    init_from: "PreviousModel | None" = None
    """A previous model for a warm start; None without."""

    @property
    def training_fingerprint(self) -> Any:
        """The training-set fingerprint of the previous model; None without one."""
        return None if self.init_from is None else self.init_from.training_fingerprint

    def to_json(self) -> JsonObject:
        """Plain data, in the sections of a TOML recipe."""
        model = self.model.to_json(self.sections)
        return {
            "data": {key: value for key, value in asdict(self.data).items() if value is not None},
            "split": to_dict(self.split),
            "vectors": {key: value for key, value in to_dict(self.vectors).items() if value is not None},
            "model": {name: model.pop(name) for name in ("task", "readout") if name in model},
            **model,
            "train": to_dict(self.train),
        }


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
