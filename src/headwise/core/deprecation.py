"""Old spellings that work for one more release, with a `DeprecationWarning` that names the new one."""

import warnings
from collections.abc import Callable
from functools import wraps
from operator import attrgetter
from typing import Any, TypeVar, cast

C = TypeVar("C", bound=Callable[..., Any])


def warn_renamed(old: str, new: str) -> None:
    """Warn about an old spelling, at the line that used it: the caller of the caller of this."""
    message = f"{old} is now {new}; the old name goes with the next release"
    warnings.warn(message, DeprecationWarning, stacklevel=3)


def renamed_parameters(**new_names: str) -> Callable[[C], C]:
    """A decorator of a function or class that accepts the old keywords (`old="new"`), with a warning. The
    fields of a class can also be read by their old names.

    Raises:
        TypeError: A call has the old keyword and the new one.
    """

    def decorate(callee: C) -> C:
        function = callee.__init__ if isinstance(callee, type) else callee
        name = callee.__qualname__

        @wraps(function)
        def accept_old_names(*args: object, **kwargs: object) -> object:
            for old in () if new_names.keys().isdisjoint(kwargs) else new_names.keys() & kwargs.keys():
                new = new_names[old]
                if new in kwargs:
                    raise TypeError(f"{name}() got {new!r} and its old name {old!r}; pass only {new!r}")
                warn_renamed(f"the parameter {old!r} of {name}()", repr(new))
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        if isinstance(callee, type):
            setattr(callee, "__init__", accept_old_names)  # noqa: B010
            for old, new in new_names.items():
                setattr(callee, old, property(attrgetter(new)))
        return cast(C, callee if isinstance(callee, type) else accept_old_names)

    return decorate
