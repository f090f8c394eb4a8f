"""A table with one word per row and a column that identifies the sentence, as in Kaggle's NER corpus: a
csv, or JSON with an object per word.

    Sentence #,Word,POS,Tag
    Sentence: 1,Tom,NNP,B-per
    ,ran,VBD,O

Without a header the tag of a word (`B-PER`) stands in the last column, the word before it; whole numbers in
the first column that recur number the sentences.

A sentence begins where the value of that column, an id or the sentence itself, changes; empty cells repeat
the value before. Without such a column a blank line ends a sentence, or a row of empty cells.

Codes: HW111 no such column; HW250 a row of other width; HW251 a word without a tag, or none.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

from headwise.data.columns.cell_values import as_text
from headwise.data.columns.column_names import most_usual_column
from headwise.data.columns.file_source import DataSource, fraction_true, look_ahead, most_true
from headwise.data.columns.item_options import TagOptions
from headwise.data.columns.named_columns import check_distinct_columns, find_column
from headwise.data.errors import DataError
from headwise.data.files.text_lines import Line
from headwise.data.formats import jsonl
from headwise.data.formats.conll import TAG_NAMES, TOKEN_NAMES, Block, TokenColumns, check_cells
from headwise.data.formats.csv import read_cells
from headwise.data.formats.csv_records import Cells
from headwise.data.formats.tag_checks import ENTITY_TAG, marks_entities
from headwise.data.items.examples import TaggedSentence
from headwise.data.items.numeric_labels import is_missing_value

SENTENCE_NAMES = (
    *("sentence_#", "sentence_id", "sentence_idx", "sentence_no", "sentence_number", "sentence_num"),
    *("sent_id", "sent_idx", "sentid", "sentenceid", "sentence", "sent"),
)
"""Usual names of the column that identifies the sentence, the most certain first."""

_NO_LINE = -1  # of the names of the fields of JSON, and of columns without a header
_LONGEST = 4  # words of a sentence identifier
_MOST_WORDS = 100  # of a sentence without a name and without a blank line after it


def recognise(head: Sequence[Line], *, labelled: bool = True) -> str | None:
    """The reason why lines look like such a table, or None: a usual header above single words."""
    rows = _rows(head)
    if len(rows) < 2:
        return None
    names = rows[0][1]
    sentence, token, tag = (
        most_usual_column(names, usual_names) for usual_names in (SENTENCE_NAMES, TOKEN_NAMES, TAG_NAMES)
    )
    if token is None or (tag is None and labelled):
        return None
    below = [cells for _, cells in rows[1:] if len(cells) == len(names)]
    words = [cells[i] for cells in below for i in (token, tag) if i is not None]
    if not below or fraction_true(" " in word for word in words) > 0.05:
        return None
    is_json = _begins_with_json(head)
    if is_json and (
        sentence is None or any(cell[:1] in ("[", "{") for cell in chain(*below) if len(cell) > 1)
    ):
        return None  # JSON has no blank lines between sentences; its lists are read elsewhere
    if sentence is None:
        tags = Counter(cells[tag] for cells in below if tag is not None and cells[tag])
        if "\t" in head[0][1] or len(tags) < 2 or not marks_entities(tags):
            return None
        return f"the columns {names[token]!r} and {names[tag or 0]!r}"
    sentences = ["" if is_missing_value(cells[sentence]) else cells[sentence] for cells in below]
    starts = [name not in ("", before) for before, name in pairwise(sentences)]
    long = [cells for cells in below if len(cells[sentence].split()) > _LONGEST]
    if long and not most_true(cells[token] in cells[sentence] for cells in long):
        return None
    if long and (tag is None or not marks_entities(Counter(cells[tag] for cells in below if cells[tag]))):
        return None  # perhaps a term beside each text
    if fraction_true(starts) > 0.5:
        return None
    shown = [repr(names[i]) for i in (sentence, token, tag) if i is not None]
    return f"the columns {', '.join(shown[:-1])} and {shown[-1]}"


def _rows(head: Sequence[Line]) -> list[Cells]:
    quiet = DataSource("", report=lambda error: None)
    return list(_word_rows(iter(head), quiet))


def _word_rows(lines: Iterator[Line], source: DataSource) -> Iterator[Cells]:
    """The rows of a csv, or those of JSON with an object per word: the names of its fields, which stand in
    no line, and the values of each object."""
    first, lines = look_ahead(lines, count=1)
    if not _begins_with_json(first):
        rows, cells = look_ahead(read_cells(lines, source))
        if names := _names_without_header([cells for _, cells in rows]):
            yield _NO_LINE, names
        yield from cells
        return
    names: list[str] = []
    for line, fields in jsonl.read_records(lines, source):
        if not names:
            names = [*fields]
            yield _NO_LINE, names
        yield line, [as_text(fields.get(name)) for name in names]


def _begins_with_json(head: Sequence[Line]) -> bool:
    return bool(head) and head[0][1].lstrip().startswith(("{", "["))


def _names_without_header(rows: Sequence[Sequence[str]]) -> list[str]:
    """Names of the columns of rows without a header, whose last cells are tags that mark spans; none for
    other rows."""
    if len(rows) < 2 or len({*map(len, rows)}) > 1 or len(rows[0]) < 2:
        return []
    if not all(ENTITY_TAG.fullmatch(row[-1].strip()) or not any(row) for row in rows):
        return []
    if not marks_entities(Counter(row[-1].strip() for row in rows if row[-1])):
        return []
    numbers = [row[0] for row in rows if row[0]]
    numbered = len(rows[0]) > 2 and all(map(str.isdecimal, numbers)) and len({*numbers}) < len(numbers)
    names = [SENTENCE_NAMES[1] if numbered and not i else str(i + 1) for i in range(len(rows[0]))]
    return [*names[:-2], TOKEN_NAMES[0], TAG_NAMES[0]] if len(names) == 2 or numbered else []


def choose_word_columns(
    head: Sequence[Line], source: DataSource, options: TagOptions, *, labelled: bool
) -> tuple[TokenColumns, int | None]:
    """The layout of the columns, from the options and their names, and the index of the sentence column, if
    there is one.

    Raises:
        DataError: HW103, HW111.
        ConfigError: The options name the same column for tokens and tags.
    """
    rows = _rows(head)
    if not rows:
        raise source.error("HW103", "no sentences", expected="a word in each row")
    line, names = rows[0]
    sentence = most_usual_column(names, SENTENCE_NAMES)
    blocks = {name for *_, name in _rows_of_sentences(iter(rows), sentence)}
    if sentence is None and len(rows) > _MOST_WORDS and len(blocks) == 1:
        problem = f"no column that tells the sentences apart among {', '.join(map(repr, names))}"
        expected = "a header with a column 'Sentence #', or a blank line after each sentence"
        raise source.error("HW111", problem, line, expected=expected)
    chosen: list[int | None] = []
    for requested, usual, flag in (
        (options.token_column, TOKEN_NAMES, "--token-column"),
        (options.tag_column, TAG_NAMES, "--tag-column"),
    ):
        try:
            column = (
                most_usual_column(names, usual)
                if requested is None
                else find_column(requested, names, source, flag)
            )
        except DataError:
            if labelled or flag == "--token-column":
                raise
            column = None
        if column is None and (labelled or flag == "--token-column"):
            advice = f"give {flag} with one of {', '.join(map(repr, names))}"
            raise source.error("HW111", f"a column for {flag} is not found", line, advice=advice)
        chosen.append(column)
    token, tag = chosen
    check_distinct_columns(token_column=token, tag_column=tag)
    roles = [f"{what}={names[i]!r}" for what, i in (("token", token), ("tag", tag)) if i is not None]
    end = "a blank line" if sentence is None else f"{names[sentence]!r} names another"
    source.notes.append(
        f"a sentence goes on until {end}; {', '.join(roles)} - override with --token-column/--tag-column"
    )
    return TokenColumns(False, tuple(names), token or 0, tag, header=line), sentence


def read_sentences(
    lines: Iterator[Line], source: DataSource, layout: TokenColumns, sentence: int | None, *, labelled: bool
) -> Iterator[TaggedSentence]:
    """The sentences of a file; invalid ones are reported and left out.

    Raises:
        DataError: HW114, HW250, HW251.
    """
    rows: Block = []
    name = ""
    named_rows = _rows_of_sentences(_word_rows(lines, source), sentence)
    for number, cells, sentence_name in chain(named_rows, [(0, [], "")]):
        if number == layout.header:
            continue
        if rows and (not number or sentence_name not in ("", name)):
            if labelled and source.skips_unanswered and _is_untagged(rows, layout):
                source.counts.unlabelled += 1
            else:
                try:
                    yield _sentence(rows, source, layout, labelled)
                except DataError as error:
                    source.report(error)
            rows = []
        if not number:
            return
        name = sentence_name or name
        if (
            source.options.null_texts == "skip"
            and not "".join(cells[layout.token : layout.token + 1]).strip()
        ):
            source.counts.skipped_nulls += 1
        elif name:
            rows.append((number, [cell.strip() for cell in cells]))
        else:
            column = layout.names[sentence or 0]
            expected = f"a name in the column {column!r} where a sentence begins"
            source.report_error("HW251", "a word of no sentence", number, expected=expected)


def _rows_of_sentences(rows: Iterator[Cells], sentence: int | None) -> Iterator[tuple[int, list[str], str]]:
    """The rows with the name of their sentence, which may be empty; without a column of names that is the
    number of blank lines and rows before, which are left out."""
    gaps, last = 0, 0
    for number, cells in rows:
        if sentence is not None:
            name = cells[sentence].strip() if len(cells) > sentence else ""
            yield number, cells, "" if is_missing_value(name) else name
            continue
        blank = not any(map(str.strip, cells))
        gaps += blank or number > last + 1 > 1
        last = number
        if not blank:
            yield number, cells, str(gaps + 1)


def _is_untagged(rows: Block, layout: TokenColumns) -> bool:
    """Whether no word of a sentence has a tag."""
    return layout.tag is not None and all(cells[layout.tag : layout.tag + 1] == [""] for _, cells in rows)


def _sentence(rows: Block, source: DataSource, layout: TokenColumns, labelled: bool) -> TaggedSentence:
    advice = "--null-texts skip leaves such rows out"
    for number, cells in rows:
        check_cells(cells, layout, source, number, labelled=labelled, empty_advice=advice)
    columns = list(zip(*(cells for _, cells in rows), strict=True))
    tags = () if layout.tag is None or "" in columns[layout.tag] else columns[layout.tag]
    extra = {layout.names[i]: columns[i] for i in layout.extra}
    return TaggedSentence(columns[layout.token], tags, rows[0][0], columns=extra)
