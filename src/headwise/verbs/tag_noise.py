"""Which tags of a file are likely to be wrong, by a linear CRF that was trained without the sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.data.alike import first_alike
from headwise.data.sentence import Tagged
from headwise.features.bases.choice import AUTO
from headwise.features.bases.groups import WordGroups
from headwise.linear.tag_crf import fit_crf
from headwise.scores.noise import suspects, tells_labels, told_apart
from headwise.scores.scheme_check import detect_scheme
from headwise.scores.schemes import Scheme, Span, write_tags
from headwise.verbs.listener import NOBODY, Listener
from headwise.verbs.models import word_groups
from headwise.verbs.suspect import Suspect

_FOLDS = 5


@dataclass(frozen=True)
class TagSuspect(Suspect):
    """Neighbouring words of a sentence whose tags are likely to be wrong in the same way; `line` is that of
    the sentence, `twin` that of an equal one with another tag there.

    Attributes:
        words: The words in question.
        place: Where the first of them stands, `file:line`.
    """

    words: str = ""
    place: str = ""


def suspect_tags(data: Any, listener: Listener = NOBODY, *, base: str = AUTO) -> list[TagSuspect]:
    """The words of tagged sentences whose tags are likely to be wrong, the likeliest first.

    What is judged is the type of the span that a word is in (of tags that mark no spans the tag), not where
    a span begins.

    Args:
        data: Of a file of tagged sentences.
        listener: Is told where nothing can be said.
        base: Whose groups of words are read beside the words: `auto`, `none`, or what `--base` takes.
    """
    items: list[Tagged] = data.items
    scheme = detect_scheme(item.tags for item in items).scheme
    kinds = [[_type(tag, scheme) for tag in item.tags] for item in items]
    names = sorted({kind for row in kinds for kind in row})
    number = {name: place for place, name in enumerate(names)}
    targets = np.array([number[kind] for row in kinds for kind in row])
    groups, note = word_groups(items, base)
    if note:
        listener.note(note)
    chances = held_out_types(items, scheme, number, groups)
    if not tells_labels(chances, targets, calibrated=False):
        listener.warn(
            "a linear CRF tells the tags of sentences that it was not trained on no better than how common "
            "the tags are, so it can call none unlikely"
        )
        return []
    suspect_words, margins = suspects(chances, targets)
    other_chances = chances.copy()
    other_chances[np.arange(len(targets)), targets] = -1.0
    best = other_chances.argmax(axis=1)
    distinct = told_apart(chances, targets, suspect_words, best[suspect_words])
    margin = dict(zip(suspect_words[distinct].tolist(), margins[distinct].tolist(), strict=True))
    starts = np.cumsum([0, *map(len, kinds)]).tolist()
    runs = []
    for item, (start, stop) in enumerate(pairwise(starts)):
        groups_alike = groupby(range(start, stop), lambda n: (n in margin, int(targets[n]), int(best[n])))
        runs += [(item, [n - start for n in group]) for (doubtful, *_), group in groups_alike if doubtful]
    runs.sort(key=lambda run: min(margin[starts[run[0]] + n] for n in run[1]))
    twins = _twins(items)
    listed = []
    for item, places in runs:
        sentence, worst = items[item], min((starts[item] + n for n in places), key=lambda n: margin[n])
        first, suggested_type = places[0], names[best[worst]]
        apart = (line for line, tags in twins[sentence.tokens] if tags[first] != sentence.tags[first])
        listed.append(
            TagSuspect(
                sentence.line,
                sentence.tags[first],
                _tag(suggested_type, scheme),
                float(chances[worst, targets[worst]]),
                float(chances[worst, best[worst]]),
                sentence.text or " ".join(sentence.tokens),
                next(apart, 0),
                " ".join(sentence.tokens[n] for n in places),
                data.where(item, first),
            )
        )
    return listed


def held_out_types(
    items: Sequence[Tagged], scheme: Scheme, number: dict[str, int], groups: WordGroups | None = None
) -> NDArray[np.float64]:
    """Probabilities of the types of each word by CRFs that were trained without its sentence and those like
    it (see `alike_keys`), `[words, types]`."""
    chances = [np.zeros((len(item.tokens), len(number))) for item in items]
    first = first_alike([" ".join(item.tokens) for item in items], _FOLDS)
    part = np.random.default_rng(0).permutation(len(items))[first] % _FOLDS
    for fold in range(_FOLDS):
        held_out = np.flatnonzero(part == fold).tolist()
        rest = np.flatnonzero(part != fold).tolist()
        if not held_out or not rest:
            continue
        crf = fit_crf([items[n] for n in rest], scheme, groups=groups)
        probabilities, ends = crf.marginals([items[n].tokens for n in held_out])
        columns = [number[_type(tag, scheme)] for tag in crf.tags]
        for item, start, stop in zip(held_out, ends, ends[1:], strict=False):
            np.add.at(chances[item].T, columns, probabilities[start:stop].T)
    return np.concatenate(chances)


def _type(tag: str, scheme: Scheme) -> str:
    return tag if scheme == "plain" or tag == "O" else tag.partition("-")[2]


def _tag(kind: str, scheme: Scheme) -> str:
    """The tag of the first word of a span of a type."""
    return kind if scheme == "plain" or kind == "O" else write_tags([Span(0, 1, kind)], 1, scheme)[0]


def _twins(items: Sequence[Tagged]) -> dict[tuple[str, ...], list[tuple[int, tuple[str, ...]]]]:
    """Lines and tags of the sentences of the same words."""
    tags_by_words: dict[tuple[str, ...], list[tuple[int, tuple[str, ...]]]] = {}
    for sentence in items:
        tags_by_words.setdefault(sentence.tokens, []).append((sentence.line, sentence.tags))
    return tags_by_words
