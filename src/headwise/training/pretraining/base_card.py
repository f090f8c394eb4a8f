"""The card of a base: description, sources, cost and scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # `pretrain --help` does without NumPy
    from headwise.text.static_embeddings import StaticEmbeddings


@dataclass(frozen=True)
class CardNotes:
    """Notes for the card of a base, by the person who trains it; they are not checked."""

    licence: str = ""
    """Of the base."""
    sources: str = ""
    """Where the text is from, and its licences."""
    limits: str = ""
    """Known biases; empty = what is so of every base."""
    teacher: str = ""
    """What the teacher is called, with its licence; empty = its name or folder."""
    command: str = ""
    """How to make it again."""
    cost: str = ""
    """What it cost beyond what this run took."""


def card(base: "StaticEmbeddings") -> str:
    """The card of a base, in Markdown."""
    from headwise.text.static_embeddings.word_groups import LEVELS

    about, groups = base.about, []
    if base.groups is not None:
        counts = ", ".join(f"{count:,}" for count in LEVELS)
        grouped = f"{len(base.groups):,} words are in groups ({counts}) by what stands beside them,"
        groups = [f"{grouped} which taggers read."]
    teacher = about.get("teacher") or "the text itself"
    lines = [
        f"# {base.name}: a base of headwise",
        "",
        f"{len(base.words):,} words and {len(base.subwords):,} vectors for runs of letters, {base.size} "
        "features, a byte a number.",
        "The vector of a text is the weighted mean of the vectors of its words; a model may begin with it",
        f"(`headwise train FILE --base {base.name}`). Nothing in this folder is run.",
        *groups,
        "",
        *_section("Data", [*_bullets(about.get("files", ())), "", *_paragraphs(about.get("sources"))]),
        *_section("Teacher", [f"{teacher}."]),
        *_section("Licence", _paragraphs(about.get("licence") or "Not stated by who made it.")),
        *_section("How it was made", _how(about)),
        *_section(
            "Scores", _bullets(f"{what}: {value}" for what, value in about.get("scores", {}).items())
        ),
        *_section("Known biases and limits", _paragraphs(about.get("limits") or _LIMITS)),
    ]
    return "\n".join(lines).rstrip() + "\n"


_LIMITS = """
It says of words what its text and its teacher say of them, prejudices included. It knows no order of words:
"dog bites man" and "man bites dog" have the same vector. Words of other fields and languages are made of
runs of letters, which says little.
"""


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return [f"## {title}", "", *lines, ""] if lines else []


def _bullets(lines: Any) -> list[str]:
    return [f"- {line}" for line in lines]


def _paragraphs(text: Any) -> list[str]:
    return str(text).strip().splitlines() if text else []


def _how(about: Mapping[str, Any]) -> list[str]:
    lines = []
    if about.get("command"):
        lines += ["```console", f"$ {about['command']}", "```", ""]
    if about.get("cost"):
        lines += [*_paragraphs(about["cost"]), ""]
    lines += _bullets(f"{what}: {_minutes(seconds)}" for what, seconds in about.get("seconds", {}).items())
    if about.get("headwise"):
        lines += ["", f"Made by headwise {about['headwise']}; its settings are in base.json."]
    return lines


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
