"""What holds for all commands and workflows."""

import pytest

from headwise.models.tasks import task_settings

DEFAULT_FOLDS = task_settings.folds_for


@pytest.fixture(scope="module", autouse=True)
def two_folds():
    """Training runs of few items have two folds by default, not three, which take half as long again. The
    default is shown by tests with `three_folds`, and by `test_a_file_alone_is_enough` as a whole run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(task_settings, "folds_for", lambda items: 2 if items < 1_000 else 0)
        yield


@pytest.fixture
def three_folds(monkeypatch):
    """The default."""
    monkeypatch.setattr(task_settings, "folds_for", DEFAULT_FOLDS)
