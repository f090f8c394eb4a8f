"""What more texts are worth: models of fewer texts, and a power law through their errors."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.data.example import Example
from headwise.data.kinds import KINDS
from headwise.data.labels import targets_of
from headwise.data.parts import Parts
from headwise.errors import ConfigError
from headwise.features.bases.choice import AUTO
from headwise.linear.text_fit import fit_linear
from headwise.recipe import choose_settings
from headwise.report.curve import curve_figure
from headwise.scores.power_law import PowerLaw, fit_power_law
from headwise.tasks import find_task
from headwise.train.fit import fit
from headwise.verbs.listener import NOBODY, Listener
from headwise.verbs.models import base_vectors, read_labelled

LEAST_TEXTS = 100
_SIZES, _STEP = 7, 2**-0.5  # down to an eighth of the texts
_HELD, _MOST_HELD = 0.2, 2_000

Judge = Callable[[NDArray[np.int64], NDArray[np.int64], int], float]
"""The accuracy on some texts of a model of others (by number), made with a seed."""


@dataclass(frozen=True)
class Curve:
    """How good models of fewer texts are, and what more are worth.

    Attributes:
        file: As the user named it.
        texts: How many it has.
        model: What was trained: `linear` or `whole`.
        sizes: Texts that were trained on, `[sizes]`.
        accuracy: Of these models on other texts, `[seeds, sizes]`.
        law: Through their errors.
        more: Numbers of more texts that somebody may think of.
    """

    file: str
    texts: int
    model: str
    sizes: NDArray[np.int64]
    accuracy: NDArray[np.float64]
    law: PowerLaw
    more: tuple[int, ...]

    @property
    def forecasts(self) -> list[dict[str, Any]]:
        """For each of `more`: the `gain` in accuracy and its `interval`, and the `accuracy` then."""
        found = []
        for more in self.more:
            gain, low, high = self.law.gain(more)
            accuracy = 1 - self.law.error(self.texts + more)[0]
            found.append({"more": more, "gain": gain, "interval": [low, high], "accuracy": accuracy})
        return found

    def figure(self) -> str:
        """The source of an SVG, up to the most texts that somebody thinks of; what a notebook shows."""
        title = f"What more texts are worth: {Path(self.file).name}"
        return curve_figure(title, self.sizes, self.accuracy, self.law, self.texts + max(self.more))

    def _repr_svg_(self) -> str:
        return self.figure()

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        error, low, high = self.law.error(self.texts)
        return {
            "file": self.file,
            "texts": self.texts,
            "model": self.model,
            "sizes": self.sizes.tolist(),
            "accuracy": self.accuracy.tolist(),
            "now": {"accuracy": 1 - error, "interval": [1 - high, 1 - low]},
            "forecasts": self.forecasts,
        }


def curve_file(
    file: str,
    *,
    more: Sequence[int] = (),
    seeds: int = 5,
    whole: bool = False,
    base: str = AUTO,
    work: Path | None = None,
    reading: Mapping[str, Any] | None = None,
    listener: Listener = NOBODY,
) -> Curve:
    """Train models on more and more of the texts of a file, and say what others would add.

    Each seed holds a fifth of the texts out and takes the rest in another order, of which every model has
    the first so many: what differs between the sizes of a seed is the number of texts alone.

    Args:
        file: Texts with one label each; "-" is standard input.
        more: Numbers of more texts to think of; by default about a quarter, a half and all of the file's.
        seeds: Orders of the texts, two or more.
        whole: Train what `headwise train` does, instead of its linear expert alone.
        base: Whose vectors the linear expert reads beside the words: `auto`, `none`, or what `--base`
            takes.
        work: A file that keeps what was measured, for an interrupted run to go on with.
        reading: How the file is read, where that is not to be guessed.
        listener: Is told what happens.

    Raises:
        HeadwiseError: The file cannot be read, its texts are too few, or a number makes no sense.
    """
    if seeds < 2 or any(number < 1 for number in more):
        raise ConfigError("--seeds must be 2 or more, and --more 1 or more")
    data, names = read_labelled(file, reading, LEAST_TEXTS, listener)
    count = len(data.items)
    held = min(max(round(_HELD * count), 1), _MOST_HELD)
    sizes = np.round((count - held) * _STEP ** np.arange(_SIZES)[::-1]).astype(np.int64)
    judge = _whole_judge(data.items) if whole else _linear_judge(data.items, names, base, listener)
    identity = {
        "texts": KINDS["classify"].fingerprint(data.items).sha256,
        "model": "whole" if whole else f"linear {base}",
    }
    measured = Measured(work, identity)
    with listener.answering() as update:
        for seed in range(seeds):
            order = np.random.default_rng(seed).permutation(count)
            for place, size in enumerate(sizes.tolist()):
                key = f"{seed}:{size}"
                if key not in measured.found:
                    measured.add(key, judge(order[held : held + size], order[:held], seed))
                update(seed * len(sizes) + place + 1, seeds * len(sizes))
    accuracy = np.array([[measured.found[f"{seed}:{size}"] for size in sizes] for seed in range(seeds)])
    law = fit_power_law(sizes, 1 - accuracy, count)
    steps = tuple(more) or tuple(dict.fromkeys(_round(count * share) for share in (0.25, 0.5, 1)))
    return Curve(data.path, count, "whole" if whole else "linear", sizes, accuracy, law, steps)


class Measured:
    """What was measured so far, in a file that an interrupted run leaves behind.

    Args:
        path: The file; None for none.
        identity: What has to be the same for numbers to be gone on with.
    """

    def __init__(self, path: Path | None, identity: Mapping[str, Any]):
        self.path, self.identity, self.found = path, dict(identity), dict[str, float]()
        if path is None or not path.exists():
            return
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["identity"] == self.identity:
                self.found = {str(key): float(value) for key, value in data["measured"].items()}
        except (OSError, ValueError, OverflowError, RecursionError, KeyError, TypeError, AttributeError):
            raise ConfigError(f"{path}: this is no file of headwise curve; give another --work") from None

    def add(self, key: str, value: float) -> None:
        """Keep one more number."""
        self.found[key] = value
        if self.path is not None:
            new = self.path.with_name(self.path.name + ".new")
            new.write_text(
                json.dumps({"identity": self.identity, "measured": self.found}), encoding="utf-8"
            )
            new.replace(self.path)


def _round(number: float) -> int:
    """1, 2 or 5 with zeros behind it, not above a number."""
    ten = 10 ** int(np.log10(number))
    return next(step * ten for step in (5, 2, 1) if step * ten <= number)


def _linear_judge(items: Sequence[Example], names: Sequence[str], base: str, listener: Listener) -> Judge:
    """Trains the linear expert; what it reads is chosen once, on all texts."""
    texts, targets = [item.text for item in items], targets_of(items, names)
    dense, said = base_vectors(texts, base)
    if said:
        listener.note(said)

    def fitted(rows: NDArray[np.int64], **how: Any) -> Any:
        vectors = None if dense is None else dense[rows]
        return fit_linear([texts[row] for row in rows], targets[rows], len(names), dense=vectors, **how)

    settings = fitted(np.arange(len(texts))).settings

    def judge(train: NDArray[np.int64], test: NDArray[np.int64], seed: int) -> float:
        model = fitted(train, folds=1, seed=seed, settings=settings).model
        scores = model.scores([texts[row] for row in test], None if dense is None else dense[test])
        return float((scores.argmax(axis=1) == targets[test]).mean())

    return judge


def _whole_judge(items: Sequence[Example]) -> Judge:
    """Trains what `headwise train` does."""
    task = find_task("classify")

    def judge(train: NDArray[np.int64], test: NDArray[np.int64], seed: int) -> float:
        own, other = ([items[row] for row in rows] for rows in (train, test))
        layers = ({"split": {"seed": seed}, "train": {"seed": seed}},)
        known = {item.label for item in own}
        cut = task.kind.split(own, 0.15, seed=seed)
        parts = Parts(task.kind, cut.train, cut.dev, [])
        recipe, vectors, _ = choose_settings(parts, layers)
        with TemporaryDirectory(prefix="headwise-") as folder:
            model = fit(task, parts, recipe, Path(folder), vectors=vectors).model
        asked = [item for item in other if item.label in known]  # the others are wrong in any case
        right = task.judge(model, asked).scores.accuracy * len(asked) if asked else 0.0
        return right / len(other)

    return judge
