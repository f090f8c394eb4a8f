import re
import tomllib
from pathlib import Path

import pytest

from headwise.core.extras import EXTRAS, install_line

PROJECT = Path(__file__).parents[2]


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_line_names_the_libraries_of_the_extra(extra):
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    needed = {re.split(r"[><=]", name)[0] for name in project["optional-dependencies"][extra]}
    named = {re.split(r"[><=]", name.strip("'"))[0] for name in install_line(extra).split()[2:]}
    assert named == needed - {"headwise[train]"}
