"""Read files of tagged sentences: columns (CoNLL), CoNLL-U, tags after slashes, bracketed trees,
lists and spans in JSON, a csv with a word in each row."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike, fspath
from typing import NamedTuple

from headwise.data.dataset import Dataset
from headwise.data.diagnosis import SHOWN, Finding, some, some_of
from headwise.data.errors import DataError, OnError, stop
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
from headwise.data.formats.tag_columns import tag_column
from headwise.data.options import ReadOptions
from headwise.data.sentence import Tagged
from headwise.data.source import Source, look_ahead
from headwise.data.tables import files_of_records
from headwise.data.tag_checks import (
    count_entities,
    marks_entities,
    middles,
    places_of,
    strange_tags,
    unopened,
    written_otherwise,
)
from headwise.data.tag_options import DEFAULT, TaggedFormat, TagOptions
from headwise.data.tag_sniff import guess_tagged_format
from headwise.errors import ConfigError
from headwise.features.tokenize import get_tokenizer

_BY_ROW = ("columns", "table")  # formats of one token a row


@dataclass(frozen=True)
class TagColumns:
    """The names of the columns of tokens, tags and heads, and of the others that were read along."""

    token: str
    tag: str | None
    head: str | None = None
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class TaggedData(Dataset[Tagged]):
    """The sentences of a file (or of several members of a zip), and how they were read.

    Attributes:
        documents: The number (from 0) of the first sentence of each document, if the file tells documents.
        files: Each file that was read, and the number of its first sentence.
    """

    documents: tuple[int, ...] = ()
    files: tuple[tuple[str, int], ...] = ()

    @property
    def tokens(self) -> int:
        """How many tokens there are."""
        return sum(len(sentence.tokens) for sentence in self.items)

    @property
    def tags(self) -> dict[str, int]:
        """How many tokens each tag has, the most frequent first, then by name."""
        return self.labels

    @property
    def entities(self) -> dict[str, int]:
        """How many entities there are of each type; empty if tags mark no entities."""
        return count_entities(self.items) if marks_entities(self.labels) else {}

    def with_items(self, items: list[Tagged]) -> "TaggedData":
        """The same file with other sentences; fewer of them do not tell documents and members."""
        if len(items) == len(self.items):
            return super().with_items(items)
        return replace(self, items=items, documents=(), files=())

    def where(self, item: int, token: int = 0) -> str:
        """`path:line` of a token, by the numbers of its sentence and in it, both from 0.

        The line is exact in files of one token a row, elsewhere that of the sentence's first token.
        """
        path = next((path for path, first in reversed(self.files) if first <= item), self.path)
        return f"{path}:{_line(self.items[item], token, self.format)}"


def read_tagged(
    path: str | PathLike[str],
    options: TagOptions = DEFAULT,
    on_error: OnError = stop,
    *,
    labelled: bool = True,
    tokenizer: str = "penn",
) -> TaggedData:
    """Read a file of tagged sentences into memory.

    Args:
        path: The file, plain or compressed; "-" is standard input; `archive.zip!member` is a member of a
            zip, and a pattern (`archive.zip!folder/*.mrg`) several, by name, each a document.
        options: What is not to be guessed.
        on_error: Is given the `DataError` of a sentence that cannot be used. By default it raises; if it
            returns, the sentence is left out and reading goes on.
        labelled: Whether every token has to have a tag; if not, a sentence of which one lacks has none.
        tokenizer: What cuts texts with spans into words, see `headwise.features.tokenize`.

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

    found: list[tuple[str, Tagged]] = []
    notes: list[str] = []
    findings: list[Finding] = []
    plan, how = None, ReadOptions(encoding=options.encoding, encoding_errors=options.encoding_errors)
    for file, lines in files_of_records(name, options.encoding, options.encoding_errors, notes):
        source = Source(file, how, counting, notes, findings=findings)
        if plan is None:
            head, lines = look_ahead(lines)
            plan = _plan(head, source, options, labelled, tokenizer)
        found += [(file, sentence) for sentence in plan.read(lines, source)]
    if plan is None:
        raise DataError("HW103", "no files", path=name)
    tags = _count(sentence for _, sentence in found)
    if letters := middles(tags):
        found = [(file, _spelt(sentence, letters)) for file, sentence in found]
        tags = _count(sentence for _, sentence in found)
        notes.append("tags of the scheme BMES, read as BIOES: I for M (and S for W)")
    bad = _report_strange(found, tags, plan.format, counting) if labelled else set()

    several = len({file for file, _ in found}) > 1
    sentences: list[Tagged] = []
    files: dict[str, int] = {}
    documents: list[int] = []
    starts = False
    for index, (file, sentence) in enumerate(found):
        starts = starts or sentence.starts_document or (several and file not in files)
        if index in bad:
            continue
        if starts:
            documents.append(len(sentences))
        starts = False
        files.setdefault(file, len(sentences))
        sentences.append(sentence)
    if documents and documents[0] > 0:
        documents.insert(0, 0)
    if skipped:
        notes.append(f"sentences left out, as they cannot be used: {skipped:,}")
    data = TaggedData(
        sentences,
        name,
        plan.format,
        plan.columns,
        tuple(notes),
        documents=tuple(documents),
        skipped=skipped,
        files=tuple(files.items()),
    )
    return replace(data, findings=(*findings, *_findings(data)))


