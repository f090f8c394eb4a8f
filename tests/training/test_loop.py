"""The loop learns, is deterministic, and a resumed run is the same run."""

import os
import signal
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from headwise.core.errors import ConfigError, HeadwiseError, TrainingInterrupted
from headwise.core.folder_layout import RUN_STATE
from headwise.training import loop, run_state
from headwise.training.callbacks import EpochReport
from headwise.training.loop import run_epochs
from headwise.training.run_state import RunProgress, load_state
from headwise.training.settings import TrainConfig

CONFIG = TrainConfig(
    epochs=4,
    batch_texts=8,
    accumulate=3,
    learning_rate=0.01,
    vectors_learning_rate=0.01,
    average=0.9,
    patience=3,
)


class Killed(BaseException):
    """Stands for a kill: nothing in the code may catch it."""


def weights(objective) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in objective.model.state_dict().items()}


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(first[name], second[name]) for name in first)


def comparable(progress: RunProgress) -> dict:
    return {key: value for key, value in vars(progress).items() if key != "seconds"}


@pytest.fixture(scope="module")
def uninterrupted(make_objective, tmp_path_factory):
    """The weights and counters of a run that nothing interrupts."""
    objective = make_objective()
    progress = run_epochs(objective.model, objective, CONFIG, tmp_path_factory.mktemp("whole"))
    return weights(objective), progress


def test_learns(make_objective, tmp_path):
    """So small a network stays at its start for one seed in six, so two of three learn."""
    config = TrainConfig(
        epochs=25, batch_texts=8, learning_rate=0.01, vectors_learning_rate=0.02, patience=0
    )
    accuracies = []
    for seed in (0, 1, 2):
        objective = make_objective(seed)
        assert objective.evaluate()["accuracy"] < 0.75
        run_epochs(objective.model, objective, config, tmp_path)
        accuracies.append(objective.evaluate()["accuracy"])
        if sum(accuracy > 0.9 for accuracy in accuracies) == 2:
            return
    pytest.fail(f"accuracies: {accuracies}")


def test_ends_with_the_best_weights(make_objective, uninterrupted):
    objective = make_objective()
    objective.model.load_state_dict(uninterrupted[0])
    progress = uninterrupted[1]
    scores = [entry["accuracy"] for entry in progress.history]
    assert objective.evaluate()["accuracy"] == max(scores) == progress.best_score
    assert scores.index(max(scores)) == progress.best_epoch


@pytest.mark.parametrize("patience", [0, 1])
def test_the_last_epoch_is_kept_where_that_is_asked(make_objective, tmp_path, patience):
    config = replace(CONFIG, score="last", patience=patience, learning_rate=0.0, vectors_learning_rate=0.0)
    objective = make_objective()
    progress = run_epochs(objective.model, objective, config, tmp_path)
    assert len({entry["accuracy"] for entry in progress.history}) == 1  # no epoch is better than another
    assert progress.best_epoch == config.epochs - 1
    assert (tmp_path / f"best-{config.epochs}.safetensors").exists()


def test_a_score_that_a_task_has_not_is_told(make_objective, tmp_path):
    objective = make_objective()
    with pytest.raises(ConfigError, match="score: 'f1' is not known of this task, only "):
        run_epochs(objective.model, objective, replace(CONFIG, score="f1"), tmp_path)


def test_while_nothing_is_found_the_loss_decides():
    config = replace(CONFIG, score="f1")
    nothing, less, better = ({"f1": f1, "loss": loss} for f1, loss in ((0.0, 0.9), (0.0, 0.5), (0.01, 2.0)))
    merits = [config.selection_score(0, scores) for scores in (nothing, less, better)]
    assert merits == sorted(merits)
    assert len({*merits}) == 3


def test_same_seed_same_weights_other_seed_others(make_objective, tmp_path, uninterrupted):
    objective = make_objective()
    run_epochs(objective.model, objective, CONFIG, tmp_path / "again")
    assert same(uninterrupted[0], weights(objective))
    objective = make_objective()
    run_epochs(objective.model, objective, TrainConfig(**{**vars(CONFIG), "seed": 1}), tmp_path / "other")
    assert not same(uninterrupted[0], weights(objective))


