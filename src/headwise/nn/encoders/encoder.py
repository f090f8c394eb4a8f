"""What all encoders have in common: the type of their output, and optional parts at their input.

`Encoded` is the output. `tree_use`, `mark_names` and `text_matrices` tell what a batch must contain for an
encoder: dependency trees, sentence and paragraph numbers, matrices. `Positions` adds position embeddings to
the word vectors. `ClassificationNode` puts a learned row in front of every text (BERT's [CLS]).
"""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from headwise.core.errors import ConfigError, HeadwiseError
from headwise.nn.attention import SelfAttention
from headwise.nn.encoders.config_checks import POSITIONS
from headwise.nn.priors.base import Prior, TreeUse, strictest_tree_use
from headwise.nn.priors.text_matrix import TextMatrix
from headwise.nn.ragged import Ragged
from headwise.text.document_structure import DOCUMENT_MARKS


@dataclass(frozen=True)
class Encoded:
    """Output of an encoder for a batch.

    Attributes:
        tokens: The state of every token, in the layout of the input.
        summary: A state of the whole text, `[texts, width]`, if the encoder has one (a classification node,
            a relay, a root); else None.
        summary_is_node: Whether the maximum over all nodes includes the summary (a classification node) or
            not (a relay, a root).
        cls: The embedding's vector of the whole text, `[texts, features]`, such as the [CLS] state of a
            pretrained encoder; None if the embedding gives none.
    """

    tokens: Ragged
    summary: Tensor | None = None
    summary_is_node: bool = True
    cls: Tensor | None = None


def _priors_of(encoder: nn.Module) -> list[Prior]:
    """The priors of all heads."""
    layers = (module.priors for module in encoder.modules() if isinstance(module, SelfAttention))
    return [prior for priors in layers for prior in priors]


def tree_use(encoder: nn.Module) -> TreeUse:
    """Whether an encoder or its heads use dependency trees, and how they treat texts without one.

    Returns:
        "none" if nothing uses the tree; "error" if some part requires it; "word" if all parts can use
        distances in words instead.
    """
    encoder_use: TreeUse = getattr(getattr(encoder, "config", None), "tree_use", "none")
    return strictest_tree_use([encoder_use, *(prior.tree_use for prior in _priors_of(encoder))])


def tree_use_of(config: object) -> TreeUse:
    """`tree_use` of the encoder with this configuration, without building it.

    Raises:
        ConfigError: The priors of the configuration do not fit its heads.
    """
    encoder_use: TreeUse = getattr(config, "tree_use", "none")
    layers = getattr(config, "layer_priors", ())
    return strictest_tree_use([encoder_use, *(prior.tree_use for priors in layers for prior in priors)])


def mark_names(encoder: nn.Module) -> frozenset[str]:
    """The names of the marks of the document that the heads of an encoder compare (see `Prior.marks`)."""
    return DOCUMENT_MARKS & frozenset().union(*(prior.marks for prior in _priors_of(encoder)))


def text_matrices(encoder: nn.Module) -> tuple[TextMatrix, ...]:
    """The different priors of an encoder's heads that compute a matrix for each text.

    Raises:
        ConfigError: A prior has a matrix that is not computed from the text, or two differ by more than
            their scale.
    """
    made: dict[str, TextMatrix] = {}
    for part in (part for prior in _priors_of(encoder) for part in prior.matrices):
        if not isinstance(part, TextMatrix):
            raise ConfigError(
                f"the prior {part.name} takes its matrices from a layout; for a model that reads texts, "
                "register a subclass of headwise.nn.priors.TextMatrix that computes them"
            )
        previous = made.setdefault(part.name, part)
        if replace(part, scale=1.0) != replace(previous, scale=1.0):
            raise ConfigError(
                f"heads with {previous} and with {part}: all priors {part.name} of a model need the same "
                "settings, except for scale"
            )
    return tuple(made[name] for name in sorted(made))


def needs_trees(config: object) -> bool:
    """Whether a head of the encoder of this configuration uses dependency trees, if a text has one.

    Raises:
        ConfigError: The priors of the configuration do not fit its heads.
    """
    return tree_use_of(config) != "none"


class Positions(nn.Module):
    """Adds an embedding of each row's place in its text.

    Args:
        kind: `none`, `sinusoidal` (Vaswani et al. 2017, 3.5; any length) or `learned`.
        width: Features of a row.
        max_positions: Rows of the learned table.
    """

    def __init__(self, kind: str, width: int, max_positions: int = 8192):
        super().__init__()
        if kind not in POSITIONS:
            raise ConfigError(f"unknown positions {kind!r}; expected one of {', '.join(POSITIONS)}")
        self.kind = kind
        self.table = nn.Embedding(max_positions, width) if kind == "learned" else None
        if self.table is not None:
            nn.init.normal_(self.table.weight, std=0.02)

    def forward(self, x: Ragged) -> Ragged:
        """Rows of `[width]` -> rows of `[width]`.

        Raises:
            HeadwiseError: A text is longer than the learned table.
        """
        if self.kind == "none":
            return x
        if self.table is None:
            table = sinusoids(x.layout.longest, x.values.shape[-1]).to(x.values)
            return x.with_values(x.values + table[x.layout.positions])
        if x.layout.longest > self.table.num_embeddings:
            raise HeadwiseError(
                f"a text has {x.layout.longest} words, but the learned positions end at "
                f"{self.table.num_embeddings}; train with a larger max_positions or with "
                "sinusoidal positions",
                code="HW301",
            )
        return x.with_values(x.values + self.table(x.layout.positions))


def sinusoids(length: int, width: int) -> Tensor:
    """`[length, width]`, float32: sines in the even features, cosines in the odd ones
    (Vaswani et al. 2017, 3.5)."""
    place = torch.arange(length, dtype=torch.float64, device="cpu")[:, None]
    even = torch.arange(0, width, 2, dtype=torch.float64, device="cpu")
    angle = place * torch.exp(-math.log(10000.0) * even / width)
    table = torch.zeros(length, width, dtype=torch.float64, device="cpu")
    table[:, 0::2] = angle.sin()
    table[:, 1::2] = angle.cos()[:, : width // 2]
    return table.float()


class ClassificationNode(nn.Module):
    """A learned node that an encoder treats like any token and whose last state sums up the text."""

    def __init__(self, width: int):
        super().__init__()
        self.state = nn.Parameter(nn.init.normal_(torch.empty(width), std=0.02))

    def prepend(self, x: Ragged) -> Ragged:
        """Put the node in front of every text; a text without words becomes the node alone."""
        return x.prepend(self.state)

    def split(self, nodes: Ragged) -> Encoded:
        """Split the states into those of the nodes and those of the tokens."""
        summary, tokens = nodes.split_first()
        return Encoded(tokens, summary)
