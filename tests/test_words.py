"""Names are nouns of the field or verbs with an object; modules and classes have names of their own."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "headwise"
FILES = sorted(SOURCE.rglob("*.py"))
SCRIPTS = sorted(path for place in ("benchmarks", "docs", "fuzz") for path in (ROOT / place).rglob("*.py"))

EMPTY = frozenset(
    [
        "own",
        "found",
        "known",
        "said",
        "told",
        "kept",
        "given",
        "asked",
        "wanted",
        "whole",
        "some",
        "each",
        "other",
        "others",
        "several",
        "which",
        "beside",
        "alike",
        "near",
        "former",
        "earlier",
    ]
)
"""Words that say nothing as names."""

ALLOWED = {
    "src/headwise/nn/encoders/s_lstm.py": {"near"},  # in the weights of saved models
    "src/headwise/nn/task_layers/layer_configs.py": {"kept"},  # in the configuration of saved models
}
"""Empty words that may stand as names, by file. This list may only shrink."""

TESTS = {"app": 674}
"""The most empty words as names, by folder of tests. These numbers may only shrink."""

CONTRACTS = {"__init__", "__main__", "errors"}
"""Modules that every package may have."""

SHARED_MODULES: set[str] = set()
"""Module names that several packages have. This list may only shrink."""

SHARED_CLASSES: set[str] = set()
"""Class names that several modules define. This list may only shrink."""


def bound_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The names that code binds, with their lines: variables, parameters, fields, functions and classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or (
            isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name
        ):
            yield node.name, node.lineno
        elif isinstance(node, ast.alias) and node.asname:
            yield node.asname, node.lineno


def empty_words(tree: ast.AST) -> list[tuple[str, int]]:
    return [(name, line) for name, line in bound_names(tree) if name.strip("_") in EMPTY]


def test_no_name_is_an_empty_word():
    wrong, used = [], defaultdict(set)
    for path in (*FILES, *SCRIPTS):
        place = path.relative_to(ROOT).as_posix()
        for name, line in empty_words(ast.parse(path.read_text("utf-8"))):
            used[place].add(name)
            if name not in ALLOWED.get(place, ()):
                wrong.append(f"{place}:{line}: {name}")
    assert not wrong, "\n".join(wrong)
    assert dict(used) == ALLOWED, "names to take off the list"


def test_names_of_tests_have_no_more_empty_words():
    counts = Counter()
    for path in (ROOT / "tests").rglob("*.py"):
        folder = path.relative_to(ROOT / "tests").parts[:-1]
        counts["".join(folder[:1])] += len(empty_words(ast.parse(path.read_text("utf-8"))))
    assert {folder: count for folder, count in counts.items() if count > TESTS.get(folder, 0)} == {}


def test_empty_words_are_recognised():
    code = "def known(own, *, each=1):\n    for other in own:\n        self.told = (found := other)\n"
    assert {name for name, _ in empty_words(ast.parse(code))} == {
        "known",
        "own",
        "each",
        "other",
        "told",
        "found",
    }
    assert not empty_words(ast.parse("found_rows = known_words(text)"))


def test_modules_have_names_of_their_own():
    places = defaultdict(list)
    for path in FILES:
        places[path.stem].append(str(path.relative_to(SOURCE)))
    shared = {name for name, paths in places.items() if len(paths) > 1} - CONTRACTS
    assert shared == SHARED_MODULES


def test_classes_have_names_of_their_own():
    places = defaultdict(set)
    for path in FILES:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].add(str(path.relative_to(SOURCE)))
    shared = {name for name, paths in places.items() if len(paths) > 1}
    assert shared == SHARED_CLASSES, {name: places[name] for name in shared - SHARED_CLASSES}
