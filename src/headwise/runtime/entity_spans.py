"""The spans that a tagger predicts, with their texts and characters, and how a notebook shows them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headwise.core.html import notebook_html, render


@dataclass(frozen=True)
class EntitySpan:
    """A predicted span.

    Attributes:
        text: The text of the span.
        type: The type; "" for spans without a type.
        start: The offset of its first character; None if the input was words.
        end: The offset after its last character; None if the input was words.
        probability: The lowest probability of its words, from 0 to 1.
        words: The index of its first word, and the one after its last.
    """

    text: str
    type: str
    start: int | None
    end: int | None
    probability: float
    words: tuple[int, int]

    def __str__(self) -> str:
        return f"{self.type or 'span'} {self.text!r} {100 * self.probability:.1f} %"


def cut_at_spans(text: str, spans: Iterable[tuple[int, int, str]]) -> list[tuple[str, str]]:
    """A text cut at the ends of its spans (start, end, type), which stand in order.

    Text outside of spans has the type ""."""
    pieces, last = [], 0
    for start, end, kind in spans:
        pieces += [(text[last:start], ""), (text[start:end], kind or "span")]
        last = end
    return [*pieces, (text[last:], "")]


def marked_text(words: Sequence[str], text: str | None, spans: Sequence[EntitySpan]) -> str:
    """The HTML of a text whose spans are marked with their types, for a notebook."""
    places = [(span.start, span.end, span.type) for span in spans]
    if text is None:  # the words, with spaces between them
        text = " ".join(words)
        starts = [sum(len(word) + 1 for word in words[: span.words[0]]) for span in spans]
        places = [
            (start, start + len(span.text), span.type) for start, span in zip(starts, spans, strict=True)
        ]
    pieces = cut_at_spans(text, places)  # type: ignore[arg-type] - offsets are there with the text
    return notebook_html(render("marked_text.html.jinja", pieces=pieces))
