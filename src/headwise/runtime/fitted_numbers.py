"""The numbers of a model that are fitted after its training: temperature, thresholds, ensemble weights."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class FittedNumbers:
    """Names of the attributes of a model that are fitted numbers, which model folders save.

    Attributes:
        numbers: Those that are one number, with the minimum of each.
        label_numbers: Those that are a list of numbers, one for each label, with their minimum.
        optional: Those of both that a model folder may lack.
    """

    numbers: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    label_numbers: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    optional: frozenset[str] = frozenset()

    def of(self, model: Any) -> dict[str, Any]:
        """The numbers of a model by name, without those that it lacks."""
        values = {name: getattr(model, name) for name in (*self.numbers, *self.label_numbers)}
        return {name: value for name, value in values.items() if value is not None}
