"""BaseConfig: which base a model begins with."""

from dataclasses import dataclass

from headwise.config import check_range


@dataclass(frozen=True)
class BaseConfig:
    """What a model knows before it sees a label."""

    name: str = ""
    """auto (the base that comes with headwise, where it knows most of the words), the name or the folder of
    one (headwise pretrain makes it), or none."""
    train: bool = False
    """Train the vectors of the words of the training texts with the rest; off keeps them as they are."""
    dropout: float = 0.1
    """On the word vectors, while training."""
    word_dropout: float = 0.0
    """Share of words that are left out while training."""
    probe: bool = True
    """Begin as what the vectors alone say of the answers, and keep it; off: the encoder learns by itself,
    and what the vectors say is left to the expert beside it."""
    names: bool = True
    """Each name of a single label (card_arrival) is one more training text of it, where names say something
    of the texts."""
    size: int = 0
    """Features of a vector; taken from the base, not to be set."""
    subwords: int = 0
    """Vectors for runs of letters; taken from the base, not to be set."""
    named: int = 0
    """Labels whose names were training texts; not to be set."""

    def __post_init__(self) -> None:
        check_range(self, "dropout", "word_dropout", low=0, high=1, open=True)
        check_range(self, "size", "subwords", low=0)
