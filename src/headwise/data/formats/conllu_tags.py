"""Tagged sentences from CoNLL-U: the tags are parts of speech, features, lemmas or relations, or those of a
key in the column MISC (`NER=B-PER`), where words without the key have the tag O."""

from collections import Counter
from collections.abc import Iterator, Sequence

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.file_source import DataSource, most_true
from headwise.data.errors import DataError
from headwise.data.files.text_lines import Line
from headwise.data.formats.conllu import ConlluSentence
from headwise.data.formats.conllu import read_sentences as read_conllu_sentences
from headwise.data.formats.record_fields import without_fields
from headwise.data.formats.tag_checks import marks_entities
from headwise.data.items.examples import TaggedSentence, align

COLUMNS = ("upos", "xpos", "feats", "deprel", "lemma")
UNKNOWN = "_"
MISC = "misc:"
"""Before the name of a key in the column MISC."""

_OUTSIDE = "O"
_WIDTH = 10  # columns
_ID = lazy_pattern(r"\d+([-.]\d+)?\t")


def recognise(head: Sequence[Line]) -> str | None:
    """The reason why lines look like CoNLL-U, or None."""
    rows = [text for _, text in head if text.strip() and not text.startswith("#")]
    fits = most_true(text.count("\t") == 9 and bool(_ID.match(text)) for text in rows)
    return "CoNLL-U, ten columns that begin with ids" if fits else None


def misc_column(
    head: Sequence[Line], requested: str | None, source: DataSource, *, labelled: bool
) -> str | None:
    """The tag column `misc:KEY` that the user named, or by default that of the only key with tags that mark
    spans; None if the tags are in another column.

    Raises:
        DataError: HW111, no word of the first sentences has the key, or its values are brackets.
    """
    if requested is not None and not requested.lower().startswith(MISC):
        return None
    values: dict[str, Counter[str]] = {}
    for _, text in head:
        cells = text.rstrip("\r").split("\t")
        if len(cells) == _WIDTH and cells[0].isdecimal():
            for key, value in _misc_pairs(cells[-1]):
                values.setdefault(key, Counter())[value] += 1
    if requested is None:
        tagged = [key for key, counts in values.items() if marks_entities(counts)]
        return f"{MISC}{tagged[0]}" if len(tagged) == 1 else None
    requested_key = requested[len(MISC) :].lower()
    key = next((key for key in values if key.lower() == requested_key), None)
    if key is None and not labelled:
        return requested
    if key is None:
        advice = f"give one of {', '.join(MISC + key for key in [*values][:10])}" if values else ""
        raise source.error("HW111", f"no word has {requested[len(MISC) :]!r} in MISC", advice=advice)
    if bracket := next((value for value in values[key] if value[:1] == "(" or value[-1:] == ")"), None):
        problem = f"{key!r} in MISC holds brackets of spans, such as {bracket!r}"
        advice = "write a tag for each word, such as NER=B-PER"
        raise source.error("HW111", problem, expected="a tag such as B-PER", advice=advice)
    return f"{MISC}{key}"


def _misc_pairs(misc: str) -> Iterator[tuple[str, str]]:
    """The keys and values of a cell such as `NER=B-PER|SpaceAfter=No`."""
    for pair in misc.split("|"):
        key, equals, value = pair.partition("=")
        if equals and value:
            yield key, value


def read_sentences(
    lines: Iterator[Line], source: DataSource, column: str, *, labelled: bool
) -> Iterator[TaggedSentence]:
    """The sentences of a file, with the tags of one of `COLUMNS`; invalid ones are reported and left out.

    Raises:
        DataError: HW240 to HW245; HW251, a word has no tag.
    """
    for sentence in read_conllu_sentences(lines, source):
        tags = _tags(sentence, column)
        if labelled and column != "feats" and {*tags} == {UNKNOWN} and source.skips_unanswered:
            source.counts.unlabelled += 1
            continue
        try:
            yield _tagged(sentence, tags, source, column, labelled)
        except DataError as error:
            source.report(error)


def _values(sentence: ConlluSentence) -> dict[str, tuple[str, ...]]:
    """The values of the words in each of `COLUMNS` and in further columns."""
    return {
        "upos": sentence.upos,
        "xpos": sentence.xpos,
        "feats": sentence.feats,
        "deprel": sentence.deprels,
        "lemma": sentence.lemmas,
    }


def _tags(sentence: ConlluSentence, column: str) -> tuple[str, ...]:
    if not column.startswith(MISC):
        return _values(sentence)[column]
    key = column.removeprefix(MISC)
    return tuple(dict(_misc_pairs(misc)).get(key, _OUTSIDE) for misc in sentence.misc)


def _tagged(
    sentence: ConlluSentence, tags: tuple[str, ...], source: DataSource, column: str, labelled: bool
) -> TaggedSentence:
    values = without_fields(_values(sentence), column)
    has_tags = UNKNOWN not in tags or column == "feats"  # words without features have "_"
    if labelled and not has_tags:
        word = tags.index(UNKNOWN)
        problem = f"the word {sentence.words[word]!r} has no {column}"
        advice = f"choose another column with --tag-column ({', '.join(COLUMNS)})"
        raise source.error("HW251", problem, sentence.lines[word], advice=advice)
    text = sentence.comment("text")
    spans = word_spans(sentence, text) if text is not None else None
    return TaggedSentence(
        tokens=sentence.words,
        tags=tags if has_tags else (),
        line=sentence.lines[0],
        parse=sentence.heads,
        columns=values,
        text=text if spans else None,
        spans=spans,
        starts_document=sentence.starts_document,
    )


def word_spans(sentence: ConlluSentence, text: str) -> tuple[tuple[int, int], ...] | None:
    """The character span of each word in the text; None if the text does not match the words.

    The words of a multi-word token share its span, unless the token is their concatenation ("do n't").
    """
    forms: list[str] = []
    groups: list[tuple[str, ...]] = []
    at = 0
    for token in (*sentence.multiwords, None):
        first = token.first - 1 if token else len(sentence.words)
        forms += sentence.words[at:first]
        groups += [(word,) for word in sentence.words[at:first]]
        if token:
            forms.append(token.form)
            groups.append(sentence.words[first : token.last])
            at = token.last
    places = align(forms, text)
    if places is None:
        return None
    spans = []
    for (start, end), form, words in zip(places, forms, groups, strict=True):
        within = align(words, form) or ((0, end - start),) * len(words)
        spans += [(start + a, start + b) for a, b in within]
    return tuple(spans)
