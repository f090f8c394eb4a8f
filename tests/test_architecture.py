"""Eleven rooms, one above the other: a room imports the rooms below it and itself, and no file imports
itself by a detour."""

import ast
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "headwise"
FILES = sorted(SOURCE.rglob("*.py"))

ROOMS = (
    *("core", "metrics", "data", "text", "linear", "runtime"),
    *("nn", "training", "models", "artifacts", "app"),
)
"""From the bottom to the top; `headwise/__init__.py` hands names of all rooms on."""
TORCH_FREE = ROOMS[:6]


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in FILES}


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text("utf-8"))))


@cache
def imports_of(path: Path) -> list[tuple[int, str]]:
    """The modules that a file imports, wherever in it, for whatever purpose."""
    imports: list[tuple[int, str]] = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            imports += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                imports.append((node.lineno, submodule if submodule in MODULES else node.module))
    return imports


def room_of(module: str) -> str:
    return (*module.split("."), "")[1]


def test_there_are_eleven_rooms():
    assert {room_of(module) for module in MODULES} - {"", "__main__"} == set(ROOMS)


def test_nobody_imports_upwards():
    wrong = [
        f"{path.relative_to(SOURCE)}:{line} imports {target}"
        for module, path in MODULES.items()
        if (room := room_of(module)) in ROOMS
        for line, target in imports_of(path)
        if target.split(".")[0] == "headwise"
        if room_of(target) not in ROOMS[: ROOMS.index(room) + 1]
    ]
    assert not wrong, "\n".join(wrong)


PARTS = {
    "data": ("errors", "findings", "files", "columns", "formats", "readers", "items", "splits", "doctor"),
    "nn": (
        *("torch_modes", "layout", "ragged", "packed_sequence", "kernel_rows"),
        *("priors", "layers", "attention", "embeddings", "encoders", "task_layers", "networks"),
    ),
}
"""The parts of a room, its folders and files, from the bottom to the top."""
UPWARDS = {
    "data": {
        ("columns", "items"),
        ("formats", "items"),
        ("readers", "items"),
        ("items", "splits"),
    },
    "nn": set[tuple[str, str]](),
}
"""Parts that import one above them. There may be fewer, not more."""


@pytest.mark.parametrize("room", PARTS)
def test_the_parts_of_a_room_import_downwards(room):
    parts, inside = PARTS[room], f"headwise.{room}."
    arrows = {
        (module.split(".")[2], target.split(".")[2])
        for module, path in MODULES.items()
        if module.startswith(inside)
        for _, target in imports_of(path)
        if target.startswith(inside)
    }
    assert {part for arrow in arrows for part in arrow} <= set(parts)
    assert {arrow for arrow in arrows if parts.index(arrow[1]) > parts.index(arrow[0])} == UPWARDS[room]


def circles(arrows: dict[str, set[str]]) -> list[set[str]]:
    """Groups of modules that reach one another by imports."""

    def reached(start: str) -> set[str]:
        seen, ahead = set[str](), list(arrows[start])
        while ahead:
            module = ahead.pop()
            if module not in seen:
                seen.add(module)
                ahead.extend(arrows.get(module, ()))
        return seen

    reach = {module: reached(module) for module in arrows}
    rings = {
        frozenset(far for far in ways if module in reach.get(far, ()))
        for module, ways in reach.items()
        if module in ways
    }
    return [set(ring) for ring in rings]


def test_no_imports_run_in_a_circle():
    arrows = {
        module: {target for _, target in imports_of(path) if target in MODULES and target != module}
        for module, path in MODULES.items()
    }
    assert not circles(arrows)


def test_circles_are_recognised():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}]
    assert not circles({"a": {"b", "c"}, "b": {"c"}, "c": set()})


@pytest.mark.parametrize("room", TORCH_FREE)
def test_no_torch(room):
    paths = [path for module, path in MODULES.items() if room_of(module) == room]
    assert paths
    assert not [path for path in paths for _, name in imports_of(path) if name.split(".")[0] == "torch"]


def test_nothing_but_two_tables_is_keyed_by_task():
    """No other dictionary has the names of tasks for keys, and none is looked for by comparison."""
    from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
    from headwise.models.tasks import TASKS, find_task

    assert TASKS.keys() == ITEM_TYPES_BY_TASK.keys()
    assert all(find_task(name).name == name for name in TASKS)
    assert all(ITEM_TYPES_BY_TASK[name].options is task.options for name, task in TASKS.items())
    tables, compared = [], []
    for path in FILES:
        file = str(path.relative_to(SOURCE))
        for node in nodes_of(path):
            if isinstance(node, ast.Dict):
                keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
                if len(keys & TASKS.keys()) > 2:  # sections of settings may have the name of a task
                    tables.append(file)
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                names = {side.value for side in sides if isinstance(side, ast.Constant)} & TASKS.keys()
                if names and any("task" in ast.dump(side) for side in sides):
                    compared.append(f"{file}:{node.lineno}")
    assert sorted(tables) == [
        "data/items/item_types.py",
        "models/tasks/__init__.py",
    ]
    assert not compared
