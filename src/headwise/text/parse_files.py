"""Readers for files of parses: heads, words and heads, CoNLL-U, and constituency trees.

Constituency trees, too, become one head for each word, for `headwise.nn.encoders.tree_lstm`. A binary tree
over n words has n - 1 nodes, and each word but the first begins the right child of exactly one node. That
word identifies the node, and its head is the word that identifies the parent node. The head of the root
node is the first word, whose head is 0. A node with more than two children is read as (a (b c)). In
sentiment trees, each phrase is a subtree of a sentence (`read_phrase_parses`).
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, islice, pairwise, zip_longest
from typing import Literal

import numpy as np

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.file_source import DataSource, look_ahead
from headwise.data.files.compression import plain_name
from headwise.data.files.text_lines import Line, read_lines
from headwise.data.formats.conllu import COLUMNS, ConlluSentence, read_sentences
from headwise.data.formats.sentiment_trees import parse_tree
from headwise.text.syntax import (
    DependencyHeads,
    ParseError,
    head_numbers,
    heads_of_lines,
    joined_heads,
    lines_of_texts,
    validate_heads,
)

Words = Sequence[Sequence[str]]
"""The words of each text, by the tokenizer of the model."""

ParseFormat = Literal["heads", "words-heads", "conllu", "brackets"]

SUFFIXES: dict[str, ParseFormat] = {
    ".heads": "heads",
    ".parsed": "words-heads",
    ".conllu": "conllu",
    ".brackets": "brackets",
}


def read_parses(path: str, words: Words | None = None) -> list[DependencyHeads]:
    """The heads of each text of a file of parses.

    The file, which may be compressed, has one of these formats:

    - `*.heads`: one text per line, the heads of its words separated by spaces;
    - `*.parsed`: one text per line, its words separated by spaces, a tab, and the heads;
    - `*.conllu`: CoNLL-U. If the first sentence starts a document (`# newdoc`), each document is a text,
      else each sentence. Heads are numbered through the text, and each sentence has a root. Texts without
      words (of `words`) do not occur in such a file;
    - `*.brackets`: one constituency tree per line, for the encoder tree-lstm
      (`headwise.text.parse_files`).

    For any other suffix, the format is detected from the first lines.

    Args:
        words: The words of the texts by the tokenizer of the model, if known. The file must have the same
            number of texts and of words, and the same words if its format has words.

    Raises:
        DataError: The file cannot be read, or breaks the rules of CoNLL-U (HW240 to HW245).
        ParseError: HW231 to HW237, with file and line.
    """
    return list(iterate_parses(path, words))


def iterate_parses(path: str, words: Words | None = None) -> Iterator[DependencyHeads]:
    """Like `read_parses`, text by text in constant memory."""
    head, lines = look_ahead(read_lines(path), count=100)
    form = _detect_format(path, head)
    if form == "heads":
        return heads_of_lines(lines, path, None if words is None else [len(text) for text in words])
    if form == "words-heads":
        return _words_and_heads(lines, path, words)
    if form == "brackets":
        return _read_brackets(lines, path, words)
    return _conllu(lines, path, words)


def _detect_format(path: str, head: Sequence[Line]) -> ParseFormat:
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
    raise ParseError(
        f"{path}:{line}: no parses were recognised here; expected a line of heads for each text (numbers "
        "between spaces), or its words, a tab and its heads, or CoNLL-U, or a bracketed tree",
        code="HW237",
    )


def _words_and_heads(lines: Iterator[Line], path: str, words: Words | None) -> Iterator[DependencyHeads]:
    for where, text, expected in lines_of_texts(lines, path, words):
        written, tab, numbers = text.partition("\t")
        if not tab:
            raise ParseError(
                f"{where}: expected the words of a text, a tab and their heads, got no tab", code="HW237"
            )
        parsed = written.split(" ") if written else []
        heads = validate_heads(head_numbers(numbers, where, len(written) + 2), len(parsed), where)
        if (place := _first_difference(parsed, expected)) is not None:
            column = sum(map(len, parsed[:place])) + place + 1
            raise _word_mismatch_error(parsed, expected or (), place, f"{where}:{column}")
        yield heads


def _read_brackets(lines: Iterator[Line], path: str, words: Words | None) -> Iterator[DependencyHeads]:
    for where, text, expected in lines_of_texts(lines, path, words):
        parsed, heads = constituency_heads(text, where)
        if (place := _first_difference(parsed, expected)) is not None:
            raise _word_mismatch_error(parsed, expected or (), place, where)
        yield heads


def _conllu(lines: Iterator[Line], path: str, words: Words | None) -> Iterator[DependencyHeads]:
    groups = _group_documents(read_sentences(lines, DataSource(path)), path)
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
            raise ParseError(f"{path}: {read} texts, expected {count}{_HOW_TEXTS}", code="HW234")
        read += 1
        parsed = [word for sentence in group for word in sentence.words]
        if (place := _first_difference(parsed, text)) is not None:
            line_numbers = [line for sentence in group for line in sentence.lines]
            line = line_numbers[min(place, len(line_numbers) - 1)]
            raise _word_mismatch_error(parsed, text, place, f"{path}:{line}")
        yield _heads_of(group, path)
    rest = next(groups, None)
    if rest is not None:
        where = f"{path}:{rest[0].line}"
        raise ParseError(f"{where}: a text more than the {read} expected{_HOW_TEXTS}", code="HW234")


_HOW_TEXTS = "; in CoNLL-U a text is a document (# newdoc), or a sentence if the first starts no document"


def _group_documents(sentences: Iterator[ConlluSentence], path: str) -> Iterator[list[ConlluSentence]]:
    text = list(islice(sentences, 1))
    documents = any(sentence.starts_document for sentence in text)
    for sentence in sentences:
        if sentence.starts_document and not documents:
            raise ParseError(
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


def _heads_of(sentences: Sequence[ConlluSentence], path: str) -> DependencyHeads:
    without_heads = next((sentence for sentence in sentences if sentence.heads is None), None)
    if without_heads is not None:
        raise ParseError(
            f"{path}:{without_heads.line}: a sentence without heads (column HEAD)", code="HW235"
        )
    return joined_heads(sentence.heads or () for sentence in sentences)


def _first_difference(parsed: Sequence[str], words: Sequence[str] | None) -> int | None:
    """Index of the first word that differs between the parse and the text, if its words are known; None if
    all are equal."""
    pairs = () if words is None else zip_longest(parsed, words)
    return next((place for place, (word, expected) in enumerate(pairs) if word != expected), None)


def _word_mismatch_error(parsed: Sequence[str], words: Sequence[str], place: int, where: str) -> ParseError:
    shown = [repr(of[place][:40]) if place < len(of) else "missing" for of in (parsed, words)]
    return ParseError(
        f"{where}: word {place + 1} of the parse is {shown[0]}, of the text {shown[1]} "
        f"({len(parsed)} and {len(words)} words); parse the text with the same words that the model reads, "
        "or give the words of the parses as texts and read them with the tokenizer 'whitespace'",
        code="HW236",
    )


def read_phrase_parses(path: str, phrases: Sequence[tuple[int, str]]) -> list[DependencyHeads]:
    """The constituency trees of phrases of sentiment trees.

    Args:
        path: The file that the phrases come from, or one with the same trees on the same lines; "-" is
            standard input.
        phrases: Line number and text of each phrase. Phrases of a line are in the order of the nodes
            (`headwise.data.formats.sentiment_trees.parse_tree`); nodes may be missing.

    Raises:
        DataError: The file cannot be read, or a line is no sentiment tree (HW119, HW122).
        ParseError: HW234, the file has no line of that number; HW236, the tree in it has no such phrase.
    """
    lines, parses = read_lines(path), list[DependencyHeads]()
    for number, group in groupby(phrases, key=lambda phrase: phrase[0]):
        tree = next((text for line, text in lines if line == number), None)
        if tree is None:
            raise ParseError(f"{path}: no line {number:,}, of which there are phrases", code="HW234")
        words, nodes = parse_tree(tree, path, number)
        _, heads = constituency_heads(tree, f"{path}:{number}")
        rest = iter(nodes)
        for _, text in group:
            node = next((node for node in rest if " ".join(words[node.start : node.end]) == text), None)
            if node is None:
                raise ParseError(
                    f"{path}:{number}: the tree has no phrase {text[:40]!r}; expected the trees of the "
                    "very file whose phrases are read",
                    code="HW236",
                )
            parses.append(subtree_heads(heads, node.start, node.end))
    return parses


_TOKEN = lazy_pattern(r"\(\s*[^\s()]*|\)|[^\s()]+")


def constituency_heads(text: str, where: str = "") -> tuple[list[str], DependencyHeads]:
    """The words of a tree such as `(3 (2 It) (4 works))` or `(S (NP It) (VP works))`, and their heads.

    Raises:
        ParseError: HW237, the brackets are unbalanced or hold no single tree.
    """
    words: list[str] = []
    heads = [0]
    # For each open bracket its children: first word, and the word of the child's root node (0 for a leaf).
    stack: list[list[tuple[int, int]]] = [[]]
    for match in _TOKEN.finditer(text):
        if match[0][0] == "(":
            if len(stack) == 1 and stack[0]:
                raise _brackets_error(f"{match[0]!r} after the end of the tree", where)
            stack.append([])
        elif match[0] == ")":
            parts = stack.pop()
            if not stack or not parts:
                raise _brackets_error("a bracket without words" if stack else "')' without '('", where)
            stack[-1].append((parts[0][0], _join_heads(parts, heads)))
        elif len(stack) == 1:
            raise _brackets_error(f"{match[0]!r} outside the brackets", where)
        else:
            words.append(match[0])
            heads.append(0)
            stack[-1].append((len(words), 0))
    if len(stack) > 1:
        raise _brackets_error("a bracket that is never closed", where)
    for first, topmost in stack[0]:
        if topmost:
            heads[topmost] = first
    return words, np.array(heads[1:], dtype=np.int64)


def subtree_heads(heads: DependencyHeads, start: int, end: int) -> DependencyHeads:
    """The heads of a subtree.

    Args:
        heads: Heads of the whole tree, `[words]`.
        start: First word of the subtree, from 0.
        end: One past its last word.
    """
    node = heads[start:end] - start
    node = np.where((node < 1) | (node > len(node)), 1, node)  # what is above the node
    node[:1] = 0
    return node


def _join_heads(parts: list[tuple[int, int]], heads: list[int]) -> int:
    """Set the heads of the nodes over the children of a bracket; returns the word of the root node."""
    splits = [first for first, _ in parts[1:]]
    for above, below in pairwise(splits):
        heads[below] = above
    for (_, topmost), above in zip(parts, [*splits, *splits[-1:]], strict=False):
        if topmost and above:
            heads[topmost] = above
    return splits[0] if splits else parts[0][1]


def _brackets_error(problem: str, where: str) -> ParseError:
    at = f"{where}: " if where else ""
    return ParseError(f"{at}{problem}; expected one tree such as (S (NP It) (VP works))", code="HW237")
