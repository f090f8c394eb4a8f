"""Write `settings.json`, the training flags, from the configurations: `python -m
headwise.app.cli.collect`."""

import json
from typing import Any

from headwise.app.cli.flags import FILE, SECTION_HEADINGS, Flag, describe, write_kind
from headwise.app.distillation.distillation_config import DistillationConfig
from headwise.data.columns.reading_options import SplitConfig
from headwise.data.items.item_types import ITEM_TYPES
from headwise.models.tasks import TASKS
from headwise.models.tasks.task_settings import Settings
from headwise.nn.encoders import ENCODERS
from headwise.nn.encoders.encoder_configs import DEFAULT_ENCODER
from headwise.nn.layers.layer_configs import LinearMemberConfig
from headwise.nn.networks.model_config import CONFIGS
from headwise.training.run_config import VectorsConfig
from headwise.training.settings import TrainConfig

_CONFIGS: dict[str, type] = {
    "teach": DistillationConfig,
    "split": SplitConfig,
    "train": TrainConfig,
    "vectors": VectorsConfig,
    **CONFIGS,
}
_CHOSEN: dict[str, dict[str, type]] = {
    "data": {task: kind.options for task, kind in ITEM_TYPES.items()},
    "encoder": {name: config for name, (_, config) in ENCODERS.items()},
}
_OMIT = {  # settings without a generated flag
    "vectors": {"file"},
    "base": {"name", "size", "subwords"},
    "pretrained": {"name"},
    "expert": set(LinearMemberConfig.SIZES),
}


def collect() -> dict[str, Any]:
    """The content of `settings.json`."""
    moved, sections = _data_dependent_defaults(), {}
    for section in SECTION_HEADINGS:
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


def _data_dependent_defaults() -> list[Settings]:
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
            if task.uses_embeddings:
                settings.append(task.defaults_with_base(plain[0], items))
    return settings


def _plain(flag: Flag) -> dict[str, Any]:
    plain = {"name": flag.name, "kind": write_kind(flag.kind), "help": flag.help}
    return plain | ({"owners": list(flag.owners)} if flag.owners else {})


def settings_json() -> str:
    """`settings.json` as text."""
    return json.dumps(collect(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(settings_json(), encoding="utf-8")
