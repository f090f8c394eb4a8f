"""The priors by their names, also those of users, and a prior from its description as plain data."""

import re
from collections.abc import Mapping
from dataclasses import fields as fields_of
from dataclasses import is_dataclass
from types import NoneType
from typing import Literal, TypeVar, get_args, get_origin, get_type_hints

from headwise.core.config import JsonObject
from headwise.core.errors import ConfigError
from headwise.nn.priors.base import Prior, Sum
from headwise.nn.priors.direction import Backward, Earlier, Forward, Later
from headwise.nn.priors.distance import Gaussian, TreeDistance, WordDistance
from headwise.nn.priors.document import SameParagraph, SameSentence, SentenceDistance
from headwise.nn.priors.learned_decay import AdaptiveSpan, Cope, Fire, Forgetting, Kerple, LearnedSlope
from headwise.nn.priors.learned_distance import Rotary, Shaw, Sink, T5Buckets, TransformerXL, TreeBuckets
from headwise.nn.priors.sparse import Dilated, GlobalTokens, RandomBlocks
from headwise.nn.priors.text_matrix import Matrix
from headwise.nn.priors.tree_relations import Child, Parent, Sibling, TreeRelations
from headwise.nn.priors.window import Everything, ShiftedWindow, Window

UNREGISTERED = (
    "; import the module that registers it, if it is one of your own (headwise.nn.priors.register)"
)
"""Suffix of the error message about an unknown prior."""

PRIORS: dict[str, type[Prior]] = {
    prior.name: prior
    for prior in (
        *(Everything, Window, ShiftedWindow, Dilated, RandomBlocks),
        *(Forward, Backward, Earlier, Later),
        *(WordDistance, Gaussian, TreeDistance),
        *(SameSentence, SameParagraph, SentenceDistance),
        *(Parent, Child, Sibling, TreeRelations, Matrix),
        *(Rotary, Shaw, TransformerXL, T5Buckets, TreeBuckets, Sink),
        *(LearnedSlope, Kerple, Fire, AdaptiveSpan, Forgetting, Cope),
        *(GlobalTokens, Sum),
    )
}


OwnPrior = TypeVar("OwnPrior", bound=type[Prior])
_NAME = re.compile(r"[A-Za-z][\w-]{0,39}")
_WORD = re.compile(r"[\w-]{1,40}")


def register(prior: OwnPrior) -> OwnPrior:
    """Make a prior of your own known by its `name`, so that it can be spelled: in the settings of encoders,
    in recipes, on the command line and in the model folders that are saved with it. Use it as a decorator.

    A model folder says the name and the settings of the prior, not its code: whoever loads the folder has
    to import the module that registers it before.

    Args:
        prior: A frozen dataclass whose fields are numbers, truth values, `Literal` words or priors.

    Returns:
        The same.

    Raises:
        ConfigError: It is no such class, or its name cannot be spelled or is that of another prior.
    """
    if not (isinstance(prior, type) and issubclass(prior, Prior) and is_dataclass(prior)):
        raise ConfigError(f"{prior!r} is no prior; expected a frozen dataclass that extends Prior")
    if not prior.__dataclass_params__.frozen:  # pyright: ignore[reportAttributeAccessIssue]
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
        raise ConfigError(f"unknown prior {name!r}; known are {', '.join(PRIORS)}{UNREGISTERED}")
    try:
        if name == Sum.name:
            fields["parts"] = tuple(from_json(part) for part in fields.get("parts", ()))
        kinds = {} if name == Sum.name else get_type_hints(PRIORS[name])
        optional = [field for field, kind in kinds.items() if Prior in get_args(kind) and fields.get(field)]
        inner = [*optional, *(field for field, kind in kinds.items() if kind is Prior)]
        fields |= {field: from_json(fields.get(field, {})) for field in inner}
        return PRIORS[name](**fields)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"prior {name!r} cannot be made from {fields}: {error}") from None
