"""Recognise files of tagged sentences, and guess their format."""

from collections.abc import Callable, Sequence

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.file_source import most_true
from headwise.data.columns.item_options import TaggedFormat
from headwise.data.errors import DataError
from headwise.data.files.compression import plain_name
from headwise.data.files.text_lines import Line
from headwise.data.formats import character_spans as spans
from headwise.data.formats import conll, conll2012, conllu_tags, token_lists, word_table
from headwise.data.formats import penn_trees as trees
from headwise.data.formats import slashed_tags as slashed
from headwise.data.formats.span_values import SPAN_EXAMPLE
from headwise.data.readers.file_preview import refuse_brat

SUFFIXES: dict[str, TaggedFormat] = {".conllu": "conllu", ".mrg": "trees"}

_JSON_ARRAY = lazy_pattern(r"\s*(?:\[\s*)+(?:\{\s*\"|\"[^\"]*\"\s*[,\]])")
_LOOKED_AT = 400  # lines
_WORDS = 8  # least lines of a file of single words
_MAX_WORD_LENGTH = 8  # most characters of its lines on average
_SENTENCE_EXAMPLE = '{"tokens": ["Tom", "ran"], "tags": ["B-PER", "O"]}'

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
"""The function that recognises each format in the first lines, in the order in which they are tried."""


def looks_tokenized(lines: Sequence[str]) -> bool:
    """Whether the first lines of a file to predict are sentences split into words, tagged or not."""
    head = list(enumerate(lines, start=1))
    guess = _recognise(head[:_LOOKED_AT]) or _untagged(head)
    if guess is not None:
        return guess[0] != "spans" and not (guess[0] == "lists" and token_lists.has_texts(head))
    words = [line.strip() for line in lines if line.strip()]
    if len(words) < _WORDS or all(map(str.strip, lines[:-1])):
        return False
    # Longer lines without spaces are texts in a script without spaces, such as Chinese.
    return sum(map(len, words)) <= _MAX_WORD_LENGTH * len(words) and not any(
        len(word.split()) > 1 for word in words
    )


def looks_tagged(lines: Sequence[str]) -> str | None:
    """The reason why lines look like tagged sentences, for messages; None if they do not."""
    guess = _recognise(list(enumerate(lines[:_LOOKED_AT], start=1)))
    return guess[1] if guess else None


def guess_tagged_format(
    path: str, head: Sequence[Line], *, labelled: bool = True
) -> tuple[TaggedFormat, str]:
    """The format of a file of sentences (tagged if `labelled`), and the reason for the guess.

    Raises:
        DataError: HW259, no format matches; HW104, brat's annotations.
    """
    refuse_brat(path, head)
    name = plain_name(path)
    for suffix, form in SUFFIXES.items():
        if name.endswith(suffix):
            return form, f"from the suffix {suffix}"
    if guess := _recognise(head) or (None if labelled else _untagged(head)):
        return guess[0], f"from the first lines: {guess[1]}"
    if why := spans.recognise(head, beside_labels=True):
        return "spans", f"from the first lines: {why}"
    if head and head[0][1].lstrip().startswith("{"):
        return "lists", "as the lines are JSON"
    if name.endswith(".csv") and labelled and most_true("," in text for _, text in head if text.strip()):
        raise DataError(
            "HW259",
            "a table, in which no columns of words and tags were recognised",
            expected="tagged sentences, such as lines of 'token<TAB>tag'",
            advice="name the columns of a row per word: sentence, word, tag",
            path=path,
        )
    if _JSON_ARRAY.match("\n".join(text for _, text in head[:_LOOKED_AT])):
        raise DataError(
            "HW259",
            "JSON, in which neither words with tags nor texts with spans were recognised",
            expected=f"a sentence per object, such as {_SENTENCE_EXAMPLE}, or a text with {SPAN_EXAMPLE}",
            path=path,
        )
    blocks, _ = conll.sample_sentences(head)
    if blocks and (len(blocks[0][0][1]) > 1 or max(map(len, blocks)) > 1):
        return "columns", "as the lines have columns"
    problem = "no tagged sentences were recognised in the first lines"
    expected = "lines such as 'token<TAB>tag' with a blank line after each sentence"
    advice = f"give --format with one of {', '.join(RECOGNISERS)}"
    raise DataError("HW259", problem, expected=expected, advice=advice, path=path)


def _recognise(head: Sequence[Line]) -> tuple[TaggedFormat, str] | None:
    return next(((name, why) for name, recognise in RECOGNISERS.items() if (why := recognise(head))), None)


def _untagged(head: Sequence[Line]) -> tuple[TaggedFormat, str] | None:
    if why := token_lists.recognise(head, labelled=False):
        return "lists", why
    why = word_table.recognise(head, labelled=False)
    return ("table", why) if why else None
