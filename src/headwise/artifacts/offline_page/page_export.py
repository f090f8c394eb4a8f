"""Export of a model to a web page: one file that classifies what one types, without a network.

The page computes the linear model, static embeddings and the encoder MS-Transformer, and no other encoder.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from headwise.artifacts.offline_page.page_network import encoder_reason, page_network
from headwise.artifacts.offline_page.page_tables import page_settings, page_tables, script_json
from headwise.artifacts.onnx.onnx_errors import ExportError
from headwise.core.html import Page, render
from headwise.core.version import __version__
from headwise.runtime.outputs import NumberOutputs

CHECKED_TEXTS = (
    "The second parcel arrived on Monday, but the lamp inside was broken - it's useless!",
    "I can't log in. My account (n° 4,711) shows ERROR 503 :( see https://status.example.org/help?id=7",
    "“Well-made”, she said… costs $19.99 at Mr. O’Neill’s shop, e.g. on 3.5. at 10:30 <br /> don't!!!",
    "Die Straßenbahn fährt ohne Übergang, ÄRGERLICH! Das Gerät wäre 2½ Jahre alt. İstanbul'da çok güzel.",
    "Ο Οδυσσέας είπε ΌΧΙ ΣΤΟΥΣ ΑΝΕΜΟΥΣ· Ёлка и поезд — хорошо ли это?",
    "这个产品非常好，我会再买。 東京で買った靴はとても軽いです。 ﾃｽﾄ ＡＢＣ１２３",
    "ส่งของช้ามาก แต่คุณภาพดี ខ្ញុំចូលចិត្ត မကောင်းဘူး",
    "هذا المنتج ممتاز، شكرًا لكم! זה לא עובד שלום יום यह बहुत अच्छा है। আমি খুশি",
    "cafe\u0301 soooo gooood #happy @someone 👍🏽👨‍👩‍👧 🇫🇷 x\u200dy co\u00adop ﬁne U.S. J. K. Rowling",
    "a",
    "",
)
"""Texts of many scripts and signs. A page compares its answers to them with those of the model."""
_LEFT_OUT = (
    "This page leaves out the encoder of the model, which contributes to its score. Answers differ from "
    "those of headwise predict, and probabilities are not calibrated. The scores below are those of the "
    "whole model."
)


class OfflinePage(NamedTuple):
    """A page that classifies offline.

    Attributes:
        html: Its source.
        left_out: What it leaves out of the model, as a sentence; "" if its answers are those of the model.
    """

    html: Page
    left_out: str


def offline_page(
    model: Any, title: str, facts: str, *, without_encoder: bool = False, examples: Sequence[str] = ()
) -> OfflinePage:
    """The page of a model of texts.

    Args:
        model: From `load_model`. With `without_encoder`, the weights of its ensemble are changed.
        title: The heading of the page, plain text.
        facts: The description of the model, HTML.
        without_encoder: Whether the encoder of an ensemble is left out, which makes the page smaller.
        examples: Texts that the page offers to try.

    Raises:
        ExportError: HW952, the page cannot give the answers of the model.
    """
    _check_supported(model, without_encoder=without_encoder)
    left_out, network = "", None
    if model.encoder_weight and without_encoder:
        left_out = _LEFT_OUT
        _leave_out_encoder(model)
    elif model.encoder_weight:
        network = page_network(model)
    page = render(
        "offline.html.jinja",
        title=title,
        version=__version__,
        left_out=left_out,
        examples=examples,
        facts=Markup(facts),  # noqa: S704 - HTML by contract
        settings=script_json(page_settings(model, network, _checks(model))),
        tables=page_tables(model, network),
        has_encoder=network is not None,
    )
    return OfflinePage(Page(page), left_out)


def _check_supported(model: Any, *, without_encoder: bool) -> None:
    """Check that a page can compute a model.

    Raises:
        ExportError: HW952, it cannot.
    """
    if getattr(model, "gives_tags", False) or getattr(model, "reads_pairs", True):
        reason = "a page classifies texts; this is a model of another task"
    elif model.features.trees != "none":
        reason = "the model reads dependency trees, and a page has no parser"
    elif model.linear_model is None or not model.linear_weight:
        reason = (
            "the model has no linear model, and a page computes an encoder only beside one; train it with "
            "--linear-model.kind linear, or export it with --format onnx"
        )
    elif model.config.linear_model.tabular:
        names = ", ".join(repr(encoding.name) for encoding in model.config.linear_model.tabular)
        reason = f"the model reads the columns {names} beside the text, and a page reads texts alone"
    elif model.encoder_weight and not without_encoder and (missing := encoder_reason(model.config)):
        contribution = f"{100 * (1 - model.linear_share):.0f} %" if model.linear_share else "a part"
        reason = (
            f"a page cannot compute {missing}, and the encoder contributes {contribution} of the combined "
            "score. Add --without-encoder to export the linear model alone; the page then says so"
        )
    else:
        return
    raise ExportError(reason, code="HW952")


def _leave_out_encoder(model: Any) -> None:
    """Make the linear model the only member of an ensemble.

    Its scores are enlarged to the mean size of the scores of the ensemble, which the temperature fits.
    """
    if not isinstance(model.outputs, NumberOutputs):
        model.novelty = None  # its threshold belongs to the logits of the ensemble
        model.linear_weight /= model.linear_share or 1.0
    else:
        model.linear_weight = 1.0
    model.encoder_weight = 0.0


def _checks(model: Any) -> dict[str, NDArray[np.float64]]:
    """What the model predicts for `CHECKED_TEXTS`, by text: probabilities, or a number, `[outputs]`."""
    most = 0 if model.features.most is None else model.features.most()
    words = model.features.tokenizer.words
    texts = [text for text in CHECKED_TEXTS if not most or len(words(text)) <= most]
    encoded = model.encoded(texts)
    if isinstance(model.outputs, NumberOutputs):
        return dict(zip(texts, model.scores(encoded)[:, None], strict=True))
    return dict(zip(texts, model.outputs.probabilities(model.logits(encoded)), strict=True))
