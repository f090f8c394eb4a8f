"""Settings so small that fitting takes a second."""

import pytest

TINY = {
    "encoder": {"layers": 1, "heads": 2, "head_size": 4, "width": 8},
    "words": {"vector_size": 8},
    "base": {"name": "none"},  # with one, three more are trained: see test_classifier
}


@pytest.fixture(scope="session")
def tiny() -> dict:
    return TINY
