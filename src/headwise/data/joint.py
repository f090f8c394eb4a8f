"""Texts that stand in several columns, such as a subject and a body: these are named `subject+body`.

What a model reads is one text, the parts one below the other.
"""

from collections.abc import Iterable, Sequence

from headwise.data.names import normal_name

JOINT = "+"


def named_in(name: str, names: Sequence[str] = ()) -> list[str]:
    """The columns that a name stands for: that of this name, if one of `names` is called so, or several."""
    if JOINT not in name or normal_name(name) in map(normal_name, names):
        return [name]
    return [part.strip() for part in name.split(JOINT)]


def join(parts: Iterable[str]) -> str:
    """One text of what stands in several columns; what is empty leaves no line."""
    return "\n".join(part for part in parts if part.strip())
