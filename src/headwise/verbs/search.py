"""Which priors on the heads suit a file: a ladder of them, tried on few texts first and the better on more.

Successive halving: of all candidates, each trained on a part of the texts and epochs, the better half is
trained anew on twice of both, until the last few have had all. Every candidate is trained with the same
seeds and judged on the same dev items, so that differences are paired. The encoder's own priors stay to the
end: what wins is compared with them.
"""

import json
import math
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.data.kinds import infer_task
from headwise.data.parts import read_parts
from headwise.errors import ConfigError, HeadwiseError
from headwise.models.model_config import encoder_name
from headwise.priors.draw import draw
from headwise.recipe import Sections, build_recipe, choose_settings
from headwise.scores.resample import compare_counts
from headwise.tasks import find_task
from headwise.tasks.labels import LabelTask
from headwise.train.fit import fit, targets_of
from headwise.train.loop import STATE
from headwise.train.recipe import Recipe
from headwise.verbs.listener import NOBODY, Listener

OWN = "the encoder's own"
LADDER: dict[str, tuple[str, ...]] = {
    OWN: (),
    "everything": ("everything",),
    "window 3": ("window(3)",),
    "window 9": ("window(9)",),
    "windows 3 to n/4": ("window(3)", "window(n/16)", "window(n/8)", "window(n/4)"),
    "window 5, everything": ("window(5)", "everything"),
    "directions": ("forward", "backward"),
    "directions, window 9": ("forward + window(9)", "backward + window(9)"),
    "word distance 1": ("word-distance(1)",),
    "word distance 1, 1/4": ("word-distance(1)", "word-distance(0.25)", "everything"),
    "directions, word distance": (
        "forward + word-distance(1)",
        "backward + word-distance(1)",
        "everything",
    ),
    "relative positions": ("shaw(8)",),
}
"""Names of candidates, and the priors of the heads in turn."""
RUNS = "search.jsonl"
_LAST = 3  # candidates that have all texts and epochs


@dataclass(frozen=True)
class Tried:
    """A candidate.

    Attributes:
        name: Of `LADDER`.
        priors: In turn.
        rung: How often it was trained anew on twice as much, from 0.
        right: Dev items judged right, summed over the seeds, `[items]`; of the last rung.
        seeds: How many.
        gain: Mean accuracy minus that of the encoder's own priors on the same rung, in percent; None where
            there is nothing to compare with.
        interval: Of the gain, 95 %, over the dev items.
        seconds: Of all its trainings.
    """

    name: str
    priors: tuple[str, ...]
    rung: int
    right: NDArray[np.int64]
    seeds: int
    gain: float | None
    interval: tuple[float, float] | None
    seconds: float

    @property
    def accuracy(self) -> float:
        """In percent, on dev."""
        return 100 * float(self.right.mean()) / self.seeds


@dataclass(frozen=True)
class Search:
    """What was found.

    Attributes:
        tried: All candidates that were trained, the best first: who came further, then who is better.
        rungs: How many there are.
        finished: Whether there was time for all.
        recipe: The winner's, as sections of settings.
        picture: What the winner's heads see, as SVG.
    """

    tried: tuple[Tried, ...]
    rungs: int
    finished: bool
    recipe: Mapping[str, Mapping[str, Any]]
    picture: str = field(repr=False)


