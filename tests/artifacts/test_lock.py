import os
import subprocess
import sys
from pathlib import Path

import pytest

from headwise.core.errors import HeadwiseError
from headwise.core.file_lock import locked

FULL = """
import resource, sys
from pathlib import Path
from headwise.core.errors import HeadwiseError
from headwise.core.file_lock import locked
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
try:
    with locked(Path("model")):
        print("held")
except HeadwiseError as error:
    print(error)
"""


@pytest.mark.skipif(os.name != "posix", reason="no limits of files here")
def test_a_full_disk_is_told_of_the_folder_which_is_not_left_behind(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout == "[HW407] model: the state cannot be saved: File too large\n", done.stderr
    assert not list(tmp_path.iterdir())


def test_a_lock_that_cannot_be_read_is_one_of_another_run(tmp_path, monkeypatch):
    """On Windows nobody else can read a locked file."""

    def refused(path, **_):
        raise PermissionError(13, "Permission denied", str(path))

    with locked(tmp_path / "m"), monkeypatch.context() as windows:
        windows.setattr(Path, "read_text", refused)
        with pytest.raises(HeadwiseError, match=r"HW408.*it has just begun"), locked(tmp_path / "m"):
            pass
