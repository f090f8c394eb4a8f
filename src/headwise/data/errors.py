"""Errors in data files, on one line: where, what is wrong, and what to do."""

from collections.abc import Callable

from headwise.core.errors import HeadwiseError

NO_LABEL_CODES = ("HW130", "HW131", "HW285")
"""Codes of the errors that no labels can be found."""


class DataError(HeadwiseError):
    """Something in a data file that headwise cannot use.

    Attributes:
        code: A code of `headwise.core.error_codes`, HW1.. or HW2...
        path: The file as the user named it ("-" is standard input).
        line: The line of the file, from 1, or None where the whole file is meant.
        column: The character of the line, from 1, or None.
        problem: What is wrong.
        expected: What was expected; may be empty.
        advice: What the user can do; may be empty.
    """

    def __init__(
        self,
        code: str,
        problem: str,
        *,
        expected: str = "",
        advice: str = "",
        path: str = "",
        line: int | None = None,
        column: int | None = None,
    ):
        path = getattr(line, "file", path)  # of several files, the one that holds the line
        self.path, self.line, self.column = path, line, column
        self.problem, self.expected, self.advice = problem, expected, advice
        parts = [problem]
        if expected:
            parts.append(f"expected {expected}")
        if advice:
            parts.append(advice)
        place = f"{self.where}: " if self.where else ""
        super().__init__(place + "; ".join(parts), code=code)

    @property
    def where(self) -> str:
        """`path:line:column`, as far as it is known."""
        return ":".join(str(part) for part in (self.path, self.line, self.column) if part)


OnError = Callable[[DataError], None]
"""Called with the error of a record that cannot be used: raises it, or notes it so that reading goes on."""


def raise_error(error: DataError) -> None:
    """The default `OnError`: raise the error."""
    raise error
