"""What the doctor finds in files of pairs."""

import random

import pytest

from headwise.data.doctor.diagnose import diagnose as examine
from headwise.data.doctor.shortcut_checks import majority_accuracy, one_sided_accuracy
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK

HEAD = "premise\thypothesis\tlabel"


@pytest.fixture
def diagnose(tmp_path):
    def diagnose(*files: list[str], task: str = "pair"):
        paths = []
        for name, rows in zip(("train.tsv", "test.tsv"), files, strict=False):
            (tmp_path / name).write_text("\n".join([HEAD, *rows]) + "\n")
            paths.append(str(tmp_path / name))
        return examine(ITEM_TYPES_BY_TASK[task], paths)

    return diagnose


def codes(diagnosis) -> dict[str, str]:
    return {finding.code: finding.message for finding in diagnosis.findings}


BASE = [f"premise number {n}\thypothesis about {n}\t{'yes' if n % 2 else 'no'}" for n in range(40)]


def test_nothing_to_complain_about(diagnose):
    test = [row.replace("number", "nr") for row in BASE]
    diagnosis = diagnose(BASE, test)
    assert diagnosis.findings == ()
    report = diagnosis.files[0]
    assert (report.texts, report.text_column, report.label_column) == (40, "premise + hypothesis", "label")


def test_leaks_between_files(diagnose):
    swapped = "hypothesis about 3\tpremise number 3\tyes"
    diagnosis = diagnose(BASE, [BASE[0], "premise number 1\tsomething else\tno", swapped])
    messages = [finding.message for finding in diagnosis.findings]
    assert any("1 distinct pair of test also in train" in message for message in messages)
    assert any("1 pair of test also in train, the other way round" in message for message in messages)
    assert "2 pairs of test (66.7%) with a first text that train has" in codes(diagnosis)["HW166"]


def test_labels_of_test_that_training_lacks(diagnose):
    diagnosis = diagnose(BASE, ["a new one\tanother\tmaybe"])
    assert "'maybe', unseen in train" in codes(diagnosis)["HW161"]
    assert diagnosis.errors == 1


def test_swapped_pairs_with_another_label(diagnose):
    diagnosis = diagnose([*BASE, "hypothesis about 2\tpremise number 2\tyes"])
    assert codes(diagnosis)["HW164"].startswith("2 pairs")
    diagnosis = diagnose([*BASE, "hypothesis about 2\tpremise number 2\tno"])
    assert "HW164" not in codes(diagnosis)


def test_half_empty_pairs(diagnose):
    assert "1 pair with an empty text" in codes(diagnose([*BASE, "only one text\t\tyes"]))["HW150"]


def test_one_text_gives_the_label_away(diagnose):
    chance = random.Random(0)
    words = [f"w{n}" for n in range(40)]
    rows = []
    for n in range(300):
        label = chance.choice(["yes", "no"])
        second = " ".join([*chance.choices(words, k=3), "not" if label == "no" else "indeed"])
        rows.append(f"{' '.join(chance.choices(words, k=4))} {n}\t{second} {n}\t{label}")
    label_leaks = [finding for finding in diagnose(rows).findings if finding.code == "HW165"]
    assert len(label_leaks) == 1
    assert "of the second texts alone tell 100%" in label_leaks[0].message


def test_scores_are_no_classes(diagnose):
    rows = [f"premise {n}\thypothesis {n}\t{n / 3:.2f}" for n in range(30)]
    diagnosis = diagnose(rows, [*rows[:1], "another premise\tand another\t77.7"], task="pair-score")
    assert diagnosis.files[0].classes == ()
    assert set(codes(diagnosis)) == {"HW160", "HW166"}


def test_unreadable_files_are_findings(tmp_path):
    (tmp_path / "a.tsv").write_text("premise\thypothesis\tlabel\na\tb\n")
    diagnosis = examine(ITEM_TYPES_BY_TASK["pair"], [str(tmp_path / "a.tsv")])
    assert diagnosis.errors >= 1


def test_one_sided_accuracy_of_chance_is_low():
    chance = random.Random(1)
    texts = [" ".join(chance.choices([f"w{n}" for n in range(30)], k=5)) for _ in range(600)]
    labels = [chance.choice("abc") for _ in texts]
    assert one_sided_accuracy(texts, labels) < majority_accuracy(labels) + 0.06
    assert one_sided_accuracy([], []) == 0
    assert one_sided_accuracy(["same"] * 9, ["a"] * 9) == 0  # never guessed from itself
