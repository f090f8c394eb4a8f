"""One sentence of a file of tagged sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headwise.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Tagged:
    """A tagged sentence.

    Attributes:
        tokens: The tokens; at least one if there are tags.
        tags: One tag per token; empty if the file has no tags (prediction).
        line: The line of the file, from 1, on which the first token stands.
        heads: The dependency head of each token: its number from 1, or 0 for a root; None without a parse.
        columns: The further columns of the file by name, with one value per token.
        text: The original text of the sentence, if the file has it.
        spans: The character span of each token in `text`: start, and end (exclusive). Words of one written
            token ("du" for "de le") that cannot be separated share its span.
        starts_document: Whether a document starts with this sentence.
        fields: All fields of the record, if it is read for prediction.
        weight: The training weight of the sentence.
    """

    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    line: int = 0
    heads: tuple[int, ...] | None = None
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    text: str | None = None
    spans: tuple[tuple[int, int], ...] | None = None
    starts_document: bool = False
    fields: Mapping[str, object] = field(default_factory=dict, hash=False)
    weight: float = 1.0

    @property
    def labels(self) -> tuple[str, ...]:
        """The tags."""
        return self.tags


def as_sentence(words: Tagged | Sequence[str]) -> Tagged:
    """A `Tagged` sentence without tags, made from a list of words; a `Tagged` sentence is returned as is.

    Raises:
        ConfigError: The argument is neither.
    """
    if isinstance(words, Tagged):
        return words
    listed = (
        hasattr(words, "__len__") and hasattr(words, "__getitem__") and not isinstance(words, str | Mapping)
    )
    if not listed or not all(isinstance(word, str) for word in words):
        raise ConfigError(
            f"expected a sentence as a list of words, got {words!r:.80}; running texts are for predict"
        )
    return Tagged(tuple(words), ())


def align(tokens: Sequence[str], text: str) -> tuple[tuple[int, int], ...] | None:
    """The character span of each token in the text: start, and end (exclusive).

    None if the text is not the sequence of the tokens, with optional white space between them.
    """
    spans, at = [], 0
    for token in tokens:
        while text[at : at + 1].isspace():
            at += 1
        if not text.startswith(token, at):
            return None
        spans.append((at, at + len(token)))
        at += len(token)
    return None if text[at:].strip() else tuple(spans)
