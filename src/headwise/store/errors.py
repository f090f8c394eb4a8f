"""StoreError: a model folder cannot be read or written."""

from headwise.errors import HeadwiseError


class StoreError(HeadwiseError):
    """A model folder cannot be read or written.

    Codes: HW501 the path is no folder, HW502 it holds no headwise model, HW503 a file is missing or the
    save was interrupted, HW504 a file is not the one that was saved, HW505 not a plain file (a link, a
    pipe) or not readable, HW506 too large, HW507 content that cannot be, HW508 another version's format,
    HW509 weights that do not fit the configuration, HW510 weights or a temperature that are no finite
    numbers, HW511 the folder has other files in it, HW512 it cannot be written.
    """

    code = "HW500"
