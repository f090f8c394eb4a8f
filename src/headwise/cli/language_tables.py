"""Tables of how well language models predict."""

from rich.table import Table

from headwise.scores.language import LanguageScores
from headwise.train.run_language import BASELINE


def told(scores: LanguageScores) -> str:
    """The usual measure in words."""
    _, value = scores.headline
    return f"{measure(scores)} {value:.3f}" if scores.unit != "words" else f"{measure(scores)} {value:.1f}"


def measure(scores: LanguageScores) -> str:
    """What the usual measure is called."""
    name, _ = scores.headline
    return f"{name} per {scores.unit.removesuffix('s')}"


def language_table(scores: LanguageScores, baseline: LanguageScores | None = None) -> Table:
    """The scores of a model, and of the frequencies alone beside them."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("")
    for name in (measure(scores), "nats", scores.unit, "unknown"):
        table.add_column(name, justify="right")
    for name, own in (("this model", scores), (BASELINE, baseline)):
        if own is not None:
            cells = (f"{own.headline[1]:,.3f}", f"{own.loss:.3f}", f"{own.symbols:,}", f"{own.unknown:,}")
            table.add_row(name, *cells)
    return table
