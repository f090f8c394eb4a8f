"""References such as `headwise.nn.ragged` in docstrings, comments and pages lead to something."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
REFERENCE = re.compile(r"`(headwise(?:\.\w+)+)`")


def leads_nowhere(reference: str) -> bool:
    """Whether a dotted name has no file, or its file does not contain the names behind it."""
    place, *names = reference.split(".")
    folder = SOURCE / place
    while names:
        name = names.pop(0)
        if (file := folder / f"{name}.py").exists():
            words = set(re.findall(r"\w+", file.read_text("utf-8")))
            return not words.issuperset(names)
        if not (folder / name).is_dir():
            words = set(re.findall(r"\w+", (folder / "__init__.py").read_text("utf-8")))
            return not words.issuperset([name, *names]) and not list(folder.glob(f"{name}.*"))
        folder /= name
    return False


def test_references_lead_somewhere():
    files = [*SOURCE.rglob("*.py"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").rglob("*.py")]
    wrong = [
        f"{path.relative_to(ROOT)}: {reference}"
        for path in files
        for reference in REFERENCE.findall(path.read_text("utf-8"))
        if leads_nowhere(reference)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("reference", "wrong"),
    [
        ("headwise.nn.ragged.Ragged", False),
        ("headwise.load_model", False),
        ("headwise.nn.ragged.Rugged", True),
        ("headwise.nn.rugged", True),
    ],
)
def test_wrong_references_are_recognised(reference, wrong):
    assert leads_nowhere(reference) == wrong
