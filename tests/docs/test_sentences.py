"""Sentences of the documentation have at most 30 words; pages of evidence are free."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
DOCS = PROJECT / "docs"
EVIDENCE = ("accuracy.md", "mirrored-summation.md", "papers.md", "speed.md")
PAGES = sorted(
    path.relative_to(DOCS).as_posix()
    for path in DOCS.rglob("*.md")
    if path.name not in EVIDENCE and "evidence" not in path.parts
)
MOST_WORDS = 30

ALLOWED: dict[str, int] = {}
"""Long sentences that a page may still have. This list may only shrink."""

_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ITEM = re.compile(r"(?:[-*]|\d+\.) ")
_END = re.compile(r"(?<=[.!?:])[)*\"]*\s+(?=[A-Z*`\"(\[0-9])")


def sentences(text: str) -> list[str]:
    """The sentences of paragraphs, list items and table cells of a Markdown text; code counts as a word."""
    lines = _COMMENT.sub("", _FENCE.sub("\n\n", text)).splitlines()
    blocks, block = [], []
    for line in [*map(str.strip, lines), ""]:
        cells = line.startswith("|")
        item = _ITEM.match(line)
        if block and (cells or item or not line or line.startswith("#")):
            blocks.append(" ".join(block))
            block = []
        if cells:
            blocks += [cell.strip() for cell in line.strip("|").split("|")]
        elif line and not line.startswith("#"):
            block.append(line[item.end() :] if item else line)
    return [sentence for block in blocks for sentence in _END.split(plain(block)) if sentence]


def plain(block: str) -> str:
    """A block with code as one word and links as their text."""
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "`code`", block))


def long_sentences(text: str) -> list[str]:
    return [sentence for sentence in sentences(text) if len(sentence.split()) > MOST_WORDS]


def test_sentences_are_recognised():
    text = "# A title\n\nOne two. Three `a b` (four).\n- five six\n  seven\n\n"
    text += "```text\nx y\n```\n| eight | nine |\n"
    assert sentences(text) == ["One two.", "Three `code` (four).", "five six seven", "eight", "nine"]
    assert long_sentences("word " * 31)
    assert not long_sentences("word " * 30)


@pytest.mark.parametrize("page", [*PAGES, "../README.md", "../CONTRIBUTING.md"])
def test_no_sentence_is_long(page):
    too_long = long_sentences((DOCS / page).read_text(encoding="utf-8"))
    assert len(too_long) == ALLOWED.get(page, 0), too_long
