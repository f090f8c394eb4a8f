"""Kinds of values that are never labels or texts."""

import pytest

from headwise.data.columns.column_contents import _are_codes, is_address


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        (["a-1", "a-2"], True),
        (["{12}", "#3"], True),
        (["deadbeef", "cafebabe"], True),
        (["a-1", "a-1"], False),
        (["good", "a-1"], False),
        (["a 1"], False),
        (["0" * 200_000 + "!"], False),  # minutes, if it was tried from each digit
    ],
)
def test_codes(values, codes):
    assert _are_codes(values) == codes


@pytest.mark.parametrize(
    ("value", "address"),
    [
        ("ann@example.org", True),
        ("a@b.c.", True),
        ("a@b", False),
        ("a@b.", False),
        ("a@.b", False),
        ("a@..b", True),
        ("10.0.0.1", True),
        ("a@" + "." * 200_000 + " ", False),
    ],
)
def test_addresses(value, address):
    assert is_address(value) == address
