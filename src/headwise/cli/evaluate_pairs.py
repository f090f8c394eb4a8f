"""`headwise evaluate` for text pairs: score a model on a file of labelled pairs."""

from typing import Any

from headwise.cli.console import note
from headwise.cli.evaluate_texts import print_evaluation
from headwise.cli.evaluation import print_found
from headwise.cli.number_tables import number_mistakes, print_number_result
from headwise.cli.requests import EvaluateRequest
from headwise.config import from_dict
from headwise.data.columns import Columns
from headwise.data.dataset import Dataset
from headwise.data.errors import DataError
from headwise.data.example import Example
from headwise.data.pair import Pair, PairOptions
from headwise.data.pair_parses import labels_of
from headwise.data.pair_split import fingerprint_pairs
from headwise.data.pairs import PairData, read_pairs
from headwise.data.read import check_labels
from headwise.report.labels import Rival, worst_errors
from headwise.report.pairs import evaluate_pair_scores, evaluate_pairs
from headwise.store import read_info
from headwise.train.pair_parts import label_numbers, parsed_pairs, scores_of


def evaluate(request: EvaluateRequest) -> int:
    """Score a classifier of text pairs on a file of labelled pairs.

    If the file is the one that the model was tested on when it was trained, the linear baseline of that
    time stands beside it.
    """
    model: Any = request.model
    data = _read(request)
    known = [Example("", label) for label in model.labels]
    check_labels(
        Dataset(known, str(request.folder), data.format, Columns("text", "label")), labels_of(data)
    )
    targets = label_numbers(data.pairs, model.labels)
    result = evaluate_pairs(model, data.pairs, targets)
    rival = _baseline(request, data)
    worst = []
    for place in worst_errors(result, targets, request.errors):
        guess = int(result.predicted[place])
        mistake = {
            "where": f"{data.path}:{data.pairs[place].line}",
            "label": data.pairs[place].label,
            "predicted": model.labels[guess],
            "probability": float(result.probabilities[place, guess]),
            "text": shown(data.pairs[place]),
        }
        worst.append(mistake)
    print_found(request, data.path, result, rival, worst, print_evaluation)
    return 0


def evaluate_scores(request: EvaluateRequest) -> int:
    """Score a model of the scores of text pairs on a file of scored pairs."""
    model: Any = request.model
    data = _read(request)
    targets = scores_of(data.pairs, data.path)
    result = evaluate_pair_scores(model, data.pairs, targets)
    places = [f"{data.path}:{pair.line}" for pair in data.pairs]
    texts = [shown(pair) for pair in data.pairs]
    worst = number_mistakes(result, targets, request.errors, places, texts)
    print_number_result(request, data.path, fingerprint_pairs(data.pairs).sha256, result, worst)
    return 0


def shown(pair: Pair) -> str:
    """Both texts of a pair, on one line."""
    return f"{' '.join(pair.first.split())}  |  {' '.join(pair.second.split())}"


def _read(request: EvaluateRequest) -> PairData:
    """The labelled pairs of the file, with their parses."""
    data = parsed_pairs(
        read_pairs(request.file, from_dict(PairOptions, request.read)),
        None if request.heads is None else str(request.heads),
        request.model.config.words.tokenizer,
    )
    for line in data.notes:
        note(line)
    if not data.pairs:
        raise DataError("HW103", "no labelled pairs", path=data.path)
    return data


def _baseline(request: EvaluateRequest, data: PairData) -> Rival | None:
    """The baseline of the model's training, if these are the pairs that it was tested on."""
    info = read_info(request.folder)
    tested, found = info["data"].get("test"), info["metrics"].get("baseline")
    if not isinstance(tested, dict) or not isinstance(found, dict):
        return None
    same = tested.get("sha256") == fingerprint_pairs(data.pairs).sha256
    return Rival.from_json(found) if same else None