def test_nothing_of_an_earlier_run_is_taken_for_this_one(make_objective, tmp_path):
    """A second training on all texts would otherwise go on with the state of another."""
    (tmp_path / run_state.REFIT_FOLDER).mkdir()
    (tmp_path / run_state.REFIT_FOLDER / RUN_STATE).touch()
    (tmp_path / "best-9.safetensors").touch()
    objective = make_objective()
    run_epochs(objective.model, objective, replace(CONFIG, epochs=1), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {RUN_STATE, "best-1.safetensors"}


# 60 texts in batches of 8, 3 batches to an update: 3 updates and 1 report more in each of 4 epochs.
# Saved always, after each epoch, or at the beginning and the end alone (with the best weights in memory):
# right after the first save, within an epoch, and at the end.
@pytest.mark.parametrize(
    ("checkpoint_seconds", "epoch_seconds", "when"),
    [
        *((0.0, 0.0, when) for when in range(16)),
        *((1e9, seconds, when) for seconds in (0.0, 1e9) for when in (0, 3, 4, 9, 15)),
    ],
)
def test_killed_after_any_report_and_resumed(
    make_objective, tmp_path, uninterrupted, when, checkpoint_seconds, epoch_seconds, monkeypatch
):
    monkeypatch.setattr(loop, "EPOCH_SECONDS", epoch_seconds)
    config = TrainConfig(**{**vars(CONFIG), "checkpoint_seconds": checkpoint_seconds})
    reports = 0

    def kill(report: EpochReport) -> None:
        nonlocal reports
        if reports == when:
            raise Killed
        reports += 1

    objective = make_objective()
    with pytest.raises(Killed):
        run_epochs(objective.model, objective, config, tmp_path, report=kill)
    torch.manual_seed(99)
    torch.rand(3)
    objective = make_objective(seed=7)
    progress = run_epochs(objective.model, objective, config, tmp_path, resume=True)
    assert comparable(progress) == comparable(uninterrupted[1])
    assert same(uninterrupted[0], weights(objective))


def test_without_a_state_there_is_nothing_to_resume(make_objective, tmp_path):
    objective = make_objective()
    with pytest.raises(HeadwiseError, match="no interrupted run"):
        run_epochs(objective.model, objective, CONFIG, tmp_path, resume=True)


@pytest.mark.parametrize("call", range(1, 9))
def test_killed_during_a_save(make_objective, tmp_path, uninterrupted, monkeypatch, call):
    config = TrainConfig(**{**vars(CONFIG), "checkpoint_seconds": 0.0})
    objective = make_objective()
    real, calls = os.replace, 0

    def half_written(source, target):
        nonlocal calls
        calls += 1
        if calls > call:
            data = Path(source).read_bytes()
            Path(source).write_bytes(data[: len(data) // 2])
            raise Killed
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr("headwise.training.run_state.os.replace", half_written)
        with pytest.raises(Killed):
            run_epochs(objective.model, objective, config, tmp_path)
    objective = make_objective(seed=7)
    progress = run_epochs(objective.model, objective, config, tmp_path, resume=True)
    assert comparable(progress) == comparable(uninterrupted[1])
    assert same(uninterrupted[0], weights(objective))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_says_how_to_go_on(make_objective, tmp_path, uninterrupted, number):
    before = signal.getsignal(number)

    def interrupt(report: EpochReport) -> None:
        if report.progress.step == 5:
            os.kill(os.getpid(), number)

    config = TrainConfig(**{**vars(CONFIG), "checkpoint_seconds": 1e9})
    objective = make_objective()
    with pytest.raises(TrainingInterrupted, match=r"epoch 2 after 5 updates.*--resume"):
        run_epochs(objective.model, objective, config, tmp_path, report=interrupt)
    assert signal.getsignal(number) == before
    objective = make_objective(seed=7)
    run_epochs(objective.model, objective, config, tmp_path, resume=True)
    assert same(uninterrupted[0], weights(objective))


def test_a_signal_while_it_is_asked_whether_the_network_is_of_use(make_objective, tmp_path, uninterrupted):
    """It acts at once, and the state is that of the end of the epoch's updates."""
    config = replace(CONFIG, checkpoint_seconds=1e9)
    answers = iter([False])

    def unused() -> bool:
        for answer in answers:
            return answer
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("the signal did nothing")

    objective = make_objective()
    with pytest.raises(TrainingInterrupted, match=r"epoch 2 after 6 updates.*--resume"):
        run_epochs(objective.model, objective, config, tmp_path, unused=unused)
    _, progress = load_state(tmp_path / RUN_STATE, {"train": asdict(config)})
    assert (progress.epoch, progress.step, progress.best_epoch) == (1, 6, 0)
    objective = make_objective(seed=7)
    resumed = run_epochs(objective.model, objective, config, tmp_path, resume=True)
    assert comparable(resumed) == comparable(uninterrupted[1])
    assert same(uninterrupted[0], weights(objective))


def test_resuming_a_finished_run_gives_its_weights(make_objective, tmp_path, uninterrupted):
    objective = make_objective()
    run_epochs(objective.model, objective, CONFIG, tmp_path)
    objective = make_objective(seed=7)
    run_epochs(objective.model, objective, CONFIG, tmp_path, resume=True)
    assert same(uninterrupted[0], weights(objective))


def test_resuming_another_run_names_the_difference(make_objective, tmp_path):
    objective = make_objective()
    run_epochs(objective.model, objective, CONFIG, tmp_path, identity={"data": "a"})
    with pytest.raises(HeadwiseError, match="data was 'a' and is now 'b'"):
        run_epochs(objective.model, objective, CONFIG, tmp_path, resume=True, identity={"data": "b"})


def test_accumulated_batches_are_one_large_batch(make_objective):
    """Without dropout, the gradient of 3 batches of 5 texts is that of their 15 texts."""
    objective = make_objective()
    model = objective.model.eval()
    (objective.loss(range(15)) / 15).backward()
    at_once = {name: p.grad.clone() for name, p in model.named_parameters()}
    model.zero_grad()
    for start in (0, 5, 10):
        (objective.loss(range(start, start + 5)) / 15).backward()
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(parameter.grad, at_once[name], atol=1e-6, rtol=1e-4)


def test_stops_early_and_after_patience_epochs(make_objective, tmp_path):
    objective = make_objective()
    config = TrainConfig(epochs=50, learning_rate=0.0, vectors_learning_rate=0.0, patience=2)
    progress = run_epochs(objective.model, objective, config, tmp_path)
    assert (len(progress.history), progress.best_epoch, progress.stale) == (3, 0, 2)


def test_stops_after_an_epoch_whose_network_is_of_no_use(make_objective, tmp_path):
    """The averaged weights are asked, in evaluation mode. A run that is killed then goes on the same."""
    config = replace(CONFIG, epochs=6, patience=0, checkpoint_seconds=0)
    objective, states = make_objective(), list[dict[str, torch.Tensor]]()

    def unused() -> bool:
        assert not objective.model.training
        states.append(weights(objective))
        return len(states) == 3

    progress = run_epochs(objective.model, objective, config, tmp_path / "run", unused=unused)
    assert (len(progress.history), progress.finished) == (3, True)
    assert same(weights(objective), states[progress.best_epoch])
    killed = make_objective()
    with pytest.raises(Killed):
        run_epochs(killed.model, killed, config, tmp_path / "killed", unused=killing_after(1))
    again = make_objective()
    answers = iter([False, True])
    resumed = run_epochs(
        again.model, again, config, tmp_path / "killed", resume=True, unused=lambda: next(answers)
    )
    assert comparable(resumed) == comparable(progress)
    assert same(weights(again), weights(objective))


def killing_after(epochs: int):
    """An answer that is no for so many epochs, and then a kill."""
    answers = iter([False] * epochs)

    def unused() -> bool:
        for answer in answers:
            return answer
        raise Killed

    return unused


def test_a_loss_that_is_not_a_number_is_an_error(make_objective, tmp_path):
    objective = make_objective()
    with torch.no_grad():
        objective.model.embedding.vectors.weight.fill_(float("nan"))
    with pytest.raises(HeadwiseError, match="loss became nan in epoch 1"):
        run_epochs(objective.model, objective, CONFIG, tmp_path)


def test_only_the_best_weights_are_kept(make_objective, tmp_path):
    objective = make_objective()
    progress = run_epochs(objective.model, objective, CONFIG, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"best-{progress.best_epoch + 1}.safetensors",
        "state.safetensors",
    ]


def test_what_a_kill_leaves_of_a_save_is_removed_with_the_run(make_objective, tmp_path):
    """safetensors writes to a hidden temporary file first."""
    objective = make_objective()
    run_epochs(objective.model, objective, CONFIG, tmp_path / "run")
    (tmp_path / "run" / ".tmpn15lb7").write_bytes(b"half")
    run_state.remove_run(tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_speed_of_an_epoch_is_that_of_its_updates(make_objective, tmp_path):
    """The time on dev, and on a linear model after it, does not count."""
    objective, reports = make_objective(), list[EpochReport]()
    run_epochs(objective.model, objective, CONFIG, tmp_path, report=reports.append)
    ends = [number for number, report in enumerate(reports) if report.scores is not None]
    assert len(ends) > 1
    for end in ends:
        assert reports[end].texts_per_second == reports[end - 1].texts_per_second > 0


def test_the_seconds_of_a_run_do_not_count_the_linear_model(make_objective, tmp_path, monkeypatch):
    clock = SimpleNamespace(now=0.0)

    def monotonic() -> float:
        clock.now += 0.001
        return clock.now

    def unused() -> bool:
        clock.now += 1000
        return False

    monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=monotonic))
    objective = make_objective()
    progress = run_epochs(objective.model, objective, CONFIG, tmp_path, unused=unused)
    assert 0 < progress.seconds < 1000 < clock.now


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_need_not_wait_for_the_linear_model(
    make_objective, tmp_path, uninterrupted, number, early
):
    """The state is saved before, and the resumed run is the same run."""
    config = TrainConfig(**{**vars(CONFIG), "checkpoint_seconds": 1e9})
    objective, continued = make_objective(), []

    def unused() -> bool:
        os.kill(os.getpid(), number)
        continued.append("after the signal")
        return False

    if early:  # while the epoch is evaluated

        def evaluate():
            os.kill(os.getpid(), number)
            return type(objective).evaluate(objective)

        objective.evaluate = evaluate
    with pytest.raises(TrainingInterrupted, match=r"in epoch 1 after \d+ updates.*--resume") as raised:
        run_epochs(objective.model, objective, config, tmp_path, unused=unused)
    assert (raised.value.signal, continued) == (number, [])
    objective = make_objective(seed=7)
    progress = run_epochs(objective.model, objective, config, tmp_path, resume=True, unused=lambda: False)
    assert comparable(progress) == comparable(uninterrupted[1])
    assert same(uninterrupted[0], weights(objective))
