"""Convert the typed cells of tables to text."""

from datetime import datetime, time


def cell_text(value: object) -> str:
    """A cell's value as text, as a csv file has it.

    Numbers have the 15 significant digits that spreadsheets show, and whole numbers no decimal point; a
    date-time at midnight is a date.
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
