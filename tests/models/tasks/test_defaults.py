"""Settings by size."""

import pytest

from headwise.models.tasks import TASKS
from headwise.models.tasks.task_settings import teacher_settings


@pytest.mark.parametrize(
    ("gold_texts", "items", "again"),
    [(250, 50_250, True), (19_999, 200_000, True), (250, 200_001, False), (20_000, 20_100, False)],
)
def test_beside_a_teacher_labels_by_people_say_whether_dev_is_learnt_too(gold_texts, items, again):
    assert teacher_settings(gold_texts, items) == {"train": {"refit": again}}


@pytest.mark.parametrize(
    ("name", "linear_model"),
    [
        ("classify", {"max_features": 1_000_000}),
        ("multi-label", {"max_features": 1_000_000}),
        ("regress", {"max_features": 1_000_000}),
        ("pair", {"max_features": 100_000}),  # it has four weights a label for each
        ("tag", None),  # its linear CRF reads words in sentences
    ],
)
def test_what_a_linear_member_may_read(name, linear_model):
    defaults = TASKS[name].defaults(60_000, vectors=False, encoder="ms-transformer")
    assert defaults.get("linear_model") == linear_model
