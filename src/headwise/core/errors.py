"""The errors that headwise raises for problems that a user can fix, and the names that they suggest."""

from collections.abc import Iterable


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


class MissingLibraryError(HeadwiseError, ModuleNotFoundError):
    """A module of headwise is imported that needs a library for training, which is not installed."""

    code = "HW957"


class TrainingInterrupted(HeadwiseError):
    """The run was asked to stop (Ctrl-C or a termination signal) and has saved its state.

    Attributes:
        signal: The number of the signal.
    """

    code = "HW400"

    def __init__(self, message: str, number: int):
        super().__init__(message)
        self.signal = number


def close_names(name: str, names: Iterable[str], cutoff: float = 0.6) -> list[str]:
    """The most similar of `names` in a list, which is empty if none is as similar as `cutoff`, from 0 to
    1."""
    from difflib import get_close_matches  # only errors need it

    return get_close_matches(name, list(names), n=1, cutoff=cutoff)
