"""The configurations of what stands above the encoder: output layers, linear model, thresholds, text
generation. Importing this file loads neither torch nor NumPy.

The logits of an ensemble are `(encoder(text) + weight * linear(text)) / temperature`. Weight and
temperature are fitted on dev. A linear model that does not help gets weight 0, so the ensemble is hardly
ever worse than its linear model (`headwise.nn.networks.linear_members`).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from headwise.core.config import check_choice, check_range
from headwise.core.errors import ConfigError
from headwise.data.columns.tabular_columns import ColumnEncoding, TabularColumn
from headwise.metrics.perplexity import Unit

if TYPE_CHECKING:
    from headwise.linear.linear_tables import TextTableFormat
    from headwise.nn.encoders.set_configs import SetModelConfig


@dataclass(frozen=True)
class ClassifierConfig:
    """The classifier on top of the text vector, and its loss."""

    hidden: int = 300
    """Hidden size of the two-layer classifier."""
    dropout: float = 0.3
    """Dropout on the hidden layer in training."""
    normalize: Literal["none", "batch", "layer"] = "none"
    """Normalise the text vector first: batch normalisation or layer normalisation."""
    label_smoothing: float = 0.0
    """Label smoothing: fraction of the target that is spread evenly over all labels."""
    class_weights: str = "none"
    """Class weights: none; balanced (each label has the same total weight in the loss); or name=weight
    pairs: spam=2.0,ham=1.0 (other labels have weight 1)."""
    thresholds: str = "none"
    """none: a text gets its most probable label. f1: one threshold per label, chosen for the best macro F1
    on dev, so that rare labels are predicted too. Or an operating point of a label, set on dev to hold for
    new texts: urgent:recall=0.95 (at least 95 % of its texts get it), spam:fpr=0.01 (at most 1 % of other
    texts get it), spam:precision=0.98 (at least 98 % of the texts that get it are right). For label sets
    several, separated by commas; other labels have their usual thresholds."""

    def __post_init__(self) -> None:
        if self.thresholds not in ("none", "f1"):
            from headwise.metrics.operating_points import parse_operating_points

            parse_operating_points(self.thresholds)
        check_range(self, "hidden", low=1)
        check_range(self, "dropout", "label_smoothing", low=0, high=1, open=True)


@dataclass(frozen=True)
class RegressorConfig:
    """The regressor on top of the text vector."""

    hidden: int = 300
    """Hidden size of the two-layer regressor."""
    dropout: float = 0.3
    """Dropout on the hidden layer in training."""
    normalize: Literal["none", "batch", "layer"] = "none"
    """Normalise the text vector first: batch normalisation or layer normalisation."""

    def __post_init__(self) -> None:
        check_range(self, "hidden", low=1)
        check_range(self, "dropout", low=0, high=1, open=True)

    @property
    def perceptron(self) -> ClassifierConfig:
        """The configuration of the two-layer perceptron."""
        return ClassifierConfig(self.hidden, self.dropout, self.normalize)


@dataclass(frozen=True)
class BagConfig:
    """The model of bags, and its loss."""

    model: str = "sab+pma"
    """ENCODER+POOLING. Encoder: rff (each instance alone), sab (attention between instances) or isab16
    (attention through 16 learned points, for bags of hundreds of instances). Pooling: pma (attention),
    mean, sum or max."""
    width: int = 64
    """Hidden size; must be a multiple of the number of heads."""
    heads: int = 4
    """Heads in each block."""
    layers: int = 2
    """Blocks before the pooling, or pairs of linear layers with rff."""
    decoder_layers: int = 0
    """Layers after the pooling: blocks with pma, linear layers otherwise."""
    norm: Literal["off", "post", "pre"] = "post"
    """Layer norms of the blocks (not of rff): off, after the residuals or before attention."""
    dropout: float = 0.2
    """Dropout on the features of each instance in training."""
    label_smoothing: float = 0.0
    """Label smoothing: fraction of the target that is spread evenly over all labels."""
    class_weights: str = "none"
    """Class weights: none, balanced, or name=weight pairs, as for the classifier of texts."""

    def __post_init__(self) -> None:
        check_range(self, "width", "heads", "layers", low=1)
        check_range(self, "decoder_layers", low=0)
        check_range(self, "dropout", "label_smoothing", low=0, high=1, open=True)

    def set_model(self, features: int, labels: int) -> "SetModelConfig":
        """The model of sets with these numbers of features and outputs.

        Raises:
            ConfigError: The model is unknown.
        """
        from headwise.nn.encoders.set_configs import SetModelConfig, SetTransformerConfig

        blocks = SetTransformerConfig(
            width=self.width, heads=self.heads, layers=self.layers, norm=self.norm
        )
        return SetModelConfig.named(
            self.model, inputs=features, outputs=labels, decoder_layers=self.decoder_layers, blocks=blocks
        )


@dataclass(frozen=True)
class PairConfig:
    """How two texts come together; the layers above are the classifier's or the regressor's."""

    features: Literal["concat-absolute", "product", "concat"] = "concat-absolute"
    """Input of the classifier from the vectors r1 and r2 of both texts: concat-absolute is r1, r2, |r1 -
    r2|, r1 - r2 (MS-Transformer); product is r1, r2, r1 * r2, |r1 - r2| (MS-SAN); concat is r1, r2
    (BP-Transformer)."""
    interaction: Literal["none", "cross", "match"] = "none"
    """Interaction of the two texts before the readout. none: each text is encoded alone. cross: Transformer
    blocks with attention to the words of the other text (BP-Transformer). match: each word is compared with
    similar words of the other text. With cross and match, a text has no vector without its partner."""
    cross_layers: int = 1
    """Number of interaction layers."""
    cross_heads: int = 6
    """For cross: heads in each interaction layer."""
    cross_head_size: int = 50
    """For cross: size of a head."""
    cross_feedforward: int = 600
    """For cross: hidden size of the feed-forward layer."""
    cross_dropout: float = 0.1
    """Dropout in training. For cross: on the output of attention and feed-forward layer and inside the
    latter; for match: on the compared vectors."""

    def __post_init__(self) -> None:
        check_range(
            self, "cross_layers", "cross_heads", "cross_head_size", "cross_feedforward", low=1, high=4096
        )
        check_range(self, "cross_dropout", low=0, high=1, open=True)


@dataclass(frozen=True)
class TaggerConfig:
    """The tagger on top of the states of the words, and its loss."""

    hidden: int = 300
    """Hidden size of the two-layer classifier of each word; 0: one layer."""
    dropout: float = 0.3
    """Dropout on the states of the words and on the hidden layer in training."""
    crf: bool = True
    """Score neighbouring tags together in a conditional random field; off: each word alone."""
    scheme: Literal["iob1", "iob2", "bioes", "bilou", "plain"] = "bioes"
    """Tag scheme of the model, whatever the file's scheme: iob1, iob2, bioes or bilou."""
    constraints: bool = True
    """Predict only tag sequences that the tag scheme allows; with crf, other sequences have probability
    0."""

    def __post_init__(self) -> None:
        check_choice(self, "scheme", ("iob1", "iob2", "bioes", "bilou"))
        check_range(self, "hidden", low=0)
        check_range(self, "dropout", low=0, high=1, open=True)


