import numpy as np
import pytest

from headwise.training.pretraining.corpus import PassageEncoder, has_encoded_passages, read_numbers

TYPES = ["well", "made", "so", "happy", "zebra"]  # the last is not listed


@pytest.fixture
def numbering() -> PassageEncoder:
    return PassageEncoder(TYPES, listed=4)


def test_words_are_numbered_as_a_base_sees_them(numbering):
    assert numbering.passage("Sooo #happy, well-made zebra gnu") == [2, 3, 0, 1, 4]


def test_what_is_on_disk_is_what_is_in_memory(numbering, tmp_path):
    texts = ["so happy", "", "zebra", "gnu", "well made so"] * 5000
    path = tmp_path / "text.numbers"
    assert not has_encoded_passages(path)
    assert list(numbering.write(texts, path))[-1] == len(texts)
    assert has_encoded_passages(path)
    disk, memory = read_numbers(path), numbering.passages(texts)
    assert (disk.flat == memory.flat).all()
    assert (disk.starts == memory.starts).all()


def test_some_passages_are_taken(numbering):
    numbers = numbering.passages(["so happy", "", "zebra", "well made so"])
    flat, lengths = numbers.take(np.array([3, 1, 0]))
    assert flat.tolist() == [0, 1, 2, 2, 3]
    assert lengths.tolist() == [3, 0, 2]
    flat, lengths = numbers.take(np.zeros(0, np.int64))
    assert not len(flat)
    assert not len(lengths)


def test_no_text_at_all(numbering, tmp_path):
    path = tmp_path / "text.numbers"
    assert list(numbering.write([], path)) == [0]
    assert len(read_numbers(path)) == 0
