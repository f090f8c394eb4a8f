"""How well one text of a pair predicts the label: a naive Bayes classifier on its words alone."""

import hashlib
import math
from collections import Counter
from collections.abc import Sequence

from headwise.data.duplicates import normal_text

_FOLDS = 5
_SMOOTHING = 0.5


def one_sided_accuracy(texts: Sequence[str], labels: Sequence[str]) -> float:
    """Cross-validated accuracy of a naive Bayes classifier that sees only these texts; equal texts are in
    one fold.

    Args:
        texts: One text of each pair.
        labels: The labels of the pairs.

    Returns:
        Between 0 and 1; 0 where there are no pairs.
    """
    words = [set(normal_text(text).split()) for text in texts]
    folds = [_fold(text) for text in texts]
    right = 0
    for fold in range(_FOLDS):
        train = [place for place, assigned in enumerate(folds) if assigned != fold]
        test = [place for place, assigned in enumerate(folds) if assigned == fold]
        if not train:
            continue
        classes = Counter(labels[place] for place in train)
        counts: dict[str, Counter[str]] = {label: Counter() for label in classes}
        for place in train:
            counts[labels[place]].update(words[place])
        vocabulary = set().union(*counts.values())
        prior = {label: math.log(number / len(train)) for label, number in classes.items()}
        for place in test:
            tokens = [word for word in words[place] if word in vocabulary]
            scores = {
                label: prior[label]
                + sum(
                    math.log((word_counts[word] + _SMOOTHING) / (classes[label] + 2 * _SMOOTHING))
                    for word in tokens
                )
                for label, word_counts in counts.items()
            }
            right += max(scores, key=lambda label: (scores[label], label)) == labels[place]
    return right / max(len(texts), 1)


def majority_share(labels: Sequence[str]) -> float:
    """Share of the most frequent label; 0 where there are none."""
    return Counter(labels).most_common(1)[0][1] / len(labels) if labels else 0.0


def _fold(text: str) -> int:
    digest = hashlib.blake2b(normal_text(text).encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big") % _FOLDS