@dataclass(frozen=True)
class LanguageConfig:
    """What a language model reads, and how it is trained on it."""

    unit: Unit = "characters"
    """Unit of prediction: characters, words (between spaces), or bytes."""
    max_symbols: int = 100_000
    """Largest vocabulary; the most frequent symbols are taken first."""
    min_count: int = 1
    """Symbols that occur less often in the training text are unknown."""
    context: int = 512
    """Size of a window in symbols: the longest context."""
    dropout: float = 0.1
    """Dropout on the vectors of the symbols in training."""
    windows: int = 0
    """Windows per epoch; 0 = one pass over the text."""

    def __post_init__(self) -> None:
        check_choice(self, "unit", ("characters", "words", "bytes"))
        check_range(self, "context", "max_symbols", "min_count", low=1)
        check_range(self, "windows", low=0)
        check_range(self, "dropout", low=0, high=1, open=True)


@dataclass(frozen=True)
class MaskedWordsConfig:
    """Masked language modelling: which words are masked, and how they are predicted."""

    share: float = 0.2
    """Fraction of the words of a text that are masked."""
    kept: float = 0.1
    """Fraction of the masked words that the encoder sees unmasked, as in later use."""
    negatives: int = 4096
    """Number of random words that a masked word is contrasted with in training."""

    def __post_init__(self) -> None:
        check_range(self, "share", low=0, high=1, open=True)
        check_range(self, "kept", low=0, high=1, open=True)
        check_range(self, "negatives", low=1)


@dataclass(frozen=True)
class ThresholdConfig:
    """From probabilities to labels: the thresholds that are fitted on dev."""

    min_texts: int = 1
    """Labels with fewer dev texts use the best common threshold; the thresholds of other labels are shrunk
    towards it."""

    def __post_init__(self) -> None:
        check_range(self, "min_texts", low=1)


