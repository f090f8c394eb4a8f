"""Labels that hold a mark, or the first word of a text for want of a blank (`__label__garden,my rake`)."""

from collections.abc import Mapping

from headwise.core.lazy_pattern import lazy_pattern

GLUED_FORMATS = ("fasttext", "label-text")
"""Formats of lines in which a label ends at the first separator."""

_GLUE = lazy_pattern(r"(?P<label>[^\s,;:|]+)[,;:|]+.*")
_MARKS = (",", ";", ":", "|")
_LEAST_LABELS = 3  # that begin alike, for what they begin with to be the label
_LARGEST_COUNT = 4  # mean number of texts of labels that hold words of texts
_FREQUENT = 5  # texts of a label to which a word may be glued


def labels_with_words(labels: Mapping[str, int]) -> list[str]:
    """The labels of a file that end with a mark or seem to hold the first word of a text, by how often each
    label occurs."""
    groups: dict[str, list[str]] = {}
    for name in labels:
        if match := _GLUE.fullmatch(name):
            groups.setdefault(match["label"], []).append(name)
    glued = [name for name in labels if name.endswith(_MARKS) and _GLUE.fullmatch(name)]
    for label, names in groups.items():
        rare = sum(labels[name] for name in names) <= _LARGEST_COUNT * len(names)
        if rare and (label in labels or len(names) >= _LEAST_LABELS):
            glued += [name for name in names if name not in glued]
    frequent = tuple(name for name, count in labels.items() if count >= _FREQUENT)
    glued += [
        name
        for name, count in labels.items()
        if count == 1 and name not in glued and name.startswith(frequent)
    ]
    return glued
