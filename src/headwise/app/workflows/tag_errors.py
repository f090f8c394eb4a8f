"""Tags of a file that are likely to be wrong, by linear CRFs that predict each sentence out of fold."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from headwise.app.reporter import NULL_REPORTER, Reporter
from headwise.app.workflows.label_issues import LabelIssue, without_given
from headwise.data.items.examples import TaggedSentence
from headwise.data.splits.duplicates import first_in_group
from headwise.linear.linear_settings import StepReporter, fold_step, ignore_step
from headwise.linear.tag_crf import fit_crf
from headwise.metrics.label_quality import beats_label_frequencies, find_label_issues, separable
from headwise.metrics.tag_schemes import Scheme, TagSpan, detect_scheme, write_tags
from headwise.text.static_embeddings.base_choice import AUTO, choose_word_groups
from headwise.text.static_embeddings.word_groups import WordClusters

_FOLDS = 5


@dataclass(frozen=True)
class TagIssue(LabelIssue):
    """Consecutive words of a sentence whose tags are likely to be wrong in the same way. `line` is that of
    the sentence, `twin` that of an equal sentence with another tag there.

    Attributes:
        words: The words.
        place: Place of the first word, `file:line`.
        start: The character of the text at which the words begin; None where there is no text.
        end: The character after them.
    """

    words: str = ""
    place: str = ""
    start: int | None = None
    end: int | None = None

    noun: ClassVar[str] = "tag"

    @property
    def passages(self) -> tuple[str, ...]:
        return self.words, self.text


def find_tag_issues(data: Any, reporter: Reporter = NULL_REPORTER, *, base: str = AUTO) -> list[TagIssue]:
    """The words of tagged sentences whose tags are likely to be wrong, the most likely first.

    Compared are the types of the spans (without spans, the tags), not where spans begin. Issues of texts
    with character spans name these types, others the tags of the file.

    Args:
        data: The data set of a file of tagged sentences.
        reporter: Receives notes and warnings.
        base: See `noise_file`.
    """
    items: list[TaggedSentence] = data.items
    scheme = detect_scheme(item.tags for item in items).scheme
    span_types = [[_span_type(tag, scheme) for tag in item.tags] for item in items]
    names = sorted({name for row in span_types for name in row})
    number = {name: place for place, name in enumerate(names)}
    targets = np.array([number[name] for row in span_types for name in row])
    groups, note = choose_word_groups((item.tokens for item in items), base)
    if note:
        reporter.note(note)
    probabilities = out_of_fold_type_probabilities(items, scheme, number, groups, reporter.stage)
    if not beats_label_frequencies(probabilities, targets, calibrated=False):
        reporter.warn(
            "out of fold, a linear CRF predicts the tags no better than how common the tags are, so it can "
            "call none unlikely"
        )
        return []
    suspects, margins = find_label_issues(probabilities, targets)
    best = without_given(probabilities, targets).argmax(axis=1)
    distinct = separable(probabilities, targets, suspects, best[suspects])
    margin = dict(zip(suspects[distinct].tolist(), margins[distinct].tolist(), strict=True))
    starts = np.cumsum([0, *map(len, span_types)]).tolist()
    runs = []
    for item, (start, stop) in enumerate(pairwise(starts)):
        same_error = groupby(range(start, stop), lambda n: (n in margin, int(targets[n]), int(best[n])))
        runs += [(item, [n - start for n in group]) for (doubtful, *_), group in same_error if doubtful]
    runs.sort(key=lambda run: min(margin[starts[run[0]] + n] for n in run[1]))
    tags_of_words = _tags_by_words(items)
    listed = []
    for item, places in runs:
        sentence, worst = items[item], min((starts[item] + n for n in places), key=lambda n: margin[n])
        first, suggested_type = places[0], names[best[worst]]
        apart = (
            line for line, tags in tags_of_words[sentence.tokens] if tags[first] != sentence.tags[first]
        )
        with_spans = sentence.text is not None and sentence.spans is not None
        start, end = _characters(sentence, places)
        listed.append(
            TagIssue(
                sentence.line,
                _span_type(sentence.tags[first], scheme) if with_spans else sentence.tags[first],
                suggested_type if with_spans else _single_word_tag(suggested_type, scheme),
                float(probabilities[worst, targets[worst]]),
                float(probabilities[worst, best[worst]]),
                sentence.text or " ".join(sentence.tokens),
                next(apart, 0),
                " ".join(sentence.tokens[n] for n in places),
                data.where(item, first),
                start,
                end,
            )
        )
    return listed


def _characters(sentence: TaggedSentence, places: Sequence[int]) -> tuple[int, int] | tuple[None, None]:
    """The first character of consecutive words, and the one after the last; None without a text."""
    if sentence.text is None or sentence.spans is None:
        return None, None
    return sentence.spans[places[0]][0], sentence.spans[places[-1]][1]


def out_of_fold_type_probabilities(
    items: Sequence[TaggedSentence],
    scheme: Scheme,
    number: dict[str, int],
    groups: WordClusters | None = None,
    step: StepReporter = ignore_step,
) -> NDArray[np.float64]:
    """Out-of-fold probabilities of the types of each word, `[words, types]`, by linear CRFs;
    near-duplicates are held out together.

    Args:
        items: The sentences.
        scheme: The tag scheme.
        number: Index of each type.
        groups: Word groups that the CRFs read with the words.
        step: Receives the name of each step.
    """
    out_of_fold = [np.zeros((len(item.tokens), len(number))) for item in items]
    first = first_in_group([" ".join(item.tokens) for item in items], _FOLDS)
    part = np.random.default_rng(0).permutation(len(items))[first] % _FOLDS
    for fold in range(_FOLDS):
        held_out = np.flatnonzero(part == fold).tolist()
        rest = np.flatnonzero(part != fold).tolist()
        if not held_out or not rest:
            continue
        step(fold_step(fold, _FOLDS))
        crf = fit_crf([items[n] for n in rest], scheme, groups=groups)
        probabilities, ends = crf.marginals([items[n].tokens for n in held_out])
        columns = [number[_span_type(tag, scheme)] for tag in crf.tags]
        for item, start, stop in zip(held_out, ends, ends[1:], strict=False):
            np.add.at(out_of_fold[item].T, columns, probabilities[start:stop].T)
    return np.concatenate(out_of_fold)


def _span_type(tag: str, scheme: Scheme) -> str:
    return tag if scheme == "plain" or tag == "O" else tag.partition("-")[2]


def _single_word_tag(span_type: str, scheme: Scheme) -> str:
    if scheme == "plain" or span_type == "O":
        return span_type
    return write_tags([TagSpan(0, 1, span_type)], 1, scheme)[0]


def _tags_by_words(
    items: Sequence[TaggedSentence],
) -> dict[tuple[str, ...], list[tuple[int, tuple[str, ...]]]]:
    """Lines and tags of the sentences with the same words, by these words."""
    tags_by_words: dict[tuple[str, ...], list[tuple[int, tuple[str, ...]]]] = {}
    for sentence in items:
        tags_by_words.setdefault(sentence.tokens, []).append((sentence.line, sentence.tags))
    return tags_by_words
