"""Fits shared by the runs of a search, which trains many encoders with the same linear model."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from typing import Any, TypeVar

from headwise.core.config import JsonObject

Result = TypeVar("Result")

_cache: ContextVar[JsonObject | None] = ContextVar("cache", default=None)


@contextmanager
def memoizing(cache: JsonObject) -> Generator[None]:
    """Memoize `memoized` fits in a dictionary within this context."""
    token = _cache.set(cache)
    try:
        yield
    finally:
        _cache.reset(token)


def memoized(fit: Callable[..., Result], *arguments: Any, **named: Any) -> Result:
    """The result of a deterministic function, memoized within `memoizing`; each caller gets a copy, as
    models are changed in place."""
    cache = _cache.get()
    if cache is None:
        return fit(*arguments, **named)
    import joblib  # slow to load, and a training by itself does without

    key = f"{fit.__module__}.{fit.__qualname__} {joblib.hash((arguments, named))}"
    if key not in cache:
        cache[key] = fit(*arguments, **named)
    return deepcopy(cache[key])
