"""UsageError: a wrong command line."""


class UsageError(Exception):
    """A command line is wrong; the message says how."""
