"""How much each head of a model is worth: its scores on a file without the head."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headwise.errors import ConfigError
from headwise.models.masked_heads import heads_of, without
from headwise.report.sheet import Sheet, is_number, lookup
from headwise.scores.metrics import paired_interval
from headwise.tasks import find_task
from headwise.verbs.listener import NOBODY, Listener
from headwise.verbs.models import open_model, read_answers

_NOTHING = 1e-3
"""Nats that make no difference."""


@dataclass(frozen=True)
class HeadWorth:
    """What a model loses without a head.

    Attributes:
        module: The name of the head's attention in the encoder.
        head: Its number there, from 1.
        prior: What its prior is, where it has one.
        score: The score of the model without it.
        worth: How much better the model is with it.
        interval: 95 % interval of that, over items; None where the task has none.
        loss: How much larger the log loss is without it, in nats; None where there is none.
    """

    module: str
    head: int
    prior: str
    score: float
    worth: float
    interval: tuple[float, float] | None
    loss: float | None

    @property
    def dead(self) -> bool:
        """Whether the model does as well without it, as far as these items tell."""
        low = self.worth if self.interval is None else self.interval[0]
        return low <= 0 and (self.loss is None or self.loss < _NOTHING)

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return asdict(self)


def heads_file(
    folder: Path | str,
    file: Path | str,
    *,
    heads: Path | str | None = None,
    pipeline: str | None = None,
    device: str = "auto",
    reading: Mapping[str, Any] | None = None,
    listener: Listener = NOBODY,
) -> tuple[Sheet, float, list[HeadWorth]]:
    """Judge a model on a file without each of its heads in turn.

    Args:
        folder: The model's folder.
        file: With the true answers; best the dev or test part of the training.
        heads: The syntax of the texts.
        pipeline: See `headwise.verbs.models.open_model`.
        device: Likewise.
        reading: How the file is read, where that is not to be guessed.
        listener: Is told what happens.

    Returns:
        What the task's scores are, the score of the whole model, and the heads layer by layer.

    Raises:
        HeadwiseError: The model or the file cannot be used, or the model has no heads.
    """
    model = open_model(folder, device, pipeline)
    task = find_task(model.config.task)
    every = heads_of(model) if hasattr(model, "encoder") else []
    if not every:
        raise ConfigError(f"{folder}: the encoder has no heads that can be left out")
    data = read_answers(task, model, folder, file, heads, reading, listener)
    whole = task.judge(model, data.items)
    scores = whole.to_json()
    sheet = task.sheet(scores)
    key, sign = sheet.headline.key, -1 if sheet.lower else 1
    known = task.sureness(model, data.items, whole)
    found = []
    with listener.answering() as update:
        for number, head in enumerate(every, start=1):
            with without(head):
                other = task.judge(model, data.items)
            own = other.to_json()
            bounds = None
            if known is not None and (bare := task.sureness(model, data.items, other)) is not None:
                bounds = paired_interval(known[1], bare[1])
            losses = [lookup(each, "log_loss") for each in (own, scores)]
            loss = losses[0] - losses[1] if all(map(is_number, losses)) else None
            worth = sign * (lookup(scores, key) - lookup(own, key))
            place = (head.module, head.number + 1, head.prior)
            found.append(HeadWorth(*place, lookup(own, key), worth, bounds, loss))
            update(number, len(every))
    return sheet, lookup(scores, key), found
