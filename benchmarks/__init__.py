"""Measurements of headwise: a project of its own, which the package does not import."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]
"""The folder of the repository: commands run in it."""
DATA = Path(os.environ.get("HEADWISE_DATA", ROOT.parent / "shared" / "data"))
"""The folder of the data sets."""
