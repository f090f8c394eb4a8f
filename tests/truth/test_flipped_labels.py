"""Of labels that follow a rule one in ten was changed: `noise` says which, and without them a model is not
worse."""

import csv
import random

import numpy as np

from headwise import noise_file, train_files
from headwise.app.workflows.tag_errors import TagIssue

OTHER = {"bad": "good", "good": "bad", "A": "B", "B": "A", "B-BAD": "B-GOOD", "B-GOOD": "B-BAD"}
ONLY = {"test_what_was_changed_is_found": ("classify", "tag", "tag of spans")}


def changed(truth, task, count, seed=2):
    """Items, and which answers (of a sentence, which words) were changed."""
    chance, rows, wrong = random.Random(seed), [], set()
    for number, (x, y) in enumerate(truth.drawn(task, count, seed, 1.0)):
        if isinstance(y, str):
            wrong |= {number} if chance.random() < 0.1 else set()
            rows.append((x, OTHER[y] if number in wrong else y))
            continue
        places = {n for n, tag in enumerate(y) if tag in OTHER and chance.random() < 0.1}
        wrong |= {(number, n) for n in places}
        rows.append((x, [OTHER[tag] if n in places else tag for n, tag in enumerate(y)]))
    return rows, wrong


def test_what_was_changed_is_found(task, truth):
    items, wrong = changed(truth, task, 300)
    issues = noise_file(truth.file(task, items))
    if task == "classify":
        named = {issue.line - 2 for issue in issues}
    else:
        starts = np.cumsum([1, *(len(words) + 1 for words, _ in items)]).tolist()
        number, named = {line: n for n, line in enumerate(starts)}, set()
        for issue in issues:
            assert isinstance(issue, TagIssue)
            first = int(issue.place.rpartition(":")[2]) - issue.line
            named |= {(number[issue.line], first + n) for n in range(len(issue.words.split()))}
    right = len(named & wrong)
    print(task, right / len(named), right / len(wrong))
    assert right / len(named) > 0.85
    assert right / len(wrong) > 0.6


def test_a_model_without_them_is_not_worse(truth, narrow):
    items, _ = changed(truth, "classify", 200)
    path, listed = truth.file("classify", items), truth.place("listed").with_suffix(".csv")
    with open(listed, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["line", "label", "probability of label"])
        out.writerows((issue.line, issue.label, issue.given_probability) for issue in noise_file(path))

    def loss(**how):
        settings = [{"model": {"task": "classify"}, "split": {"test": 0.0}, "train": {"folds": 2}}]
        done = train_files(path, truth.place("model"), settings=settings, baseline=False, **how)
        return truth.metric_part_count("classify", done.fitted.model, truth.fresh("classify", 1.0)).mean(
            axis=0
        )

    every, dropped, weighed = loss(), loss(drop=listed), loss(weight=listed)
    print(every, dropped, weighed)
    for result in (dropped, weighed):
        assert result[0] < every[0]
        assert result[1] > every[1] - 0.06
