"""A page that tells all of a model: from its folder, and from a file or items with the true answers."""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any
from unicodedata import bidirectional

from headwise.data.compression import STANDARD_INPUT
from headwise.data.near import near_texts, words_of
from headwise.data.overlap import remembered
from headwise.data.pair import Pair
from headwise.errors import ConfigError
from headwise.models.attention_weights import attention_weights
from headwise.models.probe import probe
from headwise.models.text_model import TextModel
from headwise.report.document import Material, document
from headwise.report.explanation import Explanation
from headwise.report.heatmap import heat_maps
from headwise.report.mistakes import Mistake
from headwise.report.reach import reach_table
from headwise.report.remarks import Remark, compare_with
from headwise.report.rival import Rival
from headwise.report.sheet import lookup
from headwise.scores.operating_points import OPERATING_POINTS
from headwise.store import read_info
from headwise.tasks import find_task
from headwise.tasks.task import Task
from headwise.verbs.evaluate import of_training
from headwise.verbs.listener import NOBODY, Listener
from headwise.verbs.models import open_model, read_answers
from headwise.verbs.outcome import Outcome

MOST_MISTAKES = 10_000
MOST_EXPLAINED = 200
"""Mistakes that are explained, and items whose explanations say which words count."""
_WORDS = 12  # of each label
_MAPPED = (5, 14)  # words of the text whose attention is drawn
_PROBED = 100  # texts, and words of each, that say how far heads look
_COMPARED = 5_000  # items that are compared with each other


@dataclass(frozen=True)
class Judged:
    """Items with their true answers, and the evaluation of a model on them.

    Attributes:
        data: The items, in the file that they come from.
        evaluation: As the task judges.
        seconds: How long that took; 0 where that is not known.
        part: "test " where they are only that part of the file.
        told: What there is to say of items that the model was made of.
        unseen: The model on the others.
    """

    data: Any
    evaluation: Any
    seconds: float
    part: str = ""
    told: Sequence[Remark] = ()
    unseen: Rival | None = None


def report_file(
    folder: Path | str,
    data: Path | str | None = None,
    *,
    heads: Path | str | None = None,
    pipeline: str | None = None,
    device: str = "auto",
    reading: Mapping[str, Any] | None = None,
    listener: Listener = NOBODY,
) -> str:
    """The page of a model, from its folder.

    Args:
        folder: The model's folder.
        data: A file with the true answers, on which the model is judged; without it the scores are those
            of its training, and there are no errors to read.
        heads: The syntax of its texts.
        pipeline: See `headwise.verbs.models.open_model`.
        device: Likewise.
        reading: How the file is read, where that is not to be guessed.
        listener: Is told what happens.

    Raises:
        HeadwiseError: The model or the file cannot be used, or an answer is not one of the model's.
    """
    if heads is not None and data is None:
        raise ConfigError(f"--heads {heads}: parses of which texts? Give their file too (--data)")
    model = open_model(folder, device, pipeline)
    task, info = find_task(model.config.task), read_info(Path(folder))
    judged = None
    if data is not None:
        read = read_answers(task, model, folder, data, heads, reading, listener)
        judged = judge(task, model, read)
        told, unseen = of_training(task, model, info, read.items)
        judged = replace(judged, told=told, unseen=unseen)
        sha256 = task.kind_for(model.config).fingerprint(read.items).sha256
        if lookup(info, "data.test.sha256") != sha256:
            info = {**info, "metrics": {}}  # the baseline was not on this file
    return report_model(task, model, info, Path(folder), judged)


def report_outcome(outcome: Outcome, folder: Path) -> str:
    """The page of a model that has just been trained, on its test items."""
    parts, model, judged = outcome.parts, outcome.fitted.model, None
    if outcome.test is not None:
        file = parts.files.get("test") or parts.files["train"]
        judged = Judged(file.with_items(parts.test), outcome.test, 0.0, "test ")
    return report_model(outcome.task, model, read_info(folder), folder, judged)


def judge(task: Task, model: Any, data: Any) -> Judged:
    """A model on the items of a file with their true answers."""
    began = time.perf_counter()
    found = task.judge(model, data.items)
    return Judged(data, found, time.perf_counter() - began)


