"""AdapterError: a model cannot be used through another library."""

from headwise.errors import HeadwiseError


class AdapterError(HeadwiseError):
    """A model cannot be used by another library, or cannot be saved with it.

    Codes: HW911 the library does not support models of this task, HW912 the files are not those of the
    model that was loaded.
    """

    code = "HW911"
