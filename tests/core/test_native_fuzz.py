"""Wrong arguments of compiled loops are errors, and never lead out of an array."""

import csv
from collections.abc import Callable

import numpy as np
import pytest

from headwise.core import native

WORDS, FEATURES, TAGS, TEXTS, SIZE = 9, 7, 3, 4, 5


def offsets(random: np.random.Generator, parts: int, size: int):
    return np.sort(np.append(random.integers(0, size + 1, parts - 1), [0, size]))


def svm_epoch(indptr, indices, values, features, dense, signs, slack, norms, more, order, first, block):
    problem = native.SvmProblem(indptr, indices, values, features, dense, signs, slack, norms, *more)
    return problem.epoch(order, first, *block)


def svm_arguments(random: np.random.Generator):
    columns = int(random.choice([1, 3, 20]))
    width = 1 if columns == 1 else int(random.choice([4, 8, 16]))

    def floats(*shape):
        return random.random(shape, dtype=np.float32)

    cells = (TEXTS, columns)
    block = [
        floats(FEATURES, width),
        floats(*cells),
        floats(FEATURES, width),
        floats(SIZE, width),
        floats(width),
    ]
    return [
        offsets(random, TEXTS, WORDS),
        random.integers(0, FEATURES, WORDS).astype(np.int32),
        floats(WORDS),
        FEATURES,
        floats(TEXTS, SIZE),
        random.choice(np.array([-1, 1], dtype=np.int8), cells),
        floats(TEXTS, int(random.choice([1, columns]))),
        floats(TEXTS, int(random.choice([1, columns]))),
        [floats(*cells), floats(*cells)],
        random.permutation(TEXTS),
        int(random.integers(columns)),
        block,
    ]


def chain_arguments(random: np.random.Generator):
    kind = (np.float32, np.float64)[random.integers(2)]
    emissions, transitions = random.normal(size=(WORDS, TAGS)), random.normal(size=(TAGS, TAGS))
    return [emissions.astype(kind), transitions.astype(kind), offsets(random, TEXTS, WORDS)]


def crf_arguments(random: np.random.Generator):
    def floats(*shape):
        return random.random(shape, dtype=np.float32)

    return [
        random.permutation(TEXTS),
        random.integers(-1, FEATURES, (WORDS, SIZE)).astype(np.int32),
        offsets(random, TEXTS, WORDS),
        random.integers(0, TAGS, WORDS).astype(np.int32),
        floats(FEATURES, TAGS),
        floats(TAGS, TAGS),
        floats(FEATURES, TAGS),
        floats(TAGS, TAGS),
        floats(FEATURES),
    ]


def cbow_arguments(random: np.random.Generator):
    return [
        random.integers(0, FEATURES, WORDS).astype(np.int32),
        offsets(random, TEXTS, WORDS),
        random.permutation(TEXTS),
        random.random((FEATURES, SIZE), dtype=np.float32),
        random.random((FEATURES, SIZE), dtype=np.float32),
        random.random(FEATURES),
        random.integers(0, FEATURES, 16).astype(np.int32),
        4,
        2,
        0.1,
        0.05,
        np.ones(1, dtype=np.uint64),
    ]


def hashes(random: np.random.Generator, *shape: int):
    return random.integers(0, 1 << 63, shape, dtype=np.uint64)


def floats_of(random: np.random.Generator, *shape: int):
    return random.normal(size=shape).astype(np.float32)


def spans(random: np.random.Generator):
    ends = offsets(random, TEXTS + 1, WORDS)
    return [ends[:-1].copy(), ends[1:].copy()]


def cross_arguments(random: np.random.Generator):
    heads = int(random.integers(1, 3))
    shapes = (WORDS, heads, SIZE), (FEATURES, heads, SIZE), (FEATURES, heads, TAGS)
    keys = np.minimum(np.array(spans(random)), FEATURES)
    return [*(floats_of(random, *shape) for shape in shapes), *spans(random), *keys]


