"""Read files of tagged sentences: columns (CoNLL), CoNLL-U, tags after slashes, bracketed trees,
lists and spans in JSON, a csv with one word per row."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike, fspath
from typing import NamedTuple

from headwise.core.errors import ConfigError
from headwise.core.tokenizer import get_tokenizer
from headwise.data.columns.file_source import DataSource, look_ahead
from headwise.data.columns.item_options import (
    DEFAULT_TAG_OPTIONS,
    SpanRecordOptions,
    TaggedFormat,
    TagOptions,
)
from headwise.data.errors import DataError, OnError, raise_error
from headwise.data.files.tables import files_of_records
from headwise.data.files.text_lines import Line
from headwise.data.findings import SHOWN, Finding, abbreviate, with_remainder
from headwise.data.formats import character_spans as spans
from headwise.data.formats import conll, conll2012, conllu_tags, token_lists, word_table
from headwise.data.formats import penn_trees as trees
from headwise.data.formats import slashed_tags as slashed
from headwise.data.formats.brat import brat_lines, is_brat
from headwise.data.formats.data_frames import lines_of_frame
from headwise.data.formats.tag_checks import (
    bmes_as_bioes,
    count_entity_types,
    marks_entities,
    span_warnings,
    spans_without_begin,
    tag_corrections,
    tag_positions,
)
from headwise.data.items.dataset import Dataset
from headwise.data.items.examples import TaggedSentence
from headwise.data.readers.file_sets import null_text_notes
from headwise.data.readers.tag_format_guess import guess_tagged_format

_TOKEN_PER_ROW = ("columns", "table")  # formats with one token per row


@dataclass(frozen=True)
class TagColumns:
    """The names of the columns of tokens, tags and heads, and of the `extra` columns that are also read."""

    token: str
    tag: str | None
    head: str | None = None
    extra: tuple[str, ...] = ()


@dataclass(frozen=True)
class TaggedData(Dataset[TaggedSentence]):
    """The sentences of a file (or of several members of a zip), and how they were read.

    Attributes:
        documents: The number (from 0) of the first sentence of each document, if the file marks documents.
        files: Each file that was read, with the number of its first sentence.
    """

    documents: tuple[int, ...] = ()
    files: tuple[tuple[str, int], ...] = ()

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return sum(len(sentence.tokens) for sentence in self.items)

    @property
    def tags(self) -> dict[str, int]:
        """The number of tokens of each tag, the most frequent first, then by name."""
        return self.labels

    @property
    def entities(self) -> dict[str, int]:
        """The number of entities of each type; empty if tags mark no entities."""
        return count_entity_types(self.items) if marks_entities(self.labels) else {}

    def with_items(self, items: list[TaggedSentence]) -> "TaggedData":
        """This data set with other sentences; `documents` and `files` are empty if their number differs."""
        if len(items) == len(self.items):
            return super().with_items(items)
        return replace(self, items=items, documents=(), files=())

    def where(self, item: int, token: int = 0) -> str:
        """`path:line` of a token, given the number of its sentence and its number in it, both from 0.

        The line is exact in files with one token per row; otherwise it is that of the sentence.
        """
        path = next((path for path, first in reversed(self.files) if first <= item), self.path)
        sentence = self.items[item]
        file = getattr(sentence.line, "file", path)
        return f"{file}:{_line(sentence, token, self.format)}"


def read_tagged(
    path: str | PathLike[str],
    options: TagOptions = DEFAULT_TAG_OPTIONS,
    on_error: OnError = raise_error,
    *,
    labelled: bool = True,
    tokenizer: str = "penn",
) -> TaggedData:
    """Read a file of tagged sentences into memory.

    Args:
        path: The file, plain or compressed; "-" is standard input; `archive.zip!member` is a member of a
            zip, and a pattern (`archive.zip!folder/*.mrg`) several, by name, each a document.
        options: The format and columns, as far as they should not be guessed.
        on_error: Called with the `DataError` of a sentence that cannot be used. By default it raises; if it
            returns, the sentence is left out and reading continues.
        labelled: Whether every token must have a tag. If not, sentences with a missing tag have no tags.
        tokenizer: The tokenizer for texts with character spans, see `headwise.core.tokenizer`.

    Raises:
        DataError: HW101 to HW106 (the file), HW111, HW112 (columns), HW240 to HW245 (CoNLL-U), HW246,
            HW250 to HW259.
        ConfigError: An option does not apply to the format.
    """
    name, skipped = fspath(path), 0

    def counting(error: DataError) -> None:
        nonlocal skipped
        on_error(error)
        skipped += 1

    file_sentences: list[tuple[str, TaggedSentence]] = []
    notes: list[str] = []
    findings: list[Finding] = []
    plan, unlabelled = None, 0
    record_options = SpanRecordOptions(
        encoding=options.encoding,
        encoding_errors=options.encoding_errors,
        empty_labels=options.empty_labels,
        null_texts=options.null_texts,
        overlapping_spans=options.overlapping_spans,
    )
    decoding = options.encoding, options.encoding_errors
    if is_brat(name):
        files_with_lines = iter([(name, brat_lines(name, *decoding))])
        notes.append("brat's annotations, with the texts beside them: a sentence for each line")
    else:
        files_with_lines = files_of_records(name, *decoding, notes)
    for file, lines in files_with_lines:
        lines = lines_of_frame(lines, file, notes)
        source = DataSource(file, record_options, counting, notes, findings=findings)
        if plan is None:
            head, lines = look_ahead(lines)
            plan = _plan(head, source, options, labelled, tokenizer)
        file_sentences += [(file, _with_shared_strings(sentence)) for sentence in plan.read(lines, source)]
        unlabelled += source.counts.unlabelled
        notes += null_text_notes(source)
    if plan is None:
        raise DataError("HW103", "no files", path=name)
    tags = _count(sentence for _, sentence in file_sentences)
    if letters := bmes_as_bioes(tags):
        file_sentences = [
            (file, replace(sentence, tags=tuple(letters.get(tag, tag) for tag in sentence.tags)))
            for file, sentence in file_sentences
        ]
        tags = _count(sentence for _, sentence in file_sentences)
        notes.append("tags of the scheme BMES, read as BIOES: I for M (and S for W)")
    bad = _report_invalid_tags(file_sentences, tags, plan.format, counting) if labelled else set()
    sentences, documents, files = _without_invalid(file_sentences, bad)
    if unlabelled:
        notes.append(f"sentences that nobody has tagged, left out: {unlabelled:,}")
    if skipped:
        notes.append(f"sentences left out, as they cannot be used: {skipped:,}")
    data = TaggedData(
        sentences,
        name,
        plan.format,
        plan.columns,
        tuple(notes),
        documents=documents,
        skipped=skipped,
        files=files,
    )
    return replace(data, findings=(*findings, *_findings(data)))


def _without_invalid(
    file_sentences: Sequence[tuple[str, TaggedSentence]], invalid: Set[int]
) -> tuple[list[TaggedSentence], tuple[int, ...], tuple[tuple[str, int], ...]]:
    """The sentences without those of these numbers, and the number of the first sentence of each document
    and of each file. A document goes on with the next sentence if its first one is left out."""
    has_many_files = len({file for file, _ in file_sentences}) > 1
    sentences: list[TaggedSentence] = []
    files: dict[str, int] = {}
    documents: list[int] = []
    starts = False
    for index, (file, sentence) in enumerate(file_sentences):
        starts = starts or sentence.starts_document or (has_many_files and file not in files)
        if index in invalid:
            continue
        if starts:
            documents.append(len(sentences))
        starts = False
        files.setdefault(file, len(sentences))
        sentences.append(sentence)
    if documents and documents[0] > 0:
        documents.insert(0, 0)
    return sentences, tuple(documents), tuple(files.items())


class _TagReadingPlan(NamedTuple):
    """The format and columns of a file, and the function that reads its sentences."""

    format: TaggedFormat
    columns: TagColumns
    read: Callable[[Iterator[Line], DataSource], Iterator[TaggedSentence]]


def tag_column(requested: str | None, columns: Sequence[str], form: str) -> str:
    """The name of the tag column in a format with named columns, by default the first one.

    Raises:
        ConfigError: There is no such column.
    """
    name = (requested or columns[0]).lower()
    if name not in columns:
        more = ", or misc:KEY for those of a key in MISC" if form == "CoNLL-U" else ""
        raise ConfigError(f"no tags of {form} in {requested!r}; expected one of {', '.join(columns)}{more}")
    return name


def _named_columns(
    columns: Sequence[str], form: str, options: TagOptions, source: DataSource
) -> tuple[str, tuple[str, ...]]:
    """The tag column of a format with named columns, and the remaining columns."""
    tag = tag_column(options.tag_column, columns, form)
    if not options.tag_column:
        source.notes.append(f"tags are those of the column {tag} - override with --tag-column")
    return tag, tuple(name for name in columns if name != tag)


def _plan(
    head: Sequence[Line], source: DataSource, options: TagOptions, labelled: bool, tokenizer: str
) -> _TagReadingPlan:
    """The reading plan for all files, from the options and the first lines of the first file."""
    form = options.format
    if form is None:
        form, reason = guess_tagged_format(source.path, head, labelled=labelled)
        source.notes.append(f"format {form} guessed {reason} - override with --format")
    unused = {"token": options.token_column, "head": options.head_column} if form != "columns" else {}
    if form in ("lists", "table", "spans"):
        unused.pop("token")
    if form in ("slash", "trees"):
        unused["tag"] = options.tag_column
    if inapplicable := next((name for name, column in unused.items() if column), None):
        raise ConfigError(
            f"no {inapplicable} column to choose in {form}; leave out --{inapplicable}-column"
        )
    if form in ("columns", "table"):
        if form == "columns":
            layout = conll.choose_token_columns(head, source, options, labelled=labelled)
            read = partial(conll.read_sentences, layout=layout, labelled=labelled)
        else:
            layout, sentence = word_table.choose_word_columns(head, source, options, labelled=labelled)
            read = partial(word_table.read_sentences, layout=layout, sentence=sentence, labelled=labelled)
        names = layout.names
        columns = TagColumns(
            token=names[layout.token],
            tag=None if layout.tag is None else names[layout.tag],
            head=None if layout.head is None else names[layout.head],
            extra=tuple(names[i] for i in layout.extra),
        )
        return _TagReadingPlan(form, columns, read)
    if form == "conllu":
        extra = conllu_tags.COLUMNS
        tag = conllu_tags.misc_column(head, options.tag_column, source, labelled=labelled)
        if tag is None:
            tag, extra = _named_columns(extra, "CoNLL-U", options, source)
        elif not options.tag_column:
            source.notes.append(f"tags are those of {tag}, without it O - override with --tag-column")
        read = partial(conllu_tags.read_sentences, column=tag, labelled=labelled)
        return _TagReadingPlan(form, TagColumns("form", tag, "head", extra), read)
    if form == "conll2012":
        tag, extra = _named_columns(conll2012.COLUMNS, "CoNLL-2012", options, source)
        read = partial(conll2012.read_sentences, column=tag)
        return _TagReadingPlan(form, TagColumns("word", tag, None, extra), read)
    if form == "lists":
        token, tag = options.token_column, options.tag_column
        token, tag, extra = token_lists.choose_lists(head, source, token, tag, labelled=labelled)
        read = partial(
            token_lists.read_sentences,
            token=token,
            tag=tag,
            extra=extra,
            labelled=labelled,
            compares_spans=options.tag_column is None,
        )
        return _TagReadingPlan(form, TagColumns(token, tag, None, extra), read)
    if form == "spans":
        token, tag = options.token_column, options.tag_column
        token, tag = spans.choose_fields(head, source, token, tag, labelled=labelled)
        words = get_tokenizer(tokenizer).spans
        unit = spans.offset_unit(head, token, tag, words)
        pieces = spans.hold_pieces(head, tag, source)
        choices = {"text": token, "spans": tag, "words": words, "unit": unit, "pieces": pieces}
        read = partial(spans.read_sentences, **choices, labelled=labelled)
        return _TagReadingPlan(form, TagColumns(token, tag), read)
    columns = TagColumns("word", "tag")
    if form == "slash":
        spread, mark = slashed.is_spread([text for _, text in head]), slashed.mark_of(head)
        return _TagReadingPlan(form, columns, partial(slashed.read_sentences, spread=spread, mark=mark))
    return _TagReadingPlan(form, columns, trees.read_sentences)


def _report_invalid_tags(
    file_sentences: Sequence[tuple[str, TaggedSentence]],
    tags: Counter[str],
    form: TaggedFormat,
    on_error: OnError,
) -> set[int]:
    """Report sentences with invalid tags, and return their numbers."""
    if form not in (*_TOKEN_PER_ROW, "slash"):
        return set()
    strange = tag_corrections(tags)
    places = list(tag_positions([sentence for _, sentence in file_sentences], strange))
    usual = ", ".join(tag for tag, _ in tags.most_common(5) if tag not in strange)
    for index, token in places:
        file, sentence = file_sentences[index]
        tag = sentence.tags[token]
        advice = f"write {strange[tag]!r}" if strange[tag] else "correct it"
        line = _line(sentence, token, form)
        wrong, right = f"the tag {tag!r} of the token {sentence.tokens[token]!r}", f"tags such as {usual}"
        on_error(DataError("HW252", wrong, expected=right, advice=advice, path=file, line=line))
    return {index for index, _ in places}


def _findings(data: TaggedData) -> Iterator[Finding]:
    """Warnings on tags that mark no spans, and on entities without a begin."""
    if data.labels and all(tag.isdecimal() for tag in data.labels):
        numbers = abbreviate(sorted(data.labels, key=lambda tag: (len(tag), tag)))
        message = f"tags that are numbers ({numbers}): each is learnt as a class of single words"
        fix = "where they stand for names, such as B-PER, write these to have spans"
        yield Finding("warning", "HW248", message, (data.path,), fix)
    elif not marks_entities(data.labels):
        yield from span_warnings(data.labels, data.path)
    if data.format not in _TOKEN_PER_ROW or not marks_entities(data.labels):
        return
    places = spans_without_begin(data.items)
    if places:
        index, token = places[0]
        tag = data.items[index].tags[token]
        goes = "entity goes" if len(places) == 1 else "entities go"
        message = f"{len(places):,} {goes} on where none has begun, first {tag!r} (IOB2 begins with 'B')"
        where = with_remainder([data.where(*place) for place in places[:SHOWN]], len(places))
        fix = f"write 'B{tag[1:]}' for the first token of an entity"
        yield Finding("warning", "HW253", message, where, fix)


_NO_COLUMNS: Mapping[str, tuple[str, ...]] = {}


def _with_shared_strings(sentence: TaggedSentence) -> TaggedSentence:
    """The sentence with one object for all equal tokens and tags of all sentences, which saves memory."""
    columns = {name: _interned(values) for name, values in sentence.columns.items()}
    return replace(
        sentence,
        tokens=_interned(sentence.tokens),
        tags=_interned(sentence.tags),
        columns=columns or _NO_COLUMNS,
        fields=sentence.fields or _NO_COLUMNS,
    )


def _interned(strings: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(sys.intern, map(str, strings)))


def _count(sentences: Iterable[TaggedSentence]) -> Counter[str]:
    return Counter(tag for sentence in sentences for tag in sentence.tags)


def _line(sentence: TaggedSentence, token: int, form: str) -> int:
    return sentence.line + (token if form in _TOKEN_PER_ROW else 0)
