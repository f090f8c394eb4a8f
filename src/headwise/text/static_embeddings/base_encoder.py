"""The encoder of a base: layers above its word vectors, trained to the vectors of a sentence encoder.

A base may come with such an encoder, in the file `encoder.safetensors` of its folder. A text classifier
that starts from it knows, before its first label, how words change each other's meaning. With v(t) the
vector of a text from the base and h(t) the hidden layer of the classifier's head, the encoder was trained
so that `M [v(t); h(t)]` has the direction of the teacher's vector. A second teacher, which knows topics
better than opinions, has a matrix of its own.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import save

from headwise.core.config import JsonObject
from headwise.text.static_embeddings.base_folder import ABOUT, ENCODER, read_about, read_tensors
from headwise.text.static_embeddings.base_vectors import BaseError, Floats
from headwise.text.static_embeddings.installed_bases import base_folders

OUTPUTS, TOPIC_OUTPUTS = "outputs", "topic_outputs"
OPINION_LABELS = 5
"""Maximum number of labels taken for opinions and feelings, which the first teacher knows better."""
BASE_ENCODER_LABELS = 25
"""Number of labels up to which the encoder of a base gains accuracy with many labelled texts, or beside a
teacher."""


@dataclass(frozen=True)
class BaseEncoder:
    """The weights of the encoder of a base.

    Attributes:
        weights: Parameters by their names in a `headwise.nn.networks.text_model.TextEncoderModel`.
        outputs: M, `[size of the teacher's vectors, size of the base + hidden size of the head]`.
        topic_outputs: M of the second teacher, if there is one.
    """

    weights: Mapping[str, Floats]
    outputs: Floats
    topic_outputs: Floats | None = None

    def for_labels(self, count: int) -> "BaseEncoder":
        """The encoder with the M that suits `count` labels: the first teacher's for a few, else both."""
        if self.topic_outputs is None or count <= OPINION_LABELS:
            return self
        return BaseEncoder(self.weights, np.vstack([self.outputs, self.topic_outputs]))

    def sentence_vectors(self, vectors: Floats, hidden: Floats) -> Floats:
        """`M [v; h]`, `[texts, size of the teacher's vectors]`.

        Args:
            vectors: v, the vectors of texts from the base, `[texts, size of the base]`.
            hidden: h, the hidden layer of the head, `[texts, hidden size]`.
        """
        return np.hstack([vectors, hidden]) @ self.outputs.T


def load_base_encoder(folder: Path) -> BaseEncoder:
    """Load the encoder of a base.

    Raises:
        BaseError: HW802 a file is missing or damaged; HW803 it does not hold the weights of an encoder.
    """
    weights: dict[str, Floats] = {}
    for name, values in read_tensors(folder, ENCODER, read_about(folder)).items():
        if not np.issubdtype(values.dtype, np.floating) or not np.isfinite(values).all():
            raise BaseError(f"{folder / ENCODER}: {name} holds other than finite numbers", code="HW803")
        weights[name] = values.astype(np.float32)
    outputs, topics = weights.pop(OUTPUTS, None), weights.pop(TOPIC_OUTPUTS, None)
    if outputs is None or outputs.ndim != 2:
        raise BaseError(f"{folder / ENCODER}: {OUTPUTS} is missing, or not a matrix", code="HW803")
    if topics is not None and (topics.ndim != 2 or topics.shape[1] != outputs.shape[1]):
        problem = f"{TOPIC_OUTPUTS} is not a matrix with the columns of {OUTPUTS}"
        raise BaseError(f"{folder / ENCODER}: {problem}", code="HW803")
    return BaseEncoder(weights, outputs, topics)


def open_base_encoder(name: str) -> BaseEncoder:
    """Load the encoder of a base by the base's name or folder, or the first of several with `+` between
    their names; see `load_base_encoder`.

    Raises:
        BaseError: HW801 there is no such base.
    """
    folders = base_folders(name)
    having = [folder for folder in folders if read_about(folder).get("encoder")]
    return load_base_encoder([*having, *folders][0])


def add_encoder(folder: Path, encoder: BaseEncoder, settings: Mapping[str, JsonObject]) -> None:
    """Add an encoder to the folder of a base, in 16 bits.

    Args:
        settings: The settings of models that start from it, sections of a recipe.
    """
    tensors = {**encoder.weights, OUTPUTS: encoder.outputs}
    if encoder.topic_outputs is not None:
        tensors[TOPIC_OUTPUTS] = encoder.topic_outputs
    content = save({name: np.ascontiguousarray(values, np.float16) for name, values in tensors.items()})
    (folder / ENCODER).write_bytes(content)
    about = read_about(folder)
    about["files"][ENCODER] = hashlib.sha256(content).hexdigest()
    about["encoder"] = {name: dict(section) for name, section in settings.items()}
    (folder / ABOUT).write_text(json.dumps(about, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
