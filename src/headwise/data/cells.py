"""What is in the cells of tables that have types, as text."""

from datetime import datetime, time


def cell_text(value: object) -> str:
    """A value as a cell of a csv file has it.

    Numbers have the 15 digits that spreadsheets show, whole ones no decimal point; a moment at midnight is
    a day.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return format(value, ".15g")
    if isinstance(value, datetime):
        return str(value.date() if value.timetz() == time() else value)
    return str(value)
