"""How texts for language modelling are read."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class StreamOptions:
    """How plain texts are read for language modelling; bytes need none of it."""

    encoding: str = "utf-8"
    """The character encoding, such as utf-8, utf-16, latin-1 or cp1252."""

    encoding_errors: Literal["strict", "replace"] = "strict"
    """What to do with bytes that cannot be decoded: stop, or read them as U+FFFD."""


DEFAULT = StreamOptions()
