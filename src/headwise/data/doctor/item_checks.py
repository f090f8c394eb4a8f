"""The doctor's checks of items that are not single texts: pairs, bags, plain texts for
language models, tagged sentences.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np

from headwise.data.doctor.examined_file import CheckedFile
from headwise.data.doctor.shortcut_checks import majority_accuracy, one_sided_accuracy
from headwise.data.findings import SHOWN, Finding, abbreviate, count, quoted_beginning
from headwise.data.readers.file_preview import looks_like_table
from headwise.data.splits.text_signatures import normal_text
from headwise.metrics.tag_schemes import LETTERS, check_tags, detect_scheme

SHORTCUT = 0.1  # accuracy that one text alone may gain over the commonest label
_LEAST = 200  # least number of pairs to measure that
_MOST = 20_000  # pairs that it is measured on, at most


def half_empty(file: CheckedFile) -> Iterator[Finding]:
    """Pairs with one empty text."""
    empty = [(not pair.first.strip(), not pair.second.strip()) for pair in file.items]
    incomplete = [n for n, (first, second) in enumerate(empty) if first != second]
    if incomplete:
        fix = "headwise keeps and counts them; fill them or remove the rows"
        message = f"{file.count(len(incomplete))} with an empty text"
        yield Finding("warning", "HW150", message, file.data.places(incomplete), fix)


def reversed_pairs(file: CheckedFile) -> Iterator[Finding]:
    """Pairs that also occur in reversed order with another label."""
    labels: dict[tuple[str, str], str | None] = {}
    sides = [(normal_text(pair.first), normal_text(pair.second)) for pair in file.items]
    for key, pair in zip(sides, file.items, strict=True):
        labels.setdefault(key, pair.label)
    contradicted = [
        n
        for n, ((first, second), pair) in enumerate(zip(sides, file.items, strict=True))
        if first != second and (second, first) in labels and labels[second, first] != pair.label
    ]
    if contradicted:
        message = f"{file.count(len(contradicted))} with another label the other way round"
        fix = "right where the order matters (entailment), wrong where it does not (similarity)"
        yield Finding("info", "HW164", message, file.data.places(contradicted), fix)


def single_text_shortcut(file: CheckedFile) -> Iterator[Finding]:
    """Labels that one of the two texts predicts alone."""
    pairs = [pair for pair in file.items if pair.label is not None][:_MOST]
    if len(pairs) < _LEAST or not file.item_type.label_type.classes:
        return
    labels = [pair.label for pair in pairs]
    common = majority_accuracy(labels)
    sides = (("second", [pair.second for pair in pairs]), ("first", [pair.first for pair in pairs]))
    for name, texts in sides:
        guessed = one_sided_accuracy(texts, labels)
        if guessed < common + SHORTCUT:
            continue
        message = (
            f"the words of the {name} texts alone tell {guessed:.0%} of the labels (the commonest label: "
            f"{common:.0%})"
        )
        fix = (
            "a model can look good without comparing the texts; compare its score with that number, and "
            "add pairs in which the same text has different labels"
        )
        yield Finding("warning", "HW165", message, (file.data.path,), fix)


def shared_firsts(files: Mapping[str, CheckedFile]) -> Iterator[Finding]:
    """First texts of dev or test pairs that also occur in training pairs."""
    for first, second in combinations(files.values(), 2):
        if first.part == second.part:
            continue
        seen = {normal_text(pair.first) for pair in first.items}
        shared = [n for n, pair in enumerate(second.items) if normal_text(pair.first) in seen]
        if not shared:
            continue
        share = len(shared) / len(second.items)
        message = f"{second.count(len(shared))} of {second.role} ({share:.1%}) with a first text that "
        message += f"{first.role} has"
        fix = "scores hold for texts that were seen; split by the first text (headwise does) for new ones"
        yield Finding("info", "HW166", message, second.data.places(shared), fix)


def reversed_pairs_between(files: Mapping[str, CheckedFile]) -> Iterator[Finding]:
    """Pairs of one file that occur in another in reversed order."""
    for first, second in combinations(files.values(), 2):
        if first.part == second.part:
            continue
        seen = {(normal_text(pair.second), normal_text(pair.first)) for pair in first.items}
        sides = [(normal_text(pair.first), normal_text(pair.second)) for pair in second.items]
        swaps = [n for n, key in enumerate(sides) if key in seen]
        if swaps:
            message = (
                f"{second.count(len(swaps))} of {second.role} also in {first.role}, the other way round"
            )
            fix = f"results on {second.role} will look too good: remove these rows from {first.role}"
            yield Finding("warning", "HW160", message, second.data.places(swaps), fix)


def constant_features(file: CheckedFile) -> Iterator[Finding]:
    """Features with the same value in all instances."""
    if not file.training or file.data.instances < 2:
        return
    rows = np.concatenate([bag.instances for bag in file.items])
    names = [repr(file.data.features[n]) for n in np.flatnonzero(rows.min(0) == rows.max(0))]
    if names:
        message = f"{count(len(names), 'feature')} with the same value everywhere: {abbreviate(names)}"
        yield Finding("info", "HW295", message, (file.data.path,), "headwise passes over them")


def single_instance_bags(file: CheckedFile) -> Iterator[Finding]:
    """Files in which every bag has a single instance."""
    if file.training and file.items and all(len(bag.instances) == 1 for bag in file.items):
        fix = "if bags should have several, another column holds their names: --bag-column"
        yield Finding("warning", "HW296", "every bag has one instance", (file.data.path,), fix)


_FEW = 100_000  # characters that a training text should have
_HEAD = 200  # lines by which a table is recognised
_LONG = 60  # characters from which on a line is not in two texts by chance


def short_training_text(file: CheckedFile) -> Iterator[Finding]:
    """A training text that is too short."""
    total = file.data.characters.total()
    if file.training and total < _FEW:
        message = f"{total:,} characters are few to learn a language from"
        yield Finding("warning", "HW151", message, (file.data.path,), f"give some {_FEW:,} or more")


def strange_characters(file: CheckedFile) -> Iterator[Finding]:
    """Characters that seldom occur on purpose."""
    characters = file.data.characters
    control = {c: n for c, n in characters.items() if unicodedata.category(c) == "Cc" and c not in "\n\t"}
    if control:
        message = f"{count(sum(control.values()), 'control character')}: {_named(control)}"
        fix = "remove them, or the model will write them"
        yield Finding("warning", "HW157", message, (file.data.path,), fix)
    if broken := characters["\ufffd"]:
        message = f"{count(broken, 'character')} U+FFFD, which stand for bytes that could not be decoded"
        yield Finding("warning", "HW159", message, (file.data.path,), "give the file's own --encoding")


def tables(file: CheckedFile) -> Iterator[Finding]:
    """A table rather than plain text."""
    head = [(line.line, line.text) for line in file.items[:_HEAD]]
    if evidence := looks_like_table(file.data.path, head):
        fix = "give a file of its texts alone, unless the model is to write such files"
        yield Finding("warning", "HW283", f"the file {evidence}", (file.data.path,), fix)


def unlike_training(files: Mapping[str, CheckedFile]) -> Iterator[Finding]:
    """Characters that training lacks, and long lines that training has, too."""
    train = next((file for file in files.values() if file.training), None)
    if train is None:
        return
    lines = {line.text for line in train.items}
    for file in files.values():
        if file is train:
            continue
        characters = file.data.characters
        new = {c: n for c, n in characters.items() if c not in train.data.characters}
        if new:
            message = f"{file.role} has {count(len(new), 'character')} that training lacks: {_named(new)}"
            fix = "they count as unknown; --language.unit bytes knows all"
            yield Finding("info", "HW280", message, (file.data.path,), fix)
        both = [n for n, line in enumerate(file.items) if len(line.text) >= _LONG and line.text in lines]
        if both:
            first = file.items[both[0]].text[:60]
            message = f"{count(len(both), 'long line')} of {file.role} also in training, such as {first!r}"
            fix = "leave them out of one; scores on texts that were learned are too good"
            yield Finding("warning", "HW160", message, file.data.places(both), fix)


def _named(counts: Mapping[str, int]) -> str:
    ranked = sorted(counts.items(), key=lambda entry: -entry[1])
    return abbreviate([f"{name!r} ({n:,})" for name, n in ranked])


LONG = 512
"""Number of words above which a sentence may be several, with no blank line between them."""
_LONG_ALONE = 100  # the same of the only sentence of a file

_FEW_TAGS = 10  # spans of a type


def one_tag(file: CheckedFile) -> Iterator[Finding]:
    """A file with a single tag."""
    tags = file.data.labels
    if len(tags) == 1:
        severity = "error" if file.training else "warning"
        fix = "if another column holds the tags, name it with --tag-column"
        yield Finding(severity, "HW162", f"only the tag {next(iter(tags))!r}", (file.data.path,), fix)


def scheme(file: CheckedFile) -> Iterator[Finding]:
    """The tag scheme, and tags that violate it."""
    data = file.data
    detected = detect_scheme(sentence.tags for sentence in file.items)
    yield Finding("info", "HW253", f"tag scheme {detected.scheme}: {detected.reason}", (data.path,))
    wrong = [
        (n, problem.word, problem.description)
        for n, sentence in enumerate(file.items)
        for problem in check_tags(sentence.tags, detected.scheme)
        # Reading has already reported spans that continue where none has begun.
        if detected.scheme != "iob2" or sentence.tags[problem.word][0] not in LETTERS["iob2"]
    ]
    if wrong:
        message = f"{count(len(wrong), 'tag')} that {detected.scheme} does not allow, first {wrong[0][2]}"
        where = tuple(data.where(n, w) for n, w, _ in wrong[:SHOWN])
        yield Finding("warning", "HW253", message, where, f"correct {'them' if len(wrong) > 1 else 'it'}")


def conflicting_tags(file: CheckedFile) -> Iterator[Finding]:
    """Sentences that occur with different tags."""
    seen: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, sentence in enumerate(file.items):
        seen[sentence.tokens].append(number)
    inconsistent = [numbers for numbers in seen.values() if len({file.items[n].tags for n in numbers}) > 1]
    if inconsistent:
        first = quoted_beginning(file.item_type.show(file.items[inconsistent[0][0]]))
        message = f"{file.count(len(inconsistent))} tagged in more than one way, first {first}"
        fix = "decide on one; a model cannot learn both"
        yield Finding("warning", "HW154", message, file.data.places(inconsistent[0]), fix)


def unbroken_sentences(file: CheckedFile) -> Iterator[Finding]:
    """Sentences that are surely several, as half of them or more are long."""
    if _is_unbroken(file):
        message = f"{file.count(len(_long_sentences(file)))} of more than {_usual_most(file)} words"
        message += f", the longest of {max(file.sizes):,}"
        fix = "put a blank line after each sentence"
        if file.data.format == "spans":
            fix = "cut the texts into sentences or paragraphs, each with its spans"
        fix += "; training would take long and learn little"
        yield Finding("warning", "HW152", message, file.data.places(_long_sentences(file)), fix)


def long_sentences(file: CheckedFile) -> Iterator[Finding]:
    """Sentences that may be several."""
    if (long_sentences := _long_sentences(file)) and not _is_unbroken(file):
        message = f"{file.count(len(long_sentences))} of more than {LONG} words"
        fix = "if blank lines between sentences are missing, put them back; else nothing has to be done"
        if file.data.format == "spans":
            fix = "nothing, or cut them into sentences or paragraphs, each with its spans"
        yield Finding("info", "HW152", message, file.data.places(long_sentences), fix)


def _long_sentences(file: CheckedFile) -> list[int]:
    most = _usual_most(file)
    return [n for n, size in enumerate(file.sizes) if size > most]


def _usual_most(file: CheckedFile) -> int:
    return _LONG_ALONE if len(file.items) == 1 else LONG


def _is_unbroken(file: CheckedFile) -> bool:
    return 2 * len(_long_sentences(file)) >= len(file.items) > 0


def few_spans(file: CheckedFile) -> Iterator[Finding]:
    """Span types with too few spans to learn."""
    rare_types = [(kind, n) for kind, n in file.data.entities.items() if n < _FEW_TAGS]
    if file.training and rare_types:
        listed = ", ".join(f"{kind or 'spans'} ({n})" for kind, n in rare_types)
        fix = "tag more of them, or merge types; the scores of so few are mostly chance"
        yield Finding("warning", "HW155", f"types with few spans: {listed}", (file.data.path,), fix)


def unknown_tags(files: Mapping[str, CheckedFile]) -> Iterator[Finding]:
    """Schemes, span types or tags that training lacks."""
    train = files.get("train")
    if train is None:
        return
    train_scheme = detect_scheme(sentence.tags for sentence in train.items).scheme
    for file in files.values():
        if file is train:
            continue
        file_scheme = detect_scheme(sentence.tags for sentence in file.items).scheme
        if file_scheme != train_scheme:
            message = (
                f"the tags of {file.role} are in the scheme {file_scheme}, those of train in {train_scheme}"
            )
            if "plain" in (file_scheme, train_scheme):
                advice = (
                    "write B- before the type where a span begins and I- where it goes on, in both files"
                )
                yield Finding("error", "HW161", message, (file.data.path,), advice)
            else:
                advice = "spans are compared all the same"
                yield Finding("warning", "HW161", message, (file.data.path,), advice)
        spans = bool(train.data.entities)
        theirs, ours = (data.entities if spans else data.labels for data in (file.data, train.data))
        strange = [kind for kind in theirs if kind not in ours]
        if strange:
            message = f"{file.role} has {', '.join(map(repr, strange[:8]))}, which train does not have"
            yield Finding("warning", "HW161", message, (file.data.path,), "no model can predict them")
