"""Where the real data is; what makes parses."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def real_data() -> Path:
    root = Path(__file__).parents[2]
    folder = Path(os.environ.get("HEADWISE_DATA", root / "../shared/data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set HEADWISE_DATA")
    return folder
