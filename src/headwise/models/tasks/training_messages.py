"""Messages of a training run: about long texts before it, and about members, thresholds and calibration of
the trained model after it."""

from __future__ import annotations  # the models, which need torch, are loaded when they are needed

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headwise.core.config import JsonMapping
from headwise.core.tokenizer import get_tokenizer
from headwise.data.items.item_type import ItemType
from headwise.metrics.calibration import MAX_USUAL_TEMPERATURE
from headwise.metrics.metric_keys import OPERATING_POINTS
from headwise.models.report_parts import ReportMessage
from headwise.nn.networks.model_config import ModelConfig

if TYPE_CHECKING:
    from headwise.nn.networks.tag_model import TagModel
    from headwise.nn.networks.text_model import TextEncoderModel
    from headwise.training.train_result import TrainResult


def label_names_message(model: TextEncoderModel) -> list[str]:
    """A message if label names were training texts."""
    if not (named := model.config.base.named):
        return []
    return [f"The names of {named} labels were training texts too (--base.no-names leaves them out)."]


def linear_model_message(model: TextEncoderModel) -> list[str]:
    """A message about the linear model, if there is one."""
    if model.linear_model is None:
        return []
    config = model.config.linear_model
    inputs = ["words", "word pairs"]
    inputs += ["character n-grams"] * bool(config.characters) + ["text boundaries"] * config.edges
    inputs += ["the base's vectors"] * bool(config.vectors)
    inputs += ["surface features (length, capitals, digits, punctuation)"] * config.form
    inputs += [f"the column {encoding.name!r}" for encoding in config.tabular or ()]
    read = f"{', '.join(inputs[:-1])} and {inputs[-1]}"
    return [f"A linear model on {len(model.linear_model.keys):,} {read} {contribution_message(model)}"]


def contribution_message(model: TextEncoderModel | TagModel) -> str:
    """A message about the contribution of the linear model."""
    if model.encoder_weight == 0:
        return "decides alone: the encoder adds nothing on held-out texts."
    share = f"{100 * model.linear_share:.0f} % of the combined score"
    return f"is combined with the encoder and contributes {share} (--linear-model.kind none leaves it out)."


def threshold_messages(fitted: TrainResult, many: str) -> list[str]:
    """Messages about the thresholds of the labels."""
    model = fitted.model
    if model.thresholds is None or OPERATING_POINTS in fitted.dev:
        return operating_point_messages(fitted.dev, many)
    least, most = min(model.thresholds), max(model.thresholds)
    return [
        f"Thresholds of {len(model.labels):,} labels chosen {fitted.held_out.on} for the macro F1, from "
        f"{least:.2f} to {most:.2f}: a text gets the label whose probability is the most times its "
        "threshold."
    ]


def operating_point_messages(dev: JsonMapping, many: str) -> list[str]:
    """Messages about the requested operating points, and the rates to expect on new texts by held-out
    scores."""
    populations = {"recall": "of the label", "precision": "that get it", "fpr": "of other labels"}
    messages = []
    for point in dev.get(OPERATING_POINTS, ()):
        name, side = ("false positive rate", "most") if point["rate"] == "fpr" else (point["rate"], "least")
        target = f"a {name} of at {side} {100 * point['wanted']:.4g} %"
        came = "to be expected" if point["kept"] else "the best that can be promised"
        of = f"is {came} by {point['texts']:,.0f} held-out {many} {populations[point['rate']]}"
        messages.append(f"{point['label']!r} is given for {target}: {100 * point['expected']:.1f} % {of}.")
    return messages


def calibration_message(fitted: TrainResult, many: str) -> str:
    """A message about the calibration of the probabilities."""
    if fitted.model.linear_model is None and fitted.model.temperature > MAX_USUAL_TEMPERATURE:
        return (
            f"The outputs of the encoder say next to nothing of the labels of held-out {many}: calibration "
            f"has switched it off (temperature {fitted.model.temperature:,.0f}). Either the {many} do not "
            "tell their labels, or training has diverged (then try a smaller --learning-rate)."
        )
    before, after = (f"{100 * error:.1f} %" for error in fitted.calibration or (0.0, 0.0))
    return (
        f"Probabilities calibrated {fitted.held_out.on} (temperature {fitted.model.temperature:.2f}): "
        f"calibration error of the encoder before {before}, of the whole model now {after} (cross-fitted)."
    )


def long_texts(config: ModelConfig, item_type: ItemType, items: Sequence[object]) -> list[ReportMessage]:
    """A message about how many texts have more words than the encoder reads at once, and what happens to
    them."""
    words, _ = config.windows.sizes(config.encoder)
    if not words:
        return []
    cut = get_tokenizer(config.words.tokenizer).words
    lengths = [len(text_words) for item in items for text_words in item_type.words(item, cut)]
    long = sum(length > words for length in lengths)
    have = f"{long:,} of {len(lengths):,} texts have more than {words:,} words"
    if long and config.windows.long == "truncate":
        return [ReportMessage(f"{have}: only these are read (--windows.long truncate)", warning=True)]
    if long and config.windows.long == "split":
        return [ReportMessage(f"{have}: read in windows that overlap (--windows.words, --windows.long)")]
    return []
