"""What every run does around the loop, whatever the task: train by a recipe, and save what came of it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from headwise.attention import compiled
from headwise.features.pretrained import PretrainedEmbedding
from headwise.models.text_model import TextModel
from headwise.recipe import Recipe
from headwise.store import save_model
from headwise.train.loop import Report, train
from headwise.train.objective import Objective
from headwise.train.state import Progress


def train_by(
    recipe: Recipe,
    model: Any,
    objective: Objective,
    folder: Path,
    hashes: Mapping[str, str],
    *,
    resume: bool = False,
    report: Callable[[Report], None] = lambda _: None,
) -> Progress:
    """Train a model, which then has its best weights.

    Args:
        recipe: The settings.
        model: On its device.
        objective: What it learns.
        folder: Where the state of the run is kept.
        hashes: What identifies the training and the dev data.
        resume: Go on with the run in `folder`.
        report: Called after each update and each epoch.

    Raises:
        HeadwiseError: A state to resume is of other data or settings.
    """
    with compiled.waiting():  # or the first run on a machine would end with other weights
        progress = train(
            model,
            objective,
            recipe.train,
            folder,
            resume=resume,
            identity={"texts": dict(hashes), **recipe.to_json()},
            rates=learning_rates(recipe) if isinstance(model, TextModel) else {},
            report=report,
        )
    if isinstance(model, TextModel) and isinstance(model.embedding, PretrainedEmbedding):
        model.embedding.forget()
    return progress


def learning_rates(recipe: Recipe) -> dict[str, float]:
    """The learning rates of parameters that have their own, by what their names begin with."""
    return {
        "embedding.vectors": recipe.train.vectors_learning_rate,
        "embedding.encoder.": recipe.model.pretrained.learning_rate,
    }


def save_run(
    model: Any,
    output: Path,
    recipe: Recipe,
    progress: Progress,
    *,
    data: Mapping[str, Any],
    metrics: Mapping[str, Any],
) -> None:
    """Write the model folder: weights, settings, fingerprints of the data, history and scores."""
    save_model(model, output, data=dict(data), training=run_json(recipe, progress), metrics=dict(metrics))


def run_json(recipe: Recipe, progress: Progress, **more: Any) -> dict[str, Any]:
    """What a model folder says of the training."""
    return {
        "recipe": recipe.to_json(),
        **more,
        "history": progress.history,
        "best_epoch": progress.best_epoch + 1,
        "seconds": progress.seconds,
    }
