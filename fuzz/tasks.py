"""Small data of every task, and flags for a training of a second: the rows of the contract test."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1] / "tests"


def rows_of_tasks() -> dict[str, Any]:
    """The rows by task."""
    found = importlib.util.spec_from_file_location(
        "contract", TESTS / "app" / "cli" / "contract" / "conftest.py"
    )
    if found is None or found.loader is None:
        raise ImportError("there are no rows of the contract test")
    module = importlib.util.module_from_spec(found)
    sys.modules["contract"] = module
    found.loader.exec_module(module)
    return module.ROWS
