"""`headwise evaluate` for taggers: score one on a file of tagged sentences."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from headwise.cli.console import note, output, percent, visible, warn
from headwise.cli.predict_texts import MANY_UNKNOWN
from headwise.cli.requests import EvaluateRequest
from headwise.cli.tag_tables import tag_scores_table, types_table
from headwise.config import from_dict
from headwise.data.errors import DataError
from headwise.data.tag_options import TagOptions
from headwise.data.tagged import TaggedData, read_tagged
from headwise.report.tags import TagEvaluation, evaluate_tags
from headwise.store import read_info
from headwise.train.run_tags import TagRival, sentence_fingerprint, with_parses

_CONTEXT = 6  # words shown on either side of an error


def evaluate(request: EvaluateRequest) -> int:
    """Score a tagger on a file of tagged sentences.

    If the file is the one that the tagger was tested on when it was trained, the baseline of that time
    stands beside it.
    """
    data = read_tagged(request.file, from_dict(TagOptions, request.read))
    data = with_parses(data, None if request.heads is None else str(request.heads))
    for line in data.notes:
        note(line)
    if not data.sentences:
        raise DataError("HW103", "no tagged sentences", path=data.path)
    result = evaluate_tags(request.model, data.sentences)
    rival = _baseline(read_info(request.folder), data)
    worst = _errors(data, result, request.errors)
    if request.json:
        found = {
            "model": str(request.folder),
            "file": data.path,
            **result.to_json(),
            "baseline": None if rival is None else {"name": rival.name, "score": rival.score},
            "errors": worst,
        }
        print(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        out = output()
        out.print()
        out.print(tag_scores_table(result, rival))
        out.print()
        out.print(types_table(result))
        out.print()
        for mistake in worst:
            line = Text(visible(mistake["where"]), style="bold")
            line.append(f"  {visible(mistake['word'])}: {mistake['tag']} taken for ", style="")
            line.append(f"{mistake['predicted']}  {visible(mistake['context'])}", style="")
            out.print(line)
    if result.unknown_words > MANY_UNKNOWN:
        warn(f"the model does not know {percent(result.unknown_words)} of the words")
    return 0


def _baseline(info: Mapping[str, Any], data: TaggedData) -> TagRival | None:
    """The baseline of the tagger's training, if these are the sentences that it was tested on."""
    tested, found = info["data"].get("test"), info["metrics"].get("baseline")
    if not isinstance(tested, dict) or not isinstance(found, dict):
        return None
    if tested.get("sha256") != sentence_fingerprint(data.sentences).sha256:
        return None
    return TagRival(str(found.get("name")), float(found.get("score", 0.0)), None)


def _errors(data: TaggedData, result: TagEvaluation, count: int) -> Sequence[dict[str, Any]]:
    """The first words that are tagged wrong, in the order of the file."""
    found: list[dict[str, Any]] = []
    for number, (own, predicted) in enumerate(zip(data.sentences, result.predicted, strict=True)):
        for word, (tag, guess) in enumerate(zip(own.tags, predicted, strict=True)):
            if tag == guess or len(found) == count:
                continue
            context = own.tokens[max(0, word - _CONTEXT) : word + _CONTEXT + 1]
            found.append(
                {
                    "where": data.where(number, word),
                    "word": own.tokens[word],
                    "tag": tag,
                    "predicted": guess,
                    "context": " ".join(context),
                }
            )
    return found
