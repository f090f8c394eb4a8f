"""Random corruptions of tables of ten usual layouts: what is read must be right, or an error.

    python fuzz/table_corruptions.py --count 300 --seed 0

Each input is a table of our own texts, written in one of the layouts, with one or two corruptions of its
column order, its names, its quoting, its line ends, its encoding or what surrounds it. It is read as
`headwise train` reads it: with a guessed task and guessed columns. Right means all texts with their labels,
in their order.
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from headwise.core.errors import HeadwiseError
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task

ROWS = 40
SUBJECTS = (
    "the kettle",
    "a wheelbarrow",
    "my bicycle bell",
    "the oven door",
    "an old rake",
    "the café table",
)
VERBS = (
    "arrived late",
    "broke after a week",
    "works, mostly",
    "is just fine",
    "was too small",
    "smells of smoke",
)
ENDS = (
    "and nobody cared",
    "so we sent it back",
    "which pleased us",
    "despite the rain",
    "über alles",
    "again",
)
LABELS = ("garden", "kitchen", "street")


@dataclass
class Table:
    """A table before it is written.

    Attributes:
        names: The names of the columns; None without a header.
        rows: The cells of each row.
        text: The index of the column of texts.
        label: The index of the column of labels.
        delimiter: What separates cells.
        style: quoted as csv is ("minimal", "all"), not at all ("raw"), by backslash ("escape"), or with a
            blank before a quotation mark ("blank").
        suffix: The suffix of the file; "" for none.
        above: Lines above the header.
    """

    names: list[str] | None
    rows: list[list[str]]
    text: int
    label: int
    delimiter: str = ","
    style: str = "minimal"
    suffix: str = ".csv"
    end: str = "\n"
    encoding: str = "utf-8"
    prefix: str = ""
    above: tuple[str, ...] = ()
    edits: list[Callable[[list[str]], list[str]]] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The lines of the file, without their ends; a cell may hold line ends."""
        rows = ([self.names] if self.names else []) + self.rows
        lines = [self.prefix + self.delimiter.join(map(self._cell, row)) for row in rows]
        names = [*filter(None, self.names or ())]
        lines = [*(self.above if names and len({*names}) == len(names) else ()), *lines]
        for edit in self.edits:
            lines = edit(lines)
        return lines

    def _cell(self, cell: str) -> str:
        if self.style == "raw":
            return cell
        special = any(mark in cell for mark in f'"{self.delimiter}\n')
        if not special and self.style != "all":
            return cell
        quote = '\\"' if self.style == "escape" else '""'
        return " " * (self.style == "blank") + '"' + cell.replace('"', quote) + '"'

    def data(self) -> bytes:
        """The file."""
        text = self.end.join(self.lines()) + self.end
        return text.encode(self.encoding, "replace")

    def truth(self) -> list[tuple[str, str]]:
        """The text and the label of each row."""
        return [(row[self.text], row[self.label]) for row in self.rows]


def _texts(chance: random.Random) -> list[str]:
    made: list[str] = []
    while len(made) < ROWS:
        text = " ".join(map(chance.choice, (SUBJECTS, VERBS, ENDS)))
        if chance.random() < 0.15:
            text = f'they said "{text}"'
        made.append(f"{text} no{len(made)}")
    return made


