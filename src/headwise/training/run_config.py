"""Recipe: the complete configuration of a training run, apart from its data."""

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from headwise.core.config import check_range, to_dict
from headwise.data.columns.reading_options import SoftLabelOptions, SplitConfig
from headwise.nn.networks.model_config import LABEL_SECTIONS, ModelConfig
from headwise.training.settings import TrainConfig

if TYPE_CHECKING:
    from headwise.training.warm_start import PreviousModel


@dataclass(frozen=True)
class VectorsConfig:
    """Pretrained word vectors to begin with."""

    file: str | None = None
    """A file in GloVe or word2vec text format (plain, .gz, .xz), or .npy with a file of words."""
    extra_words: int = 10_000
    """Number of the file's most frequent words that are added to the vocabulary even if no training text
    has them; they take disk space, but no training time."""

    def __post_init__(self) -> None:
        check_range(self, "extra_words", low=0)


@dataclass(frozen=True)
class RunConfig:
    """A whole training run, apart from its texts."""

    data: Any = field(default_factory=SoftLabelOptions)
    """Of the type that the kind of the items has."""
    split: SplitConfig = field(default_factory=SplitConfig)
    vectors: VectorsConfig = field(default_factory=VectorsConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    sections: tuple[str, ...] = LABEL_SECTIONS
    """The sections of the model's settings that the task has."""
    init_from: "PreviousModel | None" = None
    """A previous model for a warm start; None without."""

    @property
    def seen(self) -> Any:
        """The training-set fingerprint of the previous model; None without one."""
        return None if self.init_from is None else self.init_from.seen

    def to_json(self) -> dict[str, Any]:
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
