"""The configuration of the training of a base, and the card of a base: description, sources, cost and
scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwise.core.config import JsonMapping, check_choice, check_range
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.core.tokenizer import get_tokenizer

if TYPE_CHECKING:
    from headwise.text.static_embeddings.base_vectors import StaticEmbeddings


class PretrainError(HeadwiseError):
    """A base cannot be trained.

    Codes: HW810 the text holds too little, HW811 the output or the work folder holds something else, or an
    unfinished run.
    """

    code = "HW810"


@dataclass(frozen=True)
class TeacherConfig:
    """The sentence encoder that is the teacher."""

    name: str = ""
    """A sentence encoder of the Hugging Face hub (owner/name), or a folder; several with commas between
    (unless a folder has that name): the student learns from all; empty = no teacher."""
    revision: str = "main"
    """Branch, tag or commit on the hub."""
    pooling: str = "auto"
    """Pooling of states to a sentence vector: mean, or the first state (of [CLS]); auto = as in the
    encoder's folder, else mean."""
    max_pieces: int = 128
    """Largest number of word pieces of a passage."""
    share: float = 1.0
    """Initial word vectors: weight of the teacher's vector of the word alone. The remaining weight, for
    words that the teacher cuts into pieces, goes to context vectors, if --context.epochs is not 0."""

    def __post_init__(self) -> None:
        check_choice(self, "pooling", ("auto", "mean", "first"))
        if not all(self.names):
            raise ConfigError(
                f"the teachers {self.name!r} hold an empty name; expected one or several, with commas"
            )
        check_range(self, "max_pieces", low=8)
        check_range(self, "share", low=0, high=1)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each teacher; empty without a teacher."""
        if not self.name:
            return ()
        if Path(self.name).expanduser().is_dir():  # which may have commas in its path
            return (self.name,)
        return tuple(name.strip() for name in self.name.split(","))


@dataclass(frozen=True)
class StudentConfig:
    """Settings of distillation: the mean of word vectors learns the teacher's vector of the passage."""

    epochs: int = 4
    """Number of passes over the passages."""
    batch: int = 512
    """Number of passages per step."""
    learning_rate: float = 3e-3
    """Peak learning rate of the vectors; that of the word weights is three times as high."""
    word_dropout: float = 0.05
    """Share of listed words that a step sees as runs of letters alone, so that these learn."""
    similarities: float = 10.0
    """Weight of the loss of the similarities between the passages of a step, beside that of their
    vectors."""

    def __post_init__(self) -> None:
        check_range(self, "epochs", "batch", low=1)
        check_range(self, "learning_rate", "similarities", low=0)
        check_range(self, "word_dropout", low=0, high=1, open=True)


@dataclass(frozen=True)
class ContextConfig:
    """Settings of context prediction: the mean of a word's context distinguishes it from random words."""

    epochs: int | None = None
    """Passes over the text. None = 5 without a teacher, 0 with one."""
    width: int = 12
    """Largest number of words of a context; each word is predicted from the others."""
    negatives: int = 8
    """Number of random words that each word is contrasted with."""
    learning_rate: float = 0.2
    """Initial learning rate, of means (that of skip-gram would be smaller); it falls to 0."""
    common: float = 3e-4
    """Subsampling: words with a larger share of the text are left out at random, frequent words more
    often."""

    def __post_init__(self) -> None:
        check_range(self, "epochs", low=0)
        check_range(self, "width", "negatives", low=1)
        check_range(self, "learning_rate", "common", low=0)


