import subprocess
import sys

from headwise.data.errors import DataError


def test_the_message_says_where_what_and_what_to_do():
    error = DataError(
        "HW110",
        "a row of 3 fields",
        expected="2 as in line 1",
        advice="quote it",
        path="a.csv",
        line=7,
        column=4,
    )
    text = "[HW110] a.csv:7:4: a row of 3 fields; expected 2 as in line 1; quote it"
    assert str(error) == text
    assert error.where == "a.csv:7:4"


def test_unknown_places_are_left_out():
    assert str(DataError("HW103", "empty", path="a")) == "[HW103] a: empty"
    assert str(DataError("HW103", "empty")) == "[HW103] empty"
    assert DataError("HW103", "empty", path="-", line=2).where == "-:2"


def test_the_data_room_does_not_import_torch():
    code = (
        "import sys, headwise.data, headwise.data.doctor.diagnose, headwise.data.files.fingerprint;"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