class _Plan(NamedTuple):
    format: TaggedFormat
    columns: TagColumns
    read: Callable[[Iterator[Line], Source], Iterator[Tagged]]


def _named_columns(
    columns: Sequence[str], form: str, options: TagOptions, source: Source
) -> tuple[str, tuple[str, ...]]:
    """The column of the tags of a format that names its columns, and the others."""
    tag = tag_column(options.tag_column, columns, form)
    if not options.tag_column:
        source.notes.append(f"tags are those of the column {tag} - override with --tag-column")
    return tag, tuple(name for name in columns if name != tag)


def _plan(
    head: Sequence[Line], source: Source, options: TagOptions, labelled: bool, tokenizer: str
) -> _Plan:
    """How files are read, by the options and by the first lines of the first one."""
    form = options.format
    if form is None:
        form, reason = guess_tagged_format(source.path, head, labelled=labelled)
        source.notes.append(f"format {form} guessed {reason} - override with --format")
    unused = {"token": options.token_column, "head": options.head_column} if form != "columns" else {}
    if form in ("lists", "table", "spans"):
        unused.pop("token")
    if form in ("slash", "trees"):
        unused["tag"] = options.tag_column
    if given := next((name for name, asked in unused.items() if asked), None):
        raise ConfigError(f"no {given} column to choose in {form}; leave out --{given}-column")
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
            others=tuple(names[i] for i in layout.others),
        )
        return _Plan(form, columns, read)
    if form == "conllu":
        tag, others = _named_columns(conllu_tags.COLUMNS, "CoNLL-U", options, source)
        read = partial(conllu_tags.read_sentences, column=tag, labelled=labelled)
        return _Plan(form, TagColumns("form", tag, "head", others), read)
    if form == "conll2012":
        tag, others = _named_columns(conll2012.COLUMNS, "CoNLL-2012", options, source)
        read = partial(conll2012.read_sentences, column=tag)
        return _Plan(form, TagColumns("word", tag, None, others), read)
    if form == "lists":
        token, tag = options.token_column, options.tag_column
        token, tag, others = token_lists.choose_lists(head, source, token, tag, labelled=labelled)
        read = partial(token_lists.read_sentences, token=token, tag=tag, others=others, labelled=labelled)
        return _Plan(form, TagColumns(token, tag, None, others), read)
    if form == "spans":
        token, tag = options.token_column, options.tag_column
        token, tag = spans.choose_fields(head, source, token, tag, labelled=labelled)
        cut = get_tokenizer(tokenizer).spans
        read = partial(spans.read_sentences, text=token, spans=tag, cut=cut, labelled=labelled)
        return _Plan(form, TagColumns(token, tag), read)
    columns = TagColumns("word", "tag")
    if form == "slash":
        spread = slashed.is_spread([text for _, text in head])
        return _Plan(form, columns, partial(slashed.read_sentences, spread=spread))
    return _Plan(form, columns, trees.read_sentences)


