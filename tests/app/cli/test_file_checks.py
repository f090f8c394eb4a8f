"""Files and folders that cannot be used are reported before slow libraries are imported."""

import json
import subprocess
import sys

import pytest

from headwise.core.folder_layout import CONFIG, EXPORTED, MODEL

SLOW = ("torch", "sklearn", "numba", "scipy", "pyarrow")
CASES = {
    "train missing.csv": "missing.csv: no such file",
    "train text.csv.model.csv": "no such file",
    "train empty.csv": "empty.csv: the file is empty",
    "train folder": "folder: a folder without files",
    "train flat": "flat: a folder of files, which have no labels",
    "train tables": "tables: a folder of tables (1.csv, ...), each of which holds many texts",
    "train rows.zip!no.csv": "rows.zip!no.csv",
    "train text.csv --dev missing.csv": "missing.csv: no such file",
    "train text.csv --test empty.csv": "empty.csv: the file is empty",
    "train text.csv --drop missing.csv": "missing.csv: no such file",
    "train text.csv --weight missing.csv": "missing.csv: no such file",
    "train text.csv --parses missing.txt": "missing.txt: no such file",
    "train text.csv --vectors missing.txt": "missing.txt: no such file",
    "train text.csv --recipe missing.toml": "missing.toml: cannot read the recipe: no such file",
    "train text.csv --recipe folder": "folder: this is not the folder of a headwise model",
    "train text.csv --recipe exported": "exported: this is an exported model",
    "tune text.csv --recipe saved": "saved: the model is incomplete",
    "train text.csv --recipe nonsense": "nonsense",
    "train text.csv --recipe empty.csv --dev missing.csv": "missing.csv: no such file",
    "train text.csv --output -": "--output -: this command writes a folder",
    "train - --dev - --output new": "- (standard input) is given for FILE and --dev",
    "train text.csv --vectors -": "--vectors -",
    "train text.csv --teacher nowhere --unlabelled missing.txt": "missing.txt: no such file",
    "distill missing.csv --teacher nowhere": "missing.csv: no such file",
    "predict no.model text.csv": "no.model: there is no such folder",
    "predict folder text.csv": "folder",
    "predict text.csv text.csv": "text.csv: this is not a folder",
    "predict text.csv saved": "the model comes first: headwise predict saved text.csv",
    "predict missing.csv saved": "model folder; the model comes first: headwise predict saved missing.csv",
    "predict text.csv empty.csv saved --unsure 0.9": "predict saved text.csv empty.csv --unsure 0.9",
    "predict flat saved": "headwise predict saved flat",
    "predict - saved": "headwise predict saved -",
    "evaluate text.csv saved": "headwise evaluate saved text.csv",
    "explain text.csv exported": "headwise explain exported text.csv",
    "predict text.csv folder": "text.csv: this is not a folder",
    "predict saved saved": "saved: the model is incomplete",
    "evaluate no.model text.csv": "no.model: there is no such folder",
    "explain no.model text.csv": "no.model: there is no such folder",
    "suggest no.model text.csv": "no.model: there is no such folder",
    "calibrate no.model text.csv --output new": "no.model: there is no such folder",
    "heads no.model text.csv": "no.model: there is no such folder",
    "serve no.model": "no.model: there is no such folder",
    "report no.model": "no.model: there is no such folder",
    "sample no.model": "no.model: there is no such folder",
    "export no.model new": "no.model: there is no such folder",
    "probe bert missing.txt": "missing.txt: no such file",
    "noise missing.csv": "missing.csv: no such file",
    "curve empty.csv": "empty.csv: the file is empty",
    "tune missing.csv": "missing.csv: no such file",
    "tune text.csv --dev missing.csv": "missing.csv: no such file",
    "priors --search missing.csv": "missing.csv: no such file",
    "pretrain missing.txt --output new": "missing.txt: no such file",
}
IN_TURN = """
import contextlib, io, json, sys
from headwise.app.cli import main
results = []
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stderr(io.StringIO()) as err, contextlib.redirect_stdout(io.StringIO()):
        code = main(words.split())
    slow = [name for name in json.loads(sys.argv[2]) if name in sys.modules]
    results.append((words, code, err.getvalue(), slow))
print(json.dumps(results))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """All command lines, one after the other in one fresh process: exit code, message, slow modules."""
    place = tmp_path_factory.mktemp("files")
    (place / "text.csv").write_text("text,label\na b,x\nc d,y\n")
    (place / "empty.csv").write_text("")
    (place / "folder").mkdir()
    for name, form in {"saved": MODEL, "exported": EXPORTED}.items():
        (place / name).mkdir()
        (place / name / CONFIG).write_text(json.dumps({"format": form.format}))
    (place / "tables").mkdir()
    (place / "tables" / "1.csv").write_text("text,label\nsome words,a\n")
    (place / "flat").mkdir()
    (place / "flat" / "1.txt").write_text("some words\n")
    done = subprocess.run(
        [sys.executable, "-c", IN_TURN, json.dumps([*CASES]), json.dumps(SLOW)],
        cwd=place,
        capture_output=True,
        text=True,
        check=True,
    )
    left = {path.name for path in place.iterdir()}
    return {words: rest for words, *rest in json.loads(done.stdout)}, left


@pytest.mark.parametrize(("words", "message"), CASES.items())
def test_the_message_comes_before_slow_libraries(results, words, message):
    code, err, slow = results[0][words]
    assert code in (1, 2)
    assert message in " ".join(err.split())
    assert slow == []
    assert "Traceback" not in err


READ = {
    "train quoted.csv": "quoted.csv:3:1: a quotation mark that is never closed",
    "train text.csv --text-column foo": "text.csv: there is no column 'foo'",
    "train text.csv --test other.csv": "the label 'z' does not occur in text.csv",
    "train text.csv --task multi-label --label-columns nothing": "nothing",
}


def test_errors_of_the_training_file_come_before_slow_libraries(tmp_path):
    (tmp_path / "text.csv").write_text("text,label\n" + "a b,x\nc d,y\n" * 9)
    (tmp_path / "other.csv").write_text("text,label\na b,z\n")
    (tmp_path / "quoted.csv").write_text('text,label\na b,x\n"c d,y\n')
    before = {path.name for path in tmp_path.iterdir()}
    done = subprocess.run(
        [sys.executable, "-c", IN_TURN, json.dumps([*READ]), json.dumps(["torch", "sklearn", "scipy"])],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    for words, code, err, slow in json.loads(done.stdout):
        assert (code, slow) == (2, []), err
        assert READ[words] in " ".join(err.split())
    assert {path.name for path in tmp_path.iterdir()} == before


def test_nothing_is_made(results):
    assert results[1] == {"text.csv", "empty.csv", "folder", "flat", "tables", "saved", "exported"}


def test_a_folder_is_not_proposed_for_a_file(run, tmp_path):
    (tmp_path / "review.model").mkdir()
    _, _, err = run("train", "review.mode")
    assert "did you mean" not in err


def test_a_python_call_leaves_no_folder(tmp_path):
    from headwise.app.workflows.train import train_files
    from headwise.data.errors import DataError

    with pytest.raises(DataError, match="no such file"):
        train_files(tmp_path / "missing.csv", tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "words", ["train missing.csv", "train ./missing.csv --output new", "tune missing.csv"]
)
def test_the_first_check_says_what_the_complete_check_says(words, tmp_path, monkeypatch, capsys):
    from headwise.app.cli import main
    from headwise.app.cli.command_run import run_command

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "headwise.app.cli.command_line.build_app", lambda *_: pytest.fail("the first check passed")
    )
    assert main(words.split()) == 2
    first = capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert run_command(words.split()) == 2
    assert capsys.readouterr().err == first
