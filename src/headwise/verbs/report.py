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
        remarks: What there is to say of items that the model was made of.
        unseen: The model on the others.
    """

    data: Any
    evaluation: Any
    seconds: float
    part: str = ""
    remarks: Sequence[Remark] = ()
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
        training_remarks, unseen = of_training(task, model, info, read.items)
        judged = replace(judged, remarks=training_remarks, unseen=unseen)
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
    evaluation = task.judge(model, data.items)
    return Judged(data, evaluation, time.perf_counter() - began)


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
    training_remarks, odd = (), []
    if judged is not None:
        training_remarks, odd = judged.remarks, task.odd_shares(model, judged.data.items, judged.evaluation)
    remarks = [*training_remarks, *task.remarks(info, scores), *odd, *([compared] if compared else [])]
    item_material: dict[str, Any] = (
        {} if judged is None else _of_items(task, model, judged, info["data"].get("seen"))
    )
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
            **item_material,
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
        mistakes_found = task.mistakes(model, data, judged.evaluation, sys.maxsize)
    except ConfigError:  # a language model has no labels that could be wrong
        mistakes_found = []
    listed = mistakes_found[:MOST_MISTAKES]
    places = {f"{data.path}:{item.line}": item for item in items} if listed else {}
    wrong = [places[mistake["where"]] for mistake in listed[:MOST_EXPLAINED] if mistake["where"] in places]
    explanations = _explained(task, model, _drawn(items, MOST_EXPLAINED))
    # What is explained of a part of an item need not be the part that is wrong.
    explains_items = all(explanation.about is None for explanation in explanations)
    why: dict[int, list[Explanation]] = {}
    for explanation in _explained(task, model, wrong) if explains_items else ():
        why.setdefault(id(wrong[explanation.item]), []).append(explanation)
    mistakes = []
    for mistake in listed:
        item = places.get(mistake["where"])
        answers = mistake.get("label", mistake.get("tag")), mistake.get("predicted")
        label, predicted = (answer if isinstance(answer, str) else "" for answer in answers)
        reason = _reason(mistake, why.get(id(item), ()))
        place, message = Path(mistake["where"]).name, task.mistaken(_isolated(mistake))
        mistakes.append(Mistake(place, message, mistake["text"], label, predicted, reason))
    counted_items = items if kind.sides else ()  # of bags and streams there are no words to count
    return {
        "sure": sure,
        "right": right,
        "mistakes": mistakes,
        "wrong": len(mistakes_found),
        "parts": task.judged_parts,
        "lengths": [kind.size(item) for item in counted_items],
        "words": _words_of(explanations),
        "maps": _maps(model, kind, counted_items[:200]),
        "repeats": _repeats(kind, items, seen),
    }


def _reason(mistake: Mapping[str, Any], explanations: Sequence[Explanation]) -> str:
    """What is shown beside a mistake of the explanations of its item: of several labels one that is wrong,
    and nothing where only others are explained."""
    wrong = mistake.get("wrong")
    return next(
        (
            explanation.to_html()
            for explanation in explanations
            if wrong is None or explanation.prediction in wrong
        ),
        "",
    )


def _isolated(content: Any) -> Any:
    """What is told of a mistake, with what runs from right to left, such as Hebrew labels, marked to turn
    nothing beside it."""
    if isinstance(content, Mapping):
        return {_isolated(name): _isolated(value) for name, value in content.items()}
    if isinstance(content, list):
        return [_isolated(value) for value in content]
    turns = isinstance(content, str) and any(bidirectional(c) in ("R", "AL") for c in content)
    return f"\u2068{content}\u2069" if turns else content


def _repeats(kind: Any, items: Sequence[Any], seen: Any) -> list[tuple[str, int, int]]:
    """How many items are not new: what they repeat, their number, and of how many."""
    if not kind.has_keys or not kind.sides:
        return []
    word_lists = [words_of(kind.seen_key(item)) for item in items[:_COMPARED]]
    near_duplicates = near_texts(word_lists)
    same = sum(
        any(word_lists[duplicate] == word_lists[number] for duplicate in duplicates)
        for number, duplicates in near_duplicates.items()
    )
    repeated = sum(remembered(kind, seen, items))
    repeats = [("the same words as another one", same, len(word_lists))]
    if kind.sides == 1:
        repeats.append(("nearly the same as another one", len(near_duplicates) - same, len(word_lists)))
    return [*repeats, ("the words of one of training or dev", repeated, len(items))]


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


def _words_of(explanations: Sequence[Explanation]) -> dict[str, list[tuple[str, float]]]:
    """The words that add most to each label; those that take from it are none of them, few as there are."""
    sums: dict[str, dict[str, float]] = {}
    for explanation in explanations:
        if explanation.probability is not None:
            words = sums.setdefault(explanation.prediction, {})
            for word in explanation.words:
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
    fits = [all(low <= len(words) <= high for words in sides) for sides in texts]
    place = fits.index(True) if any(fits) else 0
    if model.features.trees != "none" and all(map(kind.has_heads, items)):
        if not fits[place]:
            return ""
        text: Any = items[place]
        short_texts = [
            item for item, sides in zip(items, texts, strict=True) if max(map(len, sides)) <= _PROBED
        ]
    else:
        text, short_texts = _begun(texts[place], high), [_begun(sides, _PROBED) for sides in texts]
    named: Any = model.encoder.named_modules()
    priors = {name: module.priors for name, module in named if hasattr(module, "priors")}
    try:
        far = probe(model, short_texts[:_PROBED])
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
    facts = [("parameters", f"{sum(parameter.numel() for parameter in model.parameters()):,}")]
    if folder.is_dir():
        size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
        facts.append(("size on disk", f"{size / 1e6:.1f} MB"))
    seconds = info["training"].get("seconds")
    if isinstance(seconds, int | float):
        facts.append(("training", f"{seconds:,.0f} s"))
    if judged is not None and judged.seconds:
        facts.append(("speed", f"{len(judged.data.items) / judged.seconds:,.0f} {many} a second"))
    return facts