@dataclass(frozen=True)
class PretrainConfig:
    """Settings of the training of a base."""

    words: int = 24_000
    """Number of listed words, which have vectors."""
    size: int = 192
    """Size of a vector."""
    subwords: int = 8_192
    """Number of subword vectors, from which the vectors of all other words are computed."""
    groups: int = 60_000
    """Number of words that are clustered by their neighbours, as features of taggers; 0 = none."""
    rarest: int = 3
    """Minimum count of listed and clustered words; words of the word list need none."""
    passages: int = 500_000
    """Largest number of passages for the teacher, a random sample of the text; 0 = all."""
    cut: bool = True
    """Cut lines into passages of one to three sentences; off = one passage per line."""
    longest: int = 60
    """Largest number of words of a passage, if lines are cut."""
    tokenizer: str = "penn"
    """Tokenizer: penn, or whitespace for text that is already tokenised. Use the tokenizer of the models
    that will use the base; their default is penn."""
    seed: int = 0
    """Seed of all random numbers."""
    teacher: TeacherConfig = field(default_factory=TeacherConfig)
    student: StudentConfig = field(default_factory=StudentConfig)
    context: ContextConfig = field(default_factory=ContextConfig)

    def __post_init__(self) -> None:
        check_range(self, "words", "size", "subwords", "rarest", low=1)
        check_range(self, "passages", "groups", low=0)
        check_range(self, "seed", low=0, high=2**32)  # the learning makes larger ones of it
        check_range(self, "longest", low=5)
        get_tokenizer(self.tokenizer)

    @property
    def context_epochs(self) -> int:
        """Number of passes of context prediction over the text."""
        if self.context.epochs is not None:
            return self.context.epochs
        return 0 if self.teacher.name else 5


@dataclass(frozen=True)
class CardNotes:
    """Notes for the card of a base; they are not checked."""

    licence: str = ""
    """Licence of the base."""
    sources: str = ""
    """Sources of the text, and their licences."""
    limits: str = ""
    """Known biases; empty = a general note."""
    teacher: str = ""
    """Name and licence of the teacher; empty = its name or folder."""
    command: str = ""
    """How to reproduce the base."""
    cost: str = ""
    """Cost beyond this run."""


def card(base: "StaticEmbeddings") -> str:
    """The card of a base, in Markdown."""
    from headwise.text.static_embeddings.word_groups import LEVELS

    about, groups = base.about, []
    if base.groups is not None:
        counts = ", ".join(f"{count:,}" for count in LEVELS)
        grouped = f"{len(base.groups):,} words are in groups ({counts}) by what stands beside them,"
        groups = [f"{grouped} which taggers read."]
    teacher = about.get("teacher") or "the text itself"
    lines = [
        f"# {base.name}: a base of headwise",
        "",
        f"{len(base.words):,} words and {len(base.subwords):,} vectors for runs of letters, {base.size} "
        "features, a byte a number.",
        "The vector of a text is the weighted mean of the vectors of its words; a model may begin with it",
        f"(`headwise train FILE --base {base.name}`). Nothing in this folder is run.",
        *groups,
        "",
        *_section("Data", [*_bullets(about.get("files", ())), "", *_paragraphs(about.get("sources"))]),
        *_section("Teacher", [f"{teacher}."]),
        *_section("Licence", _paragraphs(about.get("licence") or "Not stated by who made it.")),
        *_section("How it was made", _how(about)),
        *_section(
            "Scores", _bullets(f"{what}: {value}" for what, value in about.get("scores", {}).items())
        ),
        *_section("Known biases and limits", _paragraphs(about.get("limits") or _LIMITS)),
    ]
    return "\n".join(lines).rstrip() + "\n"


_LIMITS = """
It says of words what its text and its teacher say of them, prejudices included. It knows no order of words:
"dog bites man" and "man bites dog" have the same vector. Words of other fields and languages are made of
runs of letters, which says little.
"""


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return [f"## {title}", "", *lines, ""] if lines else []


def _bullets(lines: Any) -> list[str]:
    return [f"- {line}" for line in lines]


def _paragraphs(text: Any) -> list[str]:
    return str(text).strip().splitlines() if text else []


def _how(about: JsonMapping) -> list[str]:
    lines = []
    if about.get("command"):
        lines += ["```console", f"$ {about['command']}", "```", ""]
    if about.get("cost"):
        lines += [*_paragraphs(about["cost"]), ""]
    lines += _bullets(f"{what}: {_minutes(seconds)}" for what, seconds in about.get("seconds", {}).items())
    if about.get("headwise"):
        lines += ["", f"Made by headwise {about['headwise']}; its settings are in base.json."]
    return lines


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
