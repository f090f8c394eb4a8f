"""Leave items out of training by the lines of a list, such as the one that `headwise noise` writes."""

import csv
from dataclasses import replace
from typing import Any

from headwise.data.errors import DataError
from headwise.data.parts import Parts


def without_lines(parts: Parts[Any], listed: str) -> tuple[Parts[Any], int]:
    """Parts without the items of the training file that a list names, and how many these are.

    Items of the test part stay, whatever the list says: what is hard to judge is not to make its scores
    better.

    Args:
        parts: Of files.
        listed: A csv file with a column `line`, and perhaps the `label` that is thought to be wrong.

    Raises:
        DataError: HW111 it has no such column, HW127 it is not about this file.
    """
    items = {item.line: item for item in parts.files["train"].items}
    lines = set[int]()
    try:
        with open(listed, newline="", encoding="utf-8") as file:
            table = csv.DictReader(file)
            if "line" not in (table.fieldnames or ()):
                raise DataError(
                    "HW111", "no column 'line'", expected="a list of headwise noise", path=listed
                )
            for row in table:
                number, label = row["line"] or "", row.get("label")
                own = items.get(int(number)) if number.isdecimal() and len(number) < 12 else None
                if own is None or (label is not None and label not in own.labels):
                    what = f"line {number[:40]}" + (f" with the label {label!r}" if label else "")
                    raise DataError(
                        "HW127",
                        f"the training file has no {what}",
                        advice="make the list of this very file",
                        path=listed,
                        line=table.line_num,
                    )
                lines.add(own.line)
    except OSError as error:
        raise DataError("HW101", f"cannot be opened: {error.strerror}", path=listed) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError("HW105", f"is no csv file: {error}", path=listed) from None
    kept = [item for item in parts.train if item.line not in lines]
    dev = parts.dev if "dev" in parts.files else [item for item in parts.dev if item.line not in lines]
    return replace(parts, train=kept, dev=dev), len(parts.train) + len(parts.dev) - len(kept) - len(dev)
