"""Learning: a one-layer Transformer solves a task that its prior fits, and does not with a wrong prior.

All texts are of fillers and markers of two types, in which nothing but places tells the labels apart:
without the right prior there is nothing to learn.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import count, islice

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from headwise.nn.encoders import Transformer, TransformerConfig
from headwise.nn.layout import Layout
from headwise.nn.priors import PRIORS, PositionPairs, Sum, parse_prior
from headwise.nn.ragged import Ragged
from headwise.text.syntax import tree_distances

FILLER, A, B = 0, 1, 2
UNITS = ("sentence", "paragraph")
SOLVED, NOT_SOLVED = 0.9, 0.65


@dataclass
class Text:
    """Words, the label of each, -1 where none is asked for; the distances in their tree, if there is one;
    their marks and their matrix, if they have some."""

    words: np.ndarray
    labels: np.ndarray
    tree: torch.Tensor | None = None
    marks: dict[str, np.ndarray] = field(default_factory=dict)
    matrix: np.ndarray | None = None


Task = Callable[[np.random.Generator], Text]


def two_markers(random, n) -> tuple[np.ndarray, int, int]:
    """A text with one A and one B, and their places."""
    a, b = (int(p) for p in random.permutation(n)[:2])
    words = np.zeros(n, dtype=np.int64)
    words[a], words[b] = A, B
    return words, a, b


def nearer(words, to_a, to_b, margin) -> np.ndarray:
    """The marker that is nearer by the margin, asked for at fillers."""
    return np.where((abs(to_a - to_b) < margin) | (words > 0), -1, to_b < to_a)


def anywhere(random, n=14) -> Text:
    """Is there a marker in the text?"""
    words = np.zeros(n, dtype=np.int64)
    label = random.integers(2)
    words[random.integers(n)] = label
    return Text(words, np.where(words == A, -1, label))


def neighbour_task(random, n=15) -> Text:
    """Is the word before or after a marker?"""
    words = np.zeros(n, dtype=np.int64)
    words[random.permutation(n)[:4]] = A
    around = np.pad(words, 1)
    return Text(words, np.where(words == A, -1, (around[:-2] + around[2:]) > 0))


def within(random) -> Text:
    """Is the marker nearer than a quarter of the text? As often yes as no, in short and in long texts."""
    n = int(random.choice([8, 40]))
    words, place = np.zeros(n, dtype=np.int64), int(random.integers(n))
    words[place] = A
    distance = abs(np.arange(n) - place)
    nearby = random.permutation(np.flatnonzero((distance > 0) & (distance <= n // 4)))
    far = random.permutation(np.flatnonzero(distance > n // 4))
    labels, count = np.full(n, -1), min(len(nearby), len(far))
    labels[nearby[:count]], labels[far[:count]] = 1, 0
    return Text(words, labels)


def before(random, n=14) -> Text:
    """Is the marker before the word or after it?"""
    words, place = np.zeros(n, dtype=np.int64), int(random.integers(n))
    words[place] = A
    return Text(words, np.where(words == A, -1, np.arange(n) > place))


def second(random, n=14) -> Text:
    """Of two equal markers, which is the second?"""
    words, labels = np.zeros(n, dtype=np.int64), np.full(n, -1)
    places = sorted(random.permutation(n)[:2])
    words[places], labels[places] = A, (0, 1)
    return Text(words, labels)


def nearest(random, n=16) -> Text:
    """Which marker is the nearest?"""
    words, a, b = two_markers(random, n)
    place = np.arange(n)
    return Text(words, nearer(words, abs(place - a), abs(place - b), 3))


def last(random, n=16) -> Text:
    """Which of the markers before the word is the nearest?"""
    words, a, b = two_markers(random, n)
    place = np.arange(n)
    queries = (place > min(a, b)) & (words == FILLER)
    return Text(words, np.where(queries, (place > b) & ((place < a) | (a < b)), -1))


def nearest_in_tree(random, n=14) -> Text:
    """Which marker is the nearest in the dependency tree, whatever the order of the words?"""
    words, a, b = two_markers(random, n)
    order = random.permutation(n)
    heads = np.zeros(n, dtype=np.int64)
    for k in range(1, n):
        heads[order[k]] = order[random.integers(k)] + 1
    tree = torch.from_numpy(tree_distances(heads.tolist(), n))
    return Text(words, nearer(words, tree[a].numpy(), tree[b].numpy(), 2), tree)


def every_third(random, n=15) -> Text:
    """Which marker is a multiple of three words away?"""
    words, a, b = two_markers(random, n)
    while (a - b) % 3 == 0:
        words, a, b = two_markers(random, n)
    place = np.arange(n)
    queries = (((place - a) % 3 == 0) | ((place - b) % 3 == 0)) & (words == FILLER)
    return Text(words, np.where(queries, (place - b) % 3 == 0, -1))


BLOCKS = "random-blocks(2, count=2, neighbours=0, seed=1)"


def in_blocks(random, n=16) -> Text:
    """Which marker is in the blocks that are drawn for the word's own block?"""
    words, a, b = two_markers(random, n)
    sees = parse_prior(BLOCKS).visible(PositionPairs.of_length(n)).numpy()
    pair_number = np.arange(n) // 2
    queries = (sees[:, a] != sees[:, b]) & (pair_number != a // 2) & (pair_number != b // 2)
    return Text(words, np.where(queries, sees[:, b], -1))


def half_and_half(random, n) -> np.ndarray:
    """A text of as many A as B."""
    return random.permutation(np.repeat([A, B], n // 2))


def first(random, n=16) -> Text:
    """Of which type is the first word?"""
    words = half_and_half(random, n)
    return Text(words, np.where(np.arange(n) == 0, -1, words[0] == B))


def two_before(random, n=16) -> Text:
    """Of which type is the word two places before?"""
    words = half_and_half(random, n)
    return Text(words, np.concatenate([[-1, -1], words[:-2] == B]))


def in_unit(random, n=14) -> Text:
    """Has the word's sentence, which is its paragraph, the marker? As often yes as no."""
    unit = np.cumsum(random.random(n) < 0.3)
    words, place = np.zeros(n, dtype=np.int64), int(random.integers(n))
    words[place] = A
    there = unit == unit[place]
    inside = random.permutation(np.flatnonzero(there & (words == FILLER)))
    outside = random.permutation(np.flatnonzero(~there))
    labels, count = np.full(n, -1), min(len(inside), len(outside))
    labels[inside[:count]], labels[outside[:count]] = 1, 0
    return Text(words, labels, None, dict.fromkeys(UNITS, unit))


def nearer_sentence(random, n=16) -> Text:
    """Which marker is nearer in sentences? A sentence has one word or five."""
    words, a, b = two_markers(random, n)
    unit = np.repeat(np.arange(n), random.choice([1, 5], n))[:n]
    return Text(words, nearer(words, abs(unit - unit[a]), abs(unit - unit[b]), 1), None, {"sentence": unit})


def random_heads(random, n) -> np.ndarray:
    """The parent of each word in a random tree of words in random order, -1 for the root."""
    order, parent = random.permutation(n), np.full(n, -1)
    for k in range(1, n):
        parent[order[k]] = order[random.integers(k)]
    return parent


def of_parent(random, n=14) -> Text:
    """Of which type is the parent?"""
    words, parent = half_and_half(random, n), random_heads(random, n)
    return Text(words, np.where(parent < 0, -1, words[parent] == B), None, {"parent": parent})


def of_only(random, n, related) -> Text:
    """Of which type is the only word that is related to a word?"""
    words, parent = half_and_half(random, n), random_heads(random, n)
    table = related(parent) & ~np.eye(n, dtype=bool)
    labels = np.where(table.sum(1) == 1, words[table.argmax(1)] == B, -1)
    return Text(words, labels, None, {"parent": parent})


def of_child(random, n=14) -> Text:
    """Of which type is the only child?"""
    return of_only(random, n, lambda parent: parent[None] == np.arange(n)[:, None])


def of_sibling(random, n=14) -> Text:
    """Of which type is the only sibling?"""
    return of_only(random, n, lambda parent: parent[None] == parent[:, None])


def how_long(random) -> Text:
    """Has the text many words? They are all the same."""
    n = int(random.choice([2, 12]))
    return Text(np.zeros(n, dtype=np.int64), np.where(np.arange(n) < 2, int(n > 2), -1))


def of_partner(random, n=14) -> Text:
    """Of which type is the word that the matrix names?"""
    words, partner = half_and_half(random, n), random.integers(n, size=n)
    matrix = (np.arange(n) == partner[:, None]).astype(np.float32)
    return Text(words, (words[partner] == B).astype(np.int64), matrix=matrix)


# Prior, task, and a prior that does not fit.
CASES: list[tuple[str, Task, str]] = [
    ("everything", anywhere, "window(1)"),
    ("window(3)", neighbour_task, "everything"),
    ("window(n/2)", within, "everything"),
    ("forward", before, "everything"),
    ("backward", before, "window(3)"),
    ("earlier", second, "everything"),
    ("later", second, "window(3)"),
    ("word-distance(1)", nearest, "everything"),
    ("gaussian(2)", nearest, "window(1)"),
    ("forward + word-distance(1)", last, "everything"),
    ("tree-distance(2)", nearest_in_tree, "word-distance(2)"),
    ("tree-buckets(6)", nearest_in_tree, "t5-buckets"),
    ("dilated(3)", every_third, "dilated(2)"),
    (BLOCKS, in_blocks, BLOCKS.replace("seed=1", "seed=2")),
    ("global-tokens(window(1))", first, "everything"),
    ("shaw(3)", two_before, "everything"),
    ("transformer-xl", two_before, "everything"),
    ("t5-buckets(16, furthest=20)", two_before, "everything"),
    ("rotary(10)", two_before, "everything"),
    ("same-sentence", in_unit, "everything"),
    ("same-paragraph", in_unit, "everything"),
    ("sentence-distance(2)", nearer_sentence, "everything"),
    ("parent", of_parent, "everything"),
    ("child", of_child, "everything"),
    ("sibling", of_sibling, "parent"),
    ("tree-relations", of_parent, "everything"),
    ("sink", how_long, "everything"),
    ("matrix(5)", of_partner, "everything"),
    ("shifted-window(3)", neighbour_task, "everything"),
    ("adaptive-span(1, ramp=1)", neighbour_task, "everything"),
    ("learned-slope", nearest, "everything"),
    ("kerple", nearest, "everything"),
    ("fire", nearest, "window(1)"),
    ("forgetting", nearest, "everything"),
    ("cope", two_before, "everything"),
]


def batches(task: Task, seed: int) -> list[tuple[Ragged, torch.Tensor]]:
    """Batches of words with their labels, the last for the test."""
    random, made = np.random.default_rng(seed), []
    for size in (32, 32, 32, 32, 128):
        texts = [task(random) for _ in range(size)]
        trees = None if texts[0].tree is None else [text.tree for text in texts]
        marks = {name: [torch.from_numpy(text.marks[name]) for text in texts] for name in texts[0].marks}
        layout = Layout([len(text.words) for text in texts], trees=trees, marks=marks)  # type: ignore[arg-type]
        if texts[0].matrix is not None:
            matrices = [torch.from_numpy(text.matrix) for text in texts]
            layout = Layout(layout.sizes, matrices={"matrix": matrices})
        words = torch.from_numpy(np.concatenate([text.words for text in texts]))
        labels = torch.from_numpy(np.concatenate([text.labels for text in texts]).astype(np.int64))
        made.append((Ragged(words, layout), labels))
    return made


def accuracies(prior: str, task: Task) -> Iterator[float]:
    """Share of right labels in texts that it was not trained on, after each 20 steps."""
    *train, (words, labels) = batches(task, 0)
    torch.manual_seed(0)
    config = TransformerConfig(
        width=16, layers=1, heads=4, head_size=8, feedforward=32, priors=(prior,), positions="none",
        classification_node=False, dropout=0.0,
    )  # fmt: skip
    embedding, encoder, out = torch.nn.Embedding(3, 16), Transformer(config), torch.nn.Linear(16, 2)
    parameters = [*embedding.parameters(), *encoder.parameters(), *out.parameters()]
    adam = torch.optim.Adam(parameters, lr=0.01)

    def logits(texts: Ragged) -> torch.Tensor:
        return out(encoder(texts.map(embedding)).tokens.values)

    for step in count(1):
        texts, expected = train[step % len(train)]
        loss = cross_entropy(logits(texts), expected, ignore_index=-1)
        adam.zero_grad()
        loss.backward()
        adam.step()
        if step % 20 == 0:
            with torch.no_grad():
                right = logits(words).argmax(-1) == labels
            yield float(right[labels >= 0].float().mean())


@cache
def run_of(prior: str, task: Task) -> tuple[Iterator[float], list[float]]:
    """A run that goes on where it is, and its accuracies so far: cases share their wrong priors."""
    return accuracies(prior, task), []


@pytest.mark.parametrize(("prior", "task", "wrong"), CASES)
def test_the_right_prior_solves_its_task_and_a_wrong_one_does_not(prior, task, wrong):
    right = []
    for accuracy in islice(accuracies(prior, task), 12):
        right.append(accuracy)
        if accuracy > 0.97:
            break
    assert right[-1] >= SOLVED
    run, so_far = run_of(wrong, task)
    so_far += islice(run, max(0, len(right) - len(so_far)))  # as many steps
    assert so_far[len(right) - 1] <= NOT_SOLVED


def test_every_prior_has_a_task():
    tried = [parse_prior(prior) for prior, _, _ in CASES]
    assert {prior.name for prior in tried} == set(PRIORS)
    assert any(isinstance(prior, Sum) for prior in tried)
