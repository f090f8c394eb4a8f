"""Spans that are single words or pieces of them, whose types are tags such as `B-PER`, as pipelines write
them:

    {"entity": "B-PER", "word": "Tom", "start": 0, "end": 3}, {"entity": "I-PER", "word": "Lee", ...}

They are joined to spans of the type `PER`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from headwise.data.formats.span_offsets import CharacterSpan
from headwise.data.formats.tag_checks import marks_entities, span_type

OUTSIDE = "O"
_BEGINS = ("B", "S", "U")


def are_pieces(types: Iterable[str]) -> bool:
    """Whether the types of all spans are tags."""
    counts = Counter(types)
    return marks_entities(counts) and all("-" in name for name in counts if name != OUTSIDE)


def joined_pieces(spans: Sequence[CharacterSpan], text: str) -> list[CharacterSpan]:
    """The spans that pieces stand for, in order of position. A piece goes on with the span before it unless
    its tag begins one, its type is another, or words stand between them."""
    joined = list[CharacterSpan]()
    for span in sorted(spans, key=lambda span: span[:2]):
        if span.type == OUTSIDE:
            continue
        kind = span_type(span.type)
        previous = joined[-1] if joined else None
        if (
            previous is None
            or span.type.startswith(_BEGINS)
            or previous.type != kind
            or text[previous.end : span.start].strip()
        ):
            joined.append(CharacterSpan(span.start, span.end, kind))
        else:
            joined[-1] = previous._replace(end=max(previous.end, span.end))
    return joined
