"""Scorers of learning curves and searches: full models and linear models, on items that they have not
seen."""

from dataclasses import replace

import numpy as np
import pytest

from headwise.app.workflows import learning_curve as judges
from headwise.data.items.examples import Example, MultiLabelExample, TaggedSentence
from headwise.models.tasks import find_task

SMALL = {"train": {"epochs": 1}, "encoder": {"layers": 1, "width": 16, "heads": 2}}
WORDS = ("refund", "badge")


def _text(number):
    return f"the {WORDS[number % 2]} {number}"


MAKERS = {
    "classify": lambda n: Example(_text(n), "ab"[n % 2], n),
    "regress": lambda n: Example(_text(n), str(n % 2 + 0.5), n),
    "multi-label": lambda n: MultiLabelExample(_text(n), None, n, labels=("a", "b")[: n % 2 + 1]),
    "tag": lambda n: TaggedSentence(tuple(_text(n).split()), ("O", ("B-X", "O")[n % 2], "O"), n),
}


@pytest.mark.parametrize("task", MAKERS)
def test_whole_models(task, monkeypatch):
    def small(layers):
        return resolve((*layers, SMALL, {"base": {"name": "none"}}))

    resolve = judges.resolve
    monkeypatch.setattr(judges, "resolve", small)
    items = [MAKERS[task](number) for number in range(60)]
    judge = judges.full_model_scorer(find_task(task), items)
    found = judge(np.arange(40), np.arange(40, 60), 0)
    assert 0 <= found <= 1
    if task in ("classify", "multi-label"):  # a label that training does not have is missed
        own = {"label": "c"} if task == "classify" else {"labels": ("c",)}
        more = judges.full_model_scorer(find_task(task), [*items, replace(MAKERS[task](60), **own)])
        assert more(np.arange(40), np.append(np.arange(40, 60), 60), 0) <= found
        assert more(np.arange(40), np.array([60]), 0) == 0
