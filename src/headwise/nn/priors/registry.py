"""The priors by their names, also those of users, and a prior from its description as plain data."""

import importlib
from collections.abc import Mapping, MutableMapping
from dataclasses import fields as fields_of
from dataclasses import is_dataclass
from functools import partial
from types import NoneType
from typing import Literal, TypeVar, get_args, get_origin, get_type_hints

from headwise.core.config import JsonObject, field_types
from headwise.core.errors import ConfigError
from headwise.core.lazy_pattern import lazy_pattern
from headwise.core.lazy_table import LazyTable
from headwise.nn.priors.base import Prior, Sum

UNREGISTERED = (
    "; import the module that registers it, if it is one of your own (headwise.nn.priors.register)"
)
"""Suffix of the error message about an unknown prior."""

_HOMES = {
    "everything": ("window", "Everything"),
    "window": ("window", "Window"),
    "shifted-window": ("window", "ShiftedWindow"),
    "dilated": ("sparse", "Dilated"),
    "random-blocks": ("sparse", "RandomBlocks"),
    "forward": ("direction", "Forward"),
    "backward": ("direction", "Backward"),
    "earlier": ("direction", "Earlier"),
    "later": ("direction", "Later"),
    "word-distance": ("distance", "WordDistance"),
    "gaussian": ("distance", "Gaussian"),
    "tree-distance": ("distance", "TreeDistance"),
    "same-sentence": ("document", "SameSentence"),
    "same-paragraph": ("document", "SameParagraph"),
    "sentence-distance": ("document", "SentenceDistance"),
    "parent": ("tree_relations", "Parent"),
    "child": ("tree_relations", "Child"),
    "sibling": ("tree_relations", "Sibling"),
    "tree-relations": ("tree_relations", "TreeRelations"),
    "matrix": ("text_matrix", "Matrix"),
    "rotary": ("learned_distance", "Rotary"),
    "shaw": ("learned_distance", "Shaw"),
    "transformer-xl": ("learned_distance", "TransformerXL"),
    "t5-buckets": ("learned_distance", "T5Buckets"),
    "tree-buckets": ("learned_distance", "TreeBuckets"),
    "sink": ("learned_distance", "Sink"),
    "learned-slope": ("learned_decay", "LearnedSlope"),
    "kerple": ("learned_decay", "Kerple"),
    "fire": ("learned_decay", "Fire"),
    "adaptive-span": ("learned_decay", "AdaptiveSpan"),
    "forgetting": ("learned_decay", "Forgetting"),
    "cope": ("learned_decay", "Cope"),
    "global-tokens": ("sparse", "GlobalTokens"),
    "sum": ("base", "Sum"),
}
"""The module and the class of each prior of headwise, by name."""


def _prior_class(module: str, name: str) -> type[Prior]:
    return getattr(importlib.import_module(f"headwise.nn.priors.{module}"), name)


PRIORS: MutableMapping[str, type[Prior]] = LazyTable(
    {name: partial(_prior_class, *home) for name, home in _HOMES.items()}
)
"""The priors by name; a prior of headwise is imported when it is looked up."""

OwnPrior = TypeVar("OwnPrior", bound=type[Prior])
_NAME = lazy_pattern(r"[A-Za-z][\w-]{0,39}")
_WORD = lazy_pattern(r"[\w-]{1,40}")


def register(prior: OwnPrior) -> OwnPrior:
    """Register a prior by its `name`, so that it can be used in the settings of encoders, in recipes, on
    the command line and in model folders. Use it as a decorator.

    A model folder holds the name and the settings of the prior, not its code: the module that registers it
    must be imported before the folder is loaded.

    Args:
        prior: A frozen dataclass whose fields are numbers, truth values, `Literal` words or priors.

    Returns:
        The prior itself.

    Raises:
        ConfigError: It is no such class, or its name cannot be spelled or is that of another prior.
    """
    if not (isinstance(prior, type) and issubclass(prior, Prior) and is_dataclass(prior)):
        raise ConfigError(f"{prior!r} is not a prior; expected a frozen dataclass that extends Prior")
    if not prior.__dataclass_params__.frozen:  # pyrefly: ignore[missing-attribute] - a dataclass has it
        raise ConfigError(f"{prior.__name__} can be changed; expected a frozen dataclass")
    name = vars(prior).get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigError(
            f"{prior.__name__} has the name {name!r}; expected a class variable name: ClassVar[str] of "
            "letters, digits and -, at most 40"
        )
    hints = get_type_hints(prior)
    for field in fields_of(prior):
        if not _spelled(hints[field.name]):
            raise ConfigError(
                f"{prior.__name__}.{field.name} is of the type {hints[field.name]!r}; expected int, float, "
                "bool, a Literal of words of letters, digits and -, or Prior"
            )
    registered = PRIORS.get(name)
    # The same class once more is one that was edited, in a notebook say.
    if name == "alibi" or (registered is not None and _place(registered) != _place(prior)):
        raise ConfigError(f"{prior.__name__} has the name {name!r}, which is that of another prior")
    PRIORS[name] = prior
    return prior


def _spelled(kind: object) -> bool:
    """Whether values of a type can be written into a text and read from it."""
    if get_origin(kind) is Literal:
        return all(isinstance(word, str) and _WORD.fullmatch(word) for word in get_args(kind))
    kinds = [option for option in get_args(kind) or (kind,) if option is not NoneType]
    return len(kinds) == 1 and kinds[0] in (int, float, bool, Prior)


def _place(prior: type) -> tuple[str, str]:
    return prior.__module__, prior.__qualname__


def from_json(data: Mapping[str, object]) -> Prior:
    """The prior that `Prior.to_json` described.

    Raises:
        ConfigError: The name is unknown, or the values do not fit the prior.
    """
    if not isinstance(data, Mapping):
        raise ConfigError(f'a prior is described by an object such as {{"prior": "forward"}}, got {data!r}')
    fields: JsonObject = dict(data)
    name = fields.pop("prior", None)
    if name not in list(PRIORS):
        raise ConfigError(f"unknown prior {name!r}; expected one of {', '.join(PRIORS)}{UNREGISTERED}")
    try:
        if name == Sum.name:
            fields["parts"] = tuple(from_json(part) for part in fields.get("parts", ()))
        kinds = {} if name == Sum.name else field_types(PRIORS[name])
        optional = [field for field, kind in kinds.items() if Prior in get_args(kind) and fields.get(field)]
        inner = [*optional, *(field for field, kind in kinds.items() if kind is Prior)]
        fields |= {field: from_json(fields.get(field, {})) for field in inner}
        return PRIORS[name](**fields)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"prior {name!r} cannot be made from {fields}: {error}") from None
