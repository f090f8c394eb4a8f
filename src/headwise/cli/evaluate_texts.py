"""`headwise evaluate` for classification: score a model on a file of labelled texts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.padding import Padding
from rich.text import Text

from headwise.cli.console import note, output, percent, visible
from headwise.cli.evaluation import print_found
from headwise.cli.requests import EvaluateRequest
from headwise.cli.tables import confusion_table, labels_table, scores_table
from headwise.config import from_dict
from headwise.data.columns import Columns
from headwise.data.dataset import Dataset
from headwise.data.errors import DataError
from headwise.data.example import Example
from headwise.data.fingerprint import fingerprint
from headwise.data.options import ReadOptions
from headwise.data.read import check_labels, read_examples
from headwise.report.labels import Evaluation, Rival, evaluate_texts, worst_errors
from headwise.store import read_info
from headwise.train.run import parsed

_EXCERPT = 240  # characters shown of a text


def evaluate(request: EvaluateRequest) -> int:
    """Score a classifier on a file of labelled texts.

    If the file is the one that the model was tested on when it was trained, the linear baseline of that
    time stands beside it.
    """
    model, heads = request.model, request.heads
    data = parsed(
        read_examples(request.file, from_dict(ReadOptions, request.read)),
        None if heads is None else str(heads),
        model.config.words.tokenizer,
    )
    for line in data.notes:
        note(line)
    _check_labels(model.labels, request.folder, data)
    number = {label: n for n, label in enumerate(model.labels)}
    targets = np.array([number[example.label or ""] for example in data.examples])
    result = evaluate_texts(model, data.examples, targets)
    rival = _baseline(read_info(request.folder), data.examples)
    worst = [_mistake(data, result, model.labels, i) for i in worst_errors(result, targets, request.errors)]
    print_found(request, data.path, result, rival, worst, print_evaluation)
    return 0


def _check_labels(labels: Sequence[str], model: Path, data: Dataset) -> None:
    if data.columns.label is None:
        raise DataError(
            "HW163",
            f"the format {data.format} has no labels",
            expected="labelled texts",
            advice="headwise predict labels them",
            path=data.path,
        )
    known = [Example("", label) for label in labels]
    check_labels(Dataset(known, str(model), data.format, Columns("text", "label")), data)


def _baseline(info: Mapping[str, Any], examples: Sequence[Example]) -> Rival | None:
    """The linear baseline of the model's training, if these are the texts that it was tested on."""
    tested, found = info["data"].get("test"), info["metrics"].get("baseline")
    if not isinstance(tested, dict) or not isinstance(found, dict):
        return None
    return Rival.from_json(found) if tested.get("sha256") == fingerprint(examples).sha256 else None


def _mistake(data: Dataset, result: Evaluation, labels: Sequence[str], number: int) -> dict[str, Any]:
    example, predicted = data.examples[number], int(result.predicted[number])
    return {
        "where": f"{data.path}:{example.line}",
        "label": example.label,
        "predicted": labels[predicted],
        "probability": float(result.probabilities[number, predicted]),
        "text": example.text,
    }


def print_evaluation(result: Evaluation, rival: Rival | None, worst: Sequence[Mapping[str, Any]]) -> None:
    """Scores beside a rival's, the labels one by one, and the worst errors."""
    out = output()
    out.print()
    out.print(scores_table(result, () if rival is None else (rival,)))
    out.print()
    out.print(labels_table(result.scores))
    confusion = confusion_table(result.scores, width=out.width)
    if confusion is not None:
        out.print()
        out.print(confusion)
    out.print()
    for mistake in worst:
        head = Text(visible(mistake["where"]), style="bold")
        head.append(f"  {visible(mistake['label'])} taken for {visible(mistake['predicted'])}", style="")
        head.append(f" ({percent(mistake['probability'])})", style="dim")
        out.print(head)
        text = " ".join(mistake["text"].split())
        text = text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…"
        out.print(Padding(visible(text) or "(empty)", (0, 0, 1, 2)))
