"""The doctor's look at files of bags of instances."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from headwise.data.bag_split import instances_digest
from headwise.data.bags import DEFAULT, Bag, BagData, BagOptions, read_bags
from headwise.data.checks import RARE, count
from headwise.data.diagnosis import Diagnosis, FileReport, Finding, Names
from headwise.data.doctor import as_findings, guess_roles, measure, sort_findings
from headwise.data.errors import DataError

_SHOWN = 5  # places


def diagnose_bags(paths: Sequence[str], options: BagOptions = DEFAULT) -> Diagnosis:
    """Read and examine files of bags; what cannot be read becomes a finding. Instances that cannot be used
    are left out and reported."""
    files: dict[str, BagData] = {}
    findings: list[Finding] = []
    skipped: dict[str, int] = {}
    for role, path in zip(guess_roles(paths), paths, strict=True):
        errors: list[DataError] = []
        known = next((data.features for data in files.values()), None)
        try:
            files[role] = read_bags(path, options, errors.append, features=known)
            skipped[role] = len(errors)
        except DataError as error:
            errors.append(error)
        findings += as_findings(errors)
    for role, data in files.items():
        findings += _check_file(role, data)
    findings += _check_files(files)
    reports = tuple(_report(role, data, skipped[role]) for role, data in files.items())
    return Diagnosis(reports, sort_findings(findings))


def _check_file(role: str, data: BagData) -> Iterator[Finding]:
    training = role.startswith("train")
    if len(data.labels) == 1:
        message = f"only the label {next(iter(data.labels))!r}"
        fix = "if another column holds the labels, name it with --label-column"
        yield Finding("error" if training else "warning", "HW162", message, (data.path,), fix)
    rare = [f"{label!r} ({n})" for label, n in data.labels.items() if n < RARE]
    if training and rare:
        message = f"{count(len(rare), 'class')} with fewer than {RARE} bags: {', '.join(rare[:8])}"
        fix = "add bags, merge them into other classes, or leave them out"
        yield Finding("warning", "HW155", message, (data.path,), fix)
    yield from _repeated(data)
    if training:
        yield from _constant(data)
        single = sum(len(bag.instances) == 1 for bag in data.bags)
        if data.bags and single == len(data.bags):
            fix = "if bags should have several, another column holds their names: --bag-column"
            yield Finding("warning", "HW296", "every bag has one instance", (data.path,), fix)


def _repeated(data: BagData) -> Iterator[Finding]:
    """Bags with the same instances, and those of them that have different labels."""
    seen: dict[str, list[Bag]] = {}
    for bag in data.bags:
        seen.setdefault(instances_digest(bag), []).append(bag)
    again = [bags for bags in seen.values() if len(bags) > 1]
    torn = [bags for bags in again if len({bag.label for bag in bags}) > 1]
    if torn:
        message = f"{count(len(torn), 'bag')} with different labels in different places"
        fix = "decide on one label; a model cannot learn both"
        yield Finding("warning", "HW154", message, _places(data, torn[0]), fix)
    if again:
        extra = sum(len(bags) - 1 for bags in again)
        where = _places(data, [bags[1] for bags in again])
        yield Finding("info", "HW153", f"{count(extra, 'bag')} with the instances of another", where)


def _constant(data: BagData) -> Iterator[Finding]:
    """Features that say nothing."""
    if data.instances < 2:
        return
    rows = np.concatenate([bag.instances for bag in data.bags])
    names = [data.features[i] for i in np.flatnonzero(rows.min(0) == rows.max(0))]
    if names:
        shown = ", ".join(map(repr, names[:8])) + (" ..." if len(names) > 8 else "")
        message = f"{count(len(names), 'feature')} with the same value everywhere: {shown}"
        yield Finding("info", "HW295", message, (data.path,), "headwise passes over them")


def _check_files(files: Mapping[str, BagData]) -> Iterator[Finding]:
    """Bags that are in two files, and labels that training lacks."""
    for one, other in combinations(files, 2):
        known = {instances_digest(bag) for bag in files[one].bags}
        shared = [bag for bag in files[other].bags if instances_digest(bag) in known]
        if shared:
            message = f"{count(len(shared), 'bag')} of {other} also in {one}"
            fix = f"results on {other} will look too good: remove these bags from {one}"
            yield Finding("warning", "HW160", message, _places(files[other], shared), fix)
    train = files.get("train")
    for role, data in files.items():
        if train is None or data is train:
            continue
        strange = [bag for bag in data.bags if bag.label not in train.labels]
        if strange:
            names = ", ".join(map(repr, sorted({bag.label for bag in strange})[:8]))
            message = f"{count(len(strange), 'bag')} of {role} with labels unseen in train: {names}"
            yield Finding("error", "HW161", message, _places(data, strange), "add such bags to train")


def _places(data: BagData, bags: Sequence[Bag]) -> tuple[str, ...]:
    """The first few of the places."""
    return tuple(f"{data.path}:{bag.line}" for bag in bags[:_SHOWN])


def _report(role: str, data: BagData, skipped: int) -> FileReport:
    total = len(data.bags)
    return FileReport(
        role=role,
        path=data.path,
        format=data.format,
        text_column=f"{data.features[0]} to {data.features[-1]}",
        label_column=None,
        texts=total,
        distinct=len({instances_digest(bag) for bag in data.bags}),
        empty=0,
        skipped=skipped,
        words=measure([len(bag.instances) for bag in data.bags]),
        classes=tuple((label, n, n / total) for label, n in data.labels.items()),
        notes=data.notes,
        names=Names("bags", "instances", "features in columns"),
    )
