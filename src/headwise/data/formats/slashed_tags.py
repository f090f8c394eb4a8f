r"""Tags after a slash: `The/DT asbestos/NN fiber/NN ./.`, one sentence per line.

The last slash of a token is the separator, so `1\/2/CD` is the token `1\/2`; tokens are not unescaped.

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
from headwise.data.formats.tag_checks import shown_tags
from headwise.data.items.examples import TaggedSentence

RULE = "====="
_SLASHED = lazy_pattern(r".+/[^/]+")
_LETTER = lazy_pattern(r"[^\W\d_].*/")
_FIELDS = lazy_pattern(r"\w.*[,;].*")

Token = tuple[int, str, str]
"""The line number, the token and its tag."""


def recognise(head: Sequence[Line]) -> str | None:
    """The reason why lines look like tags after slashes, or None."""
    words = [word for _, text in head for word in text.split() if word.strip("[]=")]
    slashed = [word for word in words if _SLASHED.fullmatch(word)]
    tags = [word.rpartition("/")[2] for word in slashed]
    if most_true(map(bool, map(_FIELDS.fullmatch, tags))) or not most_true(
        map(bool, map(_LETTER.search, slashed))
    ):
        return None  # dates or links in a table
    usual = all(tag == tag.upper() for tag in tags) or len(set(tags)) * 2 <= len(tags)
    if not tags or not usual or len(tags) < 0.9 * len(words):
        return None
    return f"words with tags after a slash: {shown_tags(tags)}"


def is_spread(texts: Sequence[str]) -> bool:
    """Whether sentences spread over several lines, with brackets around phrases."""
    return any(text.lstrip().startswith(("[ ", RULE)) for text in texts)


def read_sentences(lines: Iterator[Line], source: DataSource, *, spread: bool) -> Iterator[TaggedSentence]:
    """The sentences of a file; invalid ones are reported and left out.

    Args:
        lines: The lines.
        source: The file.
        spread: See `is_spread`.

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
                    sentence.append(_token(number, match.start() + 1, match[0], source))
                except DataError as error:
                    mistakes.append(error)
                    continue
                if spread and not inside and sentence[-1][2] == ".":
                    yield from finished()
        if not spread or text.lstrip().startswith(RULE):
            yield from finished()
            inside = False
    yield from finished()


def _token(line: int, column: int, text: str, source: DataSource) -> Token:
    word, slash, tag = text.rpartition("/")
    if word and tag:
        return line, word, tag
    if word:
        raise source.error("HW251", f"the token {word!r} has no tag", line, column + len(word))
    problem = f"{text!r} without a {'token before the ' if slash else ''}slash"
    raise source.error("HW257", problem, line, column, expected="token/TAG")