def report_model(
    task: Task, model: Any, info: Mapping[str, Any], folder: Path, judged: Judged | None
) -> str:
    """The page of a model.

    Args:
        task: What it does.
        model: The model.
        info: What its folder says of it.
        folder: The folder.
        judged: The model on items; None where there are none.
    """
    metrics, many = info["metrics"], task.kind.nouns.many
    named = Rival.all_of(metrics)
    if judged is not None:
        scores, on = (
            judged.evaluation.to_json(),
            f"{len(judged.data.items):,} {judged.part}{many} of {_called(judged.data.path)}",
        )
    else:
        part = "test" if isinstance(metrics.get("test"), Mapping) else "dev"
        scores, on = metrics.get(part) or {}, f"its {part} {many}"
    if judged is not None and judged.unseen is not None:
        named.setdefault("unseen", judged.unseen)
    sheet = task.sheet(scores)
    rival = None if lookup(metrics, f"dev.{OPERATING_POINTS}") else named.get("baseline")
    compared = compare_with(sheet, scores, rival, task.advice)
    told, odd = (), []
    if judged is not None:
        told, odd = judged.told, task.odd_shares(model, judged.data.items, judged.evaluation)
    remarks = [*told, *task.remarks(info, scores), *odd, *([compared] if compared else [])]
    own: dict[str, Any] = {} if judged is None else _of_items(task, model, judged, info["data"].get("seen"))
    history = info["training"].get("history")
    return document(
        Material(
            title=f"{folder.resolve().name}: a {task.title}",
            on=on,
            sheet=sheet,
            scores=scores,
            rivals=list(named.values()),
            remarks=[remark.text[:1].upper() + remark.text[1:] + "." for remark in remarks],
            data=info["data"],
            history=history if isinstance(history, list) else [],
            facts=_facts(model, info, folder, judged, many),
            made={
                "settings": info["training"].get("recipe"),
                "calibration": info.get("calibration"),
                "environment": info.get("environment"),
                "data": info["data"],
            },
            **own,
        )
    )


def _called(path: str) -> str:
    return "standard input" if path == STANDARD_INPUT else Path(path).name


def _of_items(task: Task, model: Any, judged: Judged, seen: Any) -> dict[str, Any]:
    """What items have to tell: probabilities, mistakes, words, attention, repeats.

    `seen` is what the folder keeps of the items that the model was made of.
    """
    kind, data, items = task.kind_for(model.config), judged.data, judged.data.items
    sure, right = task.sureness(model, items, judged.evaluation) or (None, None)
    try:
        found = task.mistakes(model, data, judged.evaluation, sys.maxsize)
    except ConfigError:  # a language model has no labels that could be wrong
        found = []
    listed = found[:MOST_MISTAKES]
    places = {f"{data.path}:{own.line}": own for own in items} if listed else {}
    wrong = [places[own["where"]] for own in listed[:MOST_EXPLAINED] if own["where"] in places]
    some = _explained(task, model, _drawn(items, MOST_EXPLAINED))
    # What is explained of a part of an item need not be the part that is wrong.
    whole = all(own.about is None for own in some)
    why: dict[int, list[Explanation]] = {}
    for own in _explained(task, model, wrong) if whole else ():
        why.setdefault(id(wrong[own.item]), []).append(own)
    mistakes = []
    for told in listed:
        item = places.get(told["where"])
        answers = told.get("label", told.get("tag")), told.get("predicted")
        label, predicted = (own if isinstance(own, str) else "" for own in answers)
        reason = _reason(told, why.get(id(item), ()))
        place, said = Path(told["where"]).name, task.mistaken(_isolated(told))
        mistakes.append(Mistake(place, said, told["text"], label, predicted, reason))
    own = items if kind.sides else ()  # of bags and streams there are no words to count
    return {
        "sure": sure,
        "right": right,
        "mistakes": mistakes,
        "wrong": len(found),
        "parts": task.judged_parts,
        "lengths": [kind.size(item) for item in own],
        "words": _words_of(some),
        "maps": _maps(model, kind, own[:200]),
        "repeats": _repeats(kind, items, seen),
    }


def _reason(told: Mapping[str, Any], found: Sequence[Explanation]) -> str:
    """What is shown beside a mistake of the explanations of its item: of several labels one that is wrong,
    and nothing where only others are explained."""
    wrong = told.get("wrong")
    return next((own.to_html() for own in found if wrong is None or own.said in wrong), "")


