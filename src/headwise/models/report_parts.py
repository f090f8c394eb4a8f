"""What reports are made of: messages, and comparison systems with the scores of other models."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headwise.core.config import JsonMapping, JsonObject


@dataclass(frozen=True)
class ReportMessage:
    """A message of a report.

    Attributes:
        text: The message, one sentence.
        warning: Whether the user should act on it.
    """

    text: str
    warning: bool = False


@dataclass(frozen=True)
class ComparisonSystem:
    """A comparison system: another model evaluated on the same items.

    Attributes:
        name: Its name, such as "TF-IDF + linear SVM".
        scores: Its scores, under the same keys as the model's.
        difference: The paired difference, model minus comparison system: the score, its 95 % `interval` and
            a `p_value`; None if the two were not compared item by item.
    """

    name: str
    scores: JsonMapping
    difference: JsonMapping | None = None

    def to_json(self) -> JsonObject:
        """A JSON object that `from_json` reads."""
        return {"name": self.name, **self.scores, "difference": self.difference}

    @classmethod
    def all_from_metrics(cls, metrics: JsonMapping) -> "dict[str, ComparisonSystem]":
        """The comparison systems in the metrics of a model folder, by key, the baseline last."""
        return {
            name: cls.from_json(entry)
            for name, entry in sorted(metrics.items(), key=lambda pair: (pair[0] == "baseline", pair[0]))
            if isinstance(entry, Mapping) and isinstance(entry.get("name"), str)
        }

    @classmethod
    def from_json(cls, data: JsonMapping) -> "ComparisonSystem":
        """The inverse of `to_json`, for untrusted data."""
        scores = {name: value for name, value in data.items() if name not in ("name", "difference")}
        difference = data.get("difference")
        return cls(
            str(data.get("name", "baseline")),
            scores,
            difference if isinstance(difference, Mapping) else None,
        )


def score_unseen(
    evaluate: Callable[[Any, Sequence[object]], Any],
    model: Any,
    items: Sequence[object],
    seen: Collection[int],
) -> ComparisonSystem | None:
    """The evaluation of a model on the items that are not in `seen` (indices); None if that is all or
    none."""
    if not 0 < len(seen) < len(items):
        return None
    new = [item for number, item in enumerate(items) if number not in seen]
    return ComparisonSystem(f"not in training ({len(new):,})", evaluate(model, new).to_json())
