"""How files of tagged sentences are read: every choice that headwise would otherwise guess."""

from dataclasses import dataclass
from typing import Literal

TaggedFormat = Literal["columns", "conllu", "conll2012", "slash", "trees", "lists", "table", "spans"]


@dataclass(frozen=True)
class TagOptions:
    """How files of tagged sentences are read. What is not given is guessed, and the guess is told."""

    format: TaggedFormat | None = None
    """The files' format; guessed from the name and the first lines by default."""

    tag_column: str | None = None
    """The column of the tags: its name, or its number from 1. By default the last one, or the last with a
    usual name if the first line names them; of CoNLL-U upos (others are xpos, deprel and feats), of
    CoNLL-2012 ner (the other is pos); in JSON the list of tags or of spans."""

    token_column: str | None = None
    """The column of the tokens: its name, or its number from 1; the first by default. Of spans the field
    of the texts."""

    head_column: str | None = None
    """The column of the syntactic heads, if there is one."""

    encoding: str = "utf-8"
    """The character encoding, such as utf-8, utf-16, latin-1 or cp1252."""

    encoding_errors: Literal["strict", "replace"] = "strict"
    """What to do with bytes that cannot be decoded: stop, or read them as U+FFFD."""


DEFAULT = TagOptions()
