"""The doctor's look at files of texts with numbers: what it says of labelled texts, but for classes."""

from collections.abc import Sequence
from dataclasses import replace

from headwise.data.diagnosis import Diagnosis
from headwise.data.doctor import diagnose_files
from headwise.data.options import DEFAULT, ReadOptions

OF_CLASSES = {"HW154", "HW155", "HW156", "HW161"}
"""Findings on labels that make no sense of numbers."""


def diagnose_numbers(paths: Sequence[str], options: ReadOptions = DEFAULT) -> Diagnosis:
    """Read and examine files; what cannot be read becomes a finding."""
    found = diagnose_files(paths, options)
    return replace(
        found,
        files=tuple(replace(file, classes=()) for file in found.files),
        findings=tuple(finding for finding in found.findings if finding.code not in OF_CLASSES),
    )
