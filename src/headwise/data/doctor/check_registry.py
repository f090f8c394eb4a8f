"""The checks of each item type and each label type, in the order in which they run.

A type without a row has the checks of its base class.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from headwise.data.doctor import (
    item_checks,
    label_checks,
    misread_labels,
    shortcut_checks,
    tabular_checks,
    text_checks,
)
from headwise.data.doctor.examined_file import CheckedFile
from headwise.data.findings import Finding
from headwise.data.items.bag_items import BagItems
from headwise.data.items.item_type import ItemType
from headwise.data.items.label_types import LabelSetType, LabelType, NumericLabelType, SingleLabelType
from headwise.data.items.pair_items import PairItems
from headwise.data.items.sentence_items import TaggedSentenceItems
from headwise.data.items.stream_items import SymbolStreamItems
from headwise.data.items.text_items import TextItems

FileCheck = Callable[[CheckedFile], Iterator[Finding]]
"""A check of one file."""

CrossFileCheck = Callable[[Mapping[str, CheckedFile]], Iterator[Finding]]
"""A check across files, by their roles."""


@dataclass(frozen=True)
class DoctorChecks:
    """The checks of an item type or a label type.

    Attributes:
        single: Checks of a single file.
        across: Checks across files.
        in_training: Those of `single` that a training run makes too.
    """

    single: tuple[FileCheck, ...] = ()
    across: tuple[CrossFileCheck, ...] = ()
    in_training: tuple[FileCheck, ...] = ()


_NAME_CHECKS = (
    label_checks.spelling_variants,
    misread_labels.glued_labels,
    misread_labels.swapped_columns,
    misread_labels.joined_labels,
    misread_labels.date_labels,
)
_LABEL_WARNINGS = (
    text_checks.conflicting_labels,
    label_checks.rare_labels,
    *_NAME_CHECKS,
    misread_labels.names_of_columns,
    label_checks.missing_value_labels,
    label_checks.unlikely_labels,
    label_checks.uneven_weights,
)

CHECKS: dict[type[ItemType] | type[LabelType], DoctorChecks] = {
    TextItems: DoctorChecks(
        single=(
            text_checks.lengths,
            text_checks.duplicate_items,
            text_checks.near_duplicate_items,
            text_checks.characters,
            text_checks.cut_texts,
            tabular_checks.tabular_columns_check,
        ),
        across=(text_checks.shared_items,),
        in_training=(
            text_checks.undecoded_texts,
            text_checks.unbroken_texts,
            text_checks.cut_texts,
            tabular_checks.tabular_columns_check,
        ),
    ),
    PairItems: DoctorChecks(
        single=(
            text_checks.lengths,
            text_checks.duplicate_items,
            text_checks.characters,
            item_checks.half_empty,
            item_checks.reversed_pairs,
            item_checks.single_text_shortcut,
        ),
        across=(text_checks.shared_items, item_checks.shared_firsts, item_checks.reversed_pairs_between),
        in_training=(text_checks.undecoded_texts,),
    ),
    TaggedSentenceItems: DoctorChecks(
        single=(
            item_checks.one_tag,
            item_checks.scheme,
            item_checks.conflicting_tags,
            text_checks.duplicate_items,
            text_checks.near_duplicate_items,
            item_checks.unbroken_sentences,
            item_checks.long_sentences,
            item_checks.few_spans,
            label_checks.type_spelling_variants,
        ),
        across=(text_checks.shared_items, item_checks.unknown_tags),
        in_training=(item_checks.unbroken_sentences, label_checks.type_spelling_variants),
    ),
    BagItems: DoctorChecks(
        single=(
            text_checks.duplicate_items,
            item_checks.constant_features,
            item_checks.single_instance_bags,
        ),
        across=(text_checks.shared_items,),
    ),
    SymbolStreamItems: DoctorChecks(
        single=(item_checks.short_training_text, item_checks.strange_characters, item_checks.tables),
        across=(item_checks.unlike_training,),
    ),
    SingleLabelType: DoctorChecks(
        single=(label_checks.no_labels, label_checks.one_class, *_LABEL_WARNINGS, shortcut_checks.leaks),
        across=(label_checks.unknown_labels,),
        in_training=_LABEL_WARNINGS,
    ),
    LabelSetType: DoctorChecks(
        single=(
            label_checks.no_labels,
            label_checks.unlabelled_items,
            text_checks.conflicting_labels,
            label_checks.rare_labels,
            label_checks.universal_labels,
            label_checks.none_labels,
            label_checks.inseparable_labels,
            *_NAME_CHECKS,
            label_checks.missing_value_labels,
            label_checks.uneven_weights,
            shortcut_checks.leaks,
        ),
        across=(label_checks.unknown_labels,),
        in_training=(
            label_checks.none_labels,
            label_checks.missing_value_labels,
            misread_labels.joined_labels,
            label_checks.uneven_weights,
        ),
    ),
    NumericLabelType: DoctorChecks(
        single=(
            label_checks.no_labels,
            label_checks.not_numbers,
            label_checks.one_number,
            label_checks.outliers,
            label_checks.grouped_numbers,
            label_checks.uneven_weights,
        ),
        in_training=(label_checks.outliers, label_checks.grouped_numbers, label_checks.uneven_weights),
    ),
}
_NO_CHECKS = DoctorChecks()


def checks_of(kind: ItemType | LabelType) -> DoctorChecks:
    """The row of `CHECKS` of a type, or of its nearest base class that has one."""
    return next((CHECKS[base] for base in type(kind).__mro__ if base in CHECKS), _NO_CHECKS)
