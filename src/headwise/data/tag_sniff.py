"""Tell files of tagged sentences from others, and their formats from each other."""

from collections.abc import Callable, Sequence

from headwise.data.compression import plain_name
from headwise.data.errors import DataError
from headwise.data.files import Line
from headwise.data.formats import (
    conll,
    conll2012,
    conllu_tags,
    slashed,
    spans,
    token_lists,
    trees,
    word_table,
)
from headwise.data.sniff import refuse_brat
from headwise.data.tag_options import TaggedFormat

SUFFIXES: dict[str, TaggedFormat] = {".conllu": "conllu", ".mrg": "trees"}

_LOOKED_AT = 400  # lines
_WORDS, _LONG = 8, 8  # lines of one word, and their mean characters, that are sentences word by word

RECOGNISERS: dict[TaggedFormat, Callable[[Sequence[Line]], str | None]] = {
    "conllu": conllu_tags.recognise,
    "conll2012": conll2012.recognise,
    "trees": trees.recognise,
    "slash": slashed.recognise,
    "lists": token_lists.recognise,
    "table": word_table.recognise,
    "spans": spans.recognise,
    "columns": conll.recognise,
}
"""What recognises each format in the first lines, in the order in which they are asked."""


def gives_words(lines: Sequence[str]) -> bool:
    """Whether the first lines of a file to predict give the words of its sentences, tagged or not."""
    head = list(enumerate(lines, start=1))
    found = _recognise(head[:_LOOKED_AT]) or _untagged(head)
    if found is not None:
        return found[0] != "spans"
    words = [line.strip() for line in lines if line.strip()]
    if len(words) < _WORDS or all(map(str.strip, lines[:-1])):
        return False
    # Lines without spaces that are longer are texts in a script that has none.
    return sum(map(len, words)) <= _LONG * len(words) and not any(len(word.split()) > 1 for word in words)


def looks_tagged(lines: Sequence[str]) -> str | None:
    """What speaks for a file of tagged sentences, for the user; None if the lines are something else.

    Args:
        lines: The first lines, without their line ends.
    """
    found = _recognise(list(enumerate(lines[:_LOOKED_AT], start=1)))
    return found[1] if found else None


def guess_tagged_format(
    path: str, head: Sequence[Line], *, labelled: bool = True
) -> tuple[TaggedFormat, str]:
    """The format of a file that is known to hold sentences, tagged where they are labelled, and what spoke
    for it.

    Raises:
        DataError: HW259, if nothing fits; HW104, of brat's annotations.
    """
    refuse_brat(path, head)
    name = plain_name(path)
    for suffix, known in SUFFIXES.items():
        if name.endswith(suffix):
            return known, f"from the suffix {suffix}"
    if found := _recognise(head) or (None if labelled else _untagged(head)):
        return found[0], f"from the first lines: {found[1]}"
    if head and head[0][1].lstrip().startswith("{"):
        return "lists", "as the lines are JSON"
    blocks, _ = conll.sample_blocks(head)
    if blocks and (len(blocks[0][0][1]) > 1 or max(map(len, blocks)) > 1):
        return "columns", "as the lines have columns"
    raise DataError(
        "HW259",
        "no tagged sentences were recognised in the first lines",
        expected="lines such as 'token<TAB>tag' with a blank line after each sentence",
        advice=f"give --format with one of {', '.join(RECOGNISERS)}",
        path=path,
    )


def _recognise(head: Sequence[Line]) -> tuple[TaggedFormat, str] | None:
    return next(((name, why) for name, own in RECOGNISERS.items() if (why := own(head))), None)


def _untagged(head: Sequence[Line]) -> tuple[TaggedFormat, str] | None:
    if why := token_lists.recognise(head, labelled=False):
        return "lists", why
    why = word_table.recognise(head, labelled=False)
    return ("table", why) if why else None
