"""Regular expressions that are compiled when they are first used: most commands use few of them."""

import importlib
import re
from typing import Any, AnyStr, cast

_VERSION1 = 0x100  # regex.VERSION1


class _LazyPattern:
    """A pattern that is compiled when a method of it is first used."""

    def __init__(self, engine: str, pattern: str | bytes, flags: int):
        self._engine, self.pattern, self._flags = engine, pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # asked for by copies and pickles, before there is an engine
            raise AttributeError(name)
        compiled = importlib.import_module(self._engine).compile(self.pattern, self._flags)
        value = getattr(compiled, name)
        setattr(self, name, value)
        return value


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern of the module `re`, compiled when it is first used."""
    return cast(re.Pattern[AnyStr], _LazyPattern("re", pattern, flags))


def lazy_regex(pattern: str, *, version1: bool = False) -> re.Pattern[str]:
    """A pattern of the package `regex`; package and pattern are loaded when they are first used.

    Args:
        pattern: The regular expression.
        version1: Whether it has set operations and full case-folding (the flag `V1`).
    """
    return cast(re.Pattern[str], _LazyPattern("regex", pattern, _VERSION1 if version1 else 0))
