"""The errors that headwise raises for problems that a user can fix."""


class HeadwiseError(Exception):
    """A problem with the input, the configuration or a file, not a bug in headwise.

    The message says what happened, where, what was expected and what to do. `code` is a short, stable
    identifier (`HW101`) to search for in the documentation or to test against.
    """

    code = "HW000"

    def __init__(self, message: str, *, code: str | None = None):
        super().__init__(message)
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return f"[{self.code}] {super().__str__()}"


class ConfigError(HeadwiseError):
    """An option has an invalid value or an unknown name."""

    code = "HW001"
