"""The tasks as far as files go: how those of each are read, and how a file's task is found out."""

from collections.abc import Mapping
from dataclasses import fields
from itertools import islice
from typing import Any

from headwise.data.archives import read_files
from headwise.data.bag_sniff import looks_like_bags
from headwise.data.bags import BagOptions
from headwise.data.errors import DataError
from headwise.data.label_set_files import looks_like_label_sets
from headwise.data.options import LabelSetOptions, ReadOptions
from headwise.data.pair import PairOptions
from headwise.data.pair_sniff import looks_paired
from headwise.data.stream_options import StreamOptions
from headwise.data.tag_options import TagOptions
from headwise.data.tag_sniff import looks_tagged

DATA: dict[str, type] = {
    "classify": ReadOptions,
    "multi-label": LabelSetOptions,
    "tag": TagOptions,
    "pair": PairOptions,
    "pair-score": PairOptions,
    "regress": ReadOptions,
    "bags": BagOptions,
    "language-model": StreamOptions,
}
"""How the files of each task are read."""

_LOOKED_AT = 400  # lines


def infer_task(path: str, reading: Mapping[str, Any]) -> tuple[str, str]:
    """The task that a training file is for, and why it is taken for that.

    Args:
        path: The file as the user named it.
        reading: What the user has said of how to read it.
    """
    if {"tag_column", "token_column", "head_column"} & set(reading):
        return "tag", "a column of tokens, tags or heads is named"
    if "bag_column" in reading:
        return "bags", "a column of bags is named"
    if "label_columns" in reading:
        return "multi-label", "columns of labels are named"
    if "label_separator" in reading:
        return "multi-label", "a separator of labels is given"
    if path == "-":
        return ("pair", "columns of two texts are named") if "first_column" in reading else ("classify", "")
    if pairs := looks_paired(path, reading):
        return pairs
    form = reading.get("format")
    try:
        encoding = str(reading.get("encoding", "utf-8"))
        _, lines = next(iter(read_files(path, encoding, "replace")))
        head = [text for _, text in islice(lines, _LOOKED_AT)]
    except (DataError, StopIteration):
        return "classify", ""  # whoever reads the file says what is wrong with it
    if form in (None, "csv", "uci") and "text_column" not in reading:
        why = looks_like_bags(head, reading.get("delimiter"))
        if why:
            return "bags", why
    if form not in ("csv", "tsv", "jsonl", "fasttext", "sst", "label-text") and (why := looks_tagged(head)):
        return "tag", why
    known = {field.name for field in fields(LabelSetOptions)}
    options = LabelSetOptions(**{name: value for name, value in reading.items() if name in known})
    why = looks_like_label_sets(path, options)
    return ("multi-label", why) if why else ("classify", "")