def _report_strange(
    found: Sequence[tuple[str, Tagged]], tags: Counter[str], form: TaggedFormat, on_error: OnError
) -> set[int]:
    """Report sentences with tags that are mistakes; their numbers."""
    if form not in (*_BY_ROW, "slash"):
        return set()
    strange = strange_tags(tags)
    places = list(places_of([sentence for _, sentence in found], strange))
    usual = ", ".join(tag for tag, _ in tags.most_common(5) if tag not in strange)
    for index, token in places:
        file, sentence = found[index]
        tag = sentence.tags[token]
        advice = f"write {strange[tag]!r}" if strange[tag] else "correct it"
        line = _line(sentence, token, form)
        wrong, right = f"the tag {tag!r} of the token {sentence.tokens[token]!r}", f"tags such as {usual}"
        on_error(DataError("HW252", wrong, expected=right, advice=advice, path=file, line=line))
    return {index for index, _ in places}


def _findings(data: TaggedData) -> Iterator[Finding]:
    if data.labels and all(tag.isdecimal() for tag in data.labels):
        numbers = some(sorted(data.labels, key=lambda tag: (len(tag), tag)))
        told = f"tags that are numbers ({numbers}): each is learnt as a class of single words"
        fix = "where they stand for names, such as B-PER, write these to have spans"
        yield Finding("warning", "HW248", told, (data.path,), fix)
    elif not marks_entities(data.labels):
        yield from _without_spans(data)
    if data.format not in _BY_ROW or not marks_entities(data.labels):
        return
    places = unopened(data.items)
    if places:
        index, token = places[0]
        tag = data.items[index].tags[token]
        goes = "entity goes" if len(places) == 1 else "entities go"
        message = f"{len(places):,} {goes} on where none has begun, first {tag!r} (IOB2 begins with 'B')"
        where = some_of([data.where(*place) for place in places[:SHOWN]], len(places))
        fix = f"write 'B{tag[1:]}' for the first token of an entity"
        yield Finding("warning", "HW253", message, where, fix)


def _without_spans(data: TaggedData) -> Iterator[Finding]:
    """Tags that look as if they were meant to mark spans, but do not."""
    if written := written_otherwise(data.labels):
        tag, right = written
        told = f"tags such as {tag!r} mark no spans: each is learnt as a class of single words"
        yield Finding("warning", "HW248", told, (data.path,), f"write {right!r} for {tag!r} to have spans")
        return
    outside, words = data.labels.get("O", 0), data.tokens
    others = [tag for tag in data.labels if tag != "O"]
    if others and 2 * outside > words:
        told = (
            f"tags such as {others[0]!r}, without B- or I-, mark no spans: each word is learnt for itself"
        )
        told += f", and accuracy counts the {outside / words:.0%} of the words that are tagged 'O'"
        fix = f"write 'I-{others[0]}' for {others[0]!r} to have spans (words side by side are one)"
        yield Finding("warning", "HW248", told, (data.path,), fix)


def _spelt(sentence: Tagged, names: Mapping[str, str]) -> Tagged:
    return replace(sentence, tags=tuple(names.get(tag, tag) for tag in sentence.tags))


def _count(sentences: Iterable[Tagged]) -> Counter[str]:
    return Counter(tag for sentence in sentences for tag in sentence.tags)


def _line(sentence: Tagged, token: int, form: str) -> int:
    return sentence.line + (token if form in _BY_ROW else 0)
