"""Tables of encoders beside the default: only the same sets, sizes and seeds are compared."""

from benchmarks.defaults.default_results import ALL, Job
from benchmarks.defaults.encoder_tables import (
    WITHOUT_ENCODER,
    base_encoder_table,
    encoder_table,
    teacher_table,
)


def run(test, speed=100.0, **more):
    return {"test": test, "texts_per_second": speed, **more}


DEFAULT = {
    Job("sst2", "headwise", 250, 0): run(0.7, 5_000),
    Job("sst2", "minilm", 250, 0): run(0.75),
    Job("sst2", "e5-small", 250, 0): run(0.8, 50),
    Job("irony", "headwise", 250, 0): run(0.6, 1_000),
    Job("irony", "minilm", 250, 0): run(0.55),
    Job("irony", "e5-small", 250, 0): run(0.5, 50),
    Job("irony", "e5-small", 250, 1): run(0.9),  # of this seed there is no run of ours
    Job("emotion", "headwise", 250, 0): run(0.1),
}


def test_frozen_encoders_stand_beside_the_default_on_the_same_texts():
    assert encoder_table(DEFAULT, ("e5-small", "mpnet"))[1] == [
        ["e5-small", "`irony`", "250", "50.0", "55.0", "60.0", "+10.0"],
        ["e5-small", "`sst2`", "250", "80.0", "75.0", "70.0", "-10.0"],
        ["e5-small", "mean of 2", "250", "65.0", "65.0", "65.0", "+0.0"],
    ]


def test_splits_of_a_set_count_as_one_set_in_the_mean():
    splits = {
        Job(f"helpdesk/{split}", system, 250, 0): run(test)
        for split, tests in enumerate(((0.9, 0.8, 0.7), (0.7, 0.8, 0.9)))
        for system, test in zip(("e5-small", "minilm", "headwise"), tests, strict=True)
    }
    mean = encoder_table(DEFAULT | splits, ("e5-small",))[1][-1]  # of 65 / 65 / 65 and 80 / 80 / 80
    assert mean == ["e5-small", "mean of 3", "250", "70.0", "70.0", "70.0", "+0.0"]


def test_the_way_to_the_teacher_is_that_of_the_means():
    taught = {"unlabelled": 5_000, "teacher_texts_per_second": 10.0}
    distilled = {
        Job("sst2", "distilled, e5-small", 250, 0): run(0.78, 1_000, teacher=0.8, **taught),
        Job("irony", "distilled, e5-small", 250, 0): run(0.6, 1_000, teacher=0.58, **taught),
        Job("sst2", "of other settings", 250, 0): run(0.1, teacher=0.8, **taught),
        Job("banking77", "distilled, e5-small", 250, 0): run(0.1, teacher=0.8, **taught),
    }
    assert teacher_table(distilled, DEFAULT)[1] == [
        ["e5-small", "`irony`", "250", "5,000", "60.0", "60.0", "58.0", "-", "100"],
        ["e5-small", "`sst2`", "250", "5,000", "70.0", "78.0", "80.0", "80%", "100"],
        ["e5-small", "mean of 2", "250", "", "65.0", "69.0", "69.0", "100%", ""],
    ]


def test_all_texts_come_last_and_equal_runs_are_left_out():
    default = {
        Job("sst2", "headwise", ALL, 0): run(0.875, log_loss=0.3),
        Job("sst2", "headwise", 4_000, 0): run(0.856, log_loss=0.4),
        Job("irony", "headwise", 4_000, 0): run(0.7, log_loss=0.6),
    }
    without = {
        Job("sst2", WITHOUT_ENCODER, ALL, 0): run(0.86, log_loss=0.35),
        Job("sst2", WITHOUT_ENCODER, 4_000, 0): run(0.83, log_loss=0.45),
        Job("irony", WITHOUT_ENCODER, 4_000, 0): run(0.7, log_loss=0.6),
    }
    assert base_encoder_table(default | without)[1] == [
        ["`sst2`", "4,000", "83.0", "85.6", "+2.6", "0.450", "0.400"],
        ["`sst2`", "all", "86.0", "87.5", "+1.5", "0.350", "0.300"],
        ["mean of 1", "4,000", "83.0", "85.6", "+2.6", "0.450", "0.400"],
        ["mean of 1", "all", "86.0", "87.5", "+1.5", "0.350", "0.300"],
    ]
