"""A task of the tests: how many stars a text gives, judged by how far off the answer is.

The items are texts and the answers labels, of which there is a kind; the model is that of classification.
What is new is how it is judged: all that a task needs for that stands here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwise.data.labels import targets_of
from headwise.data.parts import Parts
from headwise.report.labels import Evaluation, evaluate_labels
from headwise.report.rival import Rival
from headwise.report.sheet import Ahead, Line, Sheet
from headwise.tasks.classify import Classify


@dataclass(frozen=True)
class StarsEvaluation(Evaluation):
    """The same as of labels, and how far off they are.

    Attributes:
        distance: Mean difference of the stars.
    """

    distance: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return {"distance": self.distance, **super().to_json()}


class Stars(Classify):
    """A number of stars for each text."""

    name = "stars"
    title, purpose = "judge of stars", "stars for each text"
    answered_file = "STARRED_TEXTS"

    def judge(self, model: Any, items: Any) -> StarsEvaluation:
        found = evaluate_labels(model, items, targets_of(items, model.labels))
        off = distances(model.labels, found.predicted, items)
        return StarsEvaluation(**vars(found), distance=float(off.mean()))

    def baseline(self, parts: Parts[Any], model: Any, judged: Any, *, refit: bool = False) -> Rival | None:
        """The same number of stars for all: the median."""
        stars = np.array([float(item.label) for item in parts.train])
        nearest = min(
            range(len(model.labels)), key=lambda n: abs(float(model.labels[n]) - np.median(stars))
        )
        off = distances(model.labels, np.full(len(parts.test), nearest), parts.test)
        return Rival("the median", {"distance": float(off.mean())})

    def sheet(self, scores: Mapping[str, Any]) -> Sheet:
        plain = super().sheet(scores)
        lines = (Line("stars off", "distance", "two", card=True), *plain.lines)
        return Sheet(lines, plain.of, plain.per_class, Ahead(form="two"), plain.confusion, lower=True)


def distances(labels: Any, guessed: np.ndarray, items: Any) -> np.ndarray:
    """How far off guessed label numbers are, `[items]`."""
    stars = np.array([float(label) for label in labels])
    return np.abs(stars[guessed] - np.array([float(item.label) for item in items]))
