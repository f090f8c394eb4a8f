"""One sentence of a file of tagged sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headwise.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Tagged:
    """A sentence.

    Attributes:
        tokens: The tokens, at least one where there are tags.
        tags: A tag for each token; none at all where the file has none (prediction).
        line: The line of the file, from 1, on which the first token stands.
        heads: The number of the token that each depends on, from 1, and 0 for a root, if there is syntax.
        columns: What else the file says, by the name of the column: a value for each token.
        text: The sentence as it was written, where the file tells.
        spans: Where each token stands in `text`: its first character and the one after its last. Words
            that are written as one ("du" for "de le") and cannot be told apart share their span.
        starts_document: Whether a document starts with this sentence.
        fields: All that the record of the sentence holds, where it is read to be predicted.
        weight: How much the sentence counts in training.
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
    """A sentence, or its words, as a sentence.

    Raises:
        ConfigError: It is neither.
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
    """Where each token stands in the text: its first character and the one after its last.

    None if the text is anything but the tokens in their order, with any white space between them.
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
