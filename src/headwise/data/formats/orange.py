"""The two rows below the header of a table written by Orange: the types and the roles of the columns."""

from collections.abc import Sequence

_KINDS = {
    *("c", "continuous", "numeric", "n", "d", "discrete", "categorical", "s", "string", "text"),
    *("t", "time", "basket"),
}
_ROLES = {"class", "c", "meta", "m", "ignore", "i", "skip", "weight", "w"}


def declares(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the second and third row of a table declare types and roles as Orange does."""
    if len(rows) < 3 or not 1 < len(rows[0]) == len(rows[1]) == len(rows[2]):
        return False
    kinds = [cell.strip() for cell in rows[1]]
    roles = [part for cell in rows[2] for part in cell.split()]
    if not roles and all(len(kind) == 1 for kind in kinds):  # may be letters of a text
        return False
    return all(kind in _KINDS for kind in kinds) and all(
        part in _ROLES or "=" in part[1:] for part in roles
    )
