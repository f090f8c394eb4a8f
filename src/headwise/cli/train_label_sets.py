"""`headwise train` for texts with any number of labels."""

from headwise.cli.label_set_tables import print_label_set_outcome
from headwise.cli.parsing import tell_trouble
from headwise.cli.requests import TrainRequest
from headwise.cli.train_report import TrainDisplay, announce
from headwise.train.run import choose_settings
from headwise.train.run_label_sets import read_label_set_texts, run_label_sets


def train(request: TrainRequest) -> int:
    """Train a model of label sets, and judge it."""
    texts = read_label_set_texts(request.file, request.dev, request.test, request.asked, request.parses)
    settings, vectors = choose_settings(len(texts.train), request.layers)
    announce(texts, settings, request.output)
    with TrainDisplay(settings.train, "f1") as display:
        outcome = run_label_sets(
            texts,
            settings,
            vectors,
            request.output,
            resume=request.resume,
            baseline=request.baseline,
            report=display.show,
        )
    tell_trouble(outcome.fitted.model)
    print_label_set_outcome(outcome, request.output)
    return 0
