"""Attacks on what reads data: readers of every kind of item, their options, vectors, recipes, the doctor.

Nothing here imports torch, so that a process takes little memory.
"""

import random
from collections import deque
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import fields
from functools import cache
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from campaign import Campaign
from headwise.app.cli import main as command
from headwise.core.config import from_dict
from headwise.data.columns.reading_options import SoftLabelOptions
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task
from headwise.data.readers.labelled_files import read_examples
from headwise.data.splits.data_parts import DataParts, read_parts
from headwise.data.splits.line_lists import drop_listed_items
from headwise.data.splits.split_config import SplitConfig
from headwise.text.vector_files import load_vectors
from headwise.training.pretraining.corpus import read_passages
from inputs import EXPORTS, PIECES, SEEDS, altered, damaged, packed

TABLES = ("csv", "quoted", "tsv", "jsonl", "json-array", "fasttext", "label-text", "utf-16")
OWN: dict[str, tuple[str, ...]] = {
    "classify": (*TABLES, *EXPORTS, "rasa-yaml", "sentiment", "soft", "workbook", "parquet"),
    "multi-label": (*EXPORTS, "sets", "lists", "flags", "commas", "cell-lists", "ticks"),
    "tag": (
        *EXPORTS,
        "rasa-yaml",
        "cell-spans",
        "conll",
        "token-lists",
        "conllu",
        "slashed",
        "spread",
        "trees",
    ),
    "pair": ("pairs",),
    "pair-score": ("scores",),
    "regress": ("numbers",),
    "bags": ("bags",),
    "language-model": TABLES,
    "masked-words": TABLES,
    "vectors": ("vectors", "word2vec", "array"),
    "drop": ("lines",),
    "answers": (*TABLES, "soft"),
    "passages": (*TABLES, "workbook", "parquet"),
    "infer": (*SEEDS,),
    "doctor": (*SEEDS,),
}
"""What reads, and the seeds that are meant for it; it gets others as well."""
SUFFIXES = ("", ".csv", ".tsv", ".jsonl", ".txt", ".conll", ".npy", ".gz", ".zip")
TEXT = [piece.decode("latin-1") for piece in PIECES]
VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        10**30,
        1.5,
        "",
        "1",
        "2",
        "-1",
        "99999999999999999999",
        "text",
        "label",
    ),
    *(
        "labels",
        "score",
        "sentence1,label",
        "1,2",
        "1-3",
        "a|b",
        "utf-16",
        "utf-16-le",
        "latin-1",
        "cp1252",
    ),
    *("utf-7", "zlib", "rot13", "idna", "punycode", "undefined", "mbcs", "replace", "strict", "csv", "tsv"),
    *("jsonl", "sst", "fasttext", "text", "columns", "slash", "trees", "conllu", "phrases", "binary", ";"),
    *("\\t", "words", "bytes", "characters", [], {}, ["text"]),
)
RECORDS = st.lists(
    st.lists(st.one_of(st.text(max_size=12), st.sampled_from(TEXT)), max_size=5),
    max_size=12,
)


def read(path: str, kind: str, options: Any = None) -> None:
    """As a file of this kind, by who trains and by who predicts."""
    item_type = ITEM_TYPES_BY_TASK[kind]
    item_type.read(
        path, options, schema=item_type.prepare([path], options) if kind == "language-model" else None
    )
    for _ in item_type.rows(path, options) if kind != "language-model" else ():
        pass


def quietly(arguments: list[str]) -> int:
    """A command line whose words nobody hears, in UTF-8 as on a terminal."""
    with TextIOWrapper(BytesIO(), "utf-8") as stream, redirect_stdout(stream), redirect_stderr(stream):
        return command(arguments)


