"""The training settings as flags, read from `settings.json` without importing torch.

`python -m headwise.cli.collect` writes `settings.json` from the configurations; a test checks that it is up
to date. `headwise train --help` and usage errors need nothing else.
"""

import json
from collections.abc import Collection
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, Literal, Union, get_args, get_origin

from headwise.cli.flags import Flag, holder

FILE = Path(__file__).with_name("settings.json")

# section: (prefix of the flags, heading, sort key of the heading)
PLACES = {
    "data": ("*", "Reading files", 3),
    "split": ("--split", "Splitting", 4),
    "teach": ("--teach", "Teacher", 4),
    "train": ("*", "Training", 5),
    "words": ("--words", "Words", 6),
    "vectors": ("--vectors", "Words", 6),
    "base": ("--base", "Words", 6),
    "pretrained": ("--pretrained", "Pretrained encoder", 6),
    "syntax": ("--syntax", "Syntax", 6),
    "windows": ("--windows", "Long texts", 6),
    "classifier": ("--classifier", "Classifier", 7),
    "expert": ("--expert", "Linear expert", 8),
    "thresholds": ("--thresholds", "Thresholds (multi-label)", 8),
    "characters": ("--characters", "Spelling (tag)", 8),
    "tagger": ("--tagger", "Tagger (tag)", 8),
    "pair": ("--pair", "Text pairs (pair, pair-score)", 8),
    "bags": ("--bags", "Bags of instances (bags)", 8),
    "regressor": ("--regressor", "Regressor (regress, pair-score)", 8),
    "language": ("--language", "Language model (language-model)", 8),
    "masked": ("--masked", "Masked words (masked-words)", 8),
    "encoder": ("--encoder", "Encoder", 9),
}

ANSWERS = frozenset(
    (
        *("label_column", "label_columns", "label_separator", "probability_columns", "confidence_column"),
        *("weight_column", "empty_labels", "no_label"),
    )
)
"""Reading settings for labels; commands that ignore labels hide them."""

_PLAIN = {kind.__name__: kind for kind in (int, float, bool, str, NoneType)}


def section_flags(section: str, hidden: Collection[str] = ()) -> Any:
    """The annotation of a command's parameter that holds the flags of a section; see `flags`."""
    prefix, heading, order = PLACES[section]
    name = f"{section.title()}Flags"
    return holder(name, flags_of(section), prefix=prefix, group=heading, order=order, hidden=hidden)


@cache
def flags_of(section: str) -> tuple[Flag, ...]:
    """The flags of a section."""
    return tuple(
        Flag(flag["name"], read_kind(flag["kind"]), flag["help"], tuple(flag.get("owners", ())))
        for flag in load_settings()["sections"][section]
    )


@cache
def load_settings() -> dict[str, Any]:
    """The content of `settings.json`: the flags of all `sections`, the `encoders`, the `default_encoder`,
    and the sections of the `tasks`."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def write_kind(kind: Any) -> Any:
    """The type of a setting as plain data."""
    if kind in _PLAIN.values():
        return kind.__name__
    if get_origin(kind) is Literal:
        return {"one of": list(get_args(kind))}
    if get_origin(kind) is tuple and len(get_args(kind)) == 2 and get_args(kind)[1] is ...:
        return {"many": write_kind(get_args(kind)[0])}
    return {"any of": [write_kind(option) for option in get_args(kind)]}


def read_kind(data: Any) -> Any:
    """The type of a setting from plain data; inverse of `write_kind`."""
    if isinstance(data, str):
        return _PLAIN[data]
    [(form, value)] = data.items()
    if form == "one of":
        return Literal[tuple(value)]
    if form == "many":
        return tuple[read_kind(value), ...]
    return Union[tuple(map(read_kind, value))]  # noqa: UP007 - the types are dynamic
