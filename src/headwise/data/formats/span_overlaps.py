"""Choose among spans that overlap, as nested annotations do: a word has one tag."""

from bisect import bisect_left
from collections.abc import Sequence

from headwise.data.columns.item_options import OverlapPolicy
from headwise.data.formats.span_offsets import CharacterSpan

ADVICE = "give --overlapping-spans longest (or shortest) to keep one of them"


def without_overlaps(spans: Sequence[CharacterSpan], policy: OverlapPolicy) -> list[CharacterSpan]:
    """The spans without those that overlap a longer one (or a shorter one), in order of position.

    Of equally long ones the first in the text stays, of equal ones the first in the list. The policy
    "error" keeps all.
    """
    if policy == "error":
        return sorted(spans, key=lambda span: span[:2])
    sign = -1 if policy == "longest" else 1
    chosen: list[CharacterSpan] = []
    for span in sorted(spans, key=lambda span: (sign * (span.end - span.start), span.start)):
        place = bisect_left(chosen, span.start, key=lambda one: one.start)
        before = chosen[place - 1].end if place else 0
        after = chosen[place].start if place < len(chosen) else span.end
        if before <= span.start and span.end <= after:
            chosen.insert(place, span)
    return chosen


def left_out_note(count: int, policy: OverlapPolicy) -> str:
    """The note on spans that are left out."""
    return f"spans that overlap a {'longer' if policy == 'longest' else 'shorter'} one, left out: {count:,}"
