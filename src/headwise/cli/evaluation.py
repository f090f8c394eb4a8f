"""What `headwise evaluate` prints of a model on texts, whatever its labels are."""

import json
from collections.abc import Callable
from typing import Any

from headwise.cli.console import percent, warn
from headwise.cli.predict_texts import MANY_UNKNOWN
from headwise.cli.requests import EvaluateRequest


def print_found(
    request: EvaluateRequest,
    path: str,
    result: Any,
    rival: Any,
    worst: list[dict[str, Any]],
    show: Callable[[Any, Any, list[dict[str, Any]]], None],
) -> None:
    """Print scores as JSON or as tables, and warn if the model knows few of the words.

    Args:
        request: Says which of the two.
        path: The file of texts.
        result: The scores.
        rival: Those of the baseline, or None.
        worst: The mistakes that are to be shown.
        show: Prints the tables.
    """
    if request.json:
        found = {
            "model": str(request.folder),
            "file": path,
            **result.to_json(),
            "baseline": rival.to_json() if rival else None,
            "errors": worst,
        }
        print(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        show(result, rival, worst)
    if result.unknown_words > MANY_UNKNOWN:
        warn(f"the model does not know {percent(result.unknown_words)} of the words")
