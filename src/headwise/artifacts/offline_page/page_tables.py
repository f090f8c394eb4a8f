"""The contents of a page that classifies offline: settings in JSON, and tables of numbers in base64."""

import base64
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from headwise.artifacts.offline_page.javascript_patterns import javascript_pattern
from headwise.artifacts.offline_page.page_network import PageNetwork
from headwise.core.config import JsonObject
from headwise.core.folder_layout import UNNORMALIZED
from headwise.core.surface_features import REFERENCE_TEXT, character_kinds
from headwise.core.text_normalization import MOST_MARKS, REPLACEMENTS, STRAY_JOINER
from headwise.core.tokenizer import ASCII_SPELLING, LONGEST_COMPOSED, PLAIN_SPELLING, TOKEN_PATTERNS
from headwise.linear.tfidf_features import LONGEST, SHORTEST
from headwise.metrics.novelty import NEIGHBOURS
from headwise.nn.embeddings.base_embedding import BaseEmbedding
from headwise.runtime.outputs import MultiLabelOutputs, NumberOutputs
from headwise.text.static_embeddings.word_groups import LONGEST_NGRAM, MOST_LETTERS, SHORTEST_NGRAM

_ARRAYS: Mapping[str, str] = {
    "int8": "Int8Array",
    "uint8": "Uint8Array",
    "int16": "Int16Array",
    "int32": "Int32Array",
    "uint32": "Uint32Array",
    "float32": "Float32Array",
}
# A capital sigma at the end of a word has another lower-case letter.
_FINAL_SIGMA = (
    r"(?<=[\p{Cased}--\p{Case_Ignorable}]\p{Case_Ignorable}*)Σ"
    r"(?!\p{Case_Ignorable}*[\p{Cased}--\p{Case_Ignorable}])"
)


class PageTable(NamedTuple):
    """A table of a page.

    Attributes:
        name: Its name.
        type: The type of the array in JavaScript.
        base64: Its values, little-endian.
    """

    name: str
    type: str
    base64: str


def page_tables(model: Any, network: PageNetwork | None) -> list[PageTable]:
    """The tables of the linear model, of the base, and of the novelty detector.

    Args:
        model: A model of texts with a linear model, from `load_model`.
        network: The encoder; None if the page has none.
    """
    linear = model.linear_model
    tables = {name: buffer.cpu().numpy() for name, buffer in linear.named_buffers()}
    tables["keys"] = tables["keys"].view(np.uint32)
    if linear.form:
        tables["kinds"] = character_kinds()
    if network is not None:
        tables |= network.tables
    if _reads_base(model):
        for name in ("values", "scales", "weights"):
            tables[f"base_{name}"] = getattr(model.embedding, name).cpu().numpy()
    if _has_references(model):
        tables["references"] = model.reference_vectors.values.cpu().numpy()
    return [_base64_table(name, values) for name, values in tables.items()]


def _has_references(model: Any) -> bool:
    has_labels = model.linear_model.tables.classes > 1
    return has_labels and model.novelty is not None and model.references is not None


def _reads_base(model: Any) -> bool:
    encoder = model.encoder_weight != 0.0 and isinstance(model.embedding, BaseEmbedding)
    return encoder or model.linear_model.vectors > 0 or _has_references(model)


def _base64_table(name: str, values: NDArray) -> PageTable:
    values = values.astype(np.float32) if np.issubdtype(values.dtype, np.floating) else values
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    return PageTable(name, _ARRAYS[values.dtype.name], base64.b64encode(little.tobytes()).decode("ascii"))


def page_settings(
    model: Any, network: PageNetwork | None, checks: Mapping[str, NDArray[np.float64]]
) -> JsonObject:
    """The settings of a page.

    Args:
        model, network: See `page_tables`.
        checks: What the model predicts for texts, by text: probabilities, or a number, `[outputs]`.
    """
    linear, outputs = model.linear_model.tables, model.outputs
    most = 0 if model.features.most is None else model.features.most()
    return {
        "reader": _reader_settings(model.features.reader.name),
        "base": _base_settings(model.embedding) if _reads_base(model) else None,
        "linear": {
            "words": linear.words,
            "columns": linear.columns,
            "classes": linear.classes,
            "vectors": linear.vectors,
            "pruned": linear.stored_weights > 0,
            "reach": linear.reach,
            "edges": linear.edges,
            "surface": linear.form,
            "shortest": SHORTEST,
            "longest": LONGEST,
            "referenceText": REFERENCE_TEXT,
        },
        "most": most,
        "truncates": model.features.cut,
        "weight": model.linear_weight,
        "encoder": None if network is None else network.settings,
        "encoderWeight": model.encoder_weight,
        **_outputs_settings(outputs),
        "checks": [{"text": text, "answer": answer.tolist()} for text, answer in checks.items()],
    }


def _reader_settings(tokenizer: str) -> JsonObject:
    kind = tokenizer.removesuffix(UNNORMALIZED)
    return {
        "normalizes": kind == tokenizer,
        "word": javascript_pattern(TOKEN_PATTERNS[kind]),
        "joiner": javascript_pattern(STRAY_JOINER.pattern),
        "finalSigma": javascript_pattern(_FINAL_SIGMA),
        "mostMarks": MOST_MARKS,
        "replacements": REPLACEMENTS,
        "spellings": ASCII_SPELLING,
        "plainWords": PLAIN_SPELLING,
        "longestComposed": LONGEST_COMPOSED,
        "lowers": {
            character: character.lower()
            for character in map(chr, range(0x80, 0x20000))
            if character.lower() != character
        }
        | {chr(code): chr(code).lower() for code in range(ord("A"), ord("Z") + 1)},
    }


def _base_settings(embedding: BaseEmbedding) -> JsonObject:
    words = embedding.listed_words
    return {
        "words": list(words),
        "size": embedding.values.shape[1],
        "subwords": len(embedding.values) - len(words),
        "longest": MOST_LETTERS,
        "shortestRun": SHORTEST_NGRAM,
        "longestRun": LONGEST_NGRAM,
    }


def _outputs_settings(outputs: Any) -> JsonObject:
    if isinstance(outputs, NumberOutputs):
        return {"kind": "number", "scale": outputs.scale.to_json(), "novelty": None}
    novelty = outputs.novelty
    return {
        "kind": "labels" if isinstance(outputs, MultiLabelOutputs) else "label",
        "labels": outputs.labels,
        "temperature": outputs.temperature,
        "biases": outputs.biases,
        "thresholds": outputs.thresholds,
        "novelty": None
        if novelty is None
        else {
            "offset": novelty.offset,
            "logit": novelty.logit,
            "similarity": novelty.similarity,
            "threshold": novelty.threshold,
            "neighbours": NEIGHBOURS,
        },
    }


def script_json(value: object) -> Markup:
    """A value as JSON that may stand in a `<script>` element."""
    return Markup(json.dumps(value, separators=(",", ":")).replace("<", "\\u003c"))  # noqa: S704 - escaped
