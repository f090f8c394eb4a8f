"""A dictionary whose values are made when they are looked up."""

import pytest

from headwise.core.lazy_table import LazyTable


def test_values_are_made_once_when_they_are_looked_up():
    made = []
    table = LazyTable({name: lambda name=name: made.append(name) or len(made) for name in ("b", "a")})
    assert list(table) == ["b", "a"]
    assert "a" in table
    assert "c" not in table
    assert made == []
    assert [table["a"], table["a"], table.get("c")] == [1, 1, None]
    assert dict(table) == {"b": 2, "a": 1}
    assert made == ["a", "b"]


def test_values_are_replaced_and_removed():
    table = LazyTable({"a": lambda: 1})
    table["b"] = 2
    table["a"] = 3
    assert dict(table) == {"a": 3, "b": 2}
    del table["a"]
    with pytest.raises(KeyError):
        table["a"]
    assert table == {"b": 2}