def layouts(chance: random.Random) -> dict[str, Table]:
    """A table in each of the ten layouts."""
    texts, labels = _texts(chance), [chance.choice(LABELS) for _ in range(ROWS)]
    plain = [text.replace('"', "'") for text in texts]
    ids = [str(1000 + n) for n in range(ROWS)]
    dates = [f"2024-03-{n % 28 + 1:02} 10:{n:02}:00" for n in range(ROWS)]
    votes = [str(chance.randrange(4)) for _ in range(ROWS)]

    def rows(*columns: list[str]) -> list[list[str]]:
        return [[*row] for row in zip(*columns, strict=True)]

    numbers = [str(n) for n in range(ROWS)]
    stars = [str(LABELS.index(label)) for label in labels]
    return {
        "text,label": Table(["text", "label"], rows(texts, labels), 0, 1),
        "v1,v2,,": Table(["v1", "v2", "", ""], rows(labels, texts, [""] * ROWS, [""] * ROWS), 1, 0),
        "pandas": Table(["", "review", "sentiment"], rows(numbers, texts, labels), 1, 2),
        "tsv": Table(["id", "sentiment", "review"], rows(ids, stars, plain), 2, 1, "\t", "raw", ".tsv"),
        "semicolons": Table(["id", "message", "category"], rows(ids, texts, labels), 1, 2, ";"),
        "label-text": Table(None, rows(labels, plain), 1, 0, "\t", "raw", ".txt"),
        "fasttext": Table(None, rows(labels, plain), 1, 0, " ", "raw", ".txt", prefix="__label__"),
        "no header": Table(None, rows(stars, ids, dates, texts), 3, 0, style="all"),
        "tweets": Table(
            ["tweet_id", "airline_sentiment", "retweet_count", "text", "tweet_created"],
            rows(ids, labels, votes, texts, dates),
            3,
            1,
        ),
        "pipe": Table(["comment_text", "target"], rows(texts, stars), 0, 1, suffix=".txt"),
    }


def _shuffled(table: Table, chance: random.Random) -> Table:
    order = list(range(len(table.rows[0])))
    chance.shuffle(order)
    names = table.names and [table.names[place] for place in order]
    rows = [[row[place] for place in order] for row in table.rows]
    return replace(
        table, names=names, rows=rows, text=order.index(table.text), label=order.index(table.label)
    )


def _renamed(table: Table, chance: random.Random) -> Table:
    if table.names is None:
        return table
    names = [*table.names]
    kind = chance.randrange(7)
    if kind == 0:
        names[table.text] = chance.choice(("Review Text", "message"))
        names[table.label] = chance.choice(("Label", "topic"))
    elif kind == 1:
        names = [f"\ufeff{name}\u200b " for name in names]
    elif kind == 2:
        names = [str(n) for n in range(chance.randrange(2), len(names) + 1)][: len(names)]
        names += [str(len(names))] * (len(table.names) - len(names))
    elif kind == 3:
        names = [*map(str.upper, names)]
    elif kind == 4:
        names = [name if n in (table.text, table.label) else "notes" for n, name in enumerate(names)]
    elif kind == 5:
        names[table.text] = names[table.label]
    else:
        return replace(table, names=None)
    return replace(table, names=names)


def _quoted(table: Table, chance: random.Random) -> Table:
    if table.prefix:
        return table
    kind = chance.randrange(6)
    if kind < 4:
        return replace(table, style=("all", "escape", "raw", "blank")[kind])
    places = sorted(chance.sample(range(3, ROWS - 3), 2))

    def stray(lines: list[str]) -> list[str]:
        lines = [*lines]
        first, last = (lines[place].split(table.delimiter) for place in places)
        column = min(table.text, len(first) - 1, len(last) - 1)
        first[column] = '"' + first[column]
        lines[places[0]] = table.delimiter.join(first)
        if kind == 5:
            last[column] += '"'
            lines[places[1]] = table.delimiter.join(last)
        return lines

    return replace(table, edits=[*table.edits, stray])


def _line_ends(table: Table, chance: random.Random) -> Table:
    kind = chance.randrange(6)
    if kind < 2:
        return replace(table, end=("\r\n", "\r")[kind])
    place = chance.randrange(2, ROWS - 2)

    def edit(lines: list[str]) -> list[str]:
        if kind == 2:
            return [*lines[:place], "", *lines[place:], "", ""]
        if kind == 3:
            return [line + "\r" * (n % 2) for n, line in enumerate(lines)]
        if kind == 4:
            return [*lines[:place], *(lines[:1] if len(lines) > ROWS else []), *lines[place:]]
        if lines[place].count(table.delimiter) == len(table.rows[0]) - 1:  # not within a text
            return [*lines[:place], lines[place].replace(table.delimiter, " ", 1), *lines[place + 1 :]]
        return lines

    return replace(table, edits=[*table.edits, edit])


