"""`headwise evaluate` for bags of instances: score a model on a file of labelled bags."""

import json
from typing import Any

from headwise.cli.bag_tables import print_bag_scores
from headwise.cli.console import note
from headwise.cli.requests import EvaluateRequest
from headwise.config import from_dict
from headwise.data.bag_split import fingerprint_bags
from headwise.data.bags import BagData, BagOptions, read_bags
from headwise.errors import ConfigError
from headwise.models.bag_model import BagModel
from headwise.report.labels import Evaluation, Rival, worst_errors
from headwise.store import read_info
from headwise.train.bags import bag_targets
from headwise.train.run_bags import check_bag_labels, evaluate_bags


def evaluate(request: EvaluateRequest) -> int:
    """Score a classifier of bags on a file of labelled bags.

    If the file is the one that the model was tested on when it was trained, the linear baseline of that
    time stands beside it.
    """
    model: Any = request.model
    if request.heads is not None:
        raise ConfigError("--heads is the syntax of texts, but bags have none")
    data = read_bags(request.file, from_dict(BagOptions, request.read), features=model.features.names)
    for line in data.notes:
        note(line)
    check_bag_labels(data, model.labels, str(request.folder))
    result = evaluate_bags(model, data.bags)
    rival = _baseline(request, data)
    worst = _mistakes(model, data, result, request.errors)
    if request.json:
        found = {
            "model": str(request.folder),
            "file": data.path,
            **{key: value for key, value in result.to_json().items() if key not in _OF_TEXTS},
            "baseline": rival.to_json() if rival else None,
            "errors": worst,
        }
        print(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        print_bag_scores(result, rival, worst)
    return 0


_OF_TEXTS = ("unknown_words", "empty_texts", "cut_texts")


def _baseline(request: EvaluateRequest, data: BagData) -> Rival | None:
    """The linear baseline of the model's training, if these are the bags that it was tested on."""
    info = read_info(request.folder)
    tested, found = info["data"].get("test"), info["metrics"].get("baseline")
    if not isinstance(tested, dict) or not isinstance(found, dict):
        return None
    return Rival.from_json(found) if tested.get("sha256") == fingerprint_bags(data.bags).sha256 else None


def _mistakes(model: BagModel, data: BagData, result: Evaluation, count: int) -> list[dict[str, Any]]:
    """The bags that the model is surest of and wrong about."""
    found = []
    for place in worst_errors(result, bag_targets(data.bags, model.labels), count):
        bag, guess = data.bags[place], int(result.predicted[place])
        found.append(
            {
                "where": f"{data.path}:{bag.line}",
                "bag": bag.id,
                "label": bag.label,
                "predicted": model.labels[guess],
                "probability": float(result.probabilities[place, guess]),
            }
        )
    return found
