"""AdapterError: what another library cannot be given."""

from headwise.errors import HeadwiseError


class AdapterError(HeadwiseError):
    """A model cannot be used by another library, or not be saved with it.

    Codes: HW911 it reads or says something else than what the library knows, HW912 its files are not those
    that were loaded.
    """

    code = "HW911"
