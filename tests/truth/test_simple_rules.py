"""A rule that anybody sees is learnt from a few items, and explanations name the words of the rule."""

import numpy as np

from headwise import explain_file

RIGHT = {"multi-label": 0.95, "tag of spans": 0.95, "pair": 0.9}
OFF = {"pair-score": 0.3, "regress": 0.5}  # of numbers that differ by 1
WORDS = {
    "classify": "cues",
    "multi-label": "topics",
    "pair": "things",
    "pair-score": "things",
    "regress": "cues",
}
ONLY = {"test_explanations_name_the_words_of_the_rule": WORDS}


def test_a_rule_is_learnt(task, truth):
    parts = truth.metric_part_count(task, truth.model(task, 1.0).fitted.model, truth.fresh(task, 1.0))
    print(task, parts.sum(axis=0)[1] / parts.sum(axis=0)[2])
    if truth.rows[task].numbers:
        assert parts[:, 1].mean() < OFF[task]
    else:
        assert parts[:, 1].sum() / parts[:, 2].sum() > RIGHT.get(task, 0.97)


def test_explanations_name_the_words_of_the_rule(task, truth):
    outcome = truth.model(task, 1.0)
    cues = truth.words[WORDS[task]]
    hits = []
    for _, explanation in explain_file(
        truth.folder_of(outcome), truth.file(task, truth.drawn(task, 60, 8, 1.0))
    ):
        there = [word for text in explanation.texts for word in text.split() if word in cues]
        ranked = sorted(
            [*explanation.first(1), *explanation.strongest_against(1)], key=lambda word: -abs(word[1])
        )
        if there and ranked:
            hits.append(ranked[0][0] in cues)
    print(task, np.mean(hits), len(hits))
    assert len(hits) >= 25
    assert np.mean(hits) > 0.8
