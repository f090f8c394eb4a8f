"""Where the words begin that a teacher does not know as such."""

import numpy as np
from numpy.typing import NDArray


def with_text(
    vectors: NDArray[np.float32],
    texts: NDArray[np.float32],
    share: NDArray[np.float64],
    often: NDArray[np.int64],
    ridge: float = 1e-2,
) -> NDArray[np.float32]:
    """Vectors of words, of the teacher as far as it knows a word, of the text for the rest.

    The text's vectors are first brought into the teacher's space by the linear map that is nearest for the
    words that both know well.

    Args:
        vectors: The teacher's, `[words, size]`.
        texts: The text's, `[words, any]`.
        share: How far each word is the teacher's, 0 to 1: 1 for a word that is one piece to it.
        often: How often each word occurs; the text knows nothing of those that do not.
        ridge: Of the map.
    """
    trust = (share * np.log1p(often)).astype(np.float32)[:, None]
    square = texts.T @ (trust * texts)
    square[np.diag_indices(len(square))] += ridge * max(float(square.trace()) / len(square), 1e-9)
    mapped = texts @ np.linalg.solve(square, texts.T @ (trust * vectors))
    # Regression shrinks; the mapped vectors are as long as the teacher's on the whole.
    mapped *= np.linalg.norm(vectors) / max(float(np.linalg.norm(mapped)), 1e-9)
    own = np.where(often > 0, share, 1.0).astype(np.float32)[:, None]
    return (own * vectors + (1 - own) * mapped).astype(np.float32)
