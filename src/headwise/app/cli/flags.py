"""Flags from configuration dataclasses: one flag per field, with the field's docstring as help.

A flag that is not given is None; its field then comes from the recipe file or the defaults. The
configurations need neither torch nor NumPy, so `headwise train --help` and usage errors are fast. The types
of the flags are made at run time, so no type checker can check them (see pyproject.toml).
"""

import ast
import inspect
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, make_dataclass
from functools import cache
from itertools import pairwise
from types import MappingProxyType, NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from cyclopts import Group, Parameter

from headwise.app.cli.argument_types import parse_integers
from headwise.core.config import JsonObject, field_types
from headwise.models.tasks import TASKS
from headwise.models.tasks.task_settings import Settings
from headwise.nn.encoders.encoder_configs import DEFAULT_ENCODER, ENCODER_CONFIGS


def flags(
    name: str,
    configs: Mapping[str, type],
    *,
    prefix: str,
    group: str,
    order: int,
    omit: Collection[str] = (),
    hidden: Collection[str] = (),
    by_data: Collection[str] = (),
) -> Any:
    """The annotation of a command's parameter that holds a configuration's flags.

    Args:
        name: Name of the created class, for error messages.
        configs: The dataclasses, by the names under which they are selected. Fields with the same name
            share one flag, with the help of the first; if few have the field, the help names them.
        prefix: `*` for plain flags (`--epochs`), or a prefix (`--encoder` gives `--encoder.layers`).
        group: Heading in the help.
        order: Sort key of the heading.
        omit: Fields without a flag.
        hidden: Fields whose flag is not in the help.
        by_data: Fields whose default depends on the data.
    """
    described = describe(configs, omit=omit, by_data=by_data)
    return flags_annotation(name, described, prefix=prefix, group=group, order=order, hidden=hidden)


@dataclass(frozen=True)
class Flag:
    """The description of a flag.

    Attributes:
        name: Name of the field.
        kind: Type of the value.
        help: Help text, with the default.
        owners: Names of the configurations that have the field; empty if all do.
    """

    name: str
    kind: Any
    help: str
    owners: tuple[str, ...] = ()


def describe(
    configs: Mapping[str, type], *, omit: Collection[str] = (), by_data: Collection[str] = ()
) -> list[Flag]:
    """The flags of the fields of configurations; see `flags` for the arguments."""
    owners: dict[str, JsonObject] = {}  # field -> owner -> field
    for owner, config in configs.items():
        for item in sorted(fields(config), key=lambda item: bool(item.kw_only)):  # as the constructor has
            if item.name not in omit:
                owners.setdefault(item.name, {})[owner] = item
    described = []
    for item, fields_by_owner in owners.items():
        first = configs[next(iter(fields_by_owner))]
        text = " ".join((_help_of(first).get(item) or "").split())
        if len(fields_by_owner) <= len(configs) // 2:
            text += f" ({', '.join(fields_by_owner)})"
        defaults = {_shown_default(field.default) for field in fields_by_owner.values()}
        default = "by data" if item in by_data else defaults.pop() if len(defaults) == 1 else "by encoder"
        text += f" \\[{default}]" if default else ""
        kinds = [field_types(configs[owner])[item] for owner in fields_by_owner]
        # A value that fits any of them is accepted here; the selected configuration checks it again.
        kind = kinds[0] if all(kind == kinds[0] for kind in kinds) else _any_of(kinds)
        described.append(
            Flag(item, kind, text, tuple(fields_by_owner) if len(fields_by_owner) < len(configs) else ())
        )
    return described


def flags_annotation(
    name: str,
    described: Sequence[Flag],
    *,
    prefix: str,
    group: str,
    order: int,
    hidden: Collection[str] = (),
) -> Any:
    """The annotation of a command's parameter that holds the described flags; see `flags`."""
    made = []
    for flag in described:
        shown = Parameter(
            help=flag.help,
            show_default=False,
            negative_iterable=(),
            consume_multiple=True,
            show=flag.name not in hidden,
            converter=parse_integers if flag.kind in (int, int | None) else None,
        )
        made.append((flag.name, Annotated[flag.kind | None, shown], field(default=None)))
    heading = Group(group, sort_key=order)
    kind = _new_dataclass(name, made)
    return Annotated[kind | None, Parameter(name=prefix, group=heading, show_default=False)]


def _new_dataclass(name: str, made: list[tuple[str, Any, Any]]) -> Any:
    kind = make_dataclass(name, made, frozen=True)
    # cyclopts treats a class of the module "types" as built-in, and reads the source of a headwise module.
    kind.__module__ = f"{__name__}.made"
    return kind


@dataclass(frozen=True)
class OpeningFlags:
    """How a model is opened, see `headwise.app.session.Session.open`."""

    pipeline: Annotated[
        str | None, Parameter(help="A spaCy pipeline that parses the texts, instead of the model's.")
    ] = None
    device: Annotated[
        str, Parameter(help="Device to compute on: cpu, cuda, or auto for a GPU if there is one.")
    ] = "auto"


OpeningArgument = Annotated[OpeningFlags | None, Parameter(name="*")]
"""The type of a command's parameter for the options of opening a model."""


def flag_values(held: Any) -> JsonObject:
    """The values of the flags that the user gave, by field name."""
    if held is None:
        return {}
    return {name: value for name, value in asdict(held).items() if value is not None}


def file_arguments(parses: Any, opening: Any, read: Any) -> JsonObject:
    """How a workflow opens a model and reads a file, of the flags for that."""
    return {"parses": parses, **flag_values(opening), "reading": flag_values(read)}


@cache
def _help_of(config: type) -> dict[str, str]:
    """The docstrings of a configuration's fields, also of inherited ones."""
    docs: dict[str, str] = {}
    for owner in reversed(config.__mro__[:-1]):  # but for object
        docs |= _field_docs(owner.__module__).get(owner.__qualname__, {})
    return docs


