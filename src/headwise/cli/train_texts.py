"""`headwise train` for classification."""

from headwise.cli.parsing import tell_trouble
from headwise.cli.requests import TrainRequest
from headwise.cli.train_report import TrainDisplay, announce, print_outcome
from headwise.train.run import choose_settings, read_texts, run


def train(request: TrainRequest) -> int:
    """Train a classifier, and judge it."""
    texts = read_texts(request.file, request.dev, request.test, request.asked, request.parses)
    settings, vectors = choose_settings(len(texts.train), request.layers)
    announce(texts, settings, request.output)
    with TrainDisplay(settings.train) as display:
        outcome = run(
            texts,
            settings,
            vectors,
            request.output,
            resume=request.resume,
            baseline=request.baseline,
            report=display.show,
        )
    tell_trouble(outcome.fitted.model)
    print_outcome(outcome, request.output)
    return 0
