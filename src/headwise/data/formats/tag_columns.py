"""The columns of tags that a format names."""

from collections.abc import Sequence

from headwise.errors import ConfigError


def tag_column(asked: str | None, columns: Sequence[str], form: str) -> str:
    """The name of the column of the tags, the first by default.

    Args:
        asked: What the user has said.
        columns: Those of the format.
        form: Its name.

    Raises:
        ConfigError: There is no such column.
    """
    name = (asked or columns[0]).lower()
    if name not in columns:
        raise ConfigError(f"no tags of {form} in {asked!r}; expected one of {', '.join(columns)}")
    return name
