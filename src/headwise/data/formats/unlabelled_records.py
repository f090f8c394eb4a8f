"""Records of annotation tools that have no answer: nobody has annotated them, or an annotator refused them.

They are predicted like others, and left out where answers are read.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from headwise.data.columns.file_source import DataSource, Record


class UnlabelledRecord(Record):
    """A record without an answer.

    Attributes:
        records_name: What such records are, such as "Label Studio's tasks without an annotation".
        reason: Why the record has no answer, such as "cancelled".
        negative: The fields of the record where the refusal is an answer: the text does not have the label.
    """

    records_name: str
    reason: str
    negative: Mapping[str, object] | None

    @classmethod
    def of(
        cls, record: Record, records_name: str, reason: str, negative: Mapping[str, object] | None = None
    ) -> "UnlabelledRecord":
        """The record with the reason why it has no answer."""
        unanswered = cls(record.line, record.fields)
        unanswered.records_name, unanswered.reason, unanswered.negative = records_name, reason, negative
        return unanswered


def labelled_records(
    records: Iterator[Record], source: DataSource, *, spans: bool = False
) -> Iterator[Record]:
    """The records without unanswered ones, which are counted in a note. Of `spans` a refusal says nothing.

    Raises:
        DataError: HW103, no record has an answer.
    """
    left_out: dict[str, Counter[str]] = {}
    any_answered = False
    for record in records:
        if isinstance(record, UnlabelledRecord):
            if record.negative is None or spans:
                left_out.setdefault(record.records_name, Counter())[record.reason] += 1
                continue
            record = Record(record.line, {**record.negative})
        any_answered = True
        yield record
    for name, reasons in left_out.items():
        counts = ", ".join(f"{reason} {count:,}" for reason, count in reasons.items())
        if not any_answered:
            raise source.error("HW103", f"nothing but {name}: {counts}", expected="annotated texts")
        source.notes.append(f"{name}, left out: {counts}")
