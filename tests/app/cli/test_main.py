"""`headwise` itself: help, errors, exit codes."""

import gc
import re
import signal
import subprocess
import sys
from typing import Any

import pytest

from headwise import __version__
from headwise.app import session
from headwise.app.cli import COMMAND_GROUPS, COMMANDS, main
from headwise.app.workflows import train
from headwise.core import allocator

# Modules are counted in place of seconds, which also measure what else the machine does.
FRESH = """
import sys
from headwise.app.cli import main
code = main({arguments!r})
heavy = {{"torch", "scipy", "sklearn"}} & set(sys.modules)
assert not heavy, f"imported: {{heavy}}"
assert len(sys.modules) < 700, f"{{len(sys.modules)}} modules are imported"
sys.exit(code)
"""


LIGHT = """
import sys
from headwise.app.cli import main
for line in sys.argv[1:]:
    code = main(line.split())
    assert not {"numpy", "torch"} & set(sys.modules), line
    assert code == (0 if "help" in line else 2), line
"""


def fresh(arguments: list[str], **how: Any) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own."""
    command = [sys.executable, "-c", FRESH.format(arguments=arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **how)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["doctor", "--help"], ["trian"]])
def test_starts_with_few_modules_and_without_torch(arguments):
    done = fresh(arguments)
    assert done.returncode == (2 if arguments == ["trian"] else 0), done.stderr


def test_help_and_usage_errors_do_without_numpy_and_torch():
    lines = [f"{command} --help" for command in COMMANDS]
    lines += ["train --help-all", "train --task tag --help", "train", "train a.csv --epohcs 3", "predict m"]
    lines += ["train a.csv --epochs x", "evaluate m f --errors x", "sample m --top-k x"]
    done = subprocess.run([sys.executable, "-c", LIGHT, *lines], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_doctor_runs_without_torch(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\n" + "a b c,x\nd e f,y\n" * 20)
    done = fresh(["doctor", "a.csv"], cwd=tmp_path)
    assert "40" in done.stdout, done.stderr
    assert not done.stderr


def test_help_lists_the_commands_in_order_and_by_purpose(run):
    code, out, _ = run("--help")
    assert code == 0
    headings = [out.index(f" {heading} ") for heading in (*COMMAND_GROUPS, "Help and completion")]
    for start, end, group in zip(headings, headings[1:], COMMAND_GROUPS.values(), strict=False):
        assert re.findall(r"^\S (\w+) ", out[start:end], re.MULTILINE) == list(group)
    assert all(summary in out for summary in COMMANDS.values())


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_is_its_docstring(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert COMMANDS[command] in out
    assert len(out.split("╭")[0].split()) > len(COMMANDS[command].split()) + 10
    reads_no_data = command in ("priors", "sample", "pretrain", "export")
    assert "--text-column" in out or reads_no_data


def test_version(run):
    assert run("--version") == (0, f"{__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["predcit", "x"], "unknown command 'predcit'; did you mean 'predict'?"),
        (
            ["zzz"],
            "unknown command 'zzz'; expected one of train, evaluate, predict, explain, serve, report",
        ),
        (["predict", "m", "f.csv", "--fromat", "csv"], "did you mean --format?"),
        (["predict", "m", "--fromat", "csv", "f.csv"], "did you mean --format?"),
        (["doctor", "--text-colum"], "did you mean --text-column?"),
        (["doctor", "f.csv", "--first", "a"], "did you mean --first-column?"),
        (["train", "f.csv", "--hlep"], "unknown option --hlep; did you mean --help?"),
        (["train", "f.csv", "--lr", "3"], "unknown option --lr; did you mean --learning-rate?"),
        (["train", "f.csv", "--class-weights", "x"], "did you mean --classifier.class-weights or --bags."),
        (["train", "f.csv", "--thresholds", "f1"], "did you mean --classifier.thresholds? See"),
        (["train", "f.csv", "--split=0.2"], "--split alone is a group of settings; such as --split."),
        (["curve", "f.csv", "--minutes", "3"], "unknown option --minutes. See headwise curve --help"),
        (["priors", "f.csv"], "give the file of a search with --search"),
        (["predict", "m"], "FILE requires an argument"),
        (["predict", "m", "f.csv", "--format", "cvs"], 'Did you mean "csv"?'),
        (["predict", "m", "f.csv", "--batch-tokens", "many"], "--batch-tokens"),
    ],
)
def test_wrong_command_lines(run, arguments, said):
    code, out, err = run(*arguments)
    assert code == 2
    assert not out
    assert err.startswith("error ")
    assert said in err
    assert err.count("\n") == 1


def test_errors_are_one_message(run):
    code, out, err = run("predict", "no-model", "f.csv")
    assert (code, out) == (2, "")
    assert err.startswith("error [HW501] no-model: ")
    assert err.count("\n") == 1


def test_traceback_on_request(run, monkeypatch):
    monkeypatch.setenv("HEADWISE_TRACEBACK", "1")
    from headwise.core.errors import HeadwiseError

    with pytest.raises(HeadwiseError, match="HW501"):
        main(["predict", "no-model", "f.csv"])


def test_interrupted(run, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("headwise.data.doctor.diagnose.doctor_files", interrupted)
    assert run("doctor", "f.csv") == (130, "", "")


def test_interrupted_in_compiled_code(run, monkeypatch):
    def interrupted(*_, **__):
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr("headwise.data.doctor.diagnose.doctor_files", interrupted)
    assert run("doctor", "f.csv") == (130, "", "")
    monkeypatch.setattr(
        "headwise.data.doctor.diagnose.doctor_files", lambda *_: (_ for _ in ()).throw(SystemError)
    )
    with pytest.raises(SystemError):
        run("doctor", "f.csv")


def test_defects_are_not_hidden(run, monkeypatch):
    monkeypatch.setattr("headwise.data.doctor.diagnose.doctor_files", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run("doctor", "f.csv")


def test_the_reader_of_the_output_goes_away(spawn, model, table, tmp_path):
    table(tmp_path / "in.csv", 5000)
    process = spawn("predict", model, "in.csv")
    assert process.stdout.readline().startswith(b"id,text,label,prediction")
    process.stdout.close()
    assert b"rror" not in process.stderr.read()
    assert process.wait(30) == 128 + signal.SIGPIPE


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["explain", "m", "a.csv", "b.csv"], "'b.csv' is one argument too many: it takes a model and one"),
        (
            ["predict", "m", "a text"],
            "there is no file 'a text'; to predict a text itself, give it on stand",
        ),
    ],
)
def test_what_is_no_file(capsys, arguments, said):
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_libraries_that_do_not_fit_into_the_memory(run, monkeypatch):
    def too_large(*_, **__):
        raise ImportError("libtorch_cpu.so: failed to map segment from shared object")

    monkeypatch.setattr("headwise.app.cli.command_line.build_app", too_large)
    code, _, err = run("predict", "--workers", "1", "model", "texts.csv")
    assert code == 2
    assert "[HW410] out of memory while loading the libraries: libtorch_cpu.so" in err


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["export", "m", "x"], "give this process more"),
        (["predict", "m", "x", "--resume"], "a smaller --batch-tokens\n"),
    ],
)
def test_what_takes_less_memory_is_a_flag_of_the_command(run, monkeypatch, arguments, advice):
    def too_large(*_, **__):
        raise MemoryError

    monkeypatch.setattr("headwise.app.cli.command_line.build_app", too_large)
    code, _, err = run(*arguments)
    assert code == 2
    assert f"[HW410] out of memory in headwise {arguments[0]}: " in err
    assert advice in err


@pytest.mark.parametrize("command", ["train", "predict", "explain", "evaluate"])
def test_the_search_for_garbage_goes_on_once_libraries_are_loaded(monkeypatch, model, tmp_path, command):
    file = tmp_path / "texts.tsv"
    rows = (f"w{number} is {label}\t{label}\n" for number in range(40) for label in ("good", "bad"))
    file.write_text("text\tlabel\n" + "".join(rows))
    few = ["--base", "none", "--epochs", "1", "-o", str(tmp_path / "new")]
    arguments = [str(file), *few] if command == "train" else [str(model), str(file)]
    monkeypatch.setattr(sys, "argv", ["headwise", command, *arguments])
    monkeypatch.setattr(allocator, "_paused", False)
    resumed, resume = [], allocator.resume_collection

    def recorded():
        resumed.append(not gc.isenabled())
        resume()

    for module in (session, train):
        monkeypatch.setattr(module, "resume_collection", recorded)
    try:
        assert main() == 0
        assert any(resumed)
        assert gc.isenabled()
    finally:
        gc.unfreeze()
        gc.enable()
