"""The settings of a linear model that cross-validation chooses, and a fitted model with its scores."""

from collections.abc import Callable
from dataclasses import dataclass

from headwise.linear.linear_model import LinearModel
from headwise.linear.linear_weights import Floats
from headwise.linear.tfidf_features import BlockName

STRENGTHS, DENSE = (0.5, 0.15, 1.5, 4.0), (1.0, 0.5, 2.0, 4.0)
"""Candidate values of C and of the length of vectors; the search starts at the first of each."""
TABULAR_SCALES = (0.3, 1.0, 0.1)
"""Candidate scales of the columns beside the text; the search starts at the first."""
PAIR_STRENGTHS, PAIR_DENSE = (0.05, 0.015, 0.15, 0.5), (4.0, 2.0)
"""The same for text pairs: few of their many features matter, and vectors tell most of how they compare."""
WARM_START_SCALES = (1.0, 0.5, 2.0, 0.0)
"""Candidate scales of a previous model, if there is one: its mean absolute score in margins."""
MOST_RATIO_CLASSES = 20
"""Maximum number of labels for which naive Bayes ratios are tried; with 77 and 150 labels they cost 0.9
points."""


@dataclass(frozen=True)
class LinearSettings:
    """The settings that cross-validation chooses.

    Attributes:
        blocks: The feature blocks in use.
        ratios: Whether features are weighted by their naive Bayes log-count ratio.
        strength: The penalty parameter C.
        dense: Length of the dense vectors, relative to word and character blocks of length 1; 0 without
            vectors.
        start: Scale of the previous model in a warm start; 0 without.
        form: Whether surface features are used (see `headwise.core.surface_features`).
        edges: Whether words also form pairs with the beginning and the end of a text.
        tabular: Scale of the columns beside the text, whose numbers are standardised; 0 without.
    """

    blocks: tuple[BlockName, ...] = ("words", "characters")
    ratios: bool = True
    strength: float = 0.5
    dense: float = 0.0
    start: float = 0.0
    form: bool = False
    edges: bool = False
    tabular: float = 0.0


@dataclass(frozen=True)
class ChosenSettings:
    """The settings of a linear model, with its out-of-fold scores.

    Attributes:
        oof_scores: Calibrated out-of-fold logits of each text that is in a fold, `[texts, classes]`; 0 of a
            model that is not calibrated.
        settings: The chosen settings.
        cv_score: Accuracy of `oof_scores`; for label sets, the share of correct decisions; for numbers, the
            explained variance (R2).
    """

    oof_scores: Floats
    settings: LinearSettings
    cv_score: float


@dataclass(frozen=True)
class CrossValidatedSettings(ChosenSettings):
    """The settings of a model that is not fitted to all texts yet; `fit_model` does so."""

    fit_model: Callable[[], LinearModel]


@dataclass(frozen=True)
class LinearFit(ChosenSettings):
    """The settings of a fitted model, and the `model`, trained on all texts."""

    model: LinearModel


StepReporter = Callable[[str], None]
"""Receives what is done next."""


def ignore_step(step: str) -> None:
    """A `StepReporter` that reports nothing."""


def fold_step(fold: int, folds: int) -> str:
    """The step in which the texts of a fold are predicted."""
    return f"fitting a linear model without fold {fold + 1} of {folds}"
