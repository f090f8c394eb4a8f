from headwise.core.error_codes import error_codes
from headwise.data.columns.item_options import BagOptions
from headwise.data.doctor.diagnose import diagnose
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK

GOOD = "label,bag,x,y\n" + "".join(f"{n % 2},b{n},{n},{-n}\n{n % 2},b{n},{n + 1},0\n" for n in range(12))


def codes(diagnosis):
    severities_and_codes = [(finding.severity, finding.code) for finding in diagnosis.findings]
    assert all(code in error_codes() for _, code in severities_and_codes)
    return severities_and_codes


def test_nothing_to_complain_about(write):
    diagnosis = diagnose(ITEM_TYPES_BY_TASK["bags"], [write("a.csv", GOOD)])
    assert codes(diagnosis) == []
    [report] = diagnosis.files
    assert (report.texts, report.distinct, report.words.median) == (12, 12, 2)
    assert report.classes == (("0", 6, 0.5), ("1", 6, 0.5))


def test_findings_of_one_file(write):
    text = GOOD + "2,c,7,0\n0,twin,3,-3\n0,twin,4,0\n0,b0,nan,1\n"
    diagnosis = diagnose(ITEM_TYPES_BY_TASK["bags"], [write("a.csv", text)])
    assert codes(diagnosis) == [
        ("error", "HW290"),
        ("warning", "HW154"),
        ("warning", "HW155"),
        ("info", "HW153"),
    ]
    assert diagnosis.files[0].skipped == 1


def test_features_and_bags_that_say_nothing(write):
    text = "label,bag,x,y\n" + "".join(f"{n % 2},b{n},{n},4\n" for n in range(12))
    assert codes(diagnose(ITEM_TYPES_BY_TASK["bags"], [write("a.csv", text)])) == [
        ("warning", "HW296"),
        ("info", "HW295"),
    ]


def test_one_label(write):
    text = "label,bag,x\n1,a,2\n1,a,3\n1,b,2\n1,c,5\n1,d,2.5\n1,e,6\n"
    assert ("error", "HW162") in codes(diagnose(ITEM_TYPES_BY_TASK["bags"], [write("a.csv", text)]))


def test_between_files(write):
    test_table = "label,bag,x,y\n1,b1,1,-1\n1,b1,2,0\n5,n,9,9\n"
    paths = [
        write("train.csv", GOOD),
        write("test.csv", test_table),
        write("dev.csv", "label,bag,x\n1,a,2\n"),
    ]
    diagnosis = diagnose(ITEM_TYPES_BY_TASK["bags"], paths, BagOptions())
    assert codes(diagnosis) == [("error", "HW293"), ("error", "HW161"), ("warning", "HW160")]
    assert diagnosis.findings[1].where == (f"{paths[1]}:4",)


def test_a_file_that_is_none(write):
    diagnosis = diagnose(ITEM_TYPES_BY_TASK["bags"], [write("a.csv", "")])
    assert codes(diagnosis) == [("error", "HW103")]
    assert not diagnosis.files
