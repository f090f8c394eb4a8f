import pytest
from openpyxl import Workbook

from headwise.data.errors import DataError
from headwise.pretrain.work import key_of_contents, key_of_files


@pytest.mark.parametrize("key", [key_of_files, key_of_contents])
def test_a_key_stands_for_a_workbook_as_for_any_file(tmp_path, key):
    book, text, path = Workbook(), tmp_path / "a.txt", tmp_path / "book.xlsx"
    text.write_text("one")
    book.save(path)
    files = [str(text), f"{path}!Sheet"]
    before = key(files)
    assert before == key(files)
    book.create_sheet("more")
    book.save(path)
    assert key(files) != before


def test_sheets_of_a_workbook_have_keys_of_their_own(tmp_path):
    Workbook().save(tmp_path / "book.xlsx")
    assert len({key_of_files([f"{tmp_path}/book.xlsx{sheet}"]) for sheet in ("", "!a", "!b")}) == 3


@pytest.mark.parametrize("key", [key_of_files, key_of_contents])
def test_what_cannot_be_opened_is_told(tmp_path, key):
    with pytest.raises(DataError, match="HW101"):
        key([str(tmp_path / "none.xlsx")])
