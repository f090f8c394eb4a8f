"""NumberTask: base class of the regression tasks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from headwise.data.diagnosis import abbreviate
from headwise.data.numbers import MOST_CLASSES, look_like_scores, number_of
from headwise.data.parts import Parts
from headwise.data.shares import held_weights_of, weights_of
from headwise.features.vocabulary import Vocabulary
from headwise.models.model_config import ModelConfig
from headwise.predictions.numbers import NumberPredictor
from headwise.report.explanation import Explanation, explain_numbers
from headwise.report.numbers import NumberEvaluation, evaluate_numbers
from headwise.report.remarks import Remark, on_numbers
from headwise.report.rival import Rival
from headwise.report.sheet import Ahead, Line, Sheet, lookup, reading_lines, section
from headwise.scores.numbers import compare_errors, rival_scores, score_numbers
from headwise.scores.scale import Scale
from headwise.tasks.labels import each_alone, expert_told
from headwise.tasks.task import Task, check_labelled, where
from headwise.train.crossing import Crossed
from headwise.train.fitted import Finished, Fitted
from headwise.train.number_expert import add_number_expert_again
from headwise.train.recipe import Recipe
from headwise.train.regression import (
    RegressionObjective,
    finish_numbers,
    finish_numbers_crossed,
)


class NumberTask(Task):
    """A task with a number for each item."""

    predictor = NumberPredictor
    after, crosses = "linear expert", True

    def targets(self, items: Any) -> np.ndarray:
        """The true numbers of items, `[items]`."""
        return self.kind.answer.numbers(items)  # type: ignore[attr-defined]

    def make(self, words: Vocabulary, parts: Parts[Any], recipe: Recipe) -> Any:
        return self.model(recipe.model, words, Scale.of(self.targets(parts.train), weights_of(parts.train)))

    def objective(self, model: Any, parts: Parts[Any]) -> RegressionObjective:
        train, dev = ((part, self.targets(part)) for part in (parts.train, parts.dev))
        weights = weights_of(parts.train), held_weights_of(parts.dev)
        return RegressionObjective(model, train, dev, *weights)

    def finish(self, model: Any, objective: Any, parts: Parts[Any]) -> Finished:
        return finish_numbers(objective)

    def finish_again(self, model: Any, objective: Any, finished: Finished) -> None:
        add_number_expert_again(objective, finished.refit_state)

    def finish_crossed(self, model: Any, objective: Any, crossed: Crossed) -> Finished:
        return finish_numbers_crossed(objective, crossed)

    def training_summary(self, fitted: Fitted) -> list[str]:
        return expert_told(fitted.model)

    def ablations(self, model: Any, items: Any, judged: Any) -> dict[str, Rival]:
        targets = self.targets(items)
        return {
            f"{name}_alone": Rival(
                f"{name} alone", rival_scores(score_numbers(model.scale.restore(outputs[:, 0]), targets))
            )
            for name, outputs in each_alone(model, items).items()
        }

    def headline(self, parts: Parts[Any], config: ModelConfig) -> str:
        return "mae"

    def judge(self, model: Any, items: Any) -> NumberEvaluation:
        return evaluate_numbers(model, items, self.targets(items))

    def tally(self, model: Any, items: Any, judged: NumberEvaluation) -> np.ndarray:
        errors = np.abs(judged.predicted - self.targets(items))
        return np.stack([errors, errors, np.ones(len(errors))], axis=1)

    def explain(self, model: Any, items: Sequence[Any]) -> list[Explanation]:
        return explain_numbers(model, model.encoded(items))

    def guesses(self, parts: Parts[Any], model: Any, *, refit: bool) -> tuple[str, np.ndarray] | None:
        """The name of a linear baseline, and its numbers for the test items."""
        raise NotImplementedError

    def baseline(self, parts: Parts[Any], model: Any, judged: Any, *, refit: bool = False) -> Rival | None:
        named_guesses = self.guesses(parts, model, refit=refit)
        if named_guesses is None:
            return None
        name, guessed = named_guesses
        targets = self.targets(parts.test)
        difference = asdict(compare_errors(judged.predicted, guessed, targets))
        return Rival(name, rival_scores(score_numbers(guessed, targets)), difference)

    def sheet(self, scores: Mapping[str, Any]) -> Sheet:
        of = self.kind.nouns.many
        return Sheet(
            (
                Line("mean absolute error", "mae", "figure", card=True),
                Line("root mean squared error", "rmse", "figure", card=True),
                Line("Pearson correlation", "pearson", "three", "pearson_interval", card=True),
                Line("Spearman correlation", "spearman", "three", card=True),
                Line("variance explained", "r2", "three", rivals=False),
                *reading_lines(of),
            ),
            of,
            ahead=Ahead(form="figure"),
            lower=True,
        )

    def check_answers(self, model: Any, data: Any, where: str) -> None:
        check_labelled(data)
        self.kind.answer.numbers(data.items, data.path)  # type: ignore[attr-defined]

    def remarks(
        self, info: Mapping[str, Any], scores: Mapping[str, Any], *, thresholds: bool = False
    ) -> list[Remark]:
        return on_numbers(scores, section(info, "data.train.labels"))

    def odd_answers(self, info: Mapping[str, Any], data: Any) -> list[Remark]:
        """A warning where a file has whole numbers, like classes, and the model was trained on decimals."""
        training_labels, file_labels = lookup(info, "data.train.labels") or {}, data.labels
        few = len(file_labels) <= min(MOST_CLASSES, len(data.items) // 2)
        if not few or not look_like_scores(training_labels) or look_like_scores(file_labels):
            return []
        values = [number_of(label) for label in training_labels]
        low, high = (f"{bound:g}" for bound in (min(values), max(values)))  # type: ignore[type-var]
        message = (
            f"the numbers of this file look like classes ({abbreviate(sorted(file_labels, key=float))})"
        )
        return [Remark(f"{message}, those of training are scores from {low} to {high}", warning=True)]

    def mistakes(self, model: Any, data: Any, judged: Any, count: int) -> list[dict[str, Any]]:
        targets = self.targets(data.items)
        return [
            {
                "where": where(data, number),
                "number": float(targets[number]),
                "predicted": float(judged.predicted[number]),
                "text": self.kind.show(data.items[number]),
            }
            for number in judged.worst(targets, count)
        ]

    def mistaken(self, mistake: Mapping[str, Any]) -> str:
        number, predicted = mistake["number"], mistake["predicted"]
        places = 2 - math.floor(
            math.log10(abs(number - predicted) or 1)
        )  # show three digits of the difference
        return f"{number:.15g} taken for {round(predicted, min(places, 15)):.{min(max(places, 0), 15)}f}"
