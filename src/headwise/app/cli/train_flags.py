"""`headwise train` with some of the flags of its settings: to make all of them takes as long as to train a
small model for an epoch."""

from collections.abc import Callable, Collection, Mapping, Sequence
from types import FunctionType
from typing import Any

from headwise.app.cli.flags import SECTION_HEADINGS, all_section_flags, flags_of


def train_without(omit: Mapping[str, Collection[str]]) -> Callable[..., Any]:
    """A copy of `train` without the flags of these settings, by section."""
    from headwise.app.cli.train_command import train

    made = FunctionType(train.__code__, train.__globals__, train.__name__)
    made.__doc__, made.__kwdefaults__ = train.__doc__, train.__kwdefaults__
    made.__annotations__ = {**train.__annotations__, "settings": all_section_flags(omit)}
    return made


def unnamed_flags(words: Sequence[str]) -> dict[str, set[str]]:
    """The settings, by section, whose flags a command line does not name.

    Args:
        words: The arguments after `headwise train`.
    """
    options = {word.partition("=")[0].replace("_", "-") for word in words if word.startswith("-")}
    named = options | {option.replace("--no-", "--").replace(".no-", ".") for option in options}
    unnamed = {}
    for section, (prefix, *_) in SECTION_HEADINGS.items():
        start = "--" if prefix == "*" else f"{prefix}."
        unnamed[section] = {
            flag.name for flag in flags_of(section) if start + flag.name.replace("_", "-") not in named
        }
    return unnamed
