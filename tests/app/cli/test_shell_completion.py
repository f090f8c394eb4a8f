"""Completion of commands and flags by the shell."""

import shutil
import subprocess

import pytest

BASH = shutil.which("bash")
COMPLETE = """
source "$1"
complete=$(complete -p headwise | sed 's/.*-F \\([^ ]*\\).*/\\1/')
COMP_WORDS=(headwise "${@:2}") COMP_CWORD=$(($# - 1))
$complete headwise "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
echo "${COMPREPLY[*]}"
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/bash")
    return tmp_path


def test_the_script_is_put_where_the_shell_finds_it(run, home):
    code, out, err = run("--install-completion", "--shell", "bash")
    assert (code, out) == (0, "")
    script = home / ".local" / "share" / "bash-completion" / "completions" / "headwise"
    assert f"the completion is in {script}" in err
    assert str(script) in (home / ".bashrc").read_text()
    before = (home / ".bashrc").read_text()
    assert run("--install-completion", "--shell", "bash")[0] == 0
    assert (home / ".bashrc").read_text() == before
    assert run("--install-completion", "--shell", "fish")[0] == 0
    assert (home / ".config" / "fish" / "completions" / "headwise.fish").is_file()


def test_a_folder_that_cannot_be_written(run, home):
    (home / ".config").write_text("")
    code, _, err = run("--install-completion", "--shell", "fish")
    assert (code, "[HW604]" in err) == (2, True), err


def test_no_script_for_other_shells(run):
    code, _, err = run("--show-completion", "tcsh")
    assert (code, "tcsh" in err, "bash" in err) == (2, True, True)


@pytest.mark.skipif(BASH is None, reason="there is no bash")
def test_bash_completes(run, tmp_path):
    code, script, _ = run("--show-completion", "bash")
    assert code == 0
    (tmp_path / "script").write_text(script)
    for words, completed in (
        (["exp"], {"explain", "export"}),
        (["export", "--fo"], {"--format"}),
        (["export", "--format", ""], {"onnx", "html"}),
        (["train", "--windows.l"], {"--windows.long"}),
    ):
        command = [str(BASH), "-c", COMPLETE, "bash", str(tmp_path / "script"), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert set(done.stdout.split()) == completed, words
