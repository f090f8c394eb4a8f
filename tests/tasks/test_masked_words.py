"""What is said of a judgement of masked words."""

from headwise.scores.masked import MaskedScores
from headwise.tasks.masked_words import MaskedWords


def test_where_nothing_was_hidden_the_scores_say_nothing():
    task = MaskedWords()
    told = task.remarks({}, MaskedScores(0, 0.0, 0).to_json())
    assert [remark.warning for remark in told] == [True]
    assert "no word that the model knows was hidden" in told[0].text
    assert task.remarks({}, MaskedScores(3, 6.0, 1).to_json()) == []
