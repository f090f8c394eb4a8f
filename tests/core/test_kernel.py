"""Functions that are compiled: what is kept of them, and what becomes of it."""

import importlib.util
import logging
import pickle
import sys

import pytest

from headwise.core import numba_cache as room
from headwise.nn.attention.cpu import compiled

SOURCE = """
from headwise.core.numba_cache import compiled_kernel

@compiled_kernel({options})
def double(x):
    return 2 * x
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Makes a module with a kernel, as the next process would import it."""
    monkeypatch.setattr(room, "_reported_caches", set())
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")

    def module(options: str = ""):
        room._digest.cache_clear()
        path = folder / "doubles.py"
        if not path.exists() or path.read_text() != SOURCE.format(options=options):
            path.write_text(SOURCE.format(options=options))
        spec = importlib.util.spec_from_file_location("doubles", path)
        assert spec is not None
        assert spec.loader is not None
        found = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "doubles", found)
        spec.loader.exec_module(found)
        return found

    module.folder = folder
    return module


def hits(function) -> int:
    assert function(21) == 42
    return sum(function.stats.cache_hits.values())


def kept(module, ending: str):
    return list(module.folder.rglob(f"*.{ending}"))


def test_what_is_compiled_is_kept_until_a_file_beside_it_changes(module):
    assert hits(module().double) == 0
    assert kept(module, "nbi")
    assert hits(module().double) == 1
    (module.folder / "other.py").write_text("_SHIFT = 3\n")
    assert hits(module().double) == 0
    assert hits(module().double) == 1
    (module.folder / "other.py").write_text("_SHIFT = 4\n")
    assert hits(module("required=True").double) == 0
    (module.folder / "other.py").write_text("_SHIFT = 5\n")
    assert hits(module("required=True").double) == 1  # who requires it sees to that


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [b"", b"\x80\x05cut", b"\x80\x05\x95\xff\xff\xff\xff\xff\xff\xff\x7fx."])
def test_what_is_damaged_is_compiled_anew(module, ending, damage, caplog):
    assert hits(module().double) == 0
    (file,) = kept(module, ending)
    file.write_bytes(damage)
    with caplog.at_level(logging.INFO):
        assert hits(module().double) == 0
    assert "compiled anew" in caplog.text
    assert hits(module().double) == 1


def test_a_full_disk_keeps_nothing(module, monkeypatch, caplog):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(room.IndexDataCacheFile, "_save_index", full)
    with caplog.at_level(logging.INFO):
        assert hits(module().double) == 0
    assert "No space left" in caplog.text
    assert not kept(module, "nbc")


def test_without_a_folder_it_is_compiled_for_the_process(module, monkeypatch):
    def none(*_, **__):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(room.FunctionCache, "__init__", none)
    assert module().double(21) == 42
    assert not kept(module, "nbi")
    with pytest.raises(RuntimeError, match="no locator"):
        module("required=True")


class Evil:
    def __reduce__(self):
        return exec, ("raise SystemExit('it is read')",)


def test_switched_off_no_pickle_is_read(module, monkeypatch):
    assert hits(module().double) == 0
    for file in [*kept(module, "nbi"), *kept(module, "nbc")]:
        file.write_bytes(pickle.dumps(Evil()))
    monkeypatch.setenv(room.VARIABLE, "off")
    assert module().double(21) == 42
    monkeypatch.delenv(room.VARIABLE)
    with pytest.raises(SystemExit, match="it is read"):  # so the test can fail
        module().double(21)


def test_one_variable_switches_all_kernels():
    assert room.VARIABLE == compiled.VARIABLE
