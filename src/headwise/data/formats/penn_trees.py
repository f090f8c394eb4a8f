"""Bracketed trees of the Penn Treebank, read as words with parts of speech.

    ( (S (NP-SBJ (PRP It)) (VP (VBZ works)) (. .)))

A tree may take several lines. Traces (`-NONE-`) are left out; words are not unescaped (`-LRB-`, `1\\/2`).

Codes: HW258 brackets that do not fit together, or a word without a part of speech.
"""

from collections.abc import Iterator, Sequence

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.file_source import DataSource
from headwise.data.errors import DataError
from headwise.data.files.text_lines import Line, without_returns
from headwise.data.items.examples import TaggedSentence

TRACE = "-NONE-"
_TOKEN = lazy_pattern(r"[()]|[^ \t()]+")
_LEAF = lazy_pattern(r"\(([^\s()]+) [^\s()]+\)")
_WORD_AFTER_BRACKET = lazy_pattern(r"\)[ \t]*[^ \t()]")
"""A word after a closing bracket, which occurs in running text but not in trees."""

Leaf = tuple[int, str, str]
"""The line number, the tag and the word."""


def recognise(head: Sequence[Line]) -> str | None:
    """The reason why lines look like bracketed trees, or None; sentiment trees (0 to 4) are excluded."""
    texts = [text.rstrip("\r") for _, text in head if text.strip()]
    opened = bool(texts) and texts[0].lstrip().startswith("(")
    if not opened or any(_WORD_AFTER_BRACKET.search(text) for text in texts):
        return None
    leaves = {tag for text in texts for tag in _LEAF.findall(text)}
    return "bracketed trees with words and parts of speech" if leaves - set("01234") else None


class _OpenBracket:
    """An open bracket: its position, the label and word in it, and whether it has child brackets."""

    def __init__(self, line: int, column: int):
        self.line, self.column = line, column
        self.atoms: list[str] = []
        self.children = False


def read_sentences(lines: Iterator[Line], source: DataSource) -> Iterator[TaggedSentence]:
    """The sentence of each tree, with parts of speech as tags.

    Invalid trees are reported; then reading continues at the next line that begins with a bracket.

    Raises:
        DataError: HW258.
    """
    stack: list[_OpenBracket] = []
    leaves: list[Leaf] = []
    lost = False
    for number, text in without_returns(lines):
        if lost and not text.startswith("("):
            continue
        lost = False
        for match in _TOKEN.finditer(text):
            try:
                _process_token(number, match.start() + 1, match[0], stack, leaves, source)
            except DataError as error:
                source.report(error)
                lost = True
                stack, leaves = [], []
                break
            if leaves and not stack:
                _, tags, words = zip(*leaves, strict=True)
                yield TaggedSentence(words, tags, leaves[0][0])
                leaves = []
    if stack:
        node = stack[0]
        problem = "a bracket that is never closed"
        source.report_error("HW258", problem, node.line, node.column, expected="')'")


def _process_token(
    line: int, column: int, token: str, stack: list[_OpenBracket], leaves: list[Leaf], source: DataSource
) -> None:
    """Process the next bracket, label or word."""
    if token == "(":  # noqa: S105
        if stack:
            stack[-1].children = True
        stack.append(_OpenBracket(line, column))
    elif not stack:
        raise source.error("HW258", f"{token!r} outside all brackets", line, column, expected="'('")
    elif token != ")":  # noqa: S105
        stack[-1].atoms.append(token)
    else:
        node = stack.pop()
        if node.children == (len(node.atoms) == 2) or len(node.atoms) > 2:
            problem = f"a bracket around {' '.join(node.atoms)!r}" + " and brackets" * node.children
            expected = "(TAG word), or a label and brackets"
            raise source.error("HW258", problem, node.line, node.column, expected=expected)
        if not node.children and node.atoms[0] != TRACE:
            leaves.append((node.line, node.atoms[0], node.atoms[1]))
