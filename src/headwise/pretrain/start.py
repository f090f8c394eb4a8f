"""Initial vectors of words that the teacher splits into word pieces."""

import numpy as np
from numpy.typing import NDArray


def with_text(
    vectors: NDArray[np.float32],
    texts: NDArray[np.float32],
    share: NDArray[np.float64],
    often: NDArray[np.int64],
    ridge: float = 1e-2,
) -> NDArray[np.float32]:
    """Interpolate the teacher's word vectors with those from context prediction, `[words, size]`.

    The latter are first mapped into the teacher's space by a ridge regression, weighted towards words that
    are frequent and that the teacher does not split.

    Args:
        vectors: The teacher's word vectors, `[words, size]`.
        texts: Word vectors from context prediction, `[words, any]`.
        share: Weight of the teacher's vector of each word, 0 to 1; 1 for a word that is one piece.
        often: Frequency of each word; words with 0 have the teacher's vector.
        ridge: Regularisation of the regression.
    """
    trust = (share * np.log1p(often)).astype(np.float32)[:, None]
    square = texts.T @ (trust * texts)
    square[np.diag_indices(len(square))] += ridge * max(float(square.trace()) / len(square), 1e-9)
    mapped = texts @ np.linalg.solve(square, texts.T @ (trust * vectors))
    # Regression shrinks vectors: rescale them to the total norm of the teacher's.
    mapped *= np.linalg.norm(vectors) / max(float(np.linalg.norm(mapped)), 1e-9)
    teacher_share = np.where(often > 0, share, 1.0).astype(np.float32)[:, None]
    return (teacher_share * vectors + (1 - teacher_share) * mapped).astype(np.float32)