def _isolated(told: Any) -> Any:
    """What is told of a mistake, with what runs from right to left, such as Hebrew labels, marked to turn
    nothing beside it."""
    if isinstance(told, Mapping):
        return {_isolated(name): _isolated(value) for name, value in told.items()}
    if isinstance(told, list):
        return [_isolated(value) for value in told]
    turns = isinstance(told, str) and any(bidirectional(c) in ("R", "AL") for c in told)
    return f"\u2068{told}\u2069" if turns else told


def _repeats(kind: Any, items: Sequence[Any], seen: Any) -> list[tuple[str, int, int]]:
    """How many items are not new: what they repeat, their number, and of how many."""
    if not kind.has_keys or not kind.sides:
        return []
    some = [words_of(kind.seen_key(item)) for item in items[:_COMPARED]]
    near = near_texts(some)
    same = sum(any(some[other] == some[number] for other in others) for number, others in near.items())
    known = sum(remembered(kind, seen, items))
    found = [("the same words as another one", same, len(some))]
    if kind.sides == 1:
        found.append(("nearly the same as another one", len(near) - same, len(some)))
    return [*found, ("the words of one of training or dev", known, len(items))]


def _explained(task: Task, model: Any, items: Sequence[Any]) -> list[Explanation]:
    """Explanations, or none where the task has none."""
    try:
        return task.explain(model, items) if items else []
    except ConfigError:
        return []


def _drawn(items: Sequence[Any], most: int) -> list[Any]:
    """So many items of the whole file, in its order, the same ones each time: the first are often of one
    label."""
    places = range(len(items))
    return [items[place] for place in sorted(Random(0).sample(places, min(most, len(items))))]


def _words_of(found: Sequence[Explanation]) -> dict[str, list[tuple[str, float]]]:
    """The words that add most to each label; those that take from it are none of them, few as there are."""
    sums: dict[str, dict[str, float]] = {}
    for own in found:
        if own.probability is not None:
            words = sums.setdefault(own.said, {})
            for word in own.words:
                words[word.word.lower()] = words.get(word.word.lower(), 0.0) + word.share
    adding = {label: [pair for pair in words.items() if pair[1] > 0] for label, words in sums.items()}
    return {
        label: sorted(words, key=lambda pair: -pair[1])[:_WORDS]
        for label, words in sorted(adding.items())
        if words
    }


def _maps(model: Any, kind: Any, items: Sequence[Any]) -> str:
    """What the heads look at in the first text, or pair of texts, that is short enough to be drawn, or in
    the beginning of one. Of texts with parses, which have no beginnings, only short ones are looked at."""
    low, high = _MAPPED
    if not isinstance(model, TextModel) or not items:
        return ""
    texts = [kind.words(item, str.split) for item in items]
    fits = [all(low <= len(words) <= high for words in own) for own in texts]
    place = fits.index(True) if any(fits) else 0
    if model.features.trees != "none" and all(map(kind.has_heads, items)):
        if not fits[place]:
            return ""
        text: Any = items[place]
        some = [item for item, own in zip(items, texts, strict=True) if max(map(len, own)) <= _PROBED]
    else:
        text, some = _begun(texts[place], high), [_begun(own, _PROBED) for own in texts]
    named: Any = model.encoder.named_modules()
    priors = {name: own.priors for name, own in named if hasattr(own, "priors")}
    try:
        far = probe(model, some[:_PROBED])
        return heat_maps(attention_weights(model, text), priors) + reach_table(far)
    except ConfigError:  # an encoder without attention
        return ""


def _begun(sides: Sequence[Sequence[str]], most: int) -> str | Pair:
    """A text, or a pair of two, as far as so many words."""
    first, *second = (" ".join(words[:most]) for words in sides)
    return Pair(first, second[0]) if second else first


def _facts(
    model: Any, info: Mapping[str, Any], folder: Path, judged: Judged | None, many: str
) -> list[tuple[str, str]]:
    facts = [("parameters", f"{sum(own.numel() for own in model.parameters()):,}")]
    if folder.is_dir():
        size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
        facts.append(("size on disk", f"{size / 1e6:.1f} MB"))
    seconds = info["training"].get("seconds")
    if isinstance(seconds, int | float):
        facts.append(("training", f"{seconds:,.0f} s"))
    if judged is not None and judged.seconds:
        facts.append(("speed", f"{len(judged.data.items) / judged.seconds:,.0f} {many} a second"))
    return facts
