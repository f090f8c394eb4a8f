"""The tables of language_modelling.py, in Markdown; docs/make_tables.py takes them from here."""

from collections.abc import Mapping
from typing import Any

BAR = 0.03  # bits per character that the BP-Transformer may be behind at equal steps

Measurements = Mapping[str, Mapping[str, Any]]
Table = tuple[list[str], list[list[str]]]


def print_tables(results: Measurements) -> None:
    """Print the stored results."""
    for head, rows in (scores(results), costs(results), rates(results)):
        if rows:
            for cells in (head, ["---"] * len(head), *rows):
                print(f"| {' | '.join(cells)} |")
            print()
    print("\n".join(differences(results)))


def scores(results: Measurements) -> Table:
    """The runs, those at equal steps before those at equal time."""
    head = ["text", "context", "model", "run", "steps", "rate", "bits per character", "characters/s"]
    rows = [
        [
            *(run["data"], f"{run['context']:,}", _name(run)),
            "equal time" if run["minutes"] else "equal steps",
            *(f"{run['steps_done']:,}", f"{run['rate']:g}", f"{run['bits_per_character']:.3f}"),
            *(f"{run['characters_per_second']:,.0f}", f"{run['processor_seconds'] / 60:.1f}"),
        ]
        for run in sorted(results["runs"].values(), key=_order)
    ]
    return [*head, "minutes"], rows


def differences(results: Measurements) -> list[str]:
    """A sentence for each text, context and number of steps that both models have."""
    sentences = []
    runs = sorted(results["runs"].values(), key=_order)
    for bpt in runs:
        if bpt["model"] != "bp-transformer" or bpt["minutes"]:
            continue
        baselines = [
            run for run in runs if run["model"] == "transformer" and _place(run)[:2] == _place(bpt)[:2]
        ]
        equal = [run for run in baselines if run["steps"] == bpt["steps"]]
        if not equal:
            continue
        behind = bpt["bits_per_character"] - min(run["bits_per_character"] for run in equal)
        sentence = (
            f"{bpt['data']}, context {bpt['context']:,}, {bpt['steps']:,} steps: the BP-Transformer minus "
            f"the Transformer is {behind:+.3f} bits per character, "
            f"{'within' if behind <= BAR else 'above'} the limit of {BAR:+.2f}"
        )
        timed = [run for run in baselines if abs(60 * run["minutes"] - bpt["processor_seconds"]) < 1]
        if timed:
            behind = bpt["bits_per_character"] - min(run["bits_per_character"] for run in timed)
            sentence += f". With the same time it is {behind:+.3f}"
        sentences.append(sentence + ".")
    return sentences


def costs(results: Measurements) -> Table:
    """What a token costs in training."""
    head = ["context", "model", "tokens/s in training", "microseconds per token", "kilobytes per token"]
    rows = [
        [
            *(f"{cost['context']:,}", cost["model"], f"{cost['tokens_per_second']:,.0f}"),
            *(f"{cost['microseconds_per_token']:.1f}", f"{cost['kilobytes_per_token']:.1f}"),
        ]
        for cost in sorted(results["costs"].values(), key=lambda run: (run["context"], run["model"]))
    ]
    return head, rows


def rates(results: Measurements) -> Table:
    """The dev scores that the rates were chosen by."""
    rows = [
        [
            *(run["data"], f"{run['context']:,}", _name(run), f"{run['steps']:,}", f"{run['rate']:g}"),
            f"{run['bits_per_character']:.3f}",
        ]
        for run in sorted(results["tuning"].values(), key=_order)
    ]
    return ["text", "context", "model", "steps", "rate", "bits per character on dev"], rows


def _place(run: Mapping[str, Any]) -> tuple[Any, ...]:
    """Text, context, steps or minutes; only runs of one place are comparable."""
    return run["data"], run["context"], run["minutes"], run["steps"]


def _order(run: Mapping[str, Any]) -> tuple[Any, ...]:
    return *_place(run), run["model"], run["rate"]


def _name(run: Mapping[str, Any]) -> str:
    return f"{run['model']}, {run['positions'] if run['model'] == 'transformer' else 'k ' + str(run['k'])}"
