"""The two rows that Orange writes below the names of the columns of a table: their kinds, their roles."""

from collections.abc import Sequence

_KINDS = {
    *("c", "continuous", "numeric", "n", "d", "discrete", "categorical", "s", "string", "text"),
    *("t", "time", "basket"),
}
_ROLES = {"class", "c", "meta", "m", "ignore", "i", "skip", "weight", "w"}


def declares(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the second and the third of the first rows of a table are such."""
    if len(rows) < 3 or not 1 < len(rows[0]) == len(rows[1]) == len(rows[2]):
        return False
    kinds = [cell.strip() for cell in rows[1]]
    roles = [part for cell in rows[2] for part in cell.split()]
    if not roles and all(len(kind) == 1 for kind in kinds):  # as well letters of some text
        return False
    return all(kind in _KINDS for kind in kinds) and all(
        part in _ROLES or "=" in part[1:] for part in roles
    )
