"""What models of each label type need to predict without torch. Modules are imported when they are used."""

from collections.abc import Callable
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any

from headwise.data.items.label_types import (
    LabelSetType,
    LabelType,
    NumericLabelType,
    SingleLabelType,
    TagSequenceType,
)
from headwise.models.predictor import Predictor


@dataclass(frozen=True)
class PredictionType:
    """What models of a label type need to predict without torch, each as `module:name`.

    Attributes:
        outputs: What the model makes of the outputs of its network.
        predictor: The `headwise.models.predictor.Predictor`.
        explain: The function that explains predictions, from the model and encoded items.
    """

    outputs: str
    predictor: str
    explain: str

    def outputs_type(self) -> type[Any]:
        """The class `outputs`."""
        return resolve_name(self.outputs)

    def predictor_type(self) -> type[Predictor]:
        """The class `predictor`."""
        return resolve_name(self.predictor)

    def explanation_function(self) -> Callable[..., list[Any]]:
        """The function `explain`."""
        return resolve_name(self.explain)


_OUTPUTS, _RECORDS = "headwise.runtime.outputs", "headwise.models.prediction_records"
_EXPLANATIONS = "headwise.models.text_explanation"

PREDICTION_TYPES: dict[type[LabelType], PredictionType] = {
    SingleLabelType: PredictionType(
        f"{_OUTPUTS}:SingleLabelOutputs",
        "headwise.models.predictor:LabelPredictor",
        f"{_EXPLANATIONS}:explain_labels",
    ),
    LabelSetType: PredictionType(
        f"{_OUTPUTS}:MultiLabelOutputs",
        f"{_RECORDS}:MultiLabelPredictor",
        f"{_EXPLANATIONS}:explain_multi_label",
    ),
    NumericLabelType: PredictionType(
        f"{_OUTPUTS}:NumberOutputs", f"{_RECORDS}:NumberPredictor", f"{_EXPLANATIONS}:explain_numbers"
    ),
    TagSequenceType: PredictionType(
        "headwise.runtime.tag_outputs:TagOutputs",
        f"{_RECORDS}:TagPredictor",
        "headwise.models.tag_explanation:explain_tags",
    ),
}
"""The label types whose models predict without torch."""
