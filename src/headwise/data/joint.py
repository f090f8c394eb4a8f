"""Texts joined from several columns, such as a subject and a body, which are named `subject+body`.

A model reads one text, with a part in each line.
"""

from collections.abc import Iterable, Sequence

from headwise.data.names import normal_name

JOINT = "+"


def named_in(name: str, names: Sequence[str] = ()) -> list[str]:
    """The columns that a name stands for: `subject+body` is two, unless one of `names` is spelt so."""
    if JOINT not in name or normal_name(name) in map(normal_name, names):
        return [name]
    return [part.strip() for part in name.split(JOINT)]


def join(parts: Iterable[str]) -> str:
    """The parts as one text, each on a line of its own; empty parts are left out."""
    return "\n".join(part for part in parts if part.strip())
