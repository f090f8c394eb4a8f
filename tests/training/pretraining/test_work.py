"""The work folder: keys of files; and what a run that was killed leaves in it goes with it."""

import pytest
from openpyxl import Workbook

from headwise.data.errors import DataError
from headwise.training.pretraining.work_folder import WorkFolder, hash_of_contents, hash_of_file_stats


@pytest.mark.parametrize("key", [hash_of_file_stats, hash_of_contents])
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
    assert len({hash_of_file_stats([f"{tmp_path}/book.xlsx{sheet}"]) for sheet in ("", "!a", "!b")}) == 3


@pytest.mark.parametrize("key", [hash_of_file_stats, hash_of_contents])
def test_what_cannot_be_opened_is_told(tmp_path, key):
    with pytest.raises(DataError, match="HW101"):
        key([str(tmp_path / "none.xlsx")])


def test_nothing_is_left_of_files_that_were_never_whole(tmp_path):
    work = WorkFolder.at(tmp_path / "work", is_temporary=True)
    for name in (".passages-0.txt.part", "passages-0.txt", ".text-0.numbers.part"):
        (work.folder / name).write_text("")
    (work.folder / "answers-0").mkdir()
    (work.folder / "answers-0" / ".0.npy.part").write_text("")
    work.clear()
    assert not work.folder.exists()
