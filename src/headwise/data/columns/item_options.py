"""How files of other items than texts are read: tagged sentences, streams of symbols, pairs and bags."""

from dataclasses import dataclass, fields
from typing import Literal

from headwise.data.columns.reading_options import EncodingOptions, ReadOptions, TableOptions, WeightOptions

TaggedFormat = Literal["columns", "conllu", "conll2012", "slash", "trees", "lists", "table", "spans"]


OverlapPolicy = Literal["error", "longest", "shortest"]
"""What to do with spans that overlap; see `TagOptions`."""


@dataclass(frozen=True)
class TagOptions(EncodingOptions):
    """How files of tagged sentences are read. Options left out are guessed and the guesses reported."""

    format: TaggedFormat | None = None
    """Format of the files; guessed from the name and the first lines by default."""

    tag_column: str | None = None
    """Column of the tags: its name, or its number from 1. Default: the last column, or the last with a
    usual name if there is a header; CoNLL-U: upos (or xpos, deprel, feats); CoNLL-2012: ner (or pos); JSON:
    the list of tags or spans."""

    token_column: str | None = None
    """Column of the tokens: its name, or its number from 1; the first by default. For spans, the field of
    the text."""

    head_column: str | None = None
    """Column of the dependency heads, if there is one."""

    empty_labels: Literal["stop", "skip"] = "stop"
    """What to do with sentences that nobody has tagged: stop, or leave them out and report how many."""

    null_texts: Literal["empty", "skip", "error"] = "empty"
    """What to do with texts and lists of words that are null: read them as sentences without words, leave
    them out and report how many, or stop. An empty word is an error; skip leaves out its sentence, or its
    row."""

    overlapping_spans: OverlapPolicy = "error"
    """What to do with spans that overlap, as a word has one tag: stop, or keep the longest or the shortest
    of them and report how many are left out."""


DEFAULT_TAG_OPTIONS = TagOptions()


@dataclass(frozen=True)
class SpanRecordOptions(WeightOptions):
    """How records with spans are read: as tables and JSON are, with the option on overlapping spans."""

    overlapping_spans: OverlapPolicy = "error"


@dataclass(frozen=True)
class StreamOptions(EncodingOptions):
    """How plain texts are read for language modelling; bytes need none of it."""


DEFAULT_STREAM_OPTIONS = StreamOptions()


@dataclass(frozen=True)
class PairOptions(TableOptions):
    """How files of text pairs are read. Options left out are guessed, and the guesses are reported."""

    format: Literal["csv", "tsv", "jsonl", "xlsx", "parquet"] | None = None
    """Format of the files; guessed from the name and the first lines by default."""

    first_column: str | None = None
    """Column of the first texts: its name, or its number from 1."""

    second_column: str | None = None
    """Column of the second texts: its name, or its number from 1."""

    label_column: str | None = None
    """Column of the labels or scores: its name, or its number from 1."""

    weight_column: str | None = None
    """Column of the training weights of the pairs; or none."""

    no_label: str = "-"
    """Label of pairs on which annotators did not agree (SNLI); such pairs are left out and counted."""

    empty_labels: Literal["stop", "skip"] = "stop"
    """What to do with rows whose label is empty: stop, or leave them out and report how many."""

    null_texts: Literal["empty", "skip", "error"] = "empty"
    """What to do with texts that are null (JSON, Parquet): read them as empty ones and report how many,
    leave out their rows and report how many, or stop."""

    def reading(self) -> ReadOptions:
        """The options that the reader of tables needs."""
        shared = {item.name: getattr(self, item.name) for item in fields(TableOptions)}
        return WeightOptions(
            format=self.format,
            text_column=self.first_column or self.second_column,
            label_column=self.label_column,
            empty_labels=self.empty_labels,
            null_texts=self.null_texts,
            **shared,
        )


DEFAULT_PAIR_OPTIONS = PairOptions()


BagFormat = Literal["csv", "uci"]


@dataclass(frozen=True)
class BagOptions(TableOptions):
    """How files of bags are read. Options left out are guessed, and the guesses are reported."""

    format: BagFormat | None = None
    """The file's format; guessed from the first lines by default."""

    bag_column: str | None = None
    """Column of the bag of each instance: its name, or its number from 1."""

    label_column: str | None = None
    """The column of the bags' labels: its name, or its number from 1."""

    empty_labels: Literal["stop", "skip"] = "stop"
    """What to do with bags without a label: stop, or leave them out and report how many."""


DEFAULT_BAG_OPTIONS = BagOptions()
