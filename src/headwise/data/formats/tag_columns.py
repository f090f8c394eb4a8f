"""The choice of the tag column in formats with fixed column names."""

from collections.abc import Sequence

from headwise.errors import ConfigError


def tag_column(requested: str | None, columns: Sequence[str], form: str) -> str:
    """The name of the tag column, by default the first one.

    Args:
        requested: The column that the user named, if any.
        columns: The tag columns of the format.
        form: The name of the format, for the message.

    Raises:
        ConfigError: There is no such column.
    """
    name = (requested or columns[0]).lower()
    if name not in columns:
        raise ConfigError(f"no tags of {form} in {requested!r}; expected one of {', '.join(columns)}")
    return name
