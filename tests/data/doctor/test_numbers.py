"""The doctor on texts with numbers says nothing of classes."""

import numpy as np
import pytest

from headwise.app.cli import main
from headwise.data.doctor.diagnose import diagnose
from headwise.data.doctor.doctor_report import NumberSummary
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK


def test_numbers_are_no_classes(tmp_path):
    rows = [f"text number {n}\t{n / 3:.2f}" for n in range(30)]
    for name, lines in (("train.tsv", rows), ("test.tsv", [rows[0], "a new text\t99.9"])):
        (tmp_path / name).write_text("text\tscore\n" + "\n".join(lines) + "\n")
    diagnosis = diagnose(
        ITEM_TYPES_BY_TASK["regress"], [str(tmp_path / "train.tsv"), str(tmp_path / "test.tsv")]
    )
    assert [finding.code for finding in diagnosis.findings] == ["HW160"]
    assert all(file.classes == () for file in diagnosis.files)
    train, test = (file.numbers for file in diagnosis.files)
    assert train is not None
    assert (train.min, train.median, train.max) == (0.0, pytest.approx(4.835), 9.67)
    assert test == NumberSummary(min=0.0, median=49.95, mean=49.95, max=99.9)


def test_numbers_are_shown(tmp_path, capsys):
    (tmp_path / "f.tsv").write_text("text\tscore\n" + "".join(f"text {n}\t{n}.5\n" for n in range(2_001)))
    assert main(["doctor", str(tmp_path / "f.tsv")]) == 0
    rows = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert rows[rows.index("numbers: min median mean max") + 1] == "train 0.5 1,000.5 1,000.5 2,000.5"


def test_labels_and_tags_have_no_spread(tmp_path):
    (tmp_path / "f.tsv").write_text("text\tlabel\n" + "".join(f"text {n}\t{n % 2}\n" for n in range(9)))
    (tmp_path / "f.conll").write_text("a\tO\nb\tB-X\n\n" * 5)
    for task, name in (("classify", "f.tsv"), ("tag", "f.conll")):
        assert diagnose(ITEM_TYPES_BY_TASK[task], [str(tmp_path / name)]).files[0].numbers is None


@pytest.mark.parametrize(
    ("label", "fix"),
    [
        ("nan", "write empty cells for missing numbers, and give --empty-labels skip"),
        ("-inf", "write empty cells for missing numbers, and give --empty-labels skip"),
        ("3,5", "write 3.5 for 3,5 (and 3500 for 3,500), in the whole column"),
        ("good", "name another column with --label-column, or choose another --task"),
    ],
)
def test_what_is_no_number_has_the_advice_of_training(tmp_path, label, fix):
    path = tmp_path / "f.tsv"
    path.write_text(f"first\tsecond\tscore\na\tb\t1.5\nc\td\t2\ne\tf\t{label}\n")
    finding = next(
        candidate
        for candidate in diagnose(ITEM_TYPES_BY_TASK["pair-score"], [str(path)]).findings
        if candidate.code == "HW287"
    )
    assert (finding.fix, finding.where) == (fix, (f"{path}:4",))


SCORES = [1 + n % 9 / 2 for n in range(200)]


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ([*SCORES, 1e9], "1 text with a number far from the others: 1000000000.0 (nine of ten are 1 to 5)"),
        ([*SCORES, -999.0, 999.0], "2 texts with a number far from the others: -999.0, 999.0 (nine"),
        ([*SCORES, 9.0], None),
        ([*SCORES, *[9.9] * 5], None),
        ([*SCORES, *[99.0] * 5], "5 texts with the number 99.0, far from all others"),
        ([*[-999] * 4, *SCORES, -999], "5 texts with the number -999, far from all others"),
        ([*range(99), *[99] * 5], None),
        ([*SCORES, *[500.0] * 5], None),  # too many for slips, and no code
        ([1.5] * 50 + [2.5], None),
        (np.exp(2 * np.random.default_rng(0).normal(size=2_000)).tolist(), None),  # prices of everything
        ([*np.exp(2 * np.random.default_rng(0).normal(size=2_000)), 1e12], "1 text with a number far from"),
    ],
)
def test_numbers_that_are_slips(tmp_path, numbers, message):
    """One among hundreds spoils what is learnt of all."""
    path = tmp_path / "f.tsv"
    path.write_text("text\tscore\n" + "".join(f"some text {n}\t{v}\n" for n, v in enumerate(numbers)))
    outliers = [
        finding
        for finding in diagnose(ITEM_TYPES_BY_TASK["regress"], [str(path)]).findings
        if finding.code == "HW174"
    ]
    assert bool(outliers) == bool(message)
    for finding in outliers:
        assert finding.message.startswith(message)
        assert finding.where[-1] == f"{path}:{len(numbers) + 1}", finding.where


@pytest.mark.parametrize(
    ("numbers", "ambiguous"),
    [
        ([f"{n * 1234:,}".replace(",", ".") for n in range(40)], True),  # 0, 1.234, 2.468 ... 11.106
        ([f"{n * 1234 / 7:.3f}" for n in range(40)], False),
        ([f"{round(n * 1234 / 7, 3):g}" for n in range(40)], False),
        ([f"{n}.500" for n in range(40)], False),
        ([*range(40)], False),
    ],
)
def test_points_between_thousands(tmp_path, numbers, ambiguous):
    path = tmp_path / "f.tsv"
    path.write_text("text\tprice\n" + "".join(f"some text {n}\t{v}\n" for n, v in enumerate(numbers)))
    warnings = [
        finding
        for finding in diagnose(ITEM_TYPES_BY_TASK["regress"], [str(path)]).findings
        if finding.code == "HW287"
    ]
    assert bool(warnings) == ambiguous
    for finding in warnings:
        assert finding.severity == "warning"
        assert "'1.234'" in finding.message