def _surrounded(table: Table, chance: random.Random) -> Table:
    """With what people and programs write around the rows of a table."""
    kind, width, everywhere = chance.randrange(5), len(table.rows[0]), chance.random() < 0.5
    if table.prefix or (kind == 0 and table.names is None):
        return table
    if kind in (1, 2):
        title = f"Answers of 2024{table.delimiter * (width - 1)}"
        return replace(table, above=("# exported, as it is",) if kind == 1 else (title, ""))
    total = ["", *[""] * width]
    total[table.text], total[table.label] = "Total", str(ROWS)

    def edit(lines: list[str]) -> list[str]:
        if kind == 0:
            return [*lines, table.delimiter.join(total[:width])]
        if kind == 3:
            return [line + table.delimiter * (n % 3 > 0 or everywhere) for n, line in enumerate(lines)]
        return [*lines, *[table.delimiter * (width - 1)] * 3]

    return replace(table, edits=[*table.edits, edit])


def _encoded(table: Table, chance: random.Random) -> Table:
    kinds = ("utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252", "utf-32")
    return replace(table, encoding=chance.choice(kinds))


CORRUPTIONS = {
    "column order": _shuffled,
    "names": _renamed,
    "quoting": _quoted,
    "line ends": _line_ends,
    "what surrounds it": _surrounded,
    "encoding": _encoded,
}


def corrupted(seed: int) -> tuple[str, Table]:
    """A corrupted table, and what was done to it."""
    chance = random.Random(seed)
    made = layouts(chance)
    name = chance.choice([*made])
    table, done = made[name], []
    for kind in chance.sample([*CORRUPTIONS], chance.choice((1, 1, 2))):
        if kind == "column order" and table.names is None:
            continue  # the layout is its order
        table = CORRUPTIONS[kind](table, chance)
        done.append(kind)
    return f"{name}: {', '.join(done) or 'as it is'}", table


def judge(table: Table, folder: Path, suffix: str | None = None) -> str:
    """ "right", the code of an error, or "wrong: ..." for what was read in silence."""
    path = folder / f"table{table.suffix if suffix is None else suffix}"
    path.write_bytes(table.data())
    try:
        task, _ = infer_task(str(path), {})
        data = ITEM_TYPES_BY_TASK[task].read(str(path))
        read_pairs = [(getattr(item, "text", ""), item.label or "") for item in data.items]
    except HeadwiseError as error:
        place = str(path) in str(error)
        return error.code if place else f"wrong: no place in {error}"
    if len(data.labels) < 2:
        return "HW406"  # training refuses it

    # A quotation mark that was put into a text is one of its characters.
    def plain(items: list[tuple[str, str]]) -> list[tuple[str, str]]:
        return [(text.replace('"', "").strip(), label) for text, label in items]

    if plain(read_pairs) == plain(table.truth()):
        return "right"
    first = next((pair for pair in zip(read_pairs, table.truth(), strict=False) if pair[0] != pair[1]), ())
    return f"wrong: {task}, {len(read_pairs)} rows for {len(table.rows)}; {first}; {data.notes}"


def main() -> int:
    """Read `--count` corrupted tables; 1 if any was read wrong without an error."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    outcomes: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.count):
            what, table = corrupted(seed)
            outcome = judge(table, Path(folder))
            outcomes[outcome.partition(":")[0]] += 1
            if outcome.startswith("wrong"):
                print(f"seed {seed}, {what}: {outcome}")
    print(", ".join(f"{outcome} {count}" for outcome, count in outcomes.most_common()))
    return int(outcomes["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main())
