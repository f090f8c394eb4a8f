"""What must make no difference to what is trained on, and so to what comes out: how a file is written, the
order of its rows, and what else stands in it."""

import csv
import gzip
import io
import json
import random

from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.data_parts import read_parts

TABLES = ("tsv", "jsonl", "more columns", "semicolons")


def cells(text):
    return list(csv.reader(io.StringIO(text)))


def as_jsonl(text):
    head, *rows = cells(text)
    return "".join(json.dumps(dict(zip(head, row, strict=True))) + "\n" for row in rows)


def with_columns(text):
    head, *rows = cells(text)
    rows = [[f"n{number}", *row, "x" * (number % 7)] for number, row in enumerate(rows)]
    return "".join(",".join(row) + "\n" for row in [["id", *head, "note"], *rows])


WAYS = {
    "crlf": lambda text: (text.replace("\n", "\r\n"), ""),
    "mark": lambda text: ("\ufeff" + text, ""),
    "gzip": lambda text: (gzip.compress(text.encode()), ".gz"),
    "tsv": lambda text: ("".join("\t".join(row) + "\n" for row in cells(text)), ".tsv"),
    "jsonl": lambda text: (as_jsonl(text), ".jsonl"),
    "more columns": lambda text: (with_columns(text), ""),
    "semicolons": lambda text: (text.replace(",", ";"), ""),
}


def parts(truth, task, path):
    return read_parts(ITEM_TYPES_BY_TASK[truth.task_of(task)], str(path))


def test_how_a_file_is_written(task, truth):
    path = truth.file(task, truth.drawn(task, 80, 3, 0.8))
    expected = parts(truth, task, path).fingerprints_json()
    for way, written in WAYS.items():
        if way in TABLES and task in ("tag", "tag of spans", "bags"):
            continue
        new, suffix = written(path.read_text())
        ends = suffix if suffix in (".tsv", ".jsonl") else path.suffix + suffix
        variant = truth.place("written").with_suffix(ends)
        variant.write_bytes(new if isinstance(new, bytes) else new.encode())
        assert parts(truth, task, variant).fingerprints_json() == expected, way


def test_the_order_of_rows(task, truth):
    """Each item goes to the same part."""
    items = truth.drawn(task, 80, 3, 0.8)
    mixed = random.Random(5).sample(items, len(items))
    kind = ITEM_TYPES_BY_TASK[truth.task_of(task)]
    one, second = (parts(truth, task, truth.file(task, rows)).named for rows in (items, mixed))
    for name in one:
        assert sorted(map(kind.key, one[name])) == sorted(map(kind.key, second[name]))
