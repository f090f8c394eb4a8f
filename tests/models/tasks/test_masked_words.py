"""Messages on the evaluation of masked words."""

import pytest

from headwise.app.configuration import build_config
from headwise.data.items.examples import Example
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.data_parts import DataParts
from headwise.metrics.perplexity import MaskedScores
from headwise.models.tasks.masked_words import MaskedWordsTask


def test_where_nothing_was_hidden_the_scores_say_nothing():
    task = MaskedWordsTask()
    messages = task.score_messages({}, MaskedScores(0, 0.0, 0).to_json())
    assert [remark.warning for remark in messages] == [True]
    assert "no word that the model knows was hidden" in messages[0].text
    assert task.score_messages({}, MaskedScores(3, 6.0, 1).to_json()) == []


@pytest.mark.parametrize("count", [0, 30, 1_000, 1_500, 2_000])
def test_dev_texts_of_which_some_are_judged_are_from_the_whole_file(count):
    """The first of a file may be of one document."""
    task = MaskedWordsTask()
    texts = [Example(f"w{number} w") for number in range(count)]
    parts = DataParts(ITEM_TYPES_BY_TASK["masked-words"], [Example("w0 w"), Example("w1 w")], texts, [])
    small = {"encoder": {"width": 8, "heads": 2, "head_size": 4, "layers": 1}, "words": {"vector_size": 8}}
    model, _ = task.build(parts, build_config(small, {"model": {"task": "masked-words"}}), None)
    judged = []
    model.encoded = lambda items: [judged.append(items), list(items)][1]  # type: ignore[method-assign]
    task.objective(model, parts)
    numbers = [texts.index(text) for text in judged[-1]]
    assert len(numbers) == len(set(numbers)) == min(count, 1_000)
    assert sum(number < count / 2 for number in numbers) == len(numbers) // 2
