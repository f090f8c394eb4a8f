"""What all tasks have in common."""

import pytest

from headwise.models.tasks import TASKS


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_progress_bar_tells_of_what_the_task_has(task):
    assert ("linear expert" in task.post_training_step) == ("expert" in task.sections)
    assert ("thresholds" in task.post_training_step) == ("thresholds" in task.sections)
    assert ("calibration" in task.post_training_step) == bool({"classifier", "bags"} & {*task.sections})
