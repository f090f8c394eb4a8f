"""Tell files of tagged sentences from others, and their formats from each other."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from headwise.data.compression import plain_name
from headwise.data.errors import DataError
from headwise.data.files import Line
from headwise.data.formats.conll import DOCUMENT, Block, likely_tag, likely_token, sample_blocks
from headwise.data.tag_checks import marks_entities
from headwise.data.tag_options import TaggedFormat

SUFFIXES: dict[str, TaggedFormat] = {".conllu": "conllu", ".mrg": "trees"}

_ID = re.compile(r"\d+([-.]\d+)?\t")
_LEAF = re.compile(r"\(([^\s()]+) [^\s()]+\)")
_LOOSE = re.compile(r"\)[ \t]*[^ \t()]")
"""A word after a bracket, as in running text but not in trees."""
_SLASHED = re.compile(r".+/[^/]+")


def looks_tagged(lines: Sequence[str]) -> str | None:
    """What speaks for a file of tagged sentences, for the user; None if the lines are something else.

    Args:
        lines: The first lines, without their line ends.
    """
    found = _recognise(list(enumerate(lines, start=1)))
    return found[1] if found else None


def guess_tagged_format(path: str, head: Sequence[Line]) -> tuple[TaggedFormat, str]:
    """The format of a file that is known to hold tagged sentences, and what spoke for it.

    Raises:
        DataError: HW259, if nothing fits.
    """
    name = plain_name(path)
    for suffix, known in SUFFIXES.items():
        if name.endswith(suffix):
            return known, f"from the suffix {suffix}"
    if found := _recognise(head):
        return found[0], f"from the first lines: {found[1]}"
    blocks, _ = sample_blocks(head)
    if blocks and (len(blocks[0][0][1]) > 1 or max(map(len, blocks)) > 1):
        return "columns", "as the lines have columns"
    raise DataError(
        "HW259",
        "no tagged sentences were recognised in the first lines",
        expected="lines such as 'token<TAB>tag' with a blank line after each sentence",
        advice="give --format columns, conllu, slash or trees",
        path=path,
    )


def _recognise(head: Sequence[Line]) -> tuple[TaggedFormat, str] | None:
    texts = [text.rstrip("\r") for _, text in head]
    texts = [text for text in texts if text.strip()]
    rows = [text for text in texts if not text.startswith("#")]
    if rows and _share(text.count("\t") == 9 and bool(_ID.match(text)) for text in rows) > 0.5:
        return "conllu", "CoNLL-U, ten columns that begin with ids"
    leaves = [tag for text in texts for tag in _LEAF.findall(text)]
    opened = bool(texts) and texts[0].lstrip().startswith("(")
    bracketed = opened and not any(_LOOSE.search(text) for text in texts)
    if bracketed and leaves and not all(tag in {"0", "1", "2", "3", "4"} for tag in leaves):
        return "trees", "bracketed trees with words and parts of speech"
    words = [word for text in texts for word in text.split() if word.strip("[]=")]
    tags = [word.rpartition("/")[2] for word in words if _SLASHED.fullmatch(word)]
    usual = all(tag == tag.upper() for tag in tags) or len(set(tags)) * 2 <= len(tags)
    if tags and usual and len(tags) >= 0.9 * len(words):
        return "slash", f"words with tags after a slash: {_some(tags)}"
    return _columns(head, texts)


def _columns(head: Sequence[Line], texts: list[str]) -> tuple[TaggedFormat, str] | None:
    """Columns: rows of one width, one word in each cell, in blocks of sentences or with entity tags."""
    blocks, tabs = sample_blocks(head)
    rows = [cells for block in blocks for _, cells in block]
    others = [text for text in texts if not text.startswith(("#", DOCUMENT))]
    width = len(rows[0]) if rows else 0
    if width < 2 or len(rows) < 0.9 * len(others):
        return None
    token = likely_token(blocks)
    tag = likely_tag(blocks, [i for i in range(width) if i != token])
    tags, tokens = [cells[tag] for cells in rows], [cells[token] for cells in rows]
    if _share(" " in cell for cell in (*tags, *tokens)) > 0.05:
        return None
    shown = f"in column {tag + 1} of {width} {_some(tags)}"
    if marks_entities(Counter(tags)):
        return "columns", shown
    recurring = len(set(tags)) <= max(2, len(tags) // 2) and len(set(tags)) < len(set(tokens))
    if _blocks_of_sentences(blocks, least=2 if tabs else 3) and recurring:
        return "columns", f"{shown}; blank lines between sentences"
    return None


def _blocks_of_sentences(blocks: list[Block], least: int) -> bool:
    return len(blocks) > 1 and sum(map(len, blocks)) >= least * len(blocks)


def _share(answers: Iterable[bool]) -> float:
    answers = list(answers)
    return sum(answers) / len(answers)


def _some(tags: Sequence[str]) -> str:
    names = [tag for tag, _ in Counter(tags).most_common(4)]
    return ", ".join(names) + (", ..." if len(set(tags)) > len(names) else "")
