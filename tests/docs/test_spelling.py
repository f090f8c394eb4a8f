"""Prose is spelled one way: British, as most of it was; names of the API keep theirs (`normalize`)."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
PAGES = sorted(
    path.relative_to(PROJECT).as_posix()
    for path in (PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *(PROJECT / "docs").rglob("*.md"))
)
TEXTS = sorted(path.relative_to(PROJECT).as_posix() for path in (PROJECT / "src").rglob("*.py"))

_STEMS = (
    "normal initial recogn standard summar general regular quant random serial organ penal memor priorit"
)
_AMERICAN = re.compile(
    rf"\b(?:un|re|de)?(?:{'|'.join(_STEMS.split())})iz(?:e[ds]?|ing|ations?)\b"
    r"|\b(?:optimi|tokeni|minimi|maximi)z(?:e[ds]?|ing)\b"
    r"|\b(?:colors?|behaviors?|(?:un)?labeled|labeling|neighbors?|favors?|optimisers?|tokenisers?)\b"
)
"""Words that are spelled otherwise in prose. "Tokenizer" and "optimizer" are names in the API."""
_CODE = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)", re.DOTALL)
_DOCSTRINGS = re.compile(r'^ *(?:r|f)?"""(?! *\\n)(.*?)"""', re.DOTALL | re.MULTILINE)
_ARGUMENT = re.compile(r"^ *\w+:", re.MULTILINE)  # a parameter in a list of arguments


def american(prose: str) -> list[str]:
    return _AMERICAN.findall(_CODE.sub(" ", prose))


def test_american_words_are_found():
    assert american("It is normalized and labeled, by the optimiser.") == [
        "normalized",
        "labeled",
        "optimiser",
    ]
    assert not american("The `normalize` option; [it](normalized.md) is normalised by an optimizer.")


@pytest.mark.parametrize("page", PAGES)
def test_pages(page):
    assert not american((PROJECT / page).read_text(encoding="utf-8"))


def test_docstrings():
    for name in TEXTS:
        text = (PROJECT / name).read_text(encoding="utf-8")
        for docstring in _DOCSTRINGS.findall(text):
            assert not american(_ARGUMENT.sub("", docstring)), (name, docstring[:200])
