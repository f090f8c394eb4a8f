"""Small data of every task, and flags for a training run of a second: the rows of the contract test."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1] / "tests"


def rows_of_tasks() -> dict[str, Any]:
    """The rows by task."""
    spec = importlib.util.spec_from_file_location(
        "contract", TESTS / "app" / "cli" / "contract" / "conftest.py"
    )
    if spec is None or spec.loader is None:
        raise ImportError("there are no rows of the contract test")
    module = importlib.util.module_from_spec(spec)
    sys.modules["contract"] = module
    spec.loader.exec_module(module)
    return module.ROWS
