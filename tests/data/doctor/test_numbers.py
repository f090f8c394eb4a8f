"""The doctor on texts with numbers says nothing of classes."""

from headwise.data.doctor.flow import diagnose
from headwise.data.kinds import KINDS


def test_numbers_are_no_classes(tmp_path):
    rows = [f"text number {n}\t{n / 3:.2f}" for n in range(30)]
    for name, own in (("train.tsv", rows), ("test.tsv", [rows[0], "a new text\t99.9"])):
        (tmp_path / name).write_text("text\tscore\n" + "\n".join(own) + "\n")
    found = diagnose(KINDS["regress"], [str(tmp_path / "train.tsv"), str(tmp_path / "test.tsv")])
    assert [finding.code for finding in found.findings] == ["HW160"]
    assert all(file.classes == () for file in found.files)
