"""A linear-chain conditional random field on spelling, shape and neighbours (Lafferty, McCallum, Pereira
2001).

The baseline for taggers; it trains in seconds. Stochastic gradient ascent, one sentence at a time, with a
learning rate per weight (AdaGrad: Duchi, Hazan, Singer 2011); the weights are averaged over the later
epochs.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar, cast
from zlib import crc32

import numpy as np
from numpy.typing import DTypeLike, NDArray

from headwise.core import native
from headwise.core.hashing import Ends, roomy_table_of
from headwise.data.items.examples import TaggedSentence
from headwise.data.items.labels import evaluation_weights
from headwise.data.splits.duplicates import first_in_group
from headwise.linear.linear_weights import Floats
from headwise.metrics.tag_schemes import Scheme, convert_tags
from headwise.text.static_embeddings.word_groups import LEVELS, ClusterTableFormat, WordClusters

ATTRIBUTES = (
    *("word", "lower", "shape", "short", "length"),
    *("first1", "first2", "first3", "first4", "last1", "last2", "last3", "last4"),
)
"""Attributes of a single word."""

_NEAR = (-2, -1, 1, 2)
TEMPLATES: tuple[tuple[tuple[int, str], ...], ...] = (
    *(((0, name),) for name in ATTRIBUTES),
    *(((step, "lower"),) for step in _NEAR),
    *(((step, "short"),) for step in _NEAR),
    *(((step, "last3"),) for step in (-1, 1)),
    ((-1, "lower"), (0, "lower")),
    ((0, "lower"), (1, "lower")),
    ((-1, "lower"), (1, "lower")),
    ((-2, "lower"), (-1, "lower")),
    ((-1, "short"), (0, "short"), (1, "short")),
    ((-1, "lower"), (0, "short")),
    ((0, "short"), (1, "lower")),
    ((0, "last3"), (1, "last3")),
    ((-1, "last3"), (0, "last3")),
)
"""Feature templates: attributes of words at offsets from the current one."""

_GROUPS = tuple(f"group{level}" for level in range(len(LEVELS)))
"""Word clusters are read for the current word only: those of its neighbours add nothing (CoNLL-2003,
WNUT-17 and EWT, 250 and 1,000 sentences: -0.5 on average)."""
_PARTS = 3


def _recipe_of(templates: Sequence[tuple[tuple[int, str], ...]]) -> NDArray[np.int64]:
    names = (*ATTRIBUTES, *_GROUPS)
    recipe = np.full((len(templates), _PARTS, 2), -1, dtype=np.int64)
    for row, template in enumerate(templates):
        for part, (step, name) in enumerate(template):
            recipe[row, part] = step, names.index(name)
    return recipe


_RECIPE = _recipe_of(TEMPLATES)
_RECIPE_WITH_GROUPS = _recipe_of([*TEMPLATES, *(((0, name),) for name in _GROUPS)])
_BEFORE, _BEHIND = "\x02", "\x03"


def attributes(word: str) -> tuple[str, ...]:
    """The attributes of a word, in the order of `ATTRIBUTES`. Digits become 0 in all but the word
    itself."""
    plain = "".join("0" if letter.isdigit() else letter for letter in word) if not word.isalpha() else word
    lower = plain.lower()
    shape = "".join(map(_shape, plain))
    short = "".join(one for place, one in enumerate(shape) if shape[place - 1 : place] != one)
    firsts = (lower[:size] for size in range(1, 5))
    lasts = (lower[-size:] for size in range(1, 5))
    return word, lower, shape, short, str(min(len(word), 12)), *firsts, *lasts


def _shape(letter: str) -> str:
    if letter.isupper():
        return "X"
    return "x" if letter.isalpha() else letter


def word_feature_hashes(
    sentences: Sequence[Sequence[str]], groups: WordClusters | None = None
) -> tuple[NDArray[np.uint32], Ends]:
    """Feature hashes of each word, `[words, features]`, and the offsets of the sentences, `[sentences +
    1]`."""
    ends = np.cumsum([0, *map(len, sentences)])
    kinds: dict[str, int] = {_BEFORE: 0, _BEHIND: 1}
    numbers = [kinds.setdefault(word, len(kinds)) for sentence in sentences for word in sentence]
    hashes = [[crc32(part.encode("utf-8", "surrogatepass")) for part in attributes(word)] for word in kinds]
    table = np.array(hashes, dtype=np.uint32)
    recipe = _RECIPE
    if groups is not None:
        table = np.hstack([table, groups.of(list(kinds)).view(np.uint16).astype(np.uint32)])
        recipe = _RECIPE_WITH_GROUPS
    return native.combine_attributes(np.array(numbers, dtype=np.int64), ends, table, recipe), ends


def look_up(features: NDArray[np.uint32], slots: NDArray[np.uint64]) -> NDArray[np.int32]:
    """The index of each feature in a hash table, `[words, features]`; -1 for unknown ones."""
    return native.find_features(features, slots)


Number = TypeVar("Number", np.float32, np.float64)


def viterbi(emissions: NDArray[Number], ends: Ends, transitions: NDArray[Number]) -> NDArray[np.int32]:
    """The indices of the best tag sequence of each sentence, `[words]` (Viterbi 1967).

    Args:
        emissions: The scores of the tags of each word, `[words, tags]`.
        ends: Offsets of the sentences, `[sentences + 1]`.
        transitions: Scores from tag to tag, `[tags, tags]`.
    """
    return native.viterbi(*_contiguous(emissions, transitions, ends))


def marginals(emissions: NDArray[Number], ends: Ends, transitions: NDArray[Number]) -> NDArray[Number]:
    """The marginal probability of each tag of each word given its sentence, `[words, tags]`; see
    `viterbi`."""
    return cast(NDArray[Number], native.marginals(*_contiguous(emissions, transitions, ends)))


def _contiguous(
    emissions: NDArray[Number], transitions: NDArray[Number], ends: Ends
) -> tuple[NDArray[np.float32], NDArray[np.float32], Ends]:
    """The arguments of the kernels, which take either precision; the types name one of them."""
    scores = np.ascontiguousarray(emissions), np.ascontiguousarray(transitions)
    return cast(tuple[NDArray[np.float32], NDArray[np.float32], Ends], (*scores, ends))


SPELLING_CRF = "CRF on spelling and neighbours"

MANY_WORDS = 100_000
"""Number of training words from which on features of one or two occurrences are dropped."""
MOST_WEIGHTS = 40_000_000
"""Maximum number of weights; the rarest features beyond it are dropped."""

CRF_STRENGTHS = (0.0, 0.3, 3.0)
"""Candidate L2 penalties of a CRF of plain tags, chosen on held-out sentences. Where most words have one
tag and the others are hard to predict, only a strong penalty keeps the CRF from overconfidence (punctuation
after words in EWT: 91.9 % of the words without, 93.5 % with 3; parts of speech: 91.5 and 90.3)."""
_CHOOSING = 1_500  # maximum number of sentences for the choice; a fifth is held out
_EPOCHS = 5
_FIRST_SQUARE = 1e-6  # of AdaGrad; smaller squares make larger steps
_WARM_SQUARE = 0.3  # of the weights of a previous CRF


@dataclass(frozen=True)
class CrfTagger:
    """A trained CRF.

    Attributes:
        tags: Names of the tags.
        scheme: Tag scheme of its predictions.
        keys: Hashes of the known features, `[features]`.
        weights: Emission weights, `[features, tags]`.
        transitions: Transition scores from tag to tag, `[tags, tags]`.
        groups: Word clusters used as features; None without.
    """

    tags: tuple[str, ...]
    scheme: Scheme
    keys: NDArray[np.uint32]
    weights: Floats
    transitions: Floats
    groups: WordClusters | None = None

    def with_tags(self, tags: Sequence[str]) -> "CrfTagger":
        """A copy with these tags, of which new ones have zero weights."""
        places = {tag: number for number, tag in enumerate(self.tags)}
        there = [number for number, tag in enumerate(tags) if tag in places]
        rows = [places[tags[number]] for number in there]
        weights = np.zeros((len(self.keys), len(tags)), dtype=np.float32)
        weights[:, there] = self.weights[:, rows]
        transitions = np.zeros((len(tags), len(tags)), dtype=np.float32)
        transitions[np.ix_(there, there)] = self.transitions[np.ix_(rows, rows)]
        return replace(self, tags=tuple(tags), weights=weights, transitions=transitions)

    @cached_property
    def slots(self) -> NDArray[np.uint64]:
        """The keys as a hash table."""
        return roomy_table_of(self.keys)

    def emissions(self, sentences: Sequence[Sequence[str]]) -> tuple[Floats, Ends]:
        """The emission scores of each word, `[words, tags]`, and the offsets of the sentences."""
        features, ends = word_feature_hashes(sentences, self.groups)
        return native.crf_emissions(look_up(features, self.slots), self.weights), ends

    def predict(self, sentences: Sequence[TaggedSentence]) -> list[list[str]]:
        """The best tag sequence of each sentence."""
        if not sentences:
            return []
        emissions, ends = self.emissions([sentence.tokens for sentence in sentences])
        numbers = viterbi(emissions, ends, self.transitions)
        bounds = itertools.pairwise(ends)
        predictions = [[self.tags[number] for number in numbers[start:end]] for start, end in bounds]
        if self.scheme == "plain":
            return predictions
        return [convert_tags(tags, self.scheme) for tags in predictions]

    def marginals(self, sentences: Sequence[Sequence[str]]) -> tuple[Floats, Ends]:
        """The marginal probability of each tag of each word, `[words, tags]`, and the offsets of the
        sentences."""
        emissions, ends = self.emissions(sentences)
        return marginals(emissions, ends, self.transitions), ends


def fit_crf(
    sentences: Sequence[TaggedSentence],
    scheme: Scheme,
    *,
    strength: float | None = None,
    groups: WordClusters | None = None,
    inner: Scheme = "bioes",
    seed: int = 0,
    more_tags: Sequence[str] = (),
    previous: CrfTagger | None = None,
) -> CrfTagger:
    """Train a CRF. A sentence of weight w is read w times per epoch.

    Args:
        sentences: Tagged sentences, one or more.
        scheme: Tag scheme of the sentences.
        strength: The L2 penalty: `strength / 2` times the sum of the squared weights is added to the total
            loss. By default it is chosen on held-out sentences for plain tags, and 0 for others.
        groups: Word clusters to use as features.
        inner: Tag scheme used internally for spans.
        seed: Seed for the order of the sentences.
        more_tags: Tags that the CRF has beside those of the sentences.
        previous: A CRF with the same scheme and clusters to start from. Its features and tags are kept.
    """
    if strength is None:
        options: dict[str, Any] = {"groups": groups, "more_tags": more_tags, "previous": previous}
        strength = choose_strength(sentences, seed, **options) if scheme == "plain" else 0.0
    names = [
        sentence.tags if scheme == "plain" else convert_tags(sentence.tags, inner) for sentence in sentences
    ]
    before = () if previous is None else previous.tags
    tags = tuple(
        sorted({name for sentence_tags in names for name in sentence_tags} | {*more_tags, *before})
    )
    number = {name: place for place, name in enumerate(tags)}
    gold = np.array([number[name] for sentence_tags in names for name in sentence_tags], dtype=np.int32)
    features, ends = word_feature_hashes([sentence.tokens for sentence in sentences], groups)
    keys, counts = np.unique(features, return_counts=True)
    frequent = counts >= (3 if len(gold) >= MANY_WORDS else 1)
    keys, counts = keys[frequent], counts[frequent]
    if previous is not None:
        # Features that do not occur in these sentences, but did in earlier ones.
        inherited = np.setdiff1d(previous.keys, keys)
        keys = np.concatenate([keys, inherited])
        counts = np.concatenate([counts, np.full(len(inherited), MANY_WORDS)])
        order = np.argsort(keys)
        keys, counts = keys[order], counts[order]
    if len(keys) > (most := MOST_WEIGHTS // len(tags)):
        often = np.sort(np.argsort(-counts, kind="stable")[:most])
        keys, counts = keys[often], counts[often]
    weights = np.zeros((len(keys), len(tags)), dtype=np.float32)
    transitions = np.zeros((len(tags), len(tags)), dtype=np.float32)
    squares = np.full_like(weights, _FIRST_SQUARE), np.full_like(transitions, _FIRST_SQUARE)
    if previous is not None:
        previous = previous.with_tags(tags)
        rows = np.searchsorted(keys, previous.keys).clip(max=len(keys) - 1)
        there = keys[rows] == previous.keys
        weights[rows[there]], squares[0][rows[there]] = previous.weights[there], _WARM_SQUARE
        transitions[:], squares[1][:] = previous.transitions, _WARM_SQUARE
    tagger = CrfTagger(tags, scheme, keys, weights, transitions, groups)
    rows = look_up(features, tagger.slots)
    sums = np.zeros_like(weights), np.zeros_like(transitions)
    # The penalty is applied where a feature occurs, divided by its number of occurrences.
    decay = (strength / counts).astype(np.float32)
    random = np.random.default_rng(seed)
    counted, begun, averaged = evaluation_weights(sentences), np.zeros(len(sentences)), 0
    if counted is not None:
        begun = random.random(len(sentences))  # a sentence of weight 1/3 is read in one epoch of three
    for turn in range(_EPOCHS):
        order = np.arange(len(sentences))
        if counted is not None:
            before, after = (np.floor(begun + number * counted) for number in (turn, turn + 1))
            order = np.repeat(order, (after - before).astype(np.int64))
        order = random.permutation(order)
        native.crf_epoch(order, rows, ends, gold, weights, transitions, *squares, decay)
        if 2 * turn >= _EPOCHS - 1:
            averaged += 1
            sums[0][:] += weights
            sums[1][:] += transitions
    weights[:], transitions[:] = sums[0] / averaged, sums[1] / averaged
    return tagger


def choose_strength(sentences: Sequence[TaggedSentence], seed: int = 0, **options: Any) -> float:
    """The penalty with the highest likelihood of the plain tags of held-out sentences.

    Args:
        sentences: Tagged sentences.
        seed: Seed for the choice of the sentences, and of `fit_crf`.
        options: Other arguments of `fit_crf`.
    """
    order = np.random.default_rng(seed).permutation(len(sentences))[:_CHOOSING]
    drawn = [sentences[place] for place in order]
    same = first_in_group([" ".join(sentence.tokens) for sentence in drawn], 1)
    out = np.isin(same, same[: len(drawn) // 5])
    held, training = (
        [sentence for sentence, far in zip(drawn, out, strict=True) if far == side] for side in (1, 0)
    )
    if not any(sentence.tokens for sentence in held) or not any(sentence.tokens for sentence in training):
        return CRF_STRENGTHS[0]

    def loss(strength: float) -> float:
        tagger = fit_crf(training, "plain", strength=strength, seed=seed, **options)
        number = {tag: place for place, tag in enumerate(tagger.tags)}
        chances, _ = tagger.marginals([sentence.tokens for sentence in held])
        true = np.array([number.get(tag, -1) for sentence in held for tag in sentence.tags])
        counts = np.repeat(
            [sentence.weight for sentence in held], [len(sentence.tags) for sentence in held]
        )
        is_known = true >= 0
        return float(counts[is_known] @ -np.log(np.maximum(chances[is_known, true[is_known]], 1e-6)))

    return min(CRF_STRENGTHS, key=loss)


@dataclass(frozen=True)
class TagTableFormat:
    """The tables that store a CRF (see `CrfTagger`).

    Attributes:
        features: Number of features.
        tags: Names of the tags, in the order of the scores.
        groups: Number of words with clusters; 0 without.
    """

    features: int
    tags: tuple[str, ...]
    groups: int = 0

    def shapes(self) -> dict[str, tuple[DTypeLike, tuple[int, ...]]]:
        """The dtype and shape of each table, by name."""
        features, tags = self.features, len(self.tags)
        tables: dict[str, tuple[DTypeLike, tuple[int, ...]]] = {
            "keys": (np.int32, (features,)),
            "weights": (np.int8, (features, tags)),
            "steps": (np.float32, (features,)),
            "transitions": (np.float32, (tags, tags)),
        }
        if self.groups:
            tables |= {f"group_{name}": table for name, table in self._clusters().shapes().items()}
        return tables

    def errors(self, tables: Mapping[str, NDArray]) -> Iterator[str]:
        """Errors in the clusters of words; all other values of these shapes are a valid CRF."""
        if self.groups:
            yield from self._clusters().errors(_group_tables(tables))

    @np.errstate(over="ignore")  # infinite weights are reported when the tagger predicts
    def build(self, tables: Mapping[str, NDArray]) -> CrfTagger:
        """The CRF that the tables store."""
        weights = tables["weights"] * tables["steps"][:, None]
        groups = self._clusters().build(_group_tables(tables)) if self.groups else None
        keys = tables["keys"].view(np.uint32)
        return CrfTagger(self.tags, "plain", keys, weights, tables["transitions"], groups)

    def _clusters(self) -> ClusterTableFormat:
        return ClusterTableFormat(self.groups)


def _group_tables(tables: Mapping[str, NDArray]) -> dict[str, NDArray]:
    return {name: tables[f"group_{name}"] for name in ("keys", "numbers")}
