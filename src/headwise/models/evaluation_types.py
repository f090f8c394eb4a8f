"""The types of evaluations, for annotations, and their scores by name."""

from headwise.core.config import JsonMapping, is_number, lookup
from headwise.core.errors import ConfigError
from headwise.metrics.perplexity import LanguageScores, MaskedScores
from headwise.models.label_evaluation import MultiLabelEvaluation, NumberEvaluation, SingleLabelEvaluation
from headwise.models.tag_evaluation import TagEvaluation

Evaluation = (
    SingleLabelEvaluation
    | MultiLabelEvaluation
    | NumberEvaluation
    | TagEvaluation
    | LanguageScores
    | MaskedScores
)
"""The evaluation of a model of any task. `isinstance` tells which one it is."""


def score_by_name(scores: JsonMapping, name: str) -> float:
    """A score by its name in the JSON of an evaluation, such as `accuracy` or `entities.f1`.

    Raises:
        ConfigError: There is no such score; the message lists those that there are.
    """
    value = lookup(scores, name)
    if not is_number(value):
        names = ", ".join(name for name, score in scores.items() if is_number(score))
        raise ConfigError(f"there is no score {name!r}; expected one of: {names or 'none at all'}")
    return float(value)
