"""The report page of a model, from its folder and labelled items."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Unpack
from unicodedata import bidirectional

from headwise.app.session import FileArguments, ModelSession
from headwise.app.training_report import TrainingReport
from headwise.app.workflows.evaluate import EvaluatedItems
from headwise.artifacts.model_info import MetricsInfo
from headwise.core.config import JsonMapping, JsonObject
from headwise.core.deprecation import renamed_parameters
from headwise.core.errors import ConfigError
from headwise.data.files.compression import STANDARD_INPUT
from headwise.data.files.file_lists import FilesArgument
from headwise.data.files.file_lists import place as place_of
from headwise.data.items.examples import Pair
from headwise.data.items.item_type import ItemType
from headwise.data.splits.contamination import in_fingerprint
from headwise.data.splits.duplicates import find_near_duplicates
from headwise.data.splits.text_signatures import words_for_comparison
from headwise.metrics.metric_keys import OPERATING_POINTS
from headwise.models.explanation import Explanation
from headwise.models.mistakes import Mistake
from headwise.models.pictures import attention_span_table, heat_maps
from headwise.models.report_messages import baseline_message
from headwise.models.report_page import ReportContents, report_page
from headwise.nn.networks.attention_inspection import attention_spans, attention_weights

MOST_MISTAKES = 10_000
MOST_EXPLAINED = 200
"""Maximum number of errors that are explained, and of items whose explanations give the top words."""
_WORDS = 12  # top words of a label
_MAPPED = (5, 14)  # fewest and most words of the text whose attention is drawn
_PROBED = 100  # number of texts, and of words of each, that attention spans are measured on
_COMPARED = 5_000  # number of items among which near-duplicates are counted


@renamed_parameters(heads="parses", listener="reporter")
def report_file(
    folder: Path | str,
    data: FilesArgument | None = None,
    *,
    unknown_label: str | None = None,
    device: str = "auto",
    pipeline: str | None = None,
    **file_arguments: Unpack[FileArguments],
) -> str:
    """The report page of a model, as HTML.

    Args:
        folder: The model's folder.
        data: A labelled file that the model is evaluated on; without it, the page has the scores of the
            training run, and no errors.
        unknown_label: The label of out-of-scope items; see
            `headwise.app.workflows.evaluate.evaluate_file`.
        device: The device: cpu, cuda, or auto for a GPU if there is one.
        pipeline: A spaCy pipeline that parses texts, in place of the one that the model names.
        file_arguments: How the file is read; see `headwise.app.session.FileArguments`.

    Raises:
        HeadwiseError: The model or the file cannot be used, or a label is not one of the model's.
    """
    if data is None and (parses := file_arguments.get("parses")) is not None:
        raise ConfigError(f"--parses {parses} needs the file of the texts; give it with --data")
    session = ModelSession.open(folder, device=device, pipeline=pipeline)
    if data is None:
        return render_report(session, None)
    read = session.read_scoped(data, unknown_label=unknown_label, **file_arguments)
    return render_report(session, EvaluatedItems.of(session, *read))


def training_report_page(report: TrainingReport, folder: Path) -> str:
    """The report page of a training run, with the evaluation on its test items, as HTML."""
    session, parts, evaluated = ModelSession(folder, report.fitted.model), report.parts, None
    if report.test is not None:
        file = parts.files.get("test") or parts.files["train"]
        items = file.with_items(parts.test)
        evaluated = EvaluatedItems(session, items, report.test, part="test ", novelty=report.novelty)
    return render_report(session, evaluated)


def render_report(session: ModelSession, evaluated: EvaluatedItems | None) -> str:
    """The report page of a model, as HTML, with an evaluation on items if there is one."""
    task, info, folder = session.task, session.info, Path(session.folder)
    metrics, many = info.metrics, task.item_type.nouns.many
    if evaluated is not None and not evaluated.is_test:
        metrics = MetricsInfo.of({})  # the baseline was not evaluated on these items
    named = dict(metrics.systems)
    if evaluated is None:
        part = metrics.scored_part
        scores, on = metrics.scores, f"its {part} {many}" if " " not in part else f"its {many} {part}"
        messages = task.score_messages(info.data.train.labels, scores)
    else:
        scores, count = evaluated.scores, f"{len(evaluated.data.items):,}"
        on = f"{count} {evaluated.part}{many} of {_file_label(evaluated.data.path)}"
        messages = [*evaluated.messages, *evaluated.score_messages(scores)]
        if evaluated.unseen is not None:
            named.setdefault("unseen", evaluated.unseen)
    metric_table = task.metric_table(scores)
    baseline = None if metrics.dev.get(OPERATING_POINTS) else named.get("baseline")
    if compared := baseline_message(metric_table, scores, baseline, task.advice):
        messages = [*messages, compared]
    item_contents: JsonObject = {} if evaluated is None else _item_contents(session, evaluated)
    return report_page(
        ReportContents(
            title=f"{folder.resolve().name}: a {task.title}",
            on=on,
            metric_table=metric_table,
            scores=scores,
            systems=list(named.values()),
            unseen=None if evaluated is None else named.get("unseen"),
            messages=[message.text[:1].upper() + message.text[1:] + "." for message in messages],
            data=info["data"],
            history=info.training.history,
            held_out="out of fold" if info.metrics.held_out_part == "out of fold" else "on dev",
            facts=_facts(session, evaluated),
            where_errors=_where_errors(folder, many) if evaluated is None else "",
            made={
                "settings": info["training"].get("recipe"),
                "calibration": info.get("calibration"),
                "environment": info.get("environment"),
                "data": info["data"],
            },
            **item_contents,
        )
    )


def _where_errors(folder: Path, many: str) -> str:
    """How to list the wrong predictions, which a page without items cannot."""
    command = f"headwise report {shlex.quote(str(folder))} --data FILE"
    return (
        f"A model folder holds no {many}, so they are not listed: {command} lists those of a labelled file "
        f"with explanations, and headwise train FILE --report REPORT.html those of the test {many}."
    )


def _file_label(path: str) -> str:
    return "standard input" if path == STANDARD_INPUT else Path(path).name


def _item_contents(session: ModelSession, evaluated: EvaluatedItems) -> JsonObject:
    """The parts of the page that come from items: probabilities, errors, top words, attention,
    duplicates."""
    task, model, item_type = session.task, session.model, session.item_type
    data, items = evaluated.data, evaluated.data.items
    confidences, right = task.confidence(model, items, evaluated.evaluation) or (None, None)
    try:
        mistakes_found = task.mistakes(model, data, evaluated.evaluation, sys.maxsize)
    except ConfigError:  # a language model has no labels that could be wrong
        mistakes_found = []
    listed = mistakes_found[:MOST_MISTAKES]
    places = {place_of(data.path, item.line): item for item in items} if listed else {}
    wrong = [places[mistake["where"]] for mistake in listed[:MOST_EXPLAINED] if mistake["where"] in places]
    explanations = _explanations(session, _sample_items(items, MOST_EXPLAINED))
    # The explanation of a part of an item may be that of another part than the wrong one.
    explains_items = all(explanation.explained_span is None for explanation in explanations)
    why: dict[int, list[Explanation]] = {}
    for explanation in _explanations(session, wrong) if explains_items else ():
        why.setdefault(id(wrong[explanation.item]), []).append(explanation)
    mistakes = []
    for mistake in listed:
        item = places.get(mistake["where"])
        answers = mistake.get("label", mistake.get("tag")), mistake.get("predicted")
        label, predicted = (answer if isinstance(answer, str) else "" for answer in answers)
        reason = _reason(mistake, why.get(id(item), ()))
        place = Path(mistake["where"]).name
        message = task.describe_error(_isolate_bidi(mistake)).replace(" %", "\u00a0%")
        mistakes.append(Mistake(place, message, mistake["text"], label, predicted, reason))
    counted_items = items if item_type.sides else ()  # of bags and streams there are no words to count
    return {
        "confidences": confidences,
        "right": right,
        "mistakes": mistakes,
        "wrong": len(mistakes_found),
        "parts": task.evaluated_units(evaluated.evaluation),
        "lengths": [item_type.size(item) for item in counted_items],
        "words": _top_words(explanations),
        "columns": _column_sizes(explanations),
        "maps": _maps(model, item_type, counted_items[:200]),
        "repeats": _duplicate_counts(item_type, items, session.info.data.training_fingerprint),
    }


def _reason(mistake: JsonMapping, explanations: Sequence[Explanation]) -> str:
    """The explanation of an error as HTML: of several labels, that of a wrong one; "" if none of these is
    explained."""
    wrong = mistake.get("wrong")
    return next(
        (
            explanation.to_html()
            for explanation in explanations
            if wrong is None or explanation.prediction in wrong
        ),
        "",
    )


def _isolate_bidi(content: Any) -> Any:
    """The fields of an error with right-to-left texts, such as Hebrew labels, in directional isolates, so
    that the text around them keeps its order."""
    if isinstance(content, Mapping):
        return {_isolate_bidi(name): _isolate_bidi(value) for name, value in content.items()}
    if isinstance(content, list):
        return [_isolate_bidi(value) for value in content]
    turns = isinstance(content, str) and any(bidirectional(c) in ("R", "AL") for c in content)
    return f"\u2068{content}\u2069" if turns else content


def _duplicate_counts(
    item_type: ItemType, items: Sequence[object], seen: object
) -> list[tuple[str, int, int]]:
    """Counts of duplicates: what the items repeat, their number, and the number of items compared."""
    if not item_type.has_keys or not item_type.sides:
        return []
    word_lists = [words_for_comparison(item_type.contamination_key(item)) for item in items[:_COMPARED]]
    near_duplicates = find_near_duplicates(word_lists)
    same = sum(
        any(word_lists[duplicate] == word_lists[number] for duplicate in duplicates)
        for number, duplicates in near_duplicates.items()
    )
    repeated = sum(in_fingerprint(item_type, seen, items))
    repeats = [("the same words as another one", same, len(word_lists))]
    if item_type.sides == 1:
        repeats.append(("nearly the same as another one", len(near_duplicates) - same, len(word_lists)))
    return [*repeats, ("the words of one of training or dev", repeated, len(items))]


def _explanations(session: ModelSession, items: Sequence[object]) -> list[Explanation]:
    try:
        return session.explain(items) if items else []
    except ConfigError:
        return []


def _sample_items(items: Sequence[object], most: int) -> list[Any]:
    """A reproducible random sample of at most `most` items, in their order. (The first items of a file
    often have one label.)"""
    places = range(len(items))
    return [items[place] for place in sorted(Random(0).sample(places, min(most, len(items))))]


def _top_words(explanations: Sequence[Explanation]) -> dict[str, list[tuple[str, float]]]:
    """The words with the largest positive attributions to each label, with their sums."""
    sums: dict[str, dict[str, float]] = {}
    for explanation in explanations:
        if explanation.probability is not None:
            words = sums.setdefault(explanation.prediction, {})
            for word in explanation.words:
                words[word.word.lower()] = words.get(word.word.lower(), 0.0) + word.attribution
    adding = {label: [pair for pair in words.items() if pair[1] > 0] for label, words in sums.items()}
    return {
        label: sorted(words, key=lambda pair: -pair[1])[:_WORDS]
        for label, words in sorted(adding.items())
        if words
    }


def _column_sizes(explanations: Sequence[Explanation]) -> list[tuple[str, float]]:
    """The mean absolute attributions of all words of a text together and of each further column, the
    largest first; empty without further columns."""
    if not explanations or not explanations[0].columns:
        return []
    sizes = {"the words of the text": 0.0}
    for explanation in explanations:
        sizes["the words of the text"] += abs(sum(word.attribution for word in explanation.words))
        for column in explanation.columns:
            name = f"column {column.name!r}"
            sizes[name] = sizes.get(name, 0.0) + abs(column.attribution)
    means = [(name, size / len(explanations)) for name, size in sizes.items()]
    return sorted(means, key=lambda pair: -pair[1])


def _maps(model: Any, item_type: ItemType, items: Sequence[object]) -> str:
    """Attention maps of the first text or pair that is short enough to draw, or of the beginning of one,
    and a table of attention spans, as HTML. Texts with parses cannot be cut, so only short ones are
    used."""
    low, high = _MAPPED
    if not item_type.sides or not items:
        return ""
    texts = [item_type.words(item, str.split) for item in items]
    fits = [all(low <= len(words) <= high for words in sides) for sides in texts]
    place = fits.index(True) if any(fits) else 0
    if model.features.trees != "none" and all(map(item_type.has_parses, items)):
        if not fits[place]:
            return ""
        text: Any = items[place]
        short_texts = [
            item for item, sides in zip(items, texts, strict=True) if max(map(len, sides)) <= _PROBED
        ]
    else:
        text, short_texts = _truncated(texts[place], high), [_truncated(sides, _PROBED) for sides in texts]
    named: Any = model.encoder.named_modules()
    priors = {name: module.priors for name, module in named if hasattr(module, "priors")}
    try:
        far = attention_spans(model, short_texts[:_PROBED])
        return heat_maps(attention_weights(model, text), priors) + attention_span_table(far)
    except ConfigError:  # an encoder without attention
        return ""


def _truncated(sides: Sequence[Sequence[str]], most: int) -> str | Pair:
    """A text, or a pair of texts, cut to at most `most` words each."""
    first, *second = (" ".join(words[:most]) for words in sides)
    return Pair(first, second[0]) if second else first


def _facts(session: ModelSession, evaluated: EvaluatedItems | None) -> list[tuple[str, str]]:
    model, folder = session.model, Path(session.folder)
    facts = [("parameters", f"{sum(parameter.numel() for parameter in model.parameters()):,}")]
    if folder.is_dir():
        size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
        facts.append(("size on disk", f"{size / 1e6:.1f} MB"))
    if session.info.training.seconds is not None:
        facts.append(("training", f"{session.info.training.seconds:,.0f} s"))
    if evaluated is not None and evaluated.seconds:
        speed = len(evaluated.data.items) / evaluated.seconds
        facts.append(("speed", f"{speed:,.0f} {session.item_type.nouns.many} per second"))
    return facts
