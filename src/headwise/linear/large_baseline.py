"""The linear baselines of texts whose features are too many for memory.

Blocks and penalty are chosen on a sample of the texts, as in memory. The weights are then fitted to all
texts, whose features are in a scratch file.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from headwise.core.scratch import ScratchFile
from headwise.data.items.dataset import chunks_by_length, items_at
from headwise.linear.large_fit import entries_per_text
from headwise.linear.linear_model import LinearModel, stack_blocks
from headwise.linear.linear_weights import DesignMatrix, Floats, LinearWeights
from headwise.linear.stored_problems import StoredProblems
from headwise.linear.svm_solver import fit_svm_portions
from headwise.linear.targets import Targets
from headwise.linear.tfidf_features import BlockName, BlockReader, FeatureVocabulary

SAMPLED = " (penalty by a sample)"
"""What follows the name of a baseline whose penalty was chosen on a sample, as all texts were too many for
memory."""
MOST_CHOSEN_ON = 25_000_000
"""Number of features, summed over the texts, of the training texts, and of the dev texts, that blocks and
penalty are chosen on: some 12,000 reviews, or 200,000 short sentences."""
_PORTION_ENTRIES = 16_000_000  # features of a portion, summed over its texts
_SCORED = 1 << 22  # characters of the texts that are scored at once


def sample_step(texts: Sequence[str], reader: BlockReader) -> int:
    """Every how many texts one is taken, so that the features of the sample do not exceed
    `MOST_CHOSEN_ON`."""
    return max(1, -int(-len(texts) * entries_per_text(texts, reader) // MOST_CHOSEN_ON))


def sampled(
    part: tuple[Sequence[str], np.ndarray], reader: BlockReader
) -> tuple[Sequence[str], np.ndarray]:
    """A sample of texts and their targets, `[texts, ...]`; see `sample_step`."""
    texts, targets = part
    step = sample_step(texts, reader)
    return texts[::step], targets[::step]


def fit_stored(
    texts: Sequence[str], targets: Targets, readers: Sequence[BlockReader], max_features: int, cost: float
) -> tuple[dict[BlockName, FeatureVocabulary], LinearWeights]:
    """Choose the features of all texts, and fit the weights to them, from a file.

    Args:
        texts: The texts.
        targets: Their targets.
        readers: The feature extractor of each block.
        max_features: Maximum number of features per block.
        cost: The penalty parameter C of each text.

    Raises:
        HeadwiseError: HW412, the disk is full or cannot be written.
    """
    vocabularies: dict[BlockName, FeatureVocabulary] = {
        reader.block: reader.choose(texts, max_features=max_features) for reader in readers
    }
    with closing(ScratchFile()) as file:
        problems = StoredProblems(file, len(texts))
        for places in _portions(len(texts), entries_per_text(texts, readers[0])):
            listed = items_at(texts, places)
            parts = [reader.transform(listed, vocabularies[reader.block]) for reader in readers]
            rows = DesignMatrix(stack_blocks(parts, len(listed)), np.zeros((len(listed), 0), np.float32))
            costs = np.full((len(listed), 1), cost, dtype=np.float32)
            problems.append(places, targets.take(places).problem(rows, costs, None))
        return vocabularies, fit_svm_portions(problems)


def scores_in_parts(model: LinearModel, texts: Sequence[str]) -> Floats:
    """The scores of very many texts, `[texts, classes]`."""
    parts = [model.scores(part) for part in chunks_by_length(texts, _SCORED)]
    return np.concatenate([np.zeros((0, model.classes), dtype=np.float32), *parts])


def _portions(texts: int, entries: float) -> Iterator[NDArray[np.int64]]:
    """The places of the texts of each portion, in random order."""
    size = int(max(_PORTION_ENTRIES / max(entries, 1), 1))
    order = np.random.default_rng(0).permutation(texts)
    for start in range(0, texts, size):
        yield order[start : start + size]
