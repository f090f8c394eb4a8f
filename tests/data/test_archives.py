import zipfile

import pytest

from headwise.core.errors import ConfigError
from headwise.data.files.archives import open_file, read_files, read_member_lines, split_member


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a/2.txt", "two\r\nlines")
        file.writestr("a/1.txt", "\ufeffone\n\x85b\n")
        file.writestr("a/", "")
        file.writestr("README", "not this")
        file.writestr("latin", b"ok\nna\xefve\n")
        file.writestr("nul", "ok\na\0")
        file.writestr("empty", "")
    return str(path)


def test_members_are_read_as_files_are(archive):
    assert list(read_member_lines(f"{archive}!a/1.txt")) == [(1, "one"), (2, "\x85b")]
    assert list(read_member_lines(f"{archive}!a/2.txt")) == [(1, "two\r"), (2, "lines")]
    assert list(read_member_lines(f"{archive}!latin", "latin-1")) == [(1, "ok"), (2, "naïve")]
    assert list(read_member_lines(f"{archive}!latin", "utf-8", "replace"))[1] == (2, "na\ufffdve")
    with open_file(f"{archive}!README") as stream:
        assert stream.read() == b"not this"


def test_patterns_stand_for_members_by_name(archive):
    both = {path: [text for _, text in lines] for path, lines in read_files(f"{archive}!a/*.txt")}
    assert both == {f"{archive}!a/1.txt": ["one", "\x85b"], f"{archive}!a/2.txt": ["two\r", "lines"]}
    assert [path for path, _ in read_files(f"{archive}!README")] == [f"{archive}!README"]
    assert [path for path, _ in read_files(f"{archive}!*1.txt")] == [f"{archive}!a/1.txt"]
    assert [path for path, _ in read_files("-")] == ["-"]
    assert [number for number, _ in read_member_lines(f"{archive}!a/*.txt")] == [1, 2, 1, 2]


def test_errors_are_located(archive, fails, write):
    assert fails(read_member_lines, f"{archive}!latin") == ("HW105", 2, 3)
    assert fails(read_member_lines, f"{archive}!nul") == ("HW106", 2, 2)
    assert fails(read_member_lines, f"{archive}!empty")[0] == "HW103"
    assert fails(read_member_lines, f"{archive}!absent")[0] == "HW101"
    assert fails(read_files, f"{archive}!*.csv")[0] == "HW101"
    assert fails(read_files, write("plain", "text") + "!a")[0] == "HW104"
    assert fails(read_member_lines, archive)[0] == "HW104"  # several files, none of them named
    with pytest.raises(ConfigError, match="unknown encoding"):
        read_member_lines(f"{archive}!latin", "klingon")


def test_close_names_are_offered(archive):
    with pytest.raises(Exception, match=r"did you mean .*!README\?"):
        list(read_member_lines(f"{archive}!READNE"))


def test_damage_is_an_error(archive, tmp_path, fails):
    data = bytearray((tmp_path / "data.zip").read_bytes())
    start = data.index(b"README") + len(b"README")
    data[start : start + 4] = b"\xff\xff\xff\xff"
    (tmp_path / "bad.zip").write_bytes(data)
    assert fails(read_member_lines, str(tmp_path / "bad.zip!README"))[0] == "HW102"


def test_other_files_are_themselves(write):
    path = write("wow!.tsv", "a\nb")
    assert split_member(path) == (path, None)
    assert list(read_member_lines(path)) == [(1, "a"), (2, "b")]
    assert split_member("no!where") == ("no!where", None)
