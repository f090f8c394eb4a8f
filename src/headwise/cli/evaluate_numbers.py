"""`headwise evaluate` for numbers of texts: score a regressor on a file of texts with numbers."""

from typing import Any

from headwise.cli.console import note
from headwise.cli.number_tables import number_mistakes, print_number_result
from headwise.cli.requests import EvaluateRequest
from headwise.config import from_dict
from headwise.data.fingerprint import fingerprint
from headwise.data.options import ReadOptions
from headwise.data.read import read_examples
from headwise.report.numbers import evaluate_numbers
from headwise.train.run import parsed
from headwise.train.run_numbers import targets_of


def evaluate(request: EvaluateRequest) -> int:
    """Score a regressor on a file of texts with numbers.

    If the file is the one that the model was tested on when it was trained, the linear baseline of that
    time stands beside it.
    """
    model: Any = request.model
    data = parsed(
        read_examples(request.file, from_dict(ReadOptions, request.read)),
        None if request.heads is None else str(request.heads),
        model.config.words.tokenizer,
    )
    for line in data.notes:
        note(line)
    targets = targets_of(data.examples, data.path)
    result = evaluate_numbers(model, data.examples, targets)
    places = [f"{data.path}:{example.line}" for example in data.examples]
    texts = [example.text for example in data.examples]
    worst = number_mistakes(result, targets, request.errors, places, texts)
    print_number_result(request, data.path, fingerprint(data.examples).sha256, result, worst)
    return 0
