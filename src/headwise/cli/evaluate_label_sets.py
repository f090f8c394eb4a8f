"""`headwise evaluate` for label sets: score a model on a file of texts with their labels."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from rich.padding import Padding
from rich.text import Text

from headwise.cli.console import note, output, percent, visible
from headwise.cli.evaluation import print_found
from headwise.cli.label_set_tables import label_set_labels_table, label_set_scores_table
from headwise.cli.requests import EvaluateRequest
from headwise.config import from_dict
from headwise.data.columns import Columns
from headwise.data.errors import DataError
from headwise.data.label_flags import labelled
from headwise.data.label_set import LabelSetData, LabelSetExample, label_sets, set_fingerprint
from headwise.data.label_set_files import check_label_sets, read_label_sets
from headwise.data.options import LabelSetOptions
from headwise.report.label_sets import LabelSetEvaluation, LabelSetRival, evaluate_label_sets
from headwise.store import read_info
from headwise.train.label_sets import indicators
from headwise.train.run import parsed

_EXCERPT = 240  # characters shown of a text


def evaluate(request: EvaluateRequest) -> int:
    """Score a model on a file of texts with their labels.

    If the file is the one that the model was tested on when it was trained, the linear baseline of that
    time stands beside it.
    """
    model = request.model
    options = from_dict(LabelSetOptions, request.read)
    if options.label_separator is None and options.label_columns is None:
        options = replace(options, label_separator=model.separator)
    heads = None if request.heads is None else str(request.heads)
    data: Any = parsed(
        read_label_sets(request.file, options, known=model.labels), heads, model.config.words.tokenizer
    )
    for line in data.notes:
        note(line)
    if not labelled(data.columns):
        raise DataError(
            "HW163",
            f"the format {data.format} has no labels",
            expected="labelled texts",
            advice="headwise predict labels them",
            path=data.path,
        )
    known = [LabelSetExample("", labels=model.labels)]
    check_label_sets(LabelSetData([*known], str(request.folder), "", Columns("text", "label")), data)
    targets = indicators(data.examples, model.labels)
    result = evaluate_label_sets(model, data.examples, targets)
    rival = _baseline(read_info(request.folder), set_fingerprint(data.examples).sha256)
    worst = [
        _mistake(data, result, targets, model.labels, n) for n in result.worst(targets, request.errors)
    ]
    print_found(request, data.path, result, rival, worst, _print)
    return 0


def _baseline(info: Mapping[str, Any], sha256: str) -> LabelSetRival | None:
    """The linear baseline of the model's training, if these are the texts that it was tested on."""
    tested, found = info["data"].get("test"), info["metrics"].get("baseline")
    if not isinstance(tested, dict) or not isinstance(found, dict):
        return None
    return LabelSetRival.from_json(found) if tested.get("sha256") == sha256 else None


def _mistake(
    data: LabelSetData, result: LabelSetEvaluation, targets: np.ndarray, labels: Sequence[str], number: int
) -> dict[str, Any]:
    example = data.examples[number]
    given = [labels[n] for n in np.flatnonzero(result.given[number]).tolist()]
    wrong = np.flatnonzero(result.given[number] != targets[number]).tolist()
    return {
        "where": f"{data.path}:{example.line}",
        "labels": list(label_sets([example])[0]),
        "predicted": given,
        "wrong": {labels[n]: float(result.probabilities[number, n]) for n in wrong},
        "text": example.text,
    }


def _print(
    result: LabelSetEvaluation, rival: LabelSetRival | None, worst: Sequence[Mapping[str, Any]]
) -> None:
    out = output()
    out.print()
    out.print(label_set_scores_table(result, rival))
    out.print()
    out.print(label_set_labels_table(result.scores))
    out.print()
    for mistake in worst:
        head = Text(visible(mistake["where"]), style="bold")
        true, given = (", ".join(mistake[key]) or "no label" for key in ("labels", "predicted"))
        head.append(f"  {visible(true)} taken for {visible(given)}", style="")
        each = ", ".join(f"{visible(name)} {percent(p)}" for name, p in mistake["wrong"].items())
        head.append(f" ({each})", style="dim")
        out.print(head)
        text = " ".join(mistake["text"].split())
        text = text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…"
        out.print(Padding(visible(text) or "(empty)", (0, 0, 1, 2)))
