"""Which room may import which; nobody imports upwards, and the tasks stand in two tables alone."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "headwise"
FILES = sorted(path for path in SOURCE.rglob("*.py"))

# From the bottom to the top: a room imports rooms that stand before it, and itself.
ROOMS = (
    ("errors",),
    ("compiling", "config", "keeping", "kernel", "memory", "recipes", "threads"),
    ("ragged",),
    ("steps",),
    ("scores_schemes", "features_tokenize", "linear_form", "store_lock"),
    ("data",),
    ("priors",),
    ("scores",),
    ("attention",),
    ("encoders",),
    ("features",),
    ("layers",),
    ("linear", "bench"),
    ("models", "pretrain"),
    ("report",),
    ("predictions", "train"),
    ("tasks",),
    ("recipe", "store"),
    ("teachers", "exported"),
    ("verbs",),
    ("estimators", "adapters", "serve"),
    ("cli",),
)
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
# The package itself gives its version away.
FREE = {"headwise"}
TORCH_FREE = ("data", "scores", "errors", "config", "memory")


def room_of(path: Path) -> str:
    """The room of a file: the name of its folder, or in the root its own."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return APART.get(parts, parts[0])


# Files that stand below their rooms.
APART = {
    ("scores", "schemes"): "scores_schemes",
    ("scores", "scheme_check"): "scores_schemes",
    ("features", "tokenize"): "features_tokenize",
    ("store", "layout"): "store_lock",  # names of files
    ("store", "lock"): "store_lock",
    ("store", "whole"): "store_lock",
    ("linear", "form"): "linear_form",
    ("linear", "hashing"): "linear_form",  # characters as numbers, which form counts
}


def imports_of(path: Path) -> list[tuple[int, str]]:
    """The modules that a file imports, but for those that it needs for its types alone."""
    found = []

    def walk(node: ast.AST) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            return
        if isinstance(node, ast.Import):
            found.extend((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = [f"{node.module}.{name.name}" for name in node.names]
            # A module of a package, or a name of a module.
            own = [
                name
                for name in inner
                if SOURCE.parent.joinpath(*name.split(".")).with_suffix(".py").exists()
            ]
            found.extend((node.lineno, name) for name in own or [node.module])
        for child in ast.iter_child_nodes(node):
            walk(child)

    walk(ast.parse(path.read_text("utf-8")))
    return found


def target_of(name: str) -> str | None:
    """The room of a module of ours."""
    parts = tuple(name.split("."))
    if parts[0] != "headwise":
        return None
    if parts[1:3] in APART:
        return APART[parts[1:3]]
    return parts[1] if len(parts) > 1 else "headwise"


def test_every_room_has_its_place():
    rooms = {room_of(path) for path in FILES} - {"__init__", "__main__"}
    assert rooms <= LEVEL.keys()


def test_nobody_imports_upwards():
    wrong = []
    for path in FILES:
        room = room_of(path)
        if room in ("__init__", "__main__"):
            continue
        for line, name in imports_of(path):
            target = target_of(name)
            if target is None or target in FREE or target == room:
                continue
            if LEVEL[target] >= LEVEL[room]:
                wrong.append(f"{path.relative_to(SOURCE)}:{line} ({room}) imports {name}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", TORCH_FREE)
def test_no_torch(room):
    own = [path for path in FILES if path.relative_to(SOURCE).parts[0].removesuffix(".py") == room]
    assert own
    found = [path.name for path in own for _, name in imports_of(path) if name.split(".")[0] == "torch"]
    assert not found


def test_the_root_stays_small():
    names = sorted(path.name for path in SOURCE.glob("*.py"))
    assert len(names) <= 12, names


def test_nothing_but_two_tables_is_keyed_by_task():
    """No other dictionary has the names of tasks for keys, and none is looked for by comparison."""
    from headwise.data.kinds import KINDS
    from headwise.tasks import TASKS

    assert TASKS.keys() == KINDS.keys()
    assert all(task.name == name for name, task in TASKS.items())
    tables, compared = [], []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            where = f"{path.relative_to(SOURCE)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Dict):
                keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
                if len(keys & TASKS.keys()) > 2:  # sections of settings may have the name of a task
                    tables.append(where)
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                names = {own.value for own in sides if isinstance(own, ast.Constant)} & TASKS.keys()
                if names and any("task" in ast.dump(own) for own in sides):
                    compared.append(where)
    assert [table.split(":")[0] for table in sorted(tables)] == [
        "data/kinds/__init__.py",
        "tasks/__init__.py",
    ]
    assert not compared
