"""Log records as notes on the console."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from headwise.app.cli.console import note


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


@contextmanager
def log_to_console() -> Iterator[None]:
    """Within this context, log records of the package are printed as notes."""
    log, handler = logging.getLogger("headwise"), _Notes(logging.INFO)
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)
