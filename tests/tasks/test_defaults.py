"""Settings by size."""

import pytest

from headwise.tasks.defaults import with_teacher


@pytest.mark.parametrize(
    ("human", "items", "again"),
    [(250, 50_250, True), (19_999, 200_000, True), (250, 200_001, False), (20_000, 20_100, False)],
)
def test_beside_a_teacher_labels_by_people_say_whether_dev_is_learnt_too(human, items, again):
    assert with_teacher(human, items) == {"train": {"refit": again}}