MOST_REACH = 16  # upper bound for model folders


@dataclass(frozen=True)
class LinearMemberConfig:
    """The linear model in the ensemble with the encoder."""

    kind: Literal["linear", "none"] = "linear"
    """linear: an ensemble with a linear SVM on words, word pairs and characters (for text pairs, on shared
    and different words and on how words match), with a weight chosen on dev; none: the encoder alone."""
    max_features: int = 200_000
    """Largest number of features: words, word pairs and character n-grams. Features beyond 200,000 must
    occur in several texts."""
    features: int = 0
    """Number of features of the trained model; set by training."""
    words: int = 0
    """Number of words and word pairs among the features, if there are character n-grams too; set by
    training."""
    characters: int = 0
    """Number of character n-grams among the features; set by training."""
    vectors: int = 0
    """Size of the text vectors that it also reads; set by training."""
    kept: int = 0
    """Number of stored weights, if weights of many labels are pruned; set by training."""
    reach: int = 1
    """Largest distance between the words of a word pair; set by training."""
    form: bool = False
    """Whether it reads surface features (length, capitals, punctuation); set by training."""
    edges: bool = False
    """Whether it reads word pairs with the beginning and the end of a text; set by training."""

    grouped: int = 0
    """Of a tagger: number of words with word groups; set by training."""

    tabular: tuple[ColumnEncoding, ...] | None = None
    """Encodings of further columns as features; set by training."""

    SIZES: ClassVar[tuple[str, ...]] = (
        *("features", "words", "characters", "vectors", "kept", "reach", "form", "edges"),
        "grouped",
    )
    """The fields that training sets."""

    def __post_init__(self) -> None:
        check_range(self, "reach", low=1, high=MOST_REACH)

    @property
    def tabular_columns(self) -> tuple[TabularColumn, ...]:
        """The columns beside the text."""
        return tuple(encoding.column for encoding in self.tabular or ())

    @property
    def tabular_width(self) -> int:
        """Number of features of further columns."""
        return sum(encoding.width for encoding in self.tabular or ())

    def table_format(
        self, classes: int, tokenizer: str, *, sets: bool, pairs: bool
    ) -> "TextTableFormat | None":
        """The tables of the linear model of texts or pairs; None if training has set no sizes.

        Args:
            classes: Number of labels.
            tokenizer: Name of the tokenizer.
            sets: Whether a text may have any number of labels.
            pairs: Whether it reads text pairs.
        """
        from headwise.linear.linear_tables import TextTableFormat  # loads NumPy

        if not self.words + self.characters:
            return None
        return TextTableFormat(
            self.words + self.characters,
            self.words,
            self.vectors,
            classes,
            tokenizer,
            sets=sets,
            pairs=pairs,
            stored_weights=self.kept,
            reach=self.reach,
            form=self.form,
            edges=self.edges,
            tabular=self.tabular_width,
        )


@dataclass(frozen=True)
class UnknownConfig:
    """The novelty detector: which texts are like none of the training texts (out of scope)."""

    detect: bool = False
    """Store a novelty detector, with the vectors of up to 4,096 training texts (0.8 MB)."""
    keep: float = 0.95
    """Share of known texts that are not to be flagged as unknown; sets the threshold on held-out texts."""
    label: str = ""
    """Label of training texts that belong to none of the labels. They are not trained on as a label; they
    choose how the parts of the novelty score are weighted. Empty = there are no such texts. A label sets
    `detect`, too."""
    texts: int = 0
    """Number of stored vectors of training texts; set by training."""

    def __post_init__(self) -> None:
        check_range(self, "keep", low=0, high=1, open=True)
        check_range(self, "texts", low=0)
        if self.keep == 0:
            raise ConfigError("keep must be above 0 and below 1, got 0")
        if self.label:  # else its texts would be left out of training for nothing
            object.__setattr__(self, "detect", True)


@dataclass(frozen=True)
class SampleConfig:
    """Text generation."""

    length: int = 500
    """Number of characters, words or bytes to generate."""
    temperature: float = 0.8
    """Sampling temperature: below 1 sharpens the distribution; 0 takes the most probable symbol."""
    top_k: int = 0
    """Sample from the most probable symbols only: their number; 0 = from all."""
    seed: int = 0
    """Seed of the sampling."""

    def __post_init__(self) -> None:
        check_range(self, "length", "temperature", "top_k", low=0)
        check_range(self, "seed", low=0, high=2**63 - 1)
