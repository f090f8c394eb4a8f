"""What to label next: texts that a model is in doubt of and that are unlike each other."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwise.data.duplicates import normal_text
from headwise.data.formats.jsonl import as_text
from headwise.data.names import LABEL_NAMES, surest
from headwise.data.overlap import remembered
from headwise.data.rows import Row
from headwise.errors import ConfigError
from headwise.linear.text_features import BlockReader
from headwise.scores.suggest import most_useful
from headwise.store import read_info
from headwise.verbs.listener import NOBODY, Listener
from headwise.verbs.models import open_rows

_FEATURES = 50_000


@dataclass(frozen=True)
class Suggestion:
    """A text that is worth a label.

    Attributes:
        row: Its record in the file.
        guess: What the model says of it.
        doubt: How little the model knows, from 0 to 1.
        column: Where its label belongs.
    """

    row: Row[Any]
    guess: str
    doubt: float
    column: str = "label"


def suggest_file(
    folder: Path | str,
    file: Path | str,
    count: int = 100,
    *,
    pipeline: str | None = None,
    device: str = "auto",
    reading: Mapping[str, Any] | None = None,
    listener: Listener = NOBODY,
) -> list[Suggestion]:
    """The texts of a file that are worth a label most, the worthiest first.

    Texts that the model was made of, that have a label, that come again, or that have no words are passed
    over.

    Args:
        folder: The model's folder.
        file: Texts (or pairs) without labels; "-" is standard input.
        count: How many to give.
        pipeline: See `headwise.verbs.models.open_model`.
        device: Likewise.
        reading: How the file is read, where that is not to be guessed. Texts that have a label in its
            `label_column` are passed over; by default that is a column which is called as such columns are,
            else `label`, which may be a new one.
        listener: Is told what happens.

    Raises:
        HeadwiseError: The model or the file cannot be used, or the task gives no labels to texts.
    """
    if count < 1:
        raise ConfigError(f"--count {count}; expected 1 or more")
    model, task, rows = open_rows(folder, file, pipeline, device, reading, listener)
    task.doubts(model, [])  # refuses such a model before its file is read
    kind, every = task.kind_for(model.config), list(rows)
    names = list(every[0].fields) if every else []
    asked = (reading or {}).get("label_column")
    column = asked or "label"
    if asked is None and (usual := surest(names, LABEL_NAMES)) is not None:
        column = names[usual]
        listener.note(f"labels are in the column {column!r} - override with --label-column")
    elif column.isdecimal() and 1 <= int(column) <= len(names):
        column = names[int(column) - 1]
    seen = remembered(kind, read_info(Path(folder))["data"].get("seen"), [row.item for row in every])
    left: dict[str, Row[Any]] = {}
    for row, known in zip(every, seen, strict=True):
        key = normal_text(kind.key(row.item))
        if key and not known and not as_text(row.fields.get(column)).strip():
            left.setdefault(key, row)
    if len(left) < len(every):
        listener.note(
            f"{len(every) - len(left):,} of {len(every):,} {kind.nouns.many} have a label, come again, are "
            "empty, or were trained on: passed over"
        )
    items = [row.item for row in left.values()]
    guesses, doubt = task.doubts(model, items)
    found = most_useful(doubt, _vectors(model, kind, items), count) if items else []
    chosen = list(left.values())
    return [Suggestion(chosen[n], guesses[n], float(doubt[n]), column) for n in found]


def _vectors(model: Any, kind: Any, items: list[Any]) -> Any:
    """What tells texts apart: their vectors by the model's base, or their words."""
    vectors = model.base_vectors(model.encoded(items)) if kind.sides == 1 else None
    if vectors is not None:
        return vectors
    reader = BlockReader("words", model.config.words.tokenizer)
    return reader.fit([kind.text(item) for item in items], max_features=_FEATURES)[1]
