"""Readers for files of parses: heads, words and heads, CoNLL-U, and constituency trees."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal

from headwise.data.compression import plain_name
from headwise.data.files import Line, read_lines
from headwise.data.formats.conllu import COLUMNS, Sentence, read_sentences
from headwise.data.source import Source, look_ahead
from headwise.features.brackets import bracket_heads
from headwise.features.syntax import (
    Heads,
    HeadsError,
    checked_heads,
    head_numbers,
    heads_of_lines,
    joined_heads,
    lines_of_texts,
)

Words = Sequence[Sequence[str]]
"""The words of each text, by the tokeniser of the model."""

Form = Literal["heads", "words-heads", "conllu", "brackets"]

SUFFIXES: dict[str, Form] = {
    ".heads": "heads",
    ".parsed": "words-heads",
    ".conllu": "conllu",
    ".brackets": "brackets",
}


def read_parses(path: str, words: Words | None = None) -> list[Heads]:
    """The heads of each text of a file of parses.

    The file, which may be compressed, has one of these formats:

    - `*.heads`: one text per line, the heads of its words separated by spaces;
    - `*.parsed`: one text per line, its words separated by spaces, a tab, and the heads;
    - `*.conllu`: CoNLL-U. If the first sentence starts a document (`# newdoc`), each document is a text,
      else each sentence. Heads are numbered through the text, and each sentence has a root. Texts without
      words (of `words`) do not occur in such a file;
    - `*.brackets`: one constituency tree per line, for the encoder tree-lstm
      (`headwise.features.brackets`).

    For any other suffix, the format is detected from the first lines.

    Args:
        path: The file; "-" is standard input.
        words: The words of the texts by the tokeniser of the model, if known. The file must have the same
            number of texts and of words, and the same words if its format has words.

    Raises:
        DataError: The file cannot be read, or breaks the rules of CoNLL-U (HW240 to HW245).
        HeadsError: HW231 to HW237, with file and line.
    """
    return list(iterate_parses(path, words))


def iterate_parses(path: str, words: Words | None = None) -> Iterator[Heads]:
    """Like `read_parses`, text by text in constant memory."""
    head, lines = look_ahead(read_lines(path), count=100)
    form = _form(path, head)
    if form == "heads":
        return heads_of_lines(lines, path, None if words is None else [len(text) for text in words])
    if form == "words-heads":
        return _words_and_heads(lines, path, words)
    if form == "brackets":
        return _brackets(lines, path, words)
    return _conllu(lines, path, words)


def _form(path: str, head: Sequence[Line]) -> Form:
    name = plain_name(path)
    for suffix, form in SUFFIXES.items():
        if name.endswith(suffix):
            return form
    line, first = next(((line, text) for line, text in head if text.strip(" \r")), head[0])
    first = first.rstrip("\r")
    if first.lstrip().startswith("(") and first.rstrip().endswith(")"):
        return "brackets"
    if re.fullmatch(r"[^\t]*\t[0-9 ]*", first):
        return "words-heads"
    if first.startswith("#") or first.count("\t") == len(COLUMNS) - 1:
        return "conllu"
    if re.fullmatch(r"[0-9 ]*", first):
        return "heads"
    raise HeadsError(
        f"{path}:{line}: no parses were recognised here; expected a line of heads for each text (numbers "
        "between spaces), or its words, a tab and its heads, or CoNLL-U, or a bracketed tree",
        code="HW237",
    )


def _words_and_heads(lines: Iterator[Line], path: str, words: Words | None) -> Iterator[Heads]:
    for where, text, expected in lines_of_texts(lines, path, words):
        written, tab, numbers = text.partition("\t")
        if not tab:
            raise HeadsError(
                f"{where}: expected the words of a text, a tab and their heads, got no tab", code="HW237"
            )
        parsed = written.split(" ") if written else []
        heads = checked_heads(head_numbers(numbers, where, len(written) + 2), len(parsed), where)
        place = None if expected is None else _first_difference(parsed, expected)
        if expected is not None and place is not None:
            column = sum(map(len, parsed[:place])) + place + 1
            raise _other_words(parsed, expected, place, f"{where}:{column}")
        yield heads


def _brackets(lines: Iterator[Line], path: str, words: Words | None) -> Iterator[Heads]:
    for where, text, expected in lines_of_texts(lines, path, words):
        parsed, heads = bracket_heads(text, where)
        place = None if expected is None else _first_difference(parsed, expected)
        if expected is not None and place is not None:
            raise _other_words(parsed, expected, place, where)
        yield heads


def _conllu(lines: Iterator[Line], path: str, words: Words | None) -> Iterator[Heads]:
    groups = _texts(read_sentences(lines, Source(path)), path)
    if words is None:
        for group in groups:
            yield _heads_of(group, path)
        return
    read = 0
    for text in words:
        if not len(text):
            yield joined_heads([])
            continue
        group = next(groups, None)
        if group is None:
            count = sum(map(bool, map(len, words)))
            raise HeadsError(f"{path}: {read} texts, expected {count}{_HOW_TEXTS}", code="HW234")
        read += 1
        _check_words(group, text, path)
        yield _heads_of(group, path)
    rest = next(groups, None)
    if rest is not None:
        where = f"{path}:{rest[0].line}"
        raise HeadsError(f"{where}: a text more than the {read} expected{_HOW_TEXTS}", code="HW234")


_HOW_TEXTS = "; in CoNLL-U a text is a document (# newdoc), or a sentence if the first starts no document"


def _texts(sentences: Iterator[Sentence], path: str) -> Iterator[list[Sentence]]:
    text = list(islice(sentences, 1))
    documents = any(sentence.starts_document for sentence in text)
    for sentence in sentences:
        if sentence.starts_document and not documents:
            raise HeadsError(
                f"{path}:{sentence.line}: a document starts here, but none does at the first sentence, so "
                "that it is not clear what the texts are; put '# newdoc' there, or take it out here",
                code="HW237",
            )
        if sentence.starts_document or not documents:
            yield text
            text = []
        text.append(sentence)
    if text:
        yield text


def _heads_of(sentences: Sequence[Sentence], path: str) -> Heads:
    bare = next((sentence for sentence in sentences if sentence.heads is None), None)
    if bare is not None:
        raise HeadsError(f"{path}:{bare.line}: a sentence without heads (column HEAD)", code="HW235")
    return joined_heads(sentence.heads or () for sentence in sentences)


def _check_words(sentences: Sequence[Sentence], words: Sequence[str], path: str) -> None:
    parsed = [word for sentence in sentences for word in sentence.words]
    lines = [line for sentence in sentences for line in sentence.lines]
    place = _first_difference(parsed, words)
    if place is not None:
        line = lines[place] if place < len(parsed) else lines[-1]
        raise _other_words(parsed, words, place, f"{path}:{line}")


def _first_difference(parsed: Sequence[str], words: Sequence[str]) -> int | None:
    """Index of the first word that differs between the parse and the text; None if all are equal."""
    for place, (word, expected) in enumerate(zip(parsed, words, strict=False)):
        if word != expected:
            return place
    return None if len(parsed) == len(words) else min(len(parsed), len(words))


def _other_words(parsed: Sequence[str], words: Sequence[str], place: int, where: str) -> HeadsError:
    def shown(of: Sequence[str]) -> str:
        return repr(of[place][:40]) if place < len(of) else "missing"

    return HeadsError(
        f"{where}: word {place + 1} of the parse is {shown(parsed)}, of the text {shown(words)} "
        f"({len(parsed)} and {len(words)} words); parse the text with the same words that the model reads, "
        "or give the words of the parses as texts and read them with the tokenizer 'whitespace'",
        code="HW236",
    )
