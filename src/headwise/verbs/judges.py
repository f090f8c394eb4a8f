"""How good models of some items of a file are on others of it, by the headline of their task."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.data.answers import Label, LabelSet, Number
from headwise.data.labels import indicators, targets_of
from headwise.data.parts import Parts
from headwise.data.shares import wanted_of, weights_of
from headwise.features.bases.groups import WordGroups
from headwise.linear.tag_crf import fit_crf
from headwise.linear.text_fit import fit_linear
from headwise.recipe import Sections, choose_settings
from headwise.report.tags import tag_counts
from headwise.scores.label_set_metrics import micro_f1, set_counts
from headwise.scores.scheme_check import detect_scheme
from headwise.tasks.task import Task
from headwise.train.fit import fit

Judge = Callable[[NDArray[np.int64], NDArray[np.int64], int], float]
"""The headline on some items (the second) of a model of others (the first), made with a seed."""


def crf_judge(items: Sequence[Any], groups: WordGroups | None) -> Judge:
    """Trains the linear CRF of tagged sentences, which reads groups of words, if there are any."""
    scheme = detect_scheme(item.tags for item in items).scheme

    def judge(train: NDArray[np.int64], test: NDArray[np.int64], seed: int) -> float:
        train_items, test_items = ([items[row] for row in rows] for rows in (train, test))
        crf = fit_crf(train_items, scheme, groups=groups, seed=seed)
        right, all_of = tag_counts(crf.predict(test_items), test_items, scheme).sum(0)
        return float(right / max(all_of, 1))

    return judge


def linear_judge(
    task: Task, parts: Parts[Any], layers: Sequence[Sections]
) -> tuple[Judge, tuple[str, ...]]:
    """Trains the linear expert of texts or pairs, the training part of `parts`; what it reads is chosen
    once, on all of them. Also what there is to say of the base."""
    recipe, vectors, notes = choose_settings(parts, layers)
    model, _ = task.build(parts, recipe, vectors)
    texts, dense, numbers = model.expert_reads(model.encoded(parts.train))
    answer, unit = parts.kind.answer, 1.0
    if isinstance(answer, Number):
        targets = model.scale.standardize(answer.numbers(parts.train))
        unit = model.scale.deviation
    elif isinstance(answer, LabelSet):
        targets = indicators(parts.train, model.labels)
    else:
        targets = targets_of(parts.train, model.labels)
    soft_targets = wanted_of(parts.train, model.labels) if isinstance(answer, Label) else targets
    weights = weights_of(parts.train)

    def read(rows: NDArray[np.int64]) -> tuple[Any, ...]:
        features = (None if matrix is None else matrix[rows] for matrix in (dense, numbers))
        return [texts[row] for row in rows], *features

    def fitted(rows: NDArray[np.int64], **how: Any) -> Any:
        train_texts, vectors, further = read(rows)
        how |= {"dense": vectors, "numbers": further, "pairs": model.reads_pairs}
        how["sample_weight"] = None if weights is None else weights[rows]
        return fit_linear(
            train_texts, soft_targets[rows], model.outputs, tokenizer=model.config.words.tokenizer, **how
        )

    settings = fitted(np.arange(len(texts))).settings

    def judge(train: NDArray[np.int64], test: NDArray[np.int64], seed: int) -> float:
        predicted = fitted(train, folds=1, seed=seed, settings=settings).model.scores(*read(test))
        if isinstance(answer, Number):
            return unit * float(np.abs(predicted[:, 0] - targets[test]).mean())
        if isinstance(answer, LabelSet):
            return float(micro_f1(set_counts(predicted > 0, targets[test]).sum(axis=0)))
        return float((predicted.argmax(axis=1) == targets[test]).mean())

    return judge, notes


def whole_judge(task: Task, items: Sequence[Any]) -> Judge:
    """Trains what `headwise train` does."""
    kind = task.kind

    def judge(train: NDArray[np.int64], test: NDArray[np.int64], seed: int) -> float:
        train_items, test_items = ([items[row] for row in rows] for rows in (train, test))
        layers = ({"model": {"task": task.name}, "split": {"seed": seed}, "train": {"seed": seed}},)
        cut = kind.split(train_items, 0.15, seed=seed)
        parts = Parts(kind, cut.train, cut.dev, [])
        recipe, vectors, _ = choose_settings(parts, layers)
        with TemporaryDirectory(prefix="headwise-") as folder:
            model = fit(task, parts, recipe, Path(folder), vectors=vectors).model
        answerable, lost = _known(test_items, kind.answer, model)
        if not answerable:
            return 0.0
        right, all_of = task.tally(model, answerable, task.judge(model, answerable))[:, 1:].sum(axis=0)
        return float(right / max(all_of + lost, 1))

    return judge


def _known(items: list[Any], answer: Any, model: Any) -> tuple[list[Any], int]:
    """Items with the labels that a model knows alone, and how many others they had: these are missed in any
    case."""
    if not isinstance(answer, Label | LabelSet):
        return items, 0
    known_labels, every = set(model.labels), sum(len(item.labels) for item in items)
    if isinstance(answer, Label):
        kept_items = [item for item in items if item.label in known_labels]
    else:
        kept_items = [
            replace(item, labels=tuple(label for label in item.labels if label in known_labels))
            for item in items
        ]
    return kept_items, every - sum(len(item.labels) for item in kept_items)
