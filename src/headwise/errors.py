"""The errors that headwise raises for what a user can put right."""


class HeadwiseError(Exception):
    """A problem with the input, the configuration or a file, not with headwise itself.

    The message says what was found, where, what was expected and what to do. `code` is a short,
    stable identifier (`HW101`) to search for in the documentation or to test against.
    """

    code = "HW000"

    def __init__(self, message: str, *, code: str | None = None):
        super().__init__(message)
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return f"[{self.code}] {super().__str__()}"


class ConfigError(HeadwiseError):
    """An option has a value that cannot be used, or an unknown name."""

    code = "HW001"
