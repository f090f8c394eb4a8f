"""PretrainedError: a pretrained encoder that cannot be used."""

import importlib
from typing import Any

from headwise.errors import HeadwiseError


class PretrainedError(HeadwiseError):
    """A pretrained encoder cannot be used.

    Codes: HW701 `transformers` is not installed, HW702 there is no such model or it cannot be reached,
    HW703 its weights are missing, incomplete or not safetensors, HW704 it has no fast tokenizer, HW705 it
    is not an encoder of text, or not one that can be used as asked, HW706 it needs code of its own, which
    is never run, HW707 the files of a saved encoder hold what cannot be.
    """

    code = "HW700"


def import_extra(module: str) -> Any:
    """A module of the extra `pretrained`.

    Raises:
        PretrainedError: HW701, it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise PretrainedError(
            f"pretrained encoders need {module}, which cannot be imported ({error}); install it with "
            "pip install 'headwise[pretrained]'",
            code="HW701",
        ) from error


def first_line(error: BaseException) -> str:
    """The error of another library, in one line."""
    return f"{type(error).__name__}: {error!s:.300}".split("\n")[0]
