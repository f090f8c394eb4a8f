"""The settings of an exported model: the content of its folder apart from the network."""

from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from headwise.artifacts.model_folder import StoreError
from headwise.core.config import JsonMapping, JsonObject, check_choice, check_range, from_dict, to_dict
from headwise.core.errors import ConfigError
from headwise.core.tokenizer import TOKENIZERS
from headwise.metrics.tag_schemes import Scheme
from headwise.nn.task_layers.layer_configs import LinearMemberConfig, UnknownConfig
from headwise.runtime.limits import check_limits
from headwise.text.document_structure import DOCUMENT_MARKS
from headwise.text.text_configs import CharacterConfig


@dataclass(frozen=True)
class WindowSizes:
    """How long texts are read, see `headwise.nn.encoders.long_texts`."""

    words: int = 0
    """Most words that are read at once; 0 for any number."""
    overlap: int = 0
    """Words that neighbouring windows share at least."""
    long: Literal["split", "truncate", "error"] = "split"
    """What is done with longer texts."""

    def __post_init__(self) -> None:
        check_choice(self, "long", ("split", "truncate", "error"))
        if self.words and not 0 <= self.overlap < self.words:
            raise ConfigError(f"overlap must be less than words, got {self.overlap} and {self.words}")


@dataclass(frozen=True)
class BaseSizes:
    """The base that words are looked up in; without one, both are 0."""

    size: int = 0
    """Size of a vector."""
    subwords: int = 0
    """Vectors for runs of letters."""
    trained: bool = False
    """Whether words of the training texts have corrections of their vectors."""


@dataclass(frozen=True)
class NetworkSizes:
    """What the graphs read and give."""

    vectors: int = 0
    """Features of the vectors of words."""
    summary: bool = False
    """Whether the first one gives states of texts."""
    width: int = 0
    """Features of the states of words."""
    pairs: bool = False
    """Whether memory grows with the square of the words that are read at once."""
    crossed: bool = False
    """Whether it grows with the product of the words of the two texts of a pair."""
    marks: tuple[str, ...] = ()
    """The marks of words that the first one reads, such as their sentences."""

    def __post_init__(self) -> None:
        for name in self.marks:
            if name not in DOCUMENT_MARKS:
                raise ConfigError(f"marks are {' and '.join(sorted(DOCUMENT_MARKS))}, got {name!r}")


@dataclass(frozen=True)
class TagSizes:
    """How a tagger gives tags."""

    scheme: Scheme = "bioes"
    """In which tag scheme spans are computed."""
    crf: bool = False
    """Whether the encoder has learned which tags follow one another."""
    constraints: bool = False
    """Whether only tags that the scheme allows follow one another."""

    def __post_init__(self) -> None:
        check_choice(self, "scheme", ("iob1", "iob2", "bioes", "bilou"))


@dataclass(frozen=True)
class ExportSettings:
    """The settings of an exported model: the content of its folder apart from the network."""

    task: str
    """A key of `headwise.data.items.item_types.ITEM_TYPES_BY_TASK`."""
    tokenizer: str = "penn"
    """How texts are cut into words."""
    windows: WindowSizes = field(default_factory=WindowSizes)
    base: BaseSizes = field(default_factory=BaseSizes)
    network: NetworkSizes = field(default_factory=NetworkSizes)
    linear_model: LinearMemberConfig = field(default_factory=LinearMemberConfig)
    unknown: UnknownConfig = field(default_factory=UnknownConfig)
    characters: CharacterConfig = field(default_factory=partial(CharacterConfig, "none"))
    """What a tagger reads of the spelling of words."""
    tags: TagSizes = field(default_factory=TagSizes)

    def __post_init__(self) -> None:
        check_choice(self, "tokenizer", list(TOKENIZERS))
        check_range(self.network, "vectors", "width", low=1)

    def to_json(self) -> JsonObject:
        """Plain data for `of`."""
        return to_dict(self)

    @classmethod
    def of(cls, data: JsonMapping, where: str) -> "ExportSettings":
        """Undo `to_json`, which may be hostile.

        Raises:
            StoreError: HW507, they are no settings.
        """
        try:
            check_limits(data, where)
            return from_dict(cls, data, where)
        except ConfigError as error:
            raise StoreError(error.args[0], code="HW507") from error
        except Exception as error:  # tables where names are expected and the like
            raise StoreError(f"{where}: no settings of a model ({error})", code="HW507") from error
