"""The search for garbage is resumed by who stopped it."""

import gc

import pytest

from headwise.core import allocator


@pytest.fixture(autouse=True)
def collection(monkeypatch):
    monkeypatch.setattr(allocator, "_paused", False)
    yield
    gc.unfreeze()
    gc.enable()


def test_a_pause_ends():
    allocator.pause_collection()
    assert not gc.isenabled()
    allocator.resume_collection()
    assert gc.isenabled()
    assert gc.get_freeze_count()


def test_nothing_happens_without_a_pause():
    allocator.resume_collection()
    assert not gc.get_freeze_count()


@pytest.mark.parametrize("pause", [False, True])
def test_a_program_that_collects_no_garbage_is_left_alone(pause):
    gc.disable()
    if pause:
        allocator.pause_collection()
    allocator.resume_collection()
    assert not gc.isenabled()
