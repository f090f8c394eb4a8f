"""Invisible characters in names: byte order marks, zero-width signs, soft hyphens, no-break spaces."""

from headwise.core.lazy_pattern import lazy_pattern

_ANYWHERE = lazy_pattern("[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_JOINERS = "\u200c\u200d"  # within a word they belong to its spelling (Persian, emoji), at its ends never
_SPACES = lazy_pattern("[\u00a0\u2007\u202f]")


def without_invisible(name: str) -> str:
    """A name without invisible characters, and without white space at its ends; a no-break space within it
    is a space."""
    if name.isascii():
        return name.strip()
    name = _SPACES.sub(" ", _ANYWHERE.sub("", name))
    while name != (stripped := name.strip().strip(_JOINERS)):
        name = stripped
    return name
