"""What pyproject.toml promises of other libraries is what is tested."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOT_ASKED = {
    *("headwise", "triton", "ruff", "pyrefly", "pyright", "clang-format", "check-jsonschema"),
    *("cmake", "nanobind", "ninja", "scikit-build-core", "mkdocs-material", "mkdocstrings"),
}
"""Extras of extras; what PyTorch brings as it fits it; what checks the code, builds core or site."""


def test_the_oldest_libraries_that_are_allowed_are_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    requirements = "\n".join(
        [*project["dependencies"], *(requirement for extra in extras for requirement in extra)]
    )
    least = dict(re.findall(r"^([\w-]+)>=([\d.]+)", requirements, re.MULTILINE))
    pinned = (ROOT / "constraints-lowest.txt").read_text(encoding="utf-8")
    tested = dict(re.findall(r"^([\w-]+)==([\d.]+)$", pinned, re.MULTILINE))
    assert {"torch", "scipy", "spacy", "pytest"} <= least.keys()
    assert {name: tested.get(name) for name in least if name not in NOT_ASKED} == {
        name: version for name, version in least.items() if name not in NOT_ASKED
    }
