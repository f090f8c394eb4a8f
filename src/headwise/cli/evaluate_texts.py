"""`headwise evaluate`: score a model on a file of labelled texts."""

import json as json_format
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter
from rich.padding import Padding
from rich.text import Text

from headwise.cli.console import note, output, percent, visible, warn
from headwise.cli.file_argument import FileArgument
from headwise.cli.parsing import tell_trouble, use_pipeline
from headwise.cli.predict import MANY_UNKNOWN
from headwise.cli.tables import confusion_table, labels_table, scores_table
from headwise.data.columns import Columns
from headwise.data.dataset import Dataset
from headwise.data.errors import DataError
from headwise.data.example import Example
from headwise.data.fingerprint import fingerprint
from headwise.data.options import DEFAULT, ReadOptions
from headwise.data.read import check_labels, read_examples
from headwise.errors import ConfigError
from headwise.memory import keep_freed_memory
from headwise.report import Evaluation, Rival, evaluate_texts, worst_errors
from headwise.store import load_model, read_info
from headwise.train.run import parsed

_EXCERPT = 240  # characters shown of a text


def evaluate(
    model: Path,
    file: FileArgument,
    /,
    *,
    json: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    errors: int = 0,
    heads: Path | None = None,
    pipeline: str | None = None,
    read: Annotated[ReadOptions, Parameter(name="*", group="Reading")] = DEFAULT,
) -> int:
    """Score a model on a file of labelled texts.

    If the file is the one that the model was tested on when it was trained, the linear baseline of that
    time stands beside it.

    Args:
        model: Folder of the model.
        file: Labelled texts, compressed or not; "-" is standard input.
        json: Print JSON instead of tables.
        heads: Dependency syntax of the texts, for a model that goes by it, as `headwise train` takes it.
        pipeline: A spaCy pipeline that parses the texts, in place of the one that the model names.
        errors: How many of the texts to show that the model is surest of and wrong about.

    Raises:
        HeadwiseError: The model or the file cannot be used, or a label is not one of the model's.
    """
    if errors < 0:
        raise ConfigError(f"--errors {errors}; expected 0 or more")
    keep_freed_memory()
    loaded = load_model(model)
    use_pipeline(loaded, pipeline)
    data = parsed(
        read_examples(file, read),
        None if heads is None else str(heads),
        loaded.config.words.tokenizer,
    )
    for line in data.notes:
        note(line)
    _check_labels(loaded.labels, model, data)
    number = {label: n for n, label in enumerate(loaded.labels)}
    targets = np.array([number[example.label or ""] for example in data.examples])
    result = evaluate_texts(loaded, data.examples, targets)
    rival = _baseline(read_info(model), data.examples)
    worst = [_mistake(data, result, loaded.labels, i) for i in worst_errors(result, targets, errors)]
    if json:
        found = {
            "model": str(model),
            "file": data.path,
            **result.to_json(),
            "baseline": rival.to_json() if rival else None,
            "errors": worst,
        }
        print(json_format.dumps(found, ensure_ascii=False, indent=2))
    else:
        _print(result, rival, worst)
    tell_trouble(loaded)
    if result.unknown_words > MANY_UNKNOWN:
        warn(f"the model does not know {percent(result.unknown_words)} of the words")
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


def _print(result: Evaluation, rival: Rival | None, worst: Sequence[Mapping[str, Any]]) -> None:
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
