"""BaseError: a base that is missing, damaged or inconsistent."""

from headwise.errors import HeadwiseError


class BaseError(HeadwiseError):
    """A base cannot be used.

    Codes: HW801 there is none of this name, HW802 its folder is damaged or incomplete, HW803 its files
    contradict each other.
    """

    code = "HW802"
