r"""Tags after a slash: `The/DT asbestos/NN fiber/NN ./.`, one sentence per line.

The last slash of a token is the separator, so `1\/2/CD` is the token `1\/2`; tokens are not unescaped. A
low line (`The_DT`) or a bar (`The|DT`) may stand in its place.

In files of the Penn Treebank a sentence spreads over several lines, with brackets around noun phrases
(`[ The/DT fiber/NN ]`) and rules of `=`. There a sentence ends (as in NLTK) after the tag `.` outside
brackets, or at a rule.

Codes: HW251 a token without a tag; HW257 a token without a slash.
"""

from collections.abc import Iterator, Sequence

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.file_source import DataSource, most_true
from headwise.data.errors import DataError
from headwise.data.files.text_lines import Line, without_returns
from headwise.data.formats.conll import FIELD
from headwise.data.formats.tag_checks import ENTITY_TAG, shown_tags
from headwise.data.items.examples import TaggedSentence

RULE = "====="
_MARKS = ("/", "_", "|")
"""What stands between word and tag, the most usual first."""
_LETTER = lazy_pattern(r"[^\W\d_]")
_FIELDS = lazy_pattern(r"\w.*[,;].*")

Token = tuple[int, str, str]
"""The line number, the token and its tag."""


def recognise(head: Sequence[Line]) -> str | None:
    """The reason why lines look like tags after slashes, or None."""
    for mark, name in zip(_MARKS, ("slash", "low line", "bar"), strict=True):
        if tags := _tags(head, mark):
            return f"words with tags after a {name}: {shown_tags(tags)}"
    return None


def mark_of(head: Sequence[Line]) -> str:
    """The mark between words and tags."""
    return next((mark for mark in _MARKS if _tags(head, mark)), _MARKS[0])


def _tags(head: Sequence[Line], mark: str) -> list[str]:
    """The tags of words, if nearly all have one after a mark; else none. Marks other than the slash stand
    in names and between columns, too: there lines must have several words, and tags capitals."""
    words = [word for _, text in head for word in text.split() if word.strip("[]=")]
    pairs = [(word, tag) for word, _, tag in (text.rpartition(mark) for text in words) if word and tag]
    tags = [tag for _, tag in pairs]
    if most_true(map(bool, map(_FIELDS.fullmatch, tags))) or not most_true(
        _LETTER.search(word) is not None for word, _ in pairs
    ):
        return []  # dates or links in a table
    usual = all(tag == tag.upper() or ENTITY_TAG.fullmatch(tag) for tag in tags)
    if mark == _MARKS[0]:
        usual = usual or len(set(tags)) * 2 <= len(tags)
    else:
        are_sentences = most_true(
            len(text.split()) > 1 and "\t" not in text for _, text in head if text.strip()
        )
        usual = usual and are_sentences and any(map(_LETTER.match, tags))
    return tags if usual and len(tags) >= 0.9 * len(words) else []


def is_spread(texts: Sequence[str]) -> bool:
    """Whether sentences spread over several lines, with brackets around phrases."""
    return any(text.lstrip().startswith(("[ ", RULE)) for text in texts)


def read_sentences(
    lines: Iterator[Line], source: DataSource, *, spread: bool, mark: str = _MARKS[0]
) -> Iterator[TaggedSentence]:
    """The sentences of a file, with a `mark` between word and tag; invalid ones are reported and left out.

    Raises:
        DataError: HW251, HW257.
    """
    sentence: list[Token] = []
    mistakes: list[DataError] = []

    def finished() -> Iterator[TaggedSentence]:
        if mistakes:
            source.report(mistakes[0])
        elif sentence:
            tokens, tags = (tuple(part) for part in zip(*[token[1:] for token in sentence], strict=True))
            yield TaggedSentence(tokens, tags, sentence[0][0])
        sentence.clear()
        mistakes.clear()

    inside = False
    for number, text in without_returns(lines):
        for match in FIELD.finditer(text):
            if spread and match[0] in ("[", "]"):
                inside = match[0] == "["
            elif not (spread and match[0].startswith(RULE)):
                try:
                    sentence.append(_token(number, match.start() + 1, match[0], source, mark))
                except DataError as error:
                    mistakes.append(error)
                    continue
                if spread and not inside and sentence[-1][2] == ".":
                    yield from finished()
        if not spread or text.lstrip().startswith(RULE):
            yield from finished()
            inside = False
    yield from finished()


def _token(line: int, column: int, text: str, source: DataSource, mark: str) -> Token:
    word, slash, tag = text.rpartition(mark)
    if word and tag:
        return line, word, tag
    if word:
        raise source.error("HW251", f"the token {word!r} has no tag", line, column + len(word))
    name = "slash" if mark == _MARKS[0] else repr(mark)
    problem = f"{text!r} without a {'token before the ' if slash else ''}{name}"
    raise source.error("HW257", problem, line, column, expected=f"token{mark}TAG")
