"""Patterns that are compiled when they are first used."""

import copy
import pickle
import re
import subprocess
import sys

import pytest

from headwise.core.lazy_pattern import lazy_pattern, lazy_regex


def test_a_lazy_pattern_finds_what_the_pattern_finds():
    text = "Ab 12, ab 3"
    lazy, plain = lazy_pattern(r"ab (\d+)", re.IGNORECASE), re.compile(r"ab (\d+)", re.IGNORECASE)
    assert lazy.findall(text) == plain.findall(text) == ["12", "3"]
    assert lazy.sub("-", text) == plain.sub("-", text)
    assert lazy.fullmatch("aB 7") is not None
    assert lazy.pattern == plain.pattern
    assert lazy_pattern(rb"\d").findall(b"a1") == [b"1"]
    assert lazy_regex(r"\p{Lu}").findall(text) == ["A"]


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_lazy_patterns_can_be_copied_and_pickled(duplicate, used):
    lazy = lazy_pattern("a+")
    assert not used or lazy.fullmatch("aa")
    assert duplicate(lazy).findall("aab") == ["aa"]


def test_nothing_is_compiled_before_the_first_use():
    code = "import sys; from headwise.core.lazy_pattern import lazy_pattern, lazy_regex\n"
    code += "broken, lazy = lazy_pattern('('), lazy_regex('a'); print('regex' in sys.modules)\n"
    code += "print(lazy.findall('aa'), 'regex' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["False", "['a', 'a'] True"]
