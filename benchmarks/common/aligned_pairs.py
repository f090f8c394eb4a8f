"""Text pairs whose first texts, second texts and labels are in separate files, as in e-SNLI."""

from pathlib import Path

from headwise.data.files.archives import read_member_lines
from headwise.data.files.text_lines import without_returns
from headwise.data.items.examples import Pair


def read_aligned_pairs(first: Path, second: Path, labels: Path) -> list[Pair]:
    """The labelled pairs of three files with one line per pair; those with the label `-` are left out.

    Raises:
        ValueError: The files have different numbers of lines.
    """
    files = (without_returns(read_member_lines(str(path))) for path in (first, second, labels))
    rows = [(one, two, label.strip(), n) for (n, one), (_, two), (_, label) in zip(*files, strict=True)]
    return [Pair(*row) for row in rows if row[2] != "-"]