INFERENCE: dict[str, tuple[Callable, Callable[[np.random.Generator], list]]] = {
    "normalize_rows": (
        native.normalize_rows,
        lambda random: [
            *(floats_of(random, *shape) for shape in ((WORDS, SIZE), (WORDS, SIZE), (SIZE,), (SIZE,))),
            1e-5,
            bool(random.integers(2)),
        ],
    ),
    "mix_gates": (
        native.mix_gates,
        lambda random: [
            floats_of(random, WORDS, 2 * SIZE),
            floats_of(random, FEATURES, 2 * SIZE),
            random.integers(0, FEATURES, WORDS),
            floats_of(random, SIZE),
        ],
    ),
    "pool_means": (native.pool_means, lambda random: [floats_of(random, WORDS, SIZE), *spans(random)]),
    "pool_tops": (native.pool_tops, lambda random: [floats_of(random, WORDS, SIZE), *spans(random)]),
    "pool_attentively": (
        native.pool_attentively,
        lambda random: [
            floats_of(random, WORDS, SIZE),
            floats_of(random, WORDS, SIZE),
            *spans(random),
        ],
    ),
    "weighted_sums": (
        native.weighted_sums,
        lambda random: [
            floats_of(random, FEATURES, SIZE),
            floats_of(random, FEATURES),
            random.integers(0, FEATURES, WORDS),
            *spans(random),
        ],
    ),
    "cross_attention": (native.cross_attention, cross_arguments),
    "convolve_characters": (
        native.convolve_characters,
        lambda random: [
            floats_of(random, int(random.choice([1, 3, 5])), FEATURES, SIZE),
            random.integers(0, FEATURES, WORDS),
            offsets(random, TEXTS, WORDS),
            floats_of(random, SIZE),
        ],
    ),
}


def row_arguments(random: np.random.Generator):
    """Weights, both moments, the steps of the rows, and different rows."""
    weights, first, second = random.random((3, FEATURES, SIZE), dtype=np.float32)
    return [weights, first, second, random.integers(0, 5, FEATURES), random.permutation(FEATURES)[:TEXTS]]


def quoted_line(random: np.random.Generator):
    line = "".join(random.choice([*'"",;a\U0001f600'], random.integers(1, 12)))
    return line, str(random.choice([",", ";", "\t"]))


TRAINING: dict[str, tuple[Callable, Callable[[np.random.Generator], list]]] = {
    "dropout": (
        native.dropout,
        lambda random: [floats_of(random, WORDS), floats_of(random, WORDS), int(random.integers(99)), 0.5],
    ),
    "sum_rows": (
        native.sum_rows,
        lambda random: [
            random.integers(0, FEATURES, WORDS),
            floats_of(random, WORDS, SIZE),
            FEATURES,
            int(random.integers(-1, FEATURES)),
        ],
    ),
    "skip_steps": (native.skip_steps, lambda random: [*row_arguments(random), random.random(6), 5]),
    "step_rows": (
        native.step_rows,
        lambda random: [*row_arguments(random), floats_of(random, TEXTS, SIZE), 5, 0.1, 1.0],
    ),
}

