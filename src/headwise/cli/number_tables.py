"""The tables and closing words of reports on models that predict numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.padding import Padding
from rich.table import Table

from headwise.cli.console import output, percent, visible
from headwise.cli.evaluation import print_found
from headwise.cli.requests import EvaluateRequest
from headwise.report.numbers import NumberEvaluation, NumberRival
from headwise.store import read_info

EXCERPT = 240  # characters shown of a text


def numbers_table(evaluation: NumberEvaluation, rival: NumberRival | None = None) -> Table:
    """Errors and correlations, the model in the first column, a rival beside it."""
    scores = evaluation.scores
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("")
    table.add_column("model", justify="left")
    others = [] if rival is None else [rival.scores]
    if rival is not None:
        table.add_column(visible(rival.name), justify="left", overflow="fold")
    for title, name, form in (
        ("mean absolute error", "mae", ".4g"),
        ("root mean squared error", "rmse", ".4g"),
        ("Pearson correlation", "pearson", ".3f"),
        ("Spearman correlation", "spearman", ".3f"),
    ):
        cells = [getattr(scores, name), *(other[name] for other in others)]
        table.add_row(title, *(format(float(cell), form) for cell in cells))
        if name == "pearson" and scores.pearson_interval is not None:
            low, high = scores.pearson_interval
            table.add_row("  95 % interval", f"{low:.3f} – {high:.3f}")
    table.add_row("variance explained", f"{scores.r2:.3f}")
    table.add_row("unknown words", percent(evaluation.unknown_words))
    table.add_row("texts", f"{scores.texts:,}")
    if evaluation.empty_texts:
        table.add_row("  without a word", f"{evaluation.empty_texts:,}")
    if evaluation.cut_texts:
        table.add_row("  cut short", f"{evaluation.cut_texts:,}")
    return table


def print_number_outcome(
    fitted: Any, test: NumberEvaluation | None, rival: NumberRival | None, folder: Path
) -> None:
    """The report at the end of a training run.

    Args:
        fitted: With `progress`, `coverage` and `dev`.
        test: On the test texts, if there are some.
        rival: The linear baseline on the same.
        folder: Of the model.
    """
    out, progress = output(), fitted.progress
    weights = (folder / "model.safetensors").stat().st_size
    out.print()
    out.print(
        f"Trained in {progress.seconds:,.0f} s; best on dev in epoch {progress.best_epoch + 1} of "
        f"{len(progress.history)}: mean absolute error {fitted.dev['mae']:.4g}, correlation "
        f"{fitted.dev['pearson']:.3f}."
    )
    if fitted.coverage is not None:
        out.print(f"Words with a pretrained vector: {fitted.coverage}.")
    if test is not None:
        out.print("\nOn the test texts, which nothing was chosen on:\n")
        out.print(Padding(numbers_table(test, rival), (0, 0, 1, 2), expand=False))
    else:
        out.print("\nThere were no test texts, so there is no honest score; give some with --test.\n")
    out.print(f"Model: {visible(str(folder))} ({weights / 1e6:.1f} MB of weights). Next:")
    out.print(f"  headwise predict {visible(str(folder))} NEW_TEXTS --output predictions.csv")
    out.print(f"  headwise evaluate {visible(str(folder))} LABELLED_TEXTS")


def number_mistakes(
    result: NumberEvaluation, targets: np.ndarray, count: int, places: Sequence[str], texts: Sequence[str]
) -> list[dict[str, Any]]:
    """The largest errors, the largest first.

    Args:
        result: Of the model.
        targets: The true numbers, `[texts]`.
        count: How many to give at most.
        places: Where each text stands.
        texts: The texts.
    """
    return [
        {
            "where": places[place],
            "number": float(targets[place]),
            "predicted": float(result.predicted[place]),
            "text": texts[place],
        }
        for place in result.worst(targets, count)
    ]


def print_number_result(
    request: EvaluateRequest, path: str, sha256: str, result: NumberEvaluation, worst: list[dict[str, Any]]
) -> None:
    """Errors and correlations, as tables or JSON, and the largest errors; beside them the baseline of the
    model's training if these are the texts that it was tested on.

    Args:
        request: What is asked for.
        path: The file.
        sha256: The fingerprint of its texts.
        result: Of the model.
        worst: What `number_mistakes` found.
    """
    info = read_info(request.folder)
    tested, found = info["data"].get("test"), info["metrics"].get("baseline")
    known = isinstance(tested, dict) and isinstance(found, dict) and tested.get("sha256") == sha256
    rival = NumberRival.from_json(found) if known else None
    print_found(request, path, result, rival, worst, _print)


def _print(result: NumberEvaluation, rival: NumberRival | None, worst: Sequence[dict[str, Any]]) -> None:
    out = output()
    out.print()
    out.print(numbers_table(result, rival))
    out.print()
    for mistake in worst:
        out.print(
            f"{visible(mistake['where'])}  {mistake['number']:g} taken for {mistake['predicted']:.4g}",
            style="bold",
        )
        text = " ".join(mistake["text"].split())
        text = text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"
        out.print(Padding(visible(text) or "(empty)", (0, 0, 1, 2)))
