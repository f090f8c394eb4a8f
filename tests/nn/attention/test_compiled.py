"""Who waits for the kernels, and what is said of them. (Nothing is compiled here but in the last test.)"""

import json
import logging
import os
import subprocess
import sys
import time
from types import ModuleType

import pytest

from headwise.nn.attention.cpu import compiled


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine on which nothing is compiled, where compiling takes no time; what happens there."""
    module, happened = ModuleType("headwise.nn.attention.cpu.banded_kernels"), []
    ready = tmp_path / "ready"

    def load(module):
        happened.append("loaded" if ready.exists() else "compiled")
        ready.touch()
        return module

    def start(module):
        happened.append("in the background")
        return compiled._LATER

    monkeypatch.setattr(compiled, "_decisions", {})
    monkeypatch.setattr(compiled, "_module", lambda library: module)
    monkeypatch.setattr(compiled, "_mark", lambda module: tmp_path / "cache" / "kernels.ready")
    monkeypatch.setattr(compiled, "_ready", lambda module: ready.exists())
    monkeypatch.setattr(compiled, "_load", load)
    monkeypatch.setattr(compiled, "_compile_in_background", start)
    monkeypatch.delenv(compiled.VARIABLE, raising=False)
    return happened


def test_nobody_waits_unasked(machine):
    assert compiled.compiled_kernels() == compiled._LATER
    assert compiled.compiled_kernels() == compiled._LATER
    assert machine == ["in the background"]
    assert compiled.describe() == {compiled.BANDED: compiled._LATER}


def test_waiting_compiles_and_says_so(machine, caplog):
    assert compiled.compiled_kernels() == compiled._LATER  # a prediction, say, before the training
    with caplog.at_level(logging.INFO, "headwise"), compiled.wait_for_kernels():
        assert isinstance(compiled.compiled_kernels(), ModuleType)
        assert isinstance(compiled.compiled_kernels(), ModuleType)
    assert machine == ["in the background", "compiled"]
    assert [record.message for record in caplog.records] == [
        "compiling the kernels of attention (banded): once for each machine and version, up to half a "
        "minute ..."
    ]
    assert isinstance(compiled.compiled_kernels(), ModuleType)  # and so it stays
    assert compiled.describe()[compiled.BANDED].startswith("compiled by Numba ")


def test_what_is_compiled_is_loaded_without_a_word(machine, caplog, tmp_path):
    (tmp_path / "ready").touch()
    with caplog.at_level(logging.INFO, "headwise"), compiled.wait_for_kernels():
        assert isinstance(compiled.compiled_kernels(), ModuleType)
    assert machine == ["loaded"]
    assert not caplog.records


@pytest.mark.parametrize(("mode", "then"), [("off", []), ("background", ["in the background"])])
def test_the_environment_says_otherwise(machine, monkeypatch, mode, then):
    monkeypatch.setenv(compiled.VARIABLE, mode)
    with compiled.wait_for_kernels():
        assert isinstance(compiled.compiled_kernels(), str)
    assert machine == then


def test_a_run_that_began_without_goes_on_without(machine):
    with compiled.wait_for_kernels():
        compiled.reuse_decisions({compiled.BANDED: False})
        with compiled.wait_for_kernels():
            assert isinstance(compiled.compiled_kernels(), str)
    assert machine == []
    with compiled.wait_for_kernels():  # the next run of this process is another one
        assert isinstance(compiled.compiled_kernels(), ModuleType)


def test_what_could_not_be_had_before_is_tried_again_by_who_waits(machine, monkeypatch):
    monkeypatch.setitem(compiled._decisions, compiled.BANDED, "no process could be started")
    assert isinstance(compiled.compiled_kernels(), str)
    with compiled.wait_for_kernels():
        assert isinstance(compiled.compiled_kernels(), ModuleType)


def test_a_run_that_began_with_them_says_where_they_cannot_be_had(machine, monkeypatch, caplog):
    monkeypatch.setattr(compiled, "_module", lambda library: "Numba cannot be imported")
    compiled.reuse_decisions({compiled.BANDED: True})
    [messages] = caplog.messages
    assert "(banded), which cannot be had here: Numba cannot be imported; so it goes on without" in messages
    assert isinstance(compiled.compiled_kernels(), str)


def test_a_process_that_did_without_for_a_while_has_its_kernels_again(monkeypatch):
    kernels = compiled.prepare()
    monkeypatch.setattr(compiled, "_decisions", {compiled.BANDED: "the run began without it"})
    with compiled.wait_for_kernels():
        assert compiled.compiled_kernels() is kernels


@pytest.mark.skipif(os.name != "posix", reason="elsewhere nobody asks whether a process lives")
def test_a_compiler_that_was_killed_is_not_waited_for(machine, tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    claim = compiled._claim(ModuleType("headwise.nn.attention.cpu.banded_kernels"))
    claim.parent.mkdir()
    compiled._sign(claim)
    assert compiled._at_work(None)
    claim.write_text(claim.read_text().replace(str(os.getpid()), str(ended.pid), 1))
    assert not compiled._at_work(None)
    with compiled.wait_for_kernels():
        compiled.compiled_kernels()
    assert machine == ["compiled"]
    assert not claim.exists()


def test_a_compiler_of_another_machine_is_waited_for(machine, tmp_path):
    claim = compiled._claim(ModuleType("headwise.nn.attention.cpu.banded_kernels"))
    claim.parent.mkdir()
    claim.write_text("1 elsewhere")
    assert compiled._at_work(None)
    long_ago = time.time() - compiled._STALE - 1
    os.utime(claim, (long_ago, long_ago))
    assert not compiled._at_work(None)


def test_the_first_training_of_a_machine_ends_like_the_second(tmp_path, capfd, monkeypatch):
    """The first finds nothing compiled; that the kernels are compiled already spares half a minute."""
    from headwise.app.cli import main

    compiled.prepare()
    loaded = []
    monkeypatch.setattr(compiled, "_decisions", {})
    monkeypatch.setattr(compiled, "_ready", lambda module: bool(loaded))
    monkeypatch.setattr(compiled, "_load", lambda module: loaded.append(module) or module)
    monkeypatch.setattr(compiled, "_compile_in_background", lambda module: compiled._LATER)
    rows = "".join(f"{('good', 'bad')[n % 2]}\tw{n % 2} w{n % 5} w{n % 7}\n" for n in range(60))
    (tmp_path / "texts.tsv").write_text("label\ttext\n" + rows)
    settings = "--epochs 1 --encoder.layers 1 --encoder.width 8 --encoder.heads 2 --encoder.head-size 4"
    for name in ("first", "second"):
        call = ["train", str(tmp_path / "texts.tsv"), "--no-baseline", *settings.split(), "--output"]
        assert main([*call, str(tmp_path / name)]) == 0
        messages = (
            "- compiling the kernels of attention (banded): once for each machine" in capfd.readouterr().err
        )
        assert messages == (name == "first")
    assert (tmp_path / "first/model.safetensors").read_bytes() == (
        tmp_path / "second/model.safetensors"
    ).read_bytes()
    kernels = [
        json.loads((tmp_path / name / "environment.json").read_text())["kernels"]
        for name in ("first", "second")
    ]
    assert kernels[0]["banded_kernels"].startswith("compiled by Numba ")
    assert kernels[1]["banded_kernels"] == kernels[0]["banded_kernels"]
