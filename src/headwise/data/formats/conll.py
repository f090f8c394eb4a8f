"""Sentences in columns: one token per line, a blank line after each sentence, the tag in the last column.

The format of CoNLL-2000, CoNLL-2003, WNUT-17 and similar data. Fields are separated by tabs, or by any
spaces and tabs. A line that begins with `-DOCSTART-` begins a document. Lines before a sentence that begin
with `#` and are not tokens are comments; `# text = ...` is the original text of the sentence.

Codes: HW250 a row with more or fewer columns than the others; HW251 a token without a tag, or a tag without
a token; HW254 tags that look like words; HW255 a head that is no token of the sentence; HW256 tokens that
depend on each other in a circle.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.column_names import normal_name
from headwise.data.columns.file_source import DataSource, fraction_true, values_recur
from headwise.data.columns.item_options import TagOptions
from headwise.data.columns.named_columns import check_distinct_columns, find_column
from headwise.data.errors import DataError
from headwise.data.files.text_lines import Line
from headwise.data.formats.tag_checks import look_like_words, marks_entities, shown_tags
from headwise.data.items.examples import TaggedSentence, align
from headwise.data.items.parses import cycle_text, find_cycle

DOCUMENT = "-DOCSTART-"
TOKEN_NAMES = ("token", "tokens", "word", "words", "form", "text")
TAG_NAMES = (
    *("tag", "tags", "label", "labels", "ner", "ner_tag", "ner_tags", "entity", "iob", "bio"),
    *("pos", "pos_tag", "upos", "xpos", "chunk", "chunk_tag"),
)
_COMMENT = lazy_pattern(r"#\s+(id\b|[\w.:-]+( [\w.:-]+)? = )|#\s*(\w+_)?id\s*[:=]")
_TEXT = lazy_pattern(r"#\s*text\s*=\s*(.*)")
_DOCUMENT_COMMENT = lazy_pattern(r"#\s*newdoc\b")
FIELD = lazy_pattern(r"[^ \t]+")
_EMPTY_CELLS = {"_", "-", ""}
_LANGUAGE = lazy_pattern(r"[a-z]{2,}(?:-[a-z]+)*:(?!//)")
_MANY = 10  # tokens, which do not begin alike by chance
_DECIMAL = lazy_pattern(r"-?\d*\.\d+(e-?\d+)?")

Block = list[tuple[int, list[str]]]
"""The rows of a sentence: the line number and the cells of each."""


@dataclass(frozen=True)
class TokenColumns:
    """The layout of the columns of a file.

    Attributes:
        tabs: Whether single tabs separate the fields, rather than any spaces and tabs.
        names: The columns' names, or their numbers from "1".
        token: The index of the token column, from 0.
        tag: The index of the tag column; None for a file without tags.
        head: The index of the column of dependency heads, if any.
        header: The line that names the columns, or 0.
        prefix: What stands before each token, as `en:` in WikiANN.
    """

    tabs: bool
    names: tuple[str, ...]
    token: int
    tag: int | None
    head: int | None = None
    header: int = 0
    prefix: str = ""

    @property
    def extra(self) -> tuple[int, ...]:
        """The indices of all columns that are not tokens, tags or heads."""
        return tuple(i for i in range(len(self.names)) if i not in (self.token, self.tag, self.head))


def recognise(head: Sequence[Line]) -> str | None:
    """The reason why lines look like columns, or None: rows of one width with one word per cell, in blocks
    of sentences or with entity tags."""
    blocks, tabs = sample_sentences(head)
    rows = [cells for block in blocks for _, cells in block]
    texts = [text for _, text in head if text.strip() and not text.startswith(("#", DOCUMENT))]
    width = len(rows[0]) if rows else 0
    if width < 2 or len(rows) < 0.9 * len(texts):
        return None
    token = likely_token(blocks)
    tag = likely_tag(blocks, [i for i in range(width) if i != token])
    tags, tokens = [cells[tag] for cells in rows], [cells[token] for cells in rows]
    if fraction_true(" " in cell for cell in (*tags, *tokens)) > 0.05:
        return None
    shown = f"in column {tag + 1} of {width} {shown_tags(tags)}"
    if marks_entities(Counter(tags)):
        return shown
    enough = len(blocks) > 1 and sum(map(len, blocks)) >= (2 if tabs else 3) * len(blocks)
    if enough and values_recur(tags) and len(set(tags)) < len(set(tokens)):
        return f"{shown}; blank lines between sentences"
    return None


def split_row(text: str, tabs: bool) -> list[str]:
    """The cells of a row, separated by spaces and tabs only, not by NEL or the no-break space."""
    if not tabs:
        return FIELD.findall(text)
    return [cell.strip(" ") for cell in text.split("\t")]


def uses_tabs(rows: Sequence[str]) -> bool:
    """Whether most rows have a tab between their cells."""
    return sum("\t" in row.strip(" \t") for row in rows) * 2 > len(rows)


def choose_token_columns(
    head: Sequence[Line], source: DataSource, options: TagOptions, *, labelled: bool
) -> TokenColumns:
    """The layout of the columns, from the options and the first lines.

    A note on each guess is added to `source.notes`.

    Raises:
        DataError: HW103, HW111, HW112, HW251 (a single column), HW254.
        ConfigError: The options name the same column for tokens and tags.
    """
    blocks, tabs = sample_sentences(head)
    names, header = _column_names(blocks, source) if blocks else ((), 0)
    if header:
        blocks = [[row for row in block if row[0] != header] for block in blocks]
        blocks = [block for block in blocks if block]
    if not blocks:
        raise source.error("HW103", "no sentences", expected="one token a line")
    width, line = len(names), blocks[0][0][0]
    if labelled and width < 2:
        expected = "a token and its tag in each line"
        advice = "separate them by a tab or spaces"
        raise source.error("HW251", "a single column", line, expected=expected, advice=advice)

    guessed = []
    head_column = _requested_column(options.head_column, names, source, "--head-column")
    usual = [normal_name(name) for name in names]
    if head_column is None and "head" in usual:
        head_column = usual.index("head")
        guessed.append(f"head={names[head_column]!r}")
    try:
        tag = _requested_column(options.tag_column, names, source, "--tag-column")
    except DataError:
        if labelled:
            raise
        tag = None
    token = _requested_column(options.token_column, names, source, "--token-column")
    check_distinct_columns(token_column=token, tag_column=tag)
    if token is None:
        left = [i for i in range(width) if i not in (tag, head_column)] or [0]
        named = [i for i in left if usual[i] in TOKEN_NAMES]
        likely = likely_token(blocks)
        token = named[0] if named else likely if likely in left else left[0]
        guessed.append(f"token={names[token]!r}")
    free = [i for i in range(width) if i not in (token, head_column)]
    if options.tag_column is None and free:
        tag = likely_tag(blocks, [i for i in free if usual[i] in TAG_NAMES] or free)
        guessed.append(f"tag={names[tag]!r}")
        if labelled:
            _check_words(blocks, token, tag, source)
    if guessed:
        separator = "tabs" if tabs else "spaces or tabs"
        layout = "1 column" if width == 1 else f"{width} columns, separated by {separator}"
        source.notes.append(f"{layout}: {', '.join(guessed)} - override with --token-column/--tag-column")
    tokens = [row[token] for block in blocks for _, row in block]
    language = _LANGUAGE.match(tokens[0])
    prefix = language[0] if language and len(tokens) >= _MANY else ""
    if prefix and all(word.startswith(prefix) for word in tokens):
        source.notes.append(f"each token begins with {prefix!r}, which is left out")
    else:
        prefix = ""
    return TokenColumns(tabs, names, token, tag, head_column, header, prefix)


def _requested_column(
    requested: str | None, names: Sequence[str], source: DataSource, flag: str
) -> int | None:
    """The index of a requested column; None if none is requested."""
    return None if requested is None else find_column(requested, names, source, flag)


def _check_words(blocks: list[Block], token: int, tag: int, source: DataSource) -> None:
    """Raise HW254 if the guessed tag column looks like words."""
    tags, tokens = ([row[i] for block in blocks for _, row in block] for i in (tag, token))
    if look_like_words(tags, tokens):
        raise source.error(
            "HW254",
            f"column {tag + 1} has {len(set(tags)):,} different values in {len(tags):,} lines, like words",
            blocks[0][0][0],
            expected="tags in the last column",
            advice="give --tag-column (a name, or a number from 1) if they are in another",
        )


def sample_sentences(head: Sequence[Line]) -> tuple[list[Block], bool]:
    """The sentences of the first lines (only rows of the usual width), and whether tabs separate."""
    lines = [(number, text.rstrip("\r")) for number, text in head]
    rows = [text for _, text in lines if text.strip(" \t") and not text.startswith(DOCUMENT)]
    tabs = uses_tabs([row for row in rows if not row.startswith("# ")] or rows)
    widths = Counter(len(split_row(row, tabs)) for row in rows if not _COMMENT.match(row))
    width = max(widths, key=lambda w: widths[w]) if widths else 0
    blocks: list[Block] = [[]]
    for number, text in lines:
        cells = split_row(text, tabs)
        if not text.strip(" \t"):
            blocks.append([])
        elif len(cells) == width and not text.startswith(DOCUMENT) and not _COMMENT.match(text):
            blocks[-1].append((number, cells))
    return [block for block in blocks if block], tabs


def _column_names(blocks: list[Block], source: DataSource) -> tuple[tuple[str, ...], int]:
    """The names of the columns, and the line of the header.

    The line is 0 for a file without a header; the names are then usual ones or numbers."""
    line, first = blocks[0][0]
    normal = [normal_name(cell) for cell in first]
    if not {*normal}.isdisjoint(TOKEN_NAMES) and not {*normal}.isdisjoint(TAG_NAMES):
        if len({*first}) < len(first):
            raise source.error("HW112", f"two columns of the same name: {' '.join(first)}", line)
        source.notes.append(f"line {line} names the columns")
        return tuple(first), line
    width = len(first)
    entities = [_marks_spans(blocks, column) for column in range(width)]
    if width == 4 and entities[2] and entities[3]:
        return ("word", "pos", "chunk", "ner"), 0
    if width == 3 and entities[2] and {"B-NP", "I-NP"} & _column(blocks, 2):
        return ("word", "pos", "chunk"), 0
    complete = blocks[:-1] or blocks  # the last sentence may be cut off
    if width == 3 and _column(blocks, 2) - {"0", "1"} and all(map(_has_heads, complete)):
        return ("word", "pos", "head"), 0
    if width == 2:
        return ("word", "tag") if likely_token(blocks) == 0 else ("tag", "word"), 0
    return tuple(str(i) for i in range(1, width + 1)), 0


def _column(blocks: list[Block], column: int) -> set[str]:
    """The distinct values of a column."""
    return {row[column] for block in blocks for _, row in block}


def likely_token(blocks: list[Block]) -> int:
    """The likely token column: the first, or the second if the first numbers the tokens. If that marks
    spans, it is the one with the most different values of those behind it that do not."""
    width = len(blocks[0][0][1])
    counted = any(
        all(row[0] == str(i) for block in blocks for i, (_, row) in enumerate(block, start=start))
        for start in (0, 1)
    )
    first = int(counted and width > 2)
    plain = [i for i in range(first, width) if not _marks_spans(blocks, i)]
    if first in plain or not plain:
        return first
    return max(plain, key=lambda column: (len(_column(blocks, column)), column))


def _marks_spans(blocks: list[Block], column: int) -> bool:
    return marks_entities(Counter(row[column] for block in blocks for _, row in block))


def likely_tag(blocks: list[Block], free: Sequence[int]) -> int:
    """The likely tag column: the first before the tokens that marks spans, else the last of the `free`
    columns that is not empty. Before one of nothing but `O`, of one value in each sentence (such as its
    annotator), of decimals (such as confidences) or of words (such as lemmas), the last that marks spans.
    """
    full = [i for i in free if not _column(blocks, i) <= _EMPTY_CELLS] or [*free]
    for column in range(likely_token(blocks)):
        if column in full and _marks_spans(blocks, column):
            return column
    rows = [row for block in blocks for _, row in block]
    last, tokens = ([row[i] for row in rows] for i in (full[-1], likely_token(blocks)))
    of_sentences = all(len({row[full[-1]] for _, row in block}) == 1 for block in blocks)
    doubtful = of_sentences or {*last} <= {*_EMPTY_CELLS, "O"} or all(map(_DECIMAL.fullmatch, last))
    if not doubtful and not look_like_words(last, tokens):
        return full[-1]
    spans = [i for i in full[:-1] if _marks_spans(blocks, i)]
    return spans[-1] if spans else full[-1]


def _has_heads(block: Block) -> bool:
    """Whether the third column holds the heads of a dependency tree."""
    cells = [row[2] for _, row in block]
    heads = [number for number in map(_number, cells) if number >= 0]
    return len(heads) == len(cells) >= max(heads) and 0 in heads and not find_cycle(heads)


def _number(cell: str) -> int:
    """The token number in a cell; -1 if it is not a number."""
    return int(cell) if cell.isascii() and cell.isdecimal() and len(cell) < 10 else -1


def read_sentences(
    lines: Iterator[Line], source: DataSource, layout: TokenColumns, *, labelled: bool
) -> Iterator[TaggedSentence]:
    """The sentences of a file; invalid ones are reported and left out.

    Raises:
        DataError: HW250, HW251, HW255, HW256.
    """
    rows: list[Line] = []
    written, starts = None, False
    for number, line in chain(lines, [(0, "")]):
        text = line.rstrip("\r")  # of Windows, also where programs doubled it
        if number == layout.header and tuple(split_row(text, layout.tabs)) == layout.names:
            continue
        if text.strip(" \t") and not text.startswith(DOCUMENT):
            if rows or not _is_comment(text, layout):
                rows.append((number, text))
            elif match := _TEXT.match(text):
                written = match[1]
            else:
                starts = starts or bool(_DOCUMENT_COMMENT.match(text))
            continue
        if rows and labelled and source.skips_unanswered and _is_untagged(rows, layout):
            source.counts.unlabelled += 1
            rows = []
        if rows:
            try:
                yield _sentence(rows, source, layout, labelled, written, starts)
                starts = False
            except DataError as error:
                source.report(error)
            rows = []
        written = None
        starts = starts or text.startswith(DOCUMENT)


def _is_untagged(rows: Sequence[Line], layout: TokenColumns) -> bool:
    """Whether no token of a sentence has a tag."""
    tags = (split_row(text, layout.tabs)[layout.tag or 0 : (layout.tag or 0) + 1] for _, text in rows)
    return layout.tag is not None and all(tag in ([], [""], ["_"]) for tag in tags)


def _is_comment(text: str, layout: TokenColumns) -> bool:
    """Whether a line before a sentence is a comment, and not a token "#"."""
    if not text.startswith("#"):
        return False
    return len(split_row(text, layout.tabs)) != len(layout.names) or bool(_COMMENT.match(text))


def _sentence(
    rows: list[Line],
    source: DataSource,
    layout: TokenColumns,
    labelled: bool,
    written: str | None,
    starts: bool,
) -> TaggedSentence:
    cells = [_cells(number, text, source, layout, labelled) for number, text in rows]
    columns = list(zip(*cells, strict=True))
    tokens = tuple(token.removeprefix(layout.prefix) or token for token in columns[layout.token])
    heads = None
    if layout.head is not None:
        heads = _heads(columns[layout.head], rows, source)
    spans = align(tokens, written) if written is not None else None
    return TaggedSentence(
        tokens=tokens,
        tags=() if layout.tag is None or "" in columns[layout.tag] else columns[layout.tag],
        line=rows[0][0],
        parse=heads,
        columns={layout.names[i]: columns[i] for i in layout.extra},
        text=written if spans else None,
        spans=spans,
        starts_document=starts,
    )


def _cells(number: int, text: str, source: DataSource, layout: TokenColumns, labelled: bool) -> list[str]:
    """The checked cells of a row, with an empty tag if it is missing."""
    cells = split_row(text, layout.tabs)
    width = len(layout.names)
    if len(cells) == width + 1 and not cells[-1]:
        cells.pop()  # a tab at the end of the line
    if len(cells) == 1 and width == 2 and layout.tag == 1:
        cells.append("")  # the tag is missing, with the tab before it
    advice, end = "a blank line is needed between sentences", len(text.rstrip(" \t"))
    check_cells(cells, layout, source, number, labelled=labelled, advice=advice, end=end)
    return cells


def check_cells(
    cells: Sequence[str],
    layout: TokenColumns,
    source: DataSource,
    number: int,
    *,
    labelled: bool,
    advice: str = "",
    empty_advice: str = "",
    end: int | None = None,
) -> None:
    """Check that a row has a cell for each column, a token and its tag if `labelled`.

    `advice` is for a row of another width, `empty_advice` for one without a token; a missing tag belongs
    behind the `end` of the line.

    Raises:
        DataError: HW250, HW251.
    """
    if len(cells) != len(layout.names):
        problem = f"a row of {len(cells)} column{'s' * (len(cells) != 1)}"
        expected = f"{len(layout.names)}: {' '.join(layout.names)}"
        raise source.error("HW250", problem, number, expected=expected, advice=advice)
    if not cells[layout.token]:
        problem, expected = "a row without a token", "a token and its tag"
        raise source.error("HW251", problem, number, expected=expected, advice=empty_advice)
    if labelled and layout.tag is not None and not cells[layout.tag]:
        problem = f"the token {cells[layout.token]!r} has no tag"
        advice = "write a tag, 'O' for a token outside all entities"
        place = None if end is None else end + 1
        raise source.error("HW251", problem, number, place, advice=advice)


def _heads(cells: Sequence[str], rows: list[Line], source: DataSource) -> tuple[int, ...]:
    """The dependency heads of a sentence."""
    heads = []
    for cell, (line, _) in zip(cells, rows, strict=True):
        number = _number(cell)
        if not 0 <= number <= len(cells):
            expected = f"a token of the sentence, 1 to {len(cells)}, or 0 for a root"
            raise source.error("HW255", f"the head {cell!r}", line, expected=expected)
        heads.append(number)
    if words := find_cycle(heads):
        problem = f"the tokens {cycle_text(words)} depend on each other in a circle"
        expected = "a way from every token to a root"
        raise source.error("HW256", problem, rows[words[0] - 1][0], expected=expected)
    return tuple(heads)