KERNELS: dict[str, tuple[Callable, Callable[[np.random.Generator], list]]] = {
    "svm_epoch": (svm_epoch, svm_arguments),
    "viterbi": (native.viterbi, chain_arguments),
    "marginals": (native.marginals, chain_arguments),
    "crf_emissions": (
        native.crf_emissions,
        lambda random: [crf_arguments(random)[1], random.random((FEATURES, TAGS), dtype=np.float32)],
    ),
    "crf_epoch": (native.crf_epoch, crf_arguments),
    "combine_attributes": (
        native.combine_attributes,
        lambda random: [
            random.integers(0, FEATURES, WORDS),
            offsets(random, TEXTS, WORDS),
            random.integers(0, 99, (FEATURES, SIZE)).astype(np.uint32),
            np.stack([random.integers(-2, 3, (4, 2)), random.integers(-1, SIZE, (4, 2))], axis=2),
        ],
    ),
    "find_features": (
        native.find_features,
        lambda random: [
            random.integers(0, 99, (WORDS, 2)).astype(np.uint32),
            native.table_of(np.arange(FEATURES, dtype=np.uint32), 16),
        ],
    ),
    "compare_pairs": (
        native.compare_pairs,
        lambda random: [
            floats_of(random, WORDS, SIZE),
            random.integers(0, 3, WORDS),
            offsets(random, 2 * TEXTS, WORDS),
            int(random.integers(1, 4)),
        ],
    ),
    "word_contributions": (
        native.word_contributions,
        lambda random: [
            floats_of(random, FEATURES, SIZE),
            floats_of(random, FEATURES),
            random.integers(0, FEATURES, WORDS),
            offsets(random, TEXTS, WORDS),
        ],
    ),
    "train_passages": (native.train_passages, cbow_arguments),
    "trigram_hashes": (
        native.trigram_hashes,
        lambda random: [
            random.integers(0, 99, WORDS).astype(np.uint32),
            offsets(random, TEXTS, WORDS),
            hashes(random, 3),
            3,
        ],
    ),
    "minhash_bands": (
        native.minhash_bands,
        lambda random: [
            hashes(random, WORDS),
            offsets(random, TEXTS, WORDS),
            hashes(random, 6),
            hashes(random, 6),
            hashes(random, 3),
        ],
    ),
    "jaccard": (native.jaccard, lambda random: [hashes(random, WORDS), hashes(random, SIZE)]),
    "fill_tree_steps": (
        native.fill_tree_steps,
        lambda random: [
            np.array([0, *(random.integers(node) for node in range(1, TEXTS))]),
            np.zeros((TEXTS, TEXTS), dtype=np.int16),
        ],
    ),
    "softmax_loss": (
        native.softmax_loss,
        lambda random: [
            *random.random((2, TEXTS, TAGS), dtype=np.float32),
            random.random(TEXTS, dtype=np.float32),
        ],
    ),
    "similar_pairs": (
        native.similar_pairs,
        lambda random: [
            hashes(random, WORDS),
            offsets(random, TEXTS, WORDS),
            random.integers(0, 2, (TEXTS, 2)).astype(np.uint64),
            2,
            0.5,
        ],
    ),
    "has_similar": (
        native.has_similar,
        lambda random: [
            hashes(random, WORDS),
            offsets(random, TEXTS, WORDS),
            random.integers(0, 2, (TEXTS, 2)).astype(np.uint64),
            hashes(random, SIZE),
            offsets(random, TEXTS, SIZE),
            random.integers(0, 2, (TEXTS, 2)).astype(np.uint64),
            2,
            0.5,
        ],
    ),
    **INFERENCE,
    **TRAINING,
}


def damaged(argument, random: np.random.Generator):
    """The argument with other values, another shape, or another size."""
    if isinstance(argument, list):
        copies = list(argument)
        place = int(random.integers(len(copies)))
        copies[place] = damaged(copies[place], random)
        return copies
    if not isinstance(argument, np.ndarray):
        return type(argument)(random.choice([-1, 0, 1, 1000]))
    kind = random.integers(4)
    if kind == 0 and argument.size:  # one value is far off
        changed = argument.copy()
        low = 0 if argument.dtype.kind == "u" else -100
        changed.flat[random.integers(argument.size)] = random.integers(low, 100)
        return changed
    axis = int(random.integers(argument.ndim))
    if kind == 1:
        return np.ascontiguousarray(np.delete(argument, slice(0, 1), axis))
    if kind == 2:
        return np.ascontiguousarray(np.concatenate([argument, argument], axis))
    return np.zeros([0] * argument.ndim, dtype=argument.dtype)


@pytest.mark.parametrize("name", KERNELS)
def test_damaged_arguments_compute_or_are_refused(name):
    kernel, arguments = KERNELS[name]
    random = np.random.default_rng(20)
    refused = 0
    for _ in range(1500):
        values = arguments(random)
        kernel(*values)
        values = arguments(random)
        for _ in range(random.integers(1, 3)):
            place = int(random.integers(len(values)))
            values[place] = damaged(values[place], random)
        try:
            kernel(*values)
        except (ValueError, TypeError):
            refused += 1
    assert refused > 0 or name == "jaccard"  # it takes any two arrays


def test_cells_with_quotes_are_split_or_left_to_the_reader():
    random, split = np.random.default_rng(20), 0
    for _ in range(1500):
        line, delimiter = quoted_line(random)
        cells = native.quoted_cells(line, delimiter)
        if cells is not None:
            assert cells == next(csv.reader([line], delimiter=delimiter))
            split += 1
    assert split
    for delimiter in ("", ",;"):
        with pytest.raises(ValueError, match="one character"):
            native.quoted_cells('"a"', delimiter)
