"""Pictures and pages replace nothing but earlier ones."""

import os
from pathlib import Path

import pytest

from headwise.app.cli.console import check_page_output, write_text
from headwise.core.errors import HeadwiseError
from headwise.models.output_file import OutputError


@pytest.mark.parametrize(
    "begin", ["", "<svg xmlns", "<!DOCTYPE html>", "\n<!doctype html>", "<?xml version"]
)
def test_an_earlier_picture_may_be_replaced(tmp_path, begin):
    check_page_output(None)
    check_page_output(tmp_path / "new.svg")
    (tmp_path / "old").write_text(begin)
    check_page_output(tmp_path / "old")


def test_nothing_else_may(tmp_path):
    (tmp_path / "texts.csv").write_text("text,label\n")
    with pytest.raises(HeadwiseError, match=r"HW601.*not a picture or page"):
        check_page_output(tmp_path / "texts.csv")
    with pytest.raises(HeadwiseError, match=r"HW604.*is a folder"):
        check_page_output(tmp_path)
    with pytest.raises(HeadwiseError, match=r"HW604.*no folder"):
        check_page_output(tmp_path / "no" / "a.svg")


def test_a_picture_is_called_one(tmp_path):
    for path in (tmp_path / "a.svg", tmp_path / "a.SVG", Path(os.devnull)):
        check_page_output(path, ".svg")
    for name in ("a.png", "a"):
        with pytest.raises(HeadwiseError, match=r"HW605.*for a picture; name it .svg"):
            check_page_output(tmp_path / name, ".svg")


@pytest.mark.parametrize(
    "command", [("curve",), ("probe", "model"), ("train",)], ids=["curve", "probe", "train"]
)
def test_commands_look_before_they_work(run, tmp_path, command):
    file = tmp_path / "texts.csv"
    file.write_text("text,label\na film,good\n")
    flag = "--report" if command == ("train",) else "--svg"
    code, _, err = run(*command, str(file), flag, str(file))
    assert (code, "HW601" in err) == (2, True)
    assert file.read_text() == "text,label\na film,good\n"


def test_a_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    write_text(page, "<svg>one")
    assert page.read_text() == "<svg>one"
    real = Path.write_text

    def full(path, text, **how):
        real(path, text[:3], **how)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OutputError, match="No space left"):
        write_text(page, "<svg>another")
    assert page.read_text() == "<svg>one"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_no_page_goes_into_the_folder_of_the_model(run, model, tmp_path):
    code, _, err = run("report", model, "--output", f"{model}/model.json", "--overwrite")
    assert code == 2
    assert "is in the folder of a model" in " ".join(err.split())
