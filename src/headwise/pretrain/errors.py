"""PretrainError: a base cannot be trained."""

from headwise.errors import HeadwiseError


class PretrainError(HeadwiseError):
    """A base cannot be trained.

    Codes: HW810 the text holds too little, HW811 the output or the work folder holds something else, or an
    unfinished run.
    """

    code = "HW810"
