"""The fitted numbers in a model folder (calibration.json)."""

from typing import Any

from headwise.artifacts.model_folder import StoreError, VerifiedFolder
from headwise.core.folder_layout import CALIBRATION
from headwise.runtime.outputs import NOVELTY_NUMBERS, FittedNumbers


def load_calibration(
    model: Any, fitted: FittedNumbers, files: VerifiedFolder, *, has_references: bool
) -> None:
    """Set the fitted numbers of a model to those in its folder.

    Args:
        model: The model.
        fitted: Names and minimums of the numbers.
        files: The folder.
        has_references: Whether the model has vectors of training texts, for a novelty detector.

    Raises:
        StoreError: HW510, one is missing, no number or too small.
    """
    saved, where = files.json(CALIBRATION), files.name(CALIBRATION)
    for name, least in fitted.numbers.items():
        if name in saved or name not in fitted.optional:
            setattr(model, name, _number(saved.get(name), name, least, where))
    for name, least in fitted.label_numbers.items():
        if name in saved or name not in fitted.optional:
            values, count = saved.get(name), len(model.labels)
            if not isinstance(values, list) or len(values) != count:
                problem = f"{where}: {name} must be {count} numbers, one for each label"
                raise StoreError(problem, code="HW510")
            setattr(model, name, [_number(value, name, least, where) for value in values])
    if has_references and model.novelty is None:
        raise StoreError(
            f"{where}: the model has vectors of training texts, but the numbers of its novelty detector "
            f"({', '.join(NOVELTY_NUMBERS)}) are missing",
            code="HW510",
        )


def _number(value: object, name: str, least: float, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= 1e12:
        raise StoreError(
            f"{where}: {name} must be a number between {least:g} and 1e12, found {value!r:.80}",
            code="HW510",
        )
    return float(value)
