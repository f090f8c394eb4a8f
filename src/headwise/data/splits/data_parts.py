"""Training, development and test data of any item type, in one container."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from headwise.core.config import JsonObject
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.data.files.file_lists import Files, paths_of
from headwise.data.files.fingerprint import Fingerprint
from headwise.data.findings import abbreviate
from headwise.data.items.item_type import ItemType
from headwise.data.items.parses import NO_PARSES, ParseFiles, ParseReader, with_parses
from headwise.data.readers.file_sets import read_files_as_one
from headwise.data.splits.contamination import PartOverlap, find_overlaps, make_fingerprint
from headwise.data.splits.repeated_items import without_repeated
from headwise.data.splits.split_config import SplitConfig

PART_NAMES = ("train", "dev", "test")

Part = TypeVar("Part")


@dataclass(frozen=True)
class DataParts(Generic[Part]):
    """The three parts of the data.

    Attributes:
        item_type: The item type.
        train: The training items.
        dev: The development items, for early stopping and for fitting hyperparameters.
        test: The held-out test items; may be empty.
        notes: Notes for the user on how the parts were read.
        files: The data set of each file by the part it was given for, as `ItemType.read` returns it. The
            data set of the training file includes the parts split off it. Empty for data from memory.
        out_of_scope: Items with the label of unknown texts by the part that they belong to; they are in no
            part.
        split_note: The note with the sizes of the parts that were split off; "" if none were. It is the
            plan's to report, as with folds there is no dev part.
        labels: The labels that a model of these data has, in order; by default those of all items. Folds
            and samples of the data have those of the whole. Empty where labels are tags or no names.
    """

    item_type: ItemType
    train: Part
    dev: Part
    test: Part
    notes: tuple[str, ...] = ()
    files: Mapping[str, Any] = field(default_factory=dict)
    out_of_scope: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    split_note: str = ""

    def __post_init__(self) -> None:
        parts: dict[str, Any] = self.named
        label_type = self.item_type.label_type
        for name, part in parts.items():
            label_type.check_items(part, name, self.item_type.nouns)
        if not self.labels and label_type.classes:
            every = [item for part in parts.values() for item in part]
            object.__setattr__(self, "labels", label_type.names(every))

    @property
    def named(self) -> dict[str, Part]:
        """The non-empty parts by name."""
        parts: dict[str, Any] = {name: getattr(self, name) for name in PART_NAMES}
        return {name: part for name, part in parts.items() if len(part)}

    @property
    def fitted_out_of_scope(self) -> list[Any]:
        """The items of no label that training may use: those of the training and dev files."""
        return [item for name in ("train", "dev") for item in self.out_of_scope.get(name, ())]

    def sizes(self, folds: int = 0) -> str:
        """`100 training, 10 dev and 0 test pairs`; with folds `110 pairs in 3 folds, each scored by a model
        that was not trained on it, and 0 test pairs`."""
        train, dev, test = (len(part) for part in (self.train, self.dev, self.test))  # type: ignore
        nouns = self.item_type.nouns
        if not folds:
            return f"{train:,} training, {dev:,} dev and {test:,} test {nouns.many}"
        scored = "each scored by a model that was not trained on it"
        return f"{nouns.count(train + dev)} in {folds} folds, {scored}, and {test:,} test {nouns.many}"

    def fingerprints(self) -> dict[str, Fingerprint]:
        """The fingerprint (SHA-256 and counts) of each non-empty part."""
        parts: dict[str, Any] = self.named
        return {name: self.item_type.fingerprint(part) for name, part in parts.items()}

    def fingerprints_json(self, before: str | None = None) -> JsonObject:
        """The fingerprints as a JSON object.

        "file" is the fingerprint of the training file, if parts were split off it. "seen" is the
        training-set fingerprint of all train and dev items
        (`headwise.data.splits.contamination.make_fingerprint`), merged with that of a previous training
        run (`before`)."""
        prints = self.fingerprints()
        if "train" in self.files:
            file_print = self.item_type.fingerprint(self.files["train"].items)
            if file_print.sha256 != prints["train"].sha256:
                prints["file"] = file_print
        entries: JsonObject = {name: fingerprint.to_json() for name, fingerprint in prints.items()}
        train: Any = self.train
        dev: Any = self.dev
        seen = make_fingerprint(self.item_type, [*train, *dev], before) if self.item_type.has_keys else None
        return entries if seen is None else entries | {"seen": seen}

    def overlaps(self) -> tuple[PartOverlap, ...]:
        """The overlaps between parts, which inflate scores."""
        return find_overlaps(self.item_type, self.named)


def read_parts(
    item_type: ItemType,
    train: Files,
    dev: Files | None = None,
    test: Files | None = None,
    options: Any = None,
    split: SplitConfig | None = None,
    parses: ParseFiles = NO_PARSES,
    reader: ParseReader | None = None,
    unknown_label: str = "",
) -> DataParts:
    """Read the files of any item type, and split missing dev and test parts off the training file.

    Args:
        train: The training file, or several that are read as one; "-" is standard input.
        dev: The development file, if any.
        test: The test file, if any.
        options: The reading options, of the type `item_type.options`.
        split: The sizes of the parts that are split off the training file.
        parses: The parse files.
        reader: The functions that read parse files; required if there are any.
        unknown_label: The label of items that belong to no label; "" if there is none.

    Raises:
        DataError: A file cannot be read, or has a label that the training file lacks.
        HeadwiseError: The training file has fewer than two classes (HW406), or there are no dev data
            (HW405).
        ConfigError: There is a parse file for a part without a file, or phrases would be split off.
    """
    split = SplitConfig() if split is None else split
    nouns, paths = item_type.nouns, {"train": train, "dev": dev, "test": test}
    provided = {name: path for name, path in paths.items() if path is not None}
    for name in PART_NAMES:
        if name not in provided and (heads := getattr(parses, name)) is not None:
            raise ConfigError(f"{heads}: parses of {name} {nouns.many}, but there is no file of them")
    if "dev" not in provided and not split.dev:
        raise HeadwiseError(
            f"there are no dev {nouns.many}: give some with --dev, or a --split.dev above 0", code="HW405"
        )
    shares = {"dev": split.dev, "test": split.test}
    cut = [name for name, share in shares.items() if share and name not in provided]
    all_paths = [path for names in provided.values() for path in paths_of(names)]
    schema = item_type.prepare(all_paths, options)
    reading = _PartReading(item_type, options, cut, unknown_label, schema, split)
    for name, path in provided.items():
        reading.read(name, path, getattr(parses, name), reader)
    files, out_of_scope, part_notes = reading.files, reading.out_of_scope, reading.notes
    train_items, split_note = files["train"].items, ""
    parts = {name: data.items for name, data in files.items()}
    if cut:
        dev_share, test_share = (shares[name] if name in cut else 0 for name in ("dev", "test"))
        done = item_type.split(train_items, dev_share, test_share, split.seed, path=str(train))
        split_note, *further = done.notes if item_type.has_keys else ("", *done.notes)  # streams: no folds
        part_notes += [("train", note) for note in further]
        parts = {"train": done.train, "dev": done.dev, "test": done.test} | {
            name: part for name, part in parts.items() if name != "train"
        }
    labels = list(files["train"].labels)
    part_notes += [("", note) for note in item_type.label_type.training_notes(parts["train"], labels)]
    part_notes += [("", note) for note in item_type.part_notes(parts)]
    notes = tuple(f"{name}: {note}" if name and len(files) > 1 else note for name, note in part_notes)
    split_note = f"train: {split_note}" if split_note and len(files) > 1 else split_note
    if unknown_label and not out_of_scope:
        raise ConfigError(
            f"{train}: no {nouns.one} has the label {unknown_label!r} of unknown {nouns.many}; its "
            f"labels are {abbreviate(list(map(repr, labels)))}"
        )
    if "test" in cut and "train" in out_of_scope:
        out_of_scope |= _split_out_of_scope(out_of_scope["train"], split)
    learnt, test_items = (parts["train"], parts["dev"]), parts.get("test", train_items[:0])
    return DataParts(item_type, *learnt, test_items, notes, files, out_of_scope, split_note=split_note)


@dataclass
class _PartReading:
    """The files of the parts, read one after the other, with notes and the parts that they are about. The
    training file comes first: its schema and its spelling of the labels hold for the others; the parts in
    `cut` will be split off it."""

    item_type: ItemType
    options: Any
    cut: Sequence[str]
    unknown_label: str
    schema: Any
    split: SplitConfig
    files: dict[str, Any] = field(default_factory=dict)
    out_of_scope: dict[str, list[Any]] = field(default_factory=dict)
    notes: list[tuple[str, str]] = field(default_factory=list)

    def read(self, name: str, path: Files, parse_file: str | None, reader: ParseReader | None) -> None:
        """Read the file of a part."""
        item_type, label_type = self.item_type, self.item_type.label_type
        options = item_type.part_options(self.options, name, self.cut)
        training = self.files.get("train")
        data = read_files_as_one(item_type, path, options, schema=self.schema, training=training)
        if parse_file is not None:
            if reader is None:
                raise item_type.no_parses_error()
            data = with_parses(item_type, data, parse_file, reader)
        data, repeated_notes = without_repeated(item_type, data, self.split.repeated_texts)
        if self.unknown_label:
            data, outside = split_off_label(data, self.unknown_label)
            if outside:
                self.out_of_scope[name] = outside
                counted = item_type.nouns.count(len(outside))
                self._note(
                    name, f"{counted} of the label {self.unknown_label!r} belong to none of the labels"
                )
        self._note(name, *data.notes, *repeated_notes)
        if self.files:
            train = self.files["train"]
            data, spelt = label_type.respell_as_training(list(train.labels), data)
            if self.split.unknown_labels == "skip":
                names = label_type.names(train.items)
                data, left_out = label_type.without_unknown_labels(names, data, item_type.nouns)
                self._note(name, *left_out)
            self._note(name, *spelt, *label_type.check_against_train(train, data))
        else:
            label_type.check(data, item_type.nouns)
            self.schema = item_type.schema(data) if self.schema is None else self.schema
            self._note(name, *(finding.message for finding in data.findings))
        self.files[name] = data

    def _note(self, name: str, *notes: str) -> None:
        self.notes += [(name, note) for note in notes]


def split_off_label(data: Any, label: str) -> tuple[Any, list[Any]]:
    """A data set without the items that have a label, and these items."""
    outside = [item for item in data.items if label in item.labels]
    if not outside:
        return data, []
    return data.with_items([item for item in data.items if label not in item.labels]), outside


def _split_out_of_scope(items: Sequence[object], split: SplitConfig) -> dict[str, list[Any]]:
    """The items of no label of a training file, split into training and test as the others."""
    order = np.random.default_rng(split.seed).permutation(len(items)).tolist()
    count = round(split.test * len(items))
    parts = {"test": order[:count], "train": order[count:]}
    return {name: [items[place] for place in sorted(places)] for name, places in parts.items() if places}
