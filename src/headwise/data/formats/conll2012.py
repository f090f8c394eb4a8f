"""Files of the CoNLL-2012 shared task (OntoNotes 5), `*.v4_gold_conll`: bracket columns are spans.

    bc/cctv/00/cctv_0000  0  0  Tom   NNP  (TOP(S(NP*  -  -  -  -  (PERSON*  (ARG0*  -
    bc/cctv/00/cctv_0000  0  1  Sawyer NNP *)          -  -  -  -  *)        *)      -

The columns are: document, part, word number, word, part of speech, parse, four for predicates and speaker,
and named entities; then one per predicate, and coreference. So the number of columns differs between
sentences. A named entity begins at `(TYPE` and ends at `)`, and is read as tags B-TYPE, I-TYPE and O. Each
part of a document counts as a document.

Codes: HW250 a row of too few columns; HW258 brackets that do not fit together.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.file_source import DataSource, most_true
from headwise.data.errors import DataError
from headwise.data.files.text_lines import Line, without_returns
from headwise.data.formats.conll import FIELD
from headwise.data.items.examples import TaggedSentence

COLUMNS = ("ner", "pos")
_NUMBER, _WORD, _POS, _PARSE, _NAMES = 2, 3, 4, 5, 10
_LEAST = 12
_BEGIN = "#begin document"
_BRACKETS = lazy_pattern(r"(\(([^\s()*]+))?\*?(\))?")
_PARSE_BIT = lazy_pattern(r"(\([^\s()*]+)*\*\)*")


def recognise(head: Sequence[Line]) -> str | None:
    """The reason why lines look like CoNLL-2012, or None: 12 or more columns, a parse in the sixth."""
    rows = [FIELD.findall(text) for _, text in head if text.strip() and not text.startswith("#")]
    fits = most_true(
        len(row) >= _LEAST and row[_NUMBER].isdecimal() and bool(_PARSE_BIT.fullmatch(row[_PARSE]))
        for row in rows
    )
    return "CoNLL-2012, brackets around named entities in column 11" if fits else None


def read_sentences(lines: Iterator[Line], source: DataSource, column: str) -> Iterator[TaggedSentence]:
    """The sentences of a file, with the tags of one of `COLUMNS`; invalid ones are reported and left out.

    Raises:
        DataError: HW250, HW258.
    """
    rows: list[Line] = []
    starts = False
    for number, text in chain(without_returns(lines), [(0, "")]):
        comment = text.startswith("#") and len(FIELD.findall(text)) < _LEAST
        if text.strip(" \t") and not comment:
            rows.append((number, text))
            continue
        if rows:
            try:
                yield _sentence(rows, source, column, starts)
                starts = False
            except DataError as error:
                source.report(error)
            rows = []
        starts = starts or text.startswith(_BEGIN)


def _sentence(rows: list[Line], source: DataSource, column: str, starts: bool) -> TaggedSentence:
    cells = [FIELD.findall(text) for _, text in rows]
    for (number, _), row in zip(rows, cells, strict=True):
        if len(row) < _LEAST:
            expected = f"{_LEAST} or more, as in CoNLL-2012"
            raise source.error("HW250", f"a row of {len(row)} columns", number, expected=expected)
    tags = {
        "ner": _tags([(line, row[_NAMES]) for (line, _), row in zip(rows, cells, strict=True)], source),
        "pos": tuple(row[_POS] for row in cells),
    }
    return TaggedSentence(
        tokens=tuple(row[_WORD] for row in cells),
        tags=tags.pop(column),
        line=rows[0][0],
        columns=tags,
        starts_document=starts,
    )


def _tags(cells: list[Line], source: DataSource) -> tuple[str, ...]:
    """The BIO tags of a column of bracketed spans."""
    tags, opened = [], ""
    for line, cell in cells:
        match = _BRACKETS.fullmatch(cell)
        if match is None or (match[2] and opened) or (match[3] and not (match[2] or opened)):
            problem = f"{cell!r} {'within ' + opened if opened else 'outside an entity'}"
            expected = "one '(TYPE' before each ')', as (ORG), (ORG* or *)"
            raise source.error("HW258", problem, line, expected=expected)
        if match[2]:
            opened = match[2]
            tags.append(f"B-{opened}")
        else:
            tags.append(f"I-{opened}" if opened else "O")
        if match[3]:
            opened = ""
    if opened:
        problem = f"the entity {opened} is not closed in its sentence"
        raise source.error("HW258", problem, cells[-1][0], expected="')'")
    return tuple(tags)
