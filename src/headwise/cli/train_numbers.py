"""`headwise train` for numbers of texts."""

from headwise.cli.number_tables import print_number_outcome
from headwise.cli.parsing import tell_trouble
from headwise.cli.requests import TrainRequest
from headwise.cli.train_report import TrainDisplay, announce
from headwise.train.run import choose_settings
from headwise.train.run_numbers import read_numbered, run_numbers


def train(request: TrainRequest) -> int:
    """Train a regressor, and judge it."""
    texts = read_numbered(request.file, request.dev, request.test, request.asked, request.parses)
    settings, vectors = choose_settings(len(texts.train), request.layers)
    announce(texts, settings, request.output)
    with TrainDisplay(settings.train, "mae") as display:
        outcome = run_numbers(
            texts,
            settings,
            vectors,
            request.output,
            resume=request.resume,
            baseline=request.baseline,
            report=display.show,
        )
    tell_trouble(outcome.fitted.model)
    print_number_outcome(outcome.fitted, outcome.test, outcome.baseline, request.output)
    return 0
