"""Split one file of text pairs into training, dev and test pairs; and what identifies a list of pairs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from headwise.data.errors import DataError
from headwise.data.example import Example
from headwise.data.fingerprint import Fingerprint, fingerprint
from headwise.data.pair import Pair
from headwise.data.split import split_examples


@dataclass(frozen=True)
class PairSplit:
    """The parts, each in the order of the original, and what there is to say about them."""

    train: list[Pair]
    dev: list[Pair]
    test: list[Pair]
    notes: tuple[str, ...] = ()


def split_pairs(
    pairs: Sequence[Pair],
    dev: float | int = 0.1,
    test: float | int = 0.0,
    seed: int = 0,
    *,
    path: str = "",
    stratify: bool = True,
) -> PairSplit:
    """Split at random, stratified by label, so that no first text is in two parts.

    One premise often has several hypotheses, which a model that has seen one of them knows more about.
    Where there are too few different first texts (a few questions with many answers each), equal pairs are
    all that is kept together, and the notes say so.

    Args:
        pairs: The pairs to split.
        dev, test, seed, path: See `headwise.data.split.split_examples`.
        stratify: Whether each label keeps its share; not where labels are scores.

    Raises:
        ConfigError, DataError: As `split_examples`.
    """
    labels = [pair.label if stratify else None for pair in pairs]
    try:
        return _split(pairs, [pair.first for pair in pairs], labels, (dev, test, seed), path, "first text")
    except DataError:
        whole = [f"{pair.first}\n{pair.second}" for pair in pairs]
        split = _split(pairs, whole, labels, (dev, test, seed), path, "pair")
        note = "there are too few different first texts to keep equal ones in one part"
        return replace(split, notes=(*split.notes, note))


def _split(
    pairs: Sequence[Pair],
    keys: Sequence[str],
    labels: Sequence[str | None],
    sizes: tuple[float | int, float | int, int],
    path: str,
    kept: str,
) -> PairSplit:
    examples = [
        Example(key, label, place) for place, (key, label) in enumerate(zip(keys, labels, strict=True))
    ]
    split = split_examples(examples, *sizes, path=path)
    train, held, tested = (
        [pairs[example.line] for example in part] for part in (split.train, split.dev, split.test)
    )
    named = ((train, "train"), (held, "dev"), (tested, "test"))
    told = "split into " + ", ".join(f"{len(part):,} {name}" for part, name in named if part)
    return PairSplit(train, held, tested, (f"{told}; pairs with the same {kept} stay together",))


def fingerprint_pairs(pairs: Sequence[Pair]) -> Fingerprint:
    """The fingerprint of pairs: that of both texts of each, the label with the second."""
    found = fingerprint(_texts(pairs))
    return replace(found, texts=len(pairs))


def _texts(pairs: Sequence[Pair]) -> Iterator[Example]:
    for pair in pairs:
        yield Example(pair.first, heads=pair.first_heads)
        yield Example(pair.second, pair.label, heads=pair.second_heads)
