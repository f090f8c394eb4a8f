"""Trees of the Stanford Sentiment Treebank: `(3 (2 It) (4 works))`, one per line (Socher 2013)."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.file_source import DataSource, Record, most_true
from headwise.data.errors import DataError
from headwise.data.files.text_lines import Line

_TOKEN = lazy_pattern(r"[()]|[^\s()]+")
_TREE = lazy_pattern(r"\([0-4] ")
BINARY = {"0": "0", "1": "0", "3": "1", "4": "1"}  # 2 is neutral


class SentimentNode(NamedTuple):
    """A node of a tree: its label ("0" to "4") and the range of its words."""

    label: str
    start: int
    end: int


def recognise(texts: Sequence[str]) -> bool:
    """Whether most lines begin like trees."""
    return most_true(bool(_TREE.match(text.lstrip())) for text in texts)


def read_records(lines: Iterator[Line], source: DataSource) -> Iterator[Record]:
    """One record per tree, or with the option `sst_unit="phrases"` one per node (root first)."""
    roots_only, binary = source.options.sst_unit == "sentences", source.options.sst_labels == "binary"
    for number, text in lines:
        if not text.strip():
            source.counts.blank += 1
            continue
        try:
            words, nodes = parse_tree(text, source.path, number)
        except DataError as error:
            source.report(error)
            continue
        for node in nodes[:1] if roots_only else nodes:
            label = BINARY.get(node.label) if binary else node.label
            if label is None:
                source.counts.neutral += 1
            else:
                phrase = " ".join(words[node.start : node.end])
                yield Record(number, {"label": label, "text": phrase})


def parse_tree(text: str, path: str = "", line: int | None = None) -> tuple[list[str], list[SentimentNode]]:
    """The words of a tree, and its nodes from the root, each before its children.

    Raises:
        DataError: HW119 (brackets), HW122 (labels), with the line and column.
    """
    words: list[str] = []
    nodes: list[SentimentNode | None] = []
    stack: list[tuple[int, str, int, int]] = []  # index in nodes, label, first word, column

    def wrong(problem: str, column: int, expected: str, code: str = "HW119") -> DataError:
        return DataError(code, problem, expected=expected, path=path, line=line, column=column)

    tokens = _TOKEN.finditer(text)
    for token in tokens:
        column = token.start() + 1
        if nodes and not stack:
            raise wrong(f"{token[0]!r} after the end of the tree", column, "one tree a line")
        if token[0] == "(":
            label = next(tokens, None)
            if label is None or label[0] not in {"0", "1", "2", "3", "4"}:
                problem = f"{label[0]!r} after a bracket" if label else "a bracket at the end"
                at = label.start() + 1 if label else column
                raise wrong(problem, at, "a label from 0 to 4", "HW122")
            stack.append((len(nodes), label[0], len(words), column))
            nodes.append(None)
        elif not stack:
            raise wrong(f"{token[0]!r} before any bracket", column, "'('")
        elif token[0] == ")":
            index, label, start, _ = stack.pop()
            if start == len(words):
                raise wrong("a node without words", column, "a word or another node")
            nodes[index] = SentimentNode(label, start, len(words))
        else:
            words.append(token[0])
    if stack:
        raise wrong("a bracket that is never closed", stack[-1][3], "')' before the line's end")
    return words, [node for node in nodes if node is not None]
