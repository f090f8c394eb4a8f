"""Another model on the same items, to stand beside one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Rival:
    """Another model on the same items, to stand beside one.

    Attributes:
        name: What to call it, such as "TF-IDF + linear SVM".
        scores: Its scores, under the names that the model's have.
        difference: By how much the model is ahead, if both were compared item by item: the score, its 95 %
            `interval` and a `p_value`.
    """

    name: str
    scores: Mapping[str, Any]
    difference: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` reads."""
        return {"name": self.name, **self.scores, "difference": self.difference}

    @classmethod
    def all_of(cls, metrics: Mapping[str, Any]) -> "dict[str, Rival]":
        """Those in the metrics of a model folder, by their keys, the baseline last."""
        return {
            name: cls.from_json(own)
            for name, own in sorted(metrics.items(), key=lambda pair: (pair[0] == "baseline", pair[0]))
            if isinstance(own, Mapping) and isinstance(own.get("name"), str)
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Rival":
        """The inverse of `to_json`; nothing is believed of it."""
        scores = {name: value for name, value in data.items() if name not in ("name", "difference")}
        difference = data.get("difference")
        return cls(
            str(data.get("name", "baseline")),
            scores,
            difference if isinstance(difference, Mapping) else None,
        )
