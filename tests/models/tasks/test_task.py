"""What all tasks have in common."""

import pytest

from headwise.models.tasks import TASKS, find_task


@pytest.mark.parametrize("name", TASKS)
def test_a_progress_bar_tells_of_what_the_task_has(name):
    task, sections = find_task(name), TASKS[name].sections
    assert ("linear model" in task.post_training_step) == ("linear_model" in sections)
    assert ("thresholds" in task.post_training_step) == ("thresholds" in sections)
    assert ("calibration" in task.post_training_step) == bool({"classifier", "bags"} & {*sections})