@cache
def _field_docs(module: str) -> dict[str, dict[str, str]]:
    """The texts below the fields of the classes of a module, by class and field. A session of Python, where
    one's own encoder may be registered, has no source."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (KeyError, OSError, TypeError):
        return {}
    return {node.name: dict(_docs_below(node)) for node in tree.body if isinstance(node, ast.ClassDef)}


def _docs_below(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for line, below in pairwise(node.body):
        match line, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, text


def _any_of(kinds: list[Any]) -> Any:
    """A type for values of any of several types: the union of their choices if all are Literals, else
    str."""
    choices = [option for kind in kinds for option in (get_args(kind) or (kind,)) if option is not NoneType]
    if not all(get_origin(option) is Literal for option in choices):
        return str
    return Literal[tuple(dict.fromkeys(name for option in choices for name in get_args(option)))]


def _shown_default(default: Any) -> str:
    if isinstance(default, tuple):
        return " ".join(map(str, default))
    return "" if default is None else str(default).lower() if isinstance(default, bool) else f"{default}"


SECTION_HEADINGS = {
    "teach": ("--teach", "Teacher", 4),
    "data": ("*", "Reading files", 3),
    "split": ("--split", "Splitting", 4),
    "train": ("*", "Training", 5),
    "words": ("--words", "Words", 6),
    "vectors": ("--vectors", "Words", 6),
    "base": ("--base", "Words", 6),
    "pretrained": ("--pretrained", "Pretrained encoder", 6),
    "syntax": ("--syntax", "Syntax", 6),
    "windows": ("--windows", "Long texts", 6),
    "classifier": ("--classifier", "Classifier", 7),
    "linear_model": ("--linear-model", "Linear model", 8),
    "thresholds": ("--thresholds", "Thresholds (multi-label)", 8),
    "unknown": ("--unknown", "Unknown texts (classify, multi-label)", 8),
    "characters": ("--characters", "Spelling (tag)", 8),
    "tagger": ("--tagger", "Tagger (tag)", 8),
    "pair": ("--pair", "Text pairs (pair, pair-score)", 8),
    "bags": ("--bags", "Bags of instances (bags)", 8),
    "regressor": ("--regressor", "Regressor (regress, pair-score)", 8),
    "language": ("--language", "Language model (language-model)", 8),
    "encoder": ("--encoder", "Encoder", 9),
}
"""The sections that `headwise train` has flags for: prefix of the flags, heading, and its sort key."""

LABEL_SETTINGS = frozenset(
    (
        *("label_column", "label_columns", "label_separator", "probability_columns", "confidence_column"),
        *("weight_column", "empty_labels", "no_label", "features"),
    )
)
"""Reading settings for training; commands that ignore labels hide them."""


@cache
def _configs() -> dict[str, type]:
    """The configuration of each section, except those that depend on the task or on the encoder."""
    from headwise.data.splits.split_config import SplitConfig
    from headwise.nn.networks.model_config import CONFIGS
    from headwise.training.settings import DistillationConfig, TrainConfig, VectorsConfig

    return {
        "teach": DistillationConfig,
        "split": SplitConfig,
        "train": TrainConfig,
        "vectors": VectorsConfig,
        **CONFIGS,
    }


def _omitted(section: str) -> Collection[str]:
    """The settings of a section without a flag."""
    if section == "linear_model":
        from headwise.nn.task_layers.layer_configs import LinearMemberConfig

        return {*LinearMemberConfig.SIZES, "tabular"}
    return _OMIT.get(section, ())


_OMIT = {
    "vectors": {"file"},
    "base": {"name", "size", "subwords"},
    "characters": {"clustered"},
    "pretrained": {"name"},
    "unknown": {"detect", "label", "texts"},
}


def section_flags(section: str, hidden: Collection[str] = (), omit: Collection[str] = ()) -> Any:
    """The annotation of a command's parameter that holds the flags of a section; see `flags`."""
    prefix, heading, order = SECTION_HEADINGS[section]
    described = [flag for flag in flags_of(section) if flag.name not in omit]
    name = f"{section.title()}Flags"
    return flags_annotation(name, described, prefix=prefix, group=heading, order=order, hidden=hidden)


def all_section_flags(omit: Mapping[str, Collection[str]] = MappingProxyType({})) -> Any:
    """The annotation of a parameter that holds the flags of all sections, one attribute per section.

    Args:
        omit: Settings without a flag, by section.
    """
    made = [
        (section, section_flags(section, omit=omit.get(section, ())), field(default=None))
        for section in SECTION_HEADINGS
        if len(omit.get(section, ())) < len(flags_of(section))
    ]
    return Annotated[_new_dataclass("SettingsFlags", made) | None, Parameter(name="*", show_default=False)]


@cache
def every_flag() -> Any:
    """`all_section_flags` without omissions, made when it is first asked for."""
    return all_section_flags()


def section_values(held: Any) -> dict[str, JsonObject]:
    """The values of the flags that the user gave, by section and field name."""
    sections = {} if held is None else vars(held)
    return {section: values for section, flags in sections.items() if (values := flag_values(flags))}


@cache
def flags_of(section: str) -> tuple[Flag, ...]:
    """The flags of a section."""
    if section == "data":
        configs = {name: task.options for name, task in TASKS.items()}
    else:
        configs = dict(ENCODER_CONFIGS) if section == "encoder" else {"": _configs()[section]}
    by_data = {name for settings in _data_dependent_defaults() for name in settings.get(section, ())}
    if section == "language":
        by_data = {"windows"}
    return tuple(describe(configs, omit=_omitted(section), by_data=by_data))


@cache
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
