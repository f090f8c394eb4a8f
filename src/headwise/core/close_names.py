"""The name that a misspelt one may stand for."""

from collections.abc import Iterable


def close_names(name: str, names: Iterable[str], cutoff: float = 0.6) -> list[str]:
    """The most similar of `names` in a list, which is empty if none is as similar as `cutoff`, from 0 to
    1."""
    from difflib import get_close_matches  # only errors need it

    return get_close_matches(name, list(names), n=1, cutoff=cutoff)
