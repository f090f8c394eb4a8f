"""The doctor's checks of bags of instances."""

from collections.abc import Iterator

import numpy as np

from headwise.data.diagnosis import Finding, abbreviate, count
from headwise.data.doctor.file import File


def constant(file: File) -> Iterator[Finding]:
    """Features with the same value in all instances."""
    if not file.training or file.data.instances < 2:
        return
    rows = np.concatenate([bag.instances for bag in file.items])
    names = [repr(file.data.features[n]) for n in np.flatnonzero(rows.min(0) == rows.max(0))]
    if names:
        message = f"{count(len(names), 'feature')} with the same value everywhere: {abbreviate(names)}"
        yield Finding("info", "HW295", message, (file.data.path,), "headwise passes over them")


def single(file: File) -> Iterator[Finding]:
    """Files in which every bag has a single instance."""
    if file.training and file.items and all(len(bag.instances) == 1 for bag in file.items):
        fix = "if bags should have several, another column holds their names: --bag-column"
        yield Finding("warning", "HW296", "every bag has one instance", (file.data.path,), fix)
