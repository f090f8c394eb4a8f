"""What can go wrong while a base is made."""

from headwise.errors import HeadwiseError


class PretrainError(HeadwiseError):
    """A base cannot be made.

    Codes: HW810 the text holds too little, HW811 the output or the work folder holds something else, or an
    unfinished run.
    """

    code = "HW810"