def search_priors(
    file: str,
    folder: Path,
    *,
    dev: str | None = None,
    minutes: float = 30.0,
    seeds: int = 2,
    settings: Sequence[Sections] = (),
    ladder: Mapping[str, tuple[str, ...]] = LADDER,
    listener: Listener = NOBODY,
) -> Search:
    """Find priors for the heads of an encoder.

    What has been trained is kept in the folder: the same call goes on. A test part that is split off the
    file is not looked at.

    Args:
        file: Items with one label each.
        folder: For the runs.
        dev: Items to judge on; split off by default.
        minutes: Of training in all; no run begins after that.
        seeds: Of each candidate.
        settings: Sections of settings, as in a recipe; those that `headwise train` takes by default.
        ladder: Candidates.
        listener: Is told what happens.

    Raises:
        ConfigError: The task has no labels, or the encoder takes no priors.
        HeadwiseError: The file cannot be read, or the folder holds the runs of another search.
    """
    layers = tuple(settings)
    if not any("task" in layer.get("model", {}) for layer in layers):
        reading = {name: value for layer in layers for name, value in layer.get("data", {}).items()}
        layers = ({"model": {"task": infer_task(file, reading)[0]}}, *layers)
    asked = build_recipe(*layers)
    task = find_task(asked.model.task)
    if not isinstance(task, LabelTask):
        raise ConfigError("priors are searched for items with one label each (the tasks classify, pair)")
    parts = read_parts(task.kind_for(asked.model), file, dev, None, asked.data, asked.split)
    alone: Sections = {"expert": {"kind": "none"}}
    base, vectors, _ = choose_settings(parts, (*layers, alone))
    encoder: Any = base.model.encoder
    if not hasattr(encoder, "priors"):
        raise ConfigError("the heads of this encoder take no priors; choose ms-transformer or transformer")
    ladder = {name: _in_turn(priors, encoder.heads) for name, priors in ladder.items()}
    prints = [parts.kind.fingerprint(part).sha256 for part in (parts.train, parts.dev)]
    runs = _Runs(folder / RUNS, {"data": prints, "recipe": base.to_json()})

    names, rungs = list(ladder), 1 + max(0, math.ceil(math.log2(len(ladder) / _LAST)))
    on: dict[str, tuple[int, int]] = {}  # the last rung of each, and with how many seeds
    finished = True
    for rung in range(rungs):
        share = 2.0 ** (rung + 1 - rungs)
        few = replace(parts, train=_some(parts.train, share))
        for seed, name in ((seed, name) for seed in range(seeds) for name in names):
            if (name, rung, seed) in runs.right:
                continue
            if runs.seconds >= 60 * minutes:
                finished = False
                break
            recipe = _shortened(_with_priors(base, ladder[name]), share, seed)
            place = folder / f"{list(ladder).index(name)}-{rung}-{seed}"
            again = (place / STATE).exists()
            fitted = fit(task, few, recipe, place, vectors=vectors, resume=again)
            targets = targets_of(parts.dev, fitted.model.labels)
            right = task.judge(fitted.model, parts.dev).predicted == targets
            runs.add(name, rung, seed, right, fitted.progress.seconds)
            shutil.rmtree(place)
            said = f"{name}, {share:.0%} of the texts, seed {seed}"
            listener.note(f"{said}: dev accuracy {100 * right.mean():.1f} %")
        counts = {name: runs.seeds(name, rung) for name in names}
        on |= {name: (rung, count) for name, count in counts.items() if count}
        if not finished:
            break
        kept = sorted(names, key=lambda name: -runs.sum(name, rung, seeds).mean())
        kept = kept[: max(_LAST, -(-len(names) // 2))]
        names = [name for name in names if name in kept or name == OWN]
    if not on:
        raise ConfigError("there was no time for a single run; give more --minutes")
    tried = [_tried(runs, name, ladder[name], *own) for name, own in on.items()]
    tried.sort(key=lambda own: (-own.rung, -own.accuracy))
    winner = tried[0].priors
    config: Any = _with_priors(base, winner).model.encoder
    picture = draw(config.layer_priors, title=tried[0].name)
    return Search(tuple(tried), rungs, finished, _sections(layers, base, winner), picture)


class _Runs:
    """What has been trained, as lines of a file.

    Args:
        path: The file.
        key: What all runs have in common.

    Attributes:
        right: Candidate, rung and seed -> which dev items were judged right.
        seconds: Of all trainings.
    """

    def __init__(self, path: Path, key: Mapping[str, Any]):
        self.path, self.right, self.seconds = path, dict[tuple[str, int, int], NDArray[np.bool_]](), 0.0
        self.spent = defaultdict[str, float](float)
        text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        first, *lines = text.splitlines() or [""]
        if not text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(key) + "\n", encoding="utf-8")
        elif first != json.dumps(key):
            raise HeadwiseError(f"{path}: the runs of another search; name another folder", code="HW403")
        elif not text.endswith("\n"):  # cut off: what comes next is a line of its own
            with open(path, "a", encoding="utf-8") as file:
                file.write("\n")
        for line in lines:
            try:
                own = json.loads(line)
                bits = np.frombuffer(bytes.fromhex(own["right"]), np.uint8)
                right = np.unpackbits(bits, count=own["items"]) == 1
                self._note(own["name"], own["rung"], own["seed"], right, own["seconds"])
            except (ValueError, KeyError, TypeError):
                continue  # damaged; it is trained again

    def add(self, name: str, rung: int, seed: int, right: NDArray[np.bool_], seconds: float) -> None:
        """Keep a run."""
        own = {"name": name, "rung": rung, "seed": seed, "items": len(right), "seconds": seconds}
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps({**own, "right": np.packbits(right).tobytes().hex()}) + "\n")
        self._note(name, rung, seed, right, seconds)

    def seeds(self, name: str, rung: int) -> int:
        """How many seeds of a candidate there are, from the first on."""
        return sum((name, rung, seed) in self.right for seed in range(len(self.right)))

    def sum(self, name: str, rung: int, seeds: int) -> NDArray[np.int64]:
        """How often each dev item was judged right, `[items]`."""
        return np.stack([self.right[name, rung, seed] for seed in range(seeds)]).sum(0, dtype=np.int64)

    def _note(self, name: str, rung: int, seed: int, right: NDArray[np.bool_], seconds: float) -> None:
        self.right[name, rung, seed] = right
        self.seconds += seconds
        self.spent[name] += seconds


def _tried(runs: _Runs, name: str, priors: tuple[str, ...], rung: int, seeds: int) -> Tried:
    """A candidate beside the encoder's own priors, on the same rung with the same seeds."""
    right = runs.sum(name, rung, seeds)
    gain = interval = None
    shared = min(seeds, runs.seeds(OWN, rung))
    if name != OWN and shared:
        ours, theirs = (runs.sum(own, rung, shared)[:, None] for own in (name, OWN))
        found = compare_counts(ours, theirs, lambda sums: 100 * sums[..., 0] / (shared * len(right)))
        gain, interval = found.score, found.interval
    return Tried(name, priors, rung, right, seeds, gain, interval, runs.spent[name])


def _some(items: Sequence[Any], share: float) -> list[Any]:
    """A share of items, the same with every call."""
    chosen = np.random.default_rng(0).permutation(len(items))[: max(1, round(share * len(items)))]
    return [items[number] for number in sorted(chosen.tolist())]


def _in_turn(priors: tuple[str, ...], heads: int) -> tuple[str, ...]:
    """The same where they divide the heads; else one for each head."""
    return priors if not priors or heads % len(priors) == 0 else tuple(islice(cycle(priors), heads))


def _with_priors(recipe: Recipe, priors: tuple[str, ...]) -> Recipe:
    encoder: Any = recipe.model.encoder
    return replace(recipe, model=replace(recipe.model, encoder=replace(encoder, priors=priors)))


def _shortened(recipe: Recipe, share: float, seed: int) -> Recipe:
    """A recipe for a share of the epochs; nothing is trained a second time on all texts."""
    epochs = max(1, round(share * recipe.train.epochs))
    return replace(recipe, train=replace(recipe.train, epochs=epochs, seed=seed, refit=False, folds=0))


def _sections(
    layers: Sequence[Sections], base: Recipe, priors: tuple[str, ...]
) -> dict[str, dict[str, Any]]:
    """What the user has said, and the priors."""
    found: dict[str, dict[str, Any]] = {}
    for layer in layers:
        for section, own in layer.items():
            found.setdefault(section, {}).update(own)
    found.setdefault("encoder", {})["name"] = encoder_name(base.model.encoder)
    if priors:
        found["encoder"]["priors"] = list(priors)
    return found


def recipe_text(sections: Sections, comment: str) -> str:
    """Sections of settings as a TOML recipe."""
    lines = [f"# {line}" for line in comment.splitlines()]
    for section, own in sections.items():
        lines += ["", f"[{section}]", *(f"{name} = {json.dumps(value)}" for name, value in own.items())]
    return "\n".join(lines) + "\n"
