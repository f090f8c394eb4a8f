"""Plain command lines run the same as if cyclopts had parsed them."""

import inspect

import pytest

from headwise.app.cli import main
from headwise.app.cli.command_line import parse
from headwise.app.cli.command_run import plain_call
from headwise.app.workflows.predict import predict_file
from headwise.data.files.file_lists import list_files

OPTIONS = "", "-o a.csv", "--output a.csv", "--overwrite", "-o a.csv --overwrite", "--overwrite -o a.csv"
PLAIN = [f"predict model {file} {options}" for file in ("texts.txt", "texts-*.txt") for options in OPTIONS]
NOT_PLAIN = """
predict
predict model
predict model texts.txt more.txt
predict model -
predict model texts.txt -o
predict model texts.txt -o -
predict model texts.txt --output=out.csv
predict model texts.txt -o a.csv -o b.csv
predict model texts.txt --overwrite --overwrite
predict model texts.txt --resume
predict model texts.txt --text-column text
predict -o out.csv model texts.txt
predict --help
explain model texts.txt
"""
WRONG = """
predict nothing texts.txt
predict model missing.txt
predict texts.txt texts.txt
predict model model
predict model texts-*.csv
predict model texts.txt --overwrite
predict model texts.txt -o model
predict model texts.txt -o texts.txt
predict model texts.txt -o there.csv
"""


@pytest.fixture
def folder(model, tmp_path, monkeypatch):
    """A folder with a model and two files of texts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").symlink_to(model)
    for name in ("texts.txt", "texts-1.txt", "texts-2.txt"):
        (tmp_path / name).write_text("w1 w2\n")
    return tmp_path


@pytest.mark.parametrize("line", PLAIN)
def test_the_workflow_gets_the_same_arguments(line, folder, monkeypatch):
    calls = []
    signature = inspect.signature(predict_file)

    def record(*arguments, **options):
        bound = signature.bind(*arguments, **options)
        bound.apply_defaults()
        given = bound.arguments | bound.arguments.pop("file_arguments")
        given["file"], given["reporter"] = list_files(given["file"]), type(given["reporter"])
        calls.append({name: value for name, value in given.items() if value not in (None, {})})

    monkeypatch.setattr("headwise.app.workflows.predict.predict_file", record)
    call = plain_call(line.split())
    assert call is not None
    assert call() == parse(line.split())() == 0
    assert calls[0] == calls[1]


@pytest.mark.parametrize("line", NOT_PLAIN.splitlines())
def test_other_lines_are_left_to_the_parser(line):
    assert plain_call(line.split()) is None


def test_a_text_in_the_place_of_a_file_is_left_to_the_parser():
    assert plain_call(["predict", "model", "a text, and no file"]) is None


@pytest.mark.parametrize("line", WRONG.strip().splitlines())
def test_errors_are_the_same(line, folder, monkeypatch, capfd):
    (folder / "there.csv").write_text("kept")
    monkeypatch.setattr("headwise.app.cli._missing_path", lambda words: None)
    assert main(line.split()) == 2
    plain = capfd.readouterr()
    monkeypatch.setattr("headwise.app.cli.command_run.plain_call", lambda words: None)
    assert main(line.split()) == 2
    assert capfd.readouterr() == plain
    assert plain.err.startswith("error ")


def test_predictions_are_the_same(folder, monkeypatch, capfd):
    outputs = []
    for name in ("plain.csv", "parsed.csv"):
        assert main(["predict", "model", "texts-1.txt", "-o", name]) == 0
        assert main(["predict", "model", "texts-1.txt"]) == 0
        outputs.append(((folder / name).read_bytes(), capfd.readouterr().out))
        monkeypatch.setattr("headwise.app.cli.command_run.plain_call", lambda words: None)
    assert outputs[0] == outputs[1]
    assert b"w1 w2" in outputs[0][0]