def attack_file(campaign: Campaign, place: Path) -> None:
    """A damaged file, read by one reader."""
    chance = campaign.chance
    kind = chance.choice([*OWN]) if chance.random() < 0.9 else "vectors"
    name = chance.choice(OWN[kind])
    seed = SEEDS[name]
    if campaign.corpus and chance.random() < 0.4:
        seed = chance.choice(campaign.corpus)
        name = ""
    if name in EXPORTS and chance.random() < 0.7:
        data = altered(seed, chance)
    else:
        data = damaged(packed(seed, chance), chance, chance.choice([*SEEDS.values()]))
    path = place / f"input{chance.choice(SUFFIXES)}"
    path.write_bytes(data)
    use: Callable[[], Any] = lambda: read(str(path), kind)  # noqa: E731
    if kind == "vectors":
        use = lambda: load_vectors(path)  # noqa: E731
    elif kind == "drop":
        parts = _parts(place)
        use = lambda: drop_listed_items(parts, str(path))  # noqa: E731
    elif kind == "answers":  # as a teacher reads them
        use = lambda: read_examples(path, SoftLabelOptions(), answers=True)  # noqa: E731
    elif kind == "passages":  # as a base is made of them
        use = lambda: deque(read_passages([str(path)], cut=True, longest=64, seed=0), 0)  # noqa: E731
    elif kind == "infer":
        use = lambda: infer_task(str(path), {})  # noqa: E731
    elif kind == "doctor":
        task = chance.choice([*ITEM_TYPES_BY_TASK])
        use = lambda: _doctor(path, task)  # noqa: E731
    campaign.attack(kind, data, use)
    path.unlink()


@cache
def _parts(place: Path) -> DataParts[Any]:
    """A training file, in parts, that a list of lines is about."""
    path = place / "train.csv"
    path.write_bytes(SEEDS["csv"])
    kind = ITEM_TYPES_BY_TASK["classify"]
    return read_parts(kind, str(path), None, None, kind.options(), SplitConfig(dev=0.2, test=0.2))


def _doctor(path: Path, task: str) -> None:
    """Its findings, and their report one time in twenty, which takes longer than all else."""
    from headwise.data.doctor.diagnose import doctor_files

    if path.stat().st_size % 20:
        doctor_files([str(path)], task, {})
    else:
        quietly(["doctor", str(path), "--task", task])


def attack_options(campaign: Campaign, place: Path) -> None:
    """A sound file, or a damaged one, read with options that make no sense."""
    chance = campaign.chance
    kind = chance.choice([*ITEM_TYPES_BY_TASK])
    data = SEEDS[chance.choice(OWN[kind])]
    if chance.random() < 0.3:
        data = damaged(data, chance)
    path = place / f"input{chance.choice(SUFFIXES)}"
    path.write_bytes(data)
    names = [field.name for field in fields(ITEM_TYPES_BY_TASK[kind].options)]
    reading = {
        name: chance.choice(VALUES if chance.random() < 0.9 else TEXT)
        for name in chance.sample(names, min(len(names), chance.choice([1, 1, 2, 3])))
    }

    def use() -> None:
        infer_task(str(path), reading)
        read(str(path), kind, from_dict(ITEM_TYPES_BY_TASK[kind].options, reading))

    campaign.attack("options", data + repr(reading).encode(), use)
    path.unlink()


def attack_tables(campaign: Campaign, place: Path) -> None:
    """Made-up tables, by hypothesis."""
    path = place / "table.csv"
    kinds = random.Random(campaign.chance.random())

    @seeded(campaign.chance.randrange(1 << 32))
    @settings(
        max_examples=100,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(RECORDS, st.sampled_from([",", "\t", ";", " "]), st.booleans())
    def attack(records: list[list[str]], delimiter: str, header: bool) -> None:
        lines = [["text", "label"]] * header + records
        data = "\n".join(delimiter.join(record) for record in lines).encode("utf-8", "replace")
        path.write_bytes(data)
        kind = kinds.choice([*ITEM_TYPES_BY_TASK])
        campaign.attack("made-up", data, lambda: read(str(path), kind))

    attack()
