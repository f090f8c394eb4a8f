"""The learning rate's curve."""

import pytest

from headwise.training.optimizer import learning_rate


@pytest.mark.parametrize("schedule", ["linear", "cosine", "constant"])
def test_rises_then_falls(schedule):
    curve = [learning_rate(step, 100, warmup=0.1, schedule=schedule) for step in range(100)]
    assert all(0 < value <= 1 for value in curve)
    assert curve[:10] == sorted(curve[:10])
    assert curve[10] == max(curve) == 1.0
    assert curve[10:] == sorted(curve[10:], reverse=True)
    assert (curve[-1] < 0.02) == (schedule != "constant")


def test_no_warmup_begins_at_the_top():
    assert learning_rate(0, 10, warmup=0.0, schedule="linear") == 1.0


def test_halfway_down():
    for schedule in ("linear", "cosine"):
        assert learning_rate(50, 100, warmup=0.0, schedule=schedule) == pytest.approx(0.5)


def test_one_step():
    assert learning_rate(0, 1, warmup=0.5, schedule="linear") > 0
