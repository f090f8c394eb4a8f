"""Training, development and test data of any kind, in one container."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from headwise.data.fingerprint import Fingerprint
from headwise.data.kind import Kind
from headwise.data.overlap import Overlap, overlaps, remember
from headwise.data.parses import NO_PARSES, ParseReader, Parses, parsed
from headwise.data.split import SplitConfig
from headwise.errors import ConfigError, HeadwiseError

NAMES = ("train", "dev", "test")

Part = TypeVar("Part")


@dataclass(frozen=True)
class Parts(Generic[Part]):
    """The three parts of the data.

    Attributes:
        kind: What the items are.
        train: Items to train on.
        dev: Items that choose the best epoch, and what is fitted after it.
        test: Items that nothing is chosen on; empty where there are none.
        notes: What there is to tell about how they came to be.
        files: What was read, by the part that each file was given for, as `Kind.read` returns it; the
            training file may be more than `train`. Empty where the data come from memory.
    """

    kind: Kind[Any]
    train: Part
    dev: Part
    test: Part
    notes: tuple[str, ...] = ()
    files: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        parts: dict[str, Any] = self.named
        for name, part in parts.items():
            self.kind.answer.check_items(part, name, self.kind.nouns)

    @property
    def named(self) -> dict[str, Part]:
        """The parts that are not empty, by name."""
        parts: dict[str, Any] = {name: getattr(self, name) for name in NAMES}
        return {name: part for name, part in parts.items() if len(part)}

    @property
    def sizes(self) -> str:
        """`100 training, 10 dev and 0 test pairs`."""
        train, dev, test = (len(part) for part in (self.train, self.dev, self.test))  # type: ignore
        return f"{train:,} training, {dev:,} dev and {test:,} test {self.kind.nouns.many}"

    def fingerprints(self) -> dict[str, Fingerprint]:
        """Which data it was, of each part that is not empty."""
        parts: dict[str, Any] = self.named
        return {name: self.kind.fingerprint(part) for name, part in parts.items()}

    def prints(self, before: Any = None) -> dict[str, Any]:
        """The same for JSON; of the `file` that training was split from too, and of what is `seen` in
        training, item by item (`headwise.data.overlap.remember`), and in an earlier one (`before`)."""
        prints = self.fingerprints()
        if "train" in self.files:
            whole = self.kind.fingerprint(self.files["train"].items)
            if whole.sha256 != prints["train"].sha256:
                prints["file"] = whole
        found: dict[str, Any] = {name: own.to_json() for name, own in prints.items()}
        train: Any = self.train
        dev: Any = self.dev
        seen = remember(self.kind, [*train, *dev], before) if self.kind.has_keys else None
        return found if seen is None else found | {"seen": seen}

    def overlaps(self) -> tuple[Overlap, ...]:
        """Items of one part that another has too, which make scores too good."""
        return overlaps(self.kind, self.named)


def read_parts(
    kind: Kind[Any],
    train: str,
    dev: str | None = None,
    test: str | None = None,
    options: Any = None,
    split: SplitConfig | None = None,
    parses: Parses = NO_PARSES,
    reader: ParseReader | None = None,
) -> Parts[Any]:
    """Read the files of any kind; split off dev, and test where there is none.

    Args:
        kind: What the items are, and how they are answered.
        train: The training file; "-" is standard input.
        dev: The development file, if there is one.
        test: The test file, likewise.
        options: How the files are read, of the type `kind.options`.
        split: What is split off the training file in place of the others.
        parses: Files with parses.
        reader: Reads them; needed where there are any.

    Raises:
        DataError: A file cannot be read, or one has what the training file does not know.
        HeadwiseError: The training file has nothing to tell apart (HW406), or there is to be no dev data
            (HW405).
        ConfigError: Parses without a file that they are of, or phrases of what is split off.
    """
    split = SplitConfig() if split is None else split
    nouns, paths = kind.nouns, {"train": train, "dev": dev, "test": test}
    files: dict[str, Any] = {}
    told: list[tuple[str, str]] = []
    given = {name: path for name, path in paths.items() if path is not None}
    for name in NAMES:
        if name not in given and (heads := getattr(parses, name)) is not None:
            raise ConfigError(f"{heads}: parses of {name} {nouns.many}, but there is no file of them")
    if "dev" not in given and not split.dev:
        raise HeadwiseError(
            f"there are no dev {nouns.many}: give some with --dev, or a --split.dev above 0", code="HW405"
        )
    shares = {"dev": split.dev, "test": split.test}
    cut = [name for name, share in shares.items() if share and name not in given]
    like = kind.prepare([*given.values()], options)
    for name, path in given.items():
        data = kind.read(path, kind.part_options(options, name, cut), like=like)
        if (heads := getattr(parses, name)) is not None:
            if reader is None:
                raise kind.refuse_parses()
            data = parsed(kind, data, heads, reader)
        told += [(name, note) for note in data.notes]
        if files:
            data, spelt = kind.answer.spelt(list(files["train"].labels), data)
            told += [(name, note) for note in spelt]
            told += [(name, note) for note in kind.answer.check_other(files["train"], data)]
        else:
            kind.answer.check(data, nouns)
            like = kind.likeness(data) if like is None else like
            told += [(name, found.message) for found in data.findings]
        files[name] = data
    whole = files["train"].items
    parts = {name: data.items for name, data in files.items()}
    if cut:
        dev_share, test_share = (shares[name] if name in cut else 0 for name in ("dev", "test"))
        done = kind.split(whole, dev_share, test_share, split.seed, path=train)
        told += [("train", note) for note in done.notes]
        parts = {"train": done.train, "dev": done.dev, "test": done.test} | {
            name: part for name, part in parts.items() if name != "train"
        }
    told += [("", note) for note in kind.answer.tell(parts["train"], list(files["train"].labels))]
    told += [("", note) for note in kind.tell(parts)]
    notes = tuple(f"{name}: {note}" if name and len(files) > 1 else note for name, note in told)
    return Parts(kind, parts["train"], parts["dev"], parts.get("test", whole[:0]), notes, files)
