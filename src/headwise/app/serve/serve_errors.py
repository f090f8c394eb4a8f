"""Errors of the server."""

from headwise.core.errors import HeadwiseError
from headwise.core.extras import install_line

REQUEST = "the request"
"""The name of the input in messages, in place of a file name."""
TOO_LARGE = "HW904"
"""The code of requests that are too large."""


class ServeError(HeadwiseError):
    """A model cannot be served.

    Codes: HW901 the extra `serve` is not installed, HW902 the address cannot be used, HW909 the log cannot
    be written.
    """

    code = "HW900"


class ServeNotInstalledError(ServeError, ModuleNotFoundError):
    """HW901: a library of the extra `serve` is not installed."""


class RequestError(HeadwiseError):
    """A request that cannot be answered.

    Codes: HW903 the content is invalid, HW904 it is too large, HW907 the server cannot store it.
    """

    code = "HW903"


class AbandonedError(Exception):
    """The client has closed the connection, so nobody waits for the answer."""


def serve_not_installed(error: ImportError) -> ServeNotInstalledError:
    """The error for a library that could not be imported, with the line that installs it."""
    message = f"headwise serve needs {error.name}, which is not installed: {install_line('serve')}"
    return ServeNotInstalledError(message, code="HW901")
