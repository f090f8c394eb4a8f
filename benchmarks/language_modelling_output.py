"""The tables of benchmarks/language_modelling.py, in Markdown."""

from collections.abc import Mapping
from typing import Any

BAR = 0.03  # bits per character that the BP-Transformer may be behind at equal steps


def print_tables(found: Mapping[str, Mapping[str, Any]]) -> None:
    """What has been measured."""
    groups: dict[tuple[str, int], list[tuple[str, Any]]] = {}
    for name, run in found["runs"].items():
        groups.setdefault((run["data"], run["context"]), []).append((name, run))
    header = ["text", "context", "model", "run", "steps", "bits per character", "characters/s", "minutes"]
    _header([*header, "parameters"])
    for (data, context), runs in groups.items():
        for _, run in sorted(runs, key=lambda own: (own[1]["minutes"], own[1]["model"])):
            cells = [data, f"{context:,}", run["model"], "equal time" if run["minutes"] else "equal steps"]
            cells += [f"{run['steps_done']:,}", f"{run['bits_per_character']:.3f}"]
            cells += [f"{run['characters_per_second']:,.0f}", f"{run['processor_seconds'] / 60:.1f}"]
            _row([*cells, f"{run['parameters']:,}"])
    print()
    for (data, context), runs in groups.items():
        steps = {run["model"]: run for _, run in runs if not run["minutes"]}
        if len(steps) == 2:
            behind = difference(steps)
            told = "within" if behind <= BAR else "beyond"
            print(
                f"{data}, context {context:,}: at equal steps the BP-Transformer is {behind:+.3f} bits per "
                f"character from the Transformer, {told} the bar of {BAR:+.2f}"
            )
    if found["costs"]:
        print()
        _header(["context", "model", "tokens/s", "microseconds per token", "kilobytes per token"])
        for cost in sorted(found["costs"].values(), key=lambda own: (own["context"], own["model"])):
            cells = [f"{cost['context']:,}", cost["model"], f"{cost['tokens_per_second']:,.0f}"]
            cells += [f"{cost['microseconds_per_token']:.1f}", f"{cost['kilobytes_per_token']:.1f}"]
            _row(cells)


def difference(runs: Mapping[str, Any]) -> float:
    """Bits per character of the BP-Transformer above those of the Transformer."""
    bpt, dense = (runs[model]["bits_per_character"] for model in ("bp-transformer", "transformer"))
    return bpt - dense


def _header(cells: list[str]) -> None:
    _row(cells)
    print("|" + "---|" * len(cells))


def _row(cells: list[str]) -> None:
    print(f"| {' | '.join(cells)} |")
