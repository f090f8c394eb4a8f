"""Search spaces of hyperparameter searches: the candidates, each of which changes a few settings."""

from collections.abc import Callable, Mapping
from itertools import cycle, islice
from typing import Any

from headwise.app.configuration import Sections
from headwise.core.errors import ConfigError
from headwise.training.settings import RunConfig

SearchSpace = Callable[[RunConfig], Mapping[str, Sections]]
"""Maps the settings without a change to candidates by name; the first candidate changes nothing."""

DEFAULTS, ENCODER_DEFAULT = "the defaults", "the encoder's own"

PRIOR_CANDIDATES: dict[str, tuple[str, ...]] = {
    ENCODER_DEFAULT: (),
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
"""Names of candidates, and the priors that their heads have in turn."""

_FACTORS: dict[tuple[str, str], tuple[float, ...]] = {
    ("train", "learning_rate"): (1 / 3, 3),
    ("train", "epochs"): (1 / 2, 2),
    ("train", "batch_texts"): (1 / 2, 2),
    ("encoder", "width"): (1 / 2, 2),
}
_CHOICES: dict[tuple[str, str], tuple[Any, ...]] = {
    ("base", "name"): ("none",),
    ("base", "train"): (True, False),
    ("base", "dropout"): (0.1, 0.3, 0.5),
    ("base", "word_dropout"): (0.0, 0.1),
    ("words", "dropout"): (0.1, 0.3, 0.5),
    ("words", "word_dropout"): (0.0, 0.1),
    ("encoder", "layers"): (1, 2, 3),
    ("model", "readout"): ("mean", "max"),
    ("classifier", "dropout"): (0.1, 0.3, 0.5),
    ("classifier", "label_smoothing"): (0.0, 0.1),
    ("tagger", "dropout"): (0.1, 0.3, 0.5),
    ("language", "dropout"): (0.0, 0.1, 0.2),
    ("linear_model", "kind"): ("linear", "none"),
}


def settings_search_space(run_config: RunConfig) -> dict[str, Sections]:
    """Candidates that change one setting each, of those that matter on small data: learning rate, epochs,
    dropout, size and readout of the encoder, and whether there are a base and a linear model. Size and
    readout of a base's encoder are fixed; there, a candidate leaves that encoder out."""
    plain, candidates = run_config.to_json(), dict[str, Sections]({DEFAULTS: {}})
    based, pretrained = bool(plain.get("base", {}).get("name")), has_base_encoder(run_config)
    if pretrained:
        candidates["base.encoder on -> off"] = {"base": {"encoder": "off"}}
    for section, name in (*_FACTORS, *_CHOICES):
        default = plain.get(section, {}).get(name)
        if default is None or section == ("words" if based else "base"):
            continue
        if pretrained and section in ("encoder", "model"):
            continue
        factors = _FACTORS.get((section, name), ())
        choices = _CHOICES.get((section, name)) or [
            type(default)(_round(default * factor)) for factor in factors
        ]
        for choice in choices:
            change = {name: choice}
            if "heads" in plain[section] and name == "width":
                heads = plain[section]["heads"]
                change = {name: max(round(choice / heads), 1) * heads}
                if "head_size" in plain[section]:
                    change["head_size"] = change[name] // heads
            if change[name] != default:
                candidates[f"{section}.{name} {default} -> {change[name]}"] = {section: change}
    return candidates


def has_base_encoder(run_config: RunConfig) -> bool:
    """Whether models start from the pretrained encoder of the base."""
    return "base" in run_config.sections and run_config.model.base.encoder == "on"


def _round(number: float) -> float:
    """Round to two digits; numbers from 0.5 on to at least 1."""
    return max(float(f"{number:.2g}"), 1.0) if number >= 0.5 else float(f"{number:.2g}")


def priors_search_space(
    run_config: RunConfig, ladder: Mapping[str, tuple[str, ...]] = PRIOR_CANDIDATES
) -> dict[str, Sections]:
    """Candidates with other priors on the heads of the encoder.

    Args:
        run_config: The settings without a change.
        ladder: The priors of each candidate.

    Raises:
        ConfigError: There is no encoder, its heads have no priors, it is causal, or it is that of a base.
    """
    encoder: Any = run_config.model.encoder
    if "language" in run_config.sections:
        raise ConfigError(
            "priors that look to both sides are not for language models, and no others are searched; give "
            'some in a recipe, such as priors = ["forward + window(9)"]'
        )
    if "encoder" not in run_config.sections:
        raise ConfigError(
            f"the task {run_config.model.task} has no heads on words, so no priors are searched"
        )
    if has_base_encoder(run_config):
        raise ConfigError(
            "the encoder of a base was trained with its priors, so no others are searched; give "
            'encoder = "off" in the section base of a recipe'
        )
    if not hasattr(encoder, "priors"):
        raise ConfigError("the heads of this encoder take no priors; choose ms-transformer or transformer")
    candidates: dict[str, Sections] = {name: {} for name in ladder}
    for name, priors in ladder.items():
        if priors and encoder.heads % len(priors):  # in turn, one for each head
            priors = tuple(islice(cycle(priors), encoder.heads))
        if priors:
            candidates[name] = {"encoder": {"priors": list(priors)}}
    return candidates
