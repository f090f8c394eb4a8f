"""Write `settings.json`, the training flags, from the configurations: `python -m headwise.cli.collect`."""

import json
from typing import Any

from headwise.cli.flags import Flag, describe
from headwise.cli.settings import FILE, PLACES, write_kind
from headwise.data.kinds import KINDS
from headwise.data.split import SplitConfig
from headwise.encoders import ENCODERS
from headwise.linear.expert import ExpertConfig
from headwise.models.model_config import CONFIGS
from headwise.tasks import TASKS
from headwise.tasks.defaults import Settings
from headwise.tasks.task import DEFAULT_ENCODER
from headwise.teachers.config import TeachConfig
from headwise.train.config import TrainConfig
from headwise.train.recipe import VectorsConfig

_CONFIGS: dict[str, type] = {
    "teach": TeachConfig,
    "split": SplitConfig,
    "train": TrainConfig,
    "vectors": VectorsConfig,
    **CONFIGS,
}
_CHOSEN: dict[str, dict[str, type]] = {
    "data": {task: kind.options for task, kind in KINDS.items()},
    "encoder": {name: config for name, (_, config) in ENCODERS.items()},
}
_OMIT = {  # settings without a generated flag
    "vectors": {"file"},
    "base": {"name", "size", "subwords"},
    "pretrained": {"name"},
    "expert": set(ExpertConfig.SIZES),
}


def collect() -> dict[str, Any]:
    """The content of `settings.json`."""
    moved, sections = _by_data(), {}
    for section in PLACES:
        by_data = {name for default_settings in moved for name in default_settings.get(section, {})}
        if section == "language":
            by_data = {"windows"}
        configs = {"": _CONFIGS[section]} if section in _CONFIGS else _CHOSEN[section]
        described = describe(configs, omit=_OMIT.get(section, ()), by_data=by_data)
        sections[section] = [_plain(flag) for flag in described]
    return {
        "encoders": list(ENCODERS),
        "default_encoder": DEFAULT_ENCODER,
        "tasks": {name: list(task.sections) for name, task in TASKS.items()},
        "sections": sections,
    }


def _by_data() -> list[Settings]:
    """The defaults that depend on the data, of all tasks: for few and many texts, with and without vectors,
    and with a base."""
    settings = []
    for task in TASKS.values():
        for items in (0, 20_000):
            plain = [
                task.defaults(items, vectors=has_vectors, encoder=DEFAULT_ENCODER)
                for has_vectors in (False, True)
            ]
            settings += plain
            if task.based:
                settings.append(task.defaults_with_base(plain[0], items))
    return settings


def _plain(flag: Flag) -> dict[str, Any]:
    plain = {"name": flag.name, "kind": write_kind(flag.kind), "help": flag.help}
    return plain | ({"owners": list(flag.owners)} if flag.owners else {})


def written() -> str:
    """`settings.json` as text."""
    return json.dumps(collect(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
