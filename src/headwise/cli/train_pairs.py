"""`headwise train` for text pairs."""

from headwise.cli.console import note
from headwise.cli.long_texts import tell_long
from headwise.cli.number_tables import print_number_outcome
from headwise.cli.parsing import tell_trouble
from headwise.cli.requests import TrainRequest
from headwise.cli.train_report import TrainDisplay, announce_model, print_outcome
from headwise.encoders.trees import needs_trees
from headwise.recipe import Recipe
from headwise.report.labels import Evaluation, Rival
from headwise.report.numbers import NumberRival
from headwise.train.pair_parts import PairParts, read_pair_parts
from headwise.train.run import Outcome, choose_settings
from headwise.train.run_pairs import PairOutcome, run_pairs


def train(request: TrainRequest) -> int:
    """Train a classifier of text pairs, and judge it."""
    outcome = _run(request, "accuracy")
    test, rival = outcome.test, outcome.baseline
    print_outcome(
        Outcome(
            outcome.fitted,
            outcome.recipe,
            test if isinstance(test, Evaluation) else None,
            rival if isinstance(rival, Rival) else None,
            outcome.alone,
        ),
        request.output,
    )
    return 0


def train_scores(request: TrainRequest) -> int:
    """Train a model of the scores of text pairs, and judge it."""
    outcome = _run(request, "mae")
    test, rival = outcome.test, outcome.baseline
    print_number_outcome(
        outcome.fitted,
        None if isinstance(test, Evaluation) else test,
        rival if isinstance(rival, NumberRival) else None,
        request.output,
    )
    return 0


def _run(request: TrainRequest, headline: str) -> PairOutcome:
    parts = read_pair_parts(request.file, request.dev, request.test, request.asked, request.parses)
    settings, vectors = choose_settings(len(parts.train), request.layers)
    _announce(parts, settings)
    pairs = (*parts.train, *parts.dev, *parts.test)
    tell_long(settings, (text for pair in pairs for text in (pair.first, pair.second)))
    announce_model(settings, request.output)
    with TrainDisplay(settings.train, headline) as display:
        outcome = run_pairs(
            parts,
            settings,
            vectors,
            request.output,
            resume=request.resume,
            baseline=request.baseline,
            report=display.show,
        )
    tell_trouble(outcome.fitted.model)
    return outcome


def _announce(parts: PairParts, recipe: Recipe) -> None:
    """Say what was read."""
    for line in parts.notes:
        note(line)
    if needs_trees(recipe.model.encoder) and recipe.model.syntax.pipeline is None:
        pairs = [*parts.train, *parts.dev, *parts.test]
        bare = sum(pair.first_heads is None or pair.second_heads is None for pair in pairs)
        if bare:
            note(f"{bare:,} of {len(pairs):,} pairs have no parses (see --heads and --syntax.pipeline)")
    note(f"{len(parts.train):,} training, {len(parts.dev):,} dev and {len(parts.test):,} test pairs")
