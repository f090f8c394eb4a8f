"""`headwise evaluate` for language models: how well one predicts a text."""

import json
from typing import Any

from headwise.cli.console import output, percent, warn
from headwise.cli.language_tables import language_table
from headwise.cli.requests import EvaluateRequest
from headwise.config import from_dict
from headwise.data.stream_options import StreamOptions
from headwise.errors import ConfigError
from headwise.train.run_language import read_text

_MANY_UNKNOWN = 0.01


def evaluate(request: EvaluateRequest) -> int:
    """Score a language model on a plain text, each symbol once, with at least half a context before it."""
    if request.heads is not None:
        raise ConfigError("--heads is the syntax of labelled texts, which language models do not read")
    if request.errors:
        raise ConfigError("--errors shows labels that are wrong, and a language model gives none")
    model: Any = request.model
    text = read_text(str(request.file), model, from_dict(StreamOptions, request.read))
    scores = model.score(text)
    if request.json:
        found = {"model": str(request.folder), "file": text.path, **scores.to_json()}
        print(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        out = output()
        out.print()
        out.print(language_table(scores))
    if scores.unknown > _MANY_UNKNOWN * scores.symbols:
        warn(f"the model does not know {percent(scores.unknown / scores.symbols)} of the {scores.unit}")
    return 0
