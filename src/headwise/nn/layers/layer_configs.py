"""The configurations of what stands around the encoder: output layers, pretrained encoder, linear model,
thresholds, text generation.

Importing this file loads neither torch nor NumPy.

The logits of an ensemble are `(encoder(text) + weight * linear(text)) / temperature`. Weight and
temperature are fitted on dev. A linear model that does not help gets weight 0, so the ensemble is hardly
ever worse than its linear model (`headwise.nn.networks.linear_members`).
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from headwise.core.config import check_choice, check_range
from headwise.core.errors import ConfigError
from headwise.metrics.perplexity import Unit
from headwise.nn.encoders.encoder_configs import SetModelConfig, SetTransformerConfig


@dataclass(frozen=True)
class ClassifierConfig:
    """The classifier on top of the text vector, and its loss."""

    hidden: int = 300
    """Hidden features of the two-layer classifier."""
    dropout: float = 0.3
    """On the hidden layer, while training."""
    normalize: Literal["none", "batch", "layer"] = "none"
    """Normalise the text vector first: over the batch, or over its features."""
    label_smoothing: float = 0.0
    """Share of the target that is spread evenly over all labels."""
    class_weights: str = "none"
    """none; balanced (each label counts the same in the loss, however rare); or given, as name=weight
    pairs: spam=2.0,ham=1.0 (labels that are not named weigh 1)."""
    thresholds: str = "none"
    """none: a text gets its most probable label; f1: each label has a threshold of its own, chosen for the
    best macro F1 on dev, so that rare labels are not passed over; or a label and what is to be kept, on new
    texts, by what is found on dev: urgent:recall=0.95 (of its texts at least 95 % get it), spam:fpr=0.01
    (of others at most 1 %), spam:precision=0.98 (of what gets it at least 98 % are right). Of label sets
    several, with commas between them; the other labels have their usual thresholds."""

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
    """Hidden features of the two-layer regressor."""
    dropout: float = 0.3
    """On the hidden layer, while training."""
    normalize: Literal["none", "batch", "layer"] = "none"
    """Normalise the text vector first: over the batch, or over its features."""

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
    """ENCODER+POOLING: rff (instances for themselves), sab (they see each other) or isab16 (through 16
    learned points: for bags of hundreds of instances), and pma (attention), mean, sum or max."""
    width: int = 64
    """Hidden features; the heads must divide it."""
    heads: int = 4
    """Heads in each block."""
    layers: int = 2
    """Blocks before the pooling, or pairs of linear layers with rff."""
    decoder_layers: int = 0
    """After the pooling: blocks with pma, linear layers otherwise."""
    norm: Literal["off", "post", "pre"] = "post"
    """Layer norms of the blocks (not of rff): off, after the residuals or before attention."""
    dropout: float = 0.2
    """Share of the features of each instance that is left out, while training."""
    label_smoothing: float = 0.0
    """Share of the target that is spread evenly over all labels."""
    class_weights: str = "none"
    """none, balanced, or name=weight pairs, as in the classifier of texts."""

    def __post_init__(self) -> None:
        check_range(self, "width", "heads", "layers", low=1)
        check_range(self, "decoder_layers", low=0)
        check_range(self, "dropout", "label_smoothing", low=0, high=1, open=True)

    def set_model(self, features: int, labels: int) -> SetModelConfig:
        """The model of sets with these numbers of features and outputs.

        Raises:
            ConfigError: The model is unknown.
        """
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
    """What the classifier reads of the vectors r1 and r2 of both texts: concat-absolute is r1, r2,
    |r1 - r2|, r1 - r2 (MS-Trans); product is r1, r2, r1 * r2, |r1 - r2| (MS-SAN); concat is r1, r2
    (BP-Transformer)."""
    interaction: Literal["none", "cross", "match"] = "none"
    """none: each text is read by itself; before the readout, the words of each text look at those of the
    other, so that a text has no vector without its partner: cross: in blocks of the Transformer
    (BP-Transformer); match: each at those that are like it, with which it is then compared."""
    cross_layers: int = 1
    """Layers of such looks."""
    cross_heads: int = 6
    """Heads of cross in each of them."""
    cross_head_size: int = 50
    """Features of such a head."""
    cross_feedforward: int = 600
    """Hidden features of cross's feed-forward layer after each look."""
    cross_dropout: float = 0.1
    """Of cross: on what attention and feed-forward layer give and inside the latter; of match: on what is
    compared; while training."""

    def __post_init__(self) -> None:
        check_range(
            self, "cross_layers", "cross_heads", "cross_head_size", "cross_feedforward", low=1, high=4096
        )
        check_range(self, "cross_dropout", low=0, high=1, open=True)


@dataclass(frozen=True)
class TaggerConfig:
    """The tagger on top of the states of the words, and its loss."""

    hidden: int = 300
    """Hidden features of the two-layer classifier of each word; 0: one layer."""
    dropout: float = 0.3
    """On the states of the words and on the hidden layer, while training."""
    crf: bool = True
    """Score neighbouring tags together, in a conditional random field; off: every word alone."""
    scheme: Literal["iob1", "iob2", "bioes", "bilou", "plain"] = "bioes"
    """In which tag scheme spans are computed, whatever that of the file: iob1, iob2, bioes or bilou."""
    constraints: bool = True
    """Only tags that the tag scheme allows one after the other are ever predicted; with crf, no others have
    a probability."""

    def __post_init__(self) -> None:
        check_choice(self, "scheme", ("iob1", "iob2", "bioes", "bilou"))
        check_range(self, "hidden", low=0)
        check_range(self, "dropout", low=0, high=1, open=True)


@dataclass(frozen=True)
class LanguageConfig:
    """What a language model reads, and how it is trained on it."""

    unit: Unit = "characters"
    """What the model predicts: characters, words (between spaces), or bytes."""
    max_symbols: int = 100_000
    """Largest vocabulary, the most frequent symbols first."""
    min_count: int = 1
    """Symbols seen less often in the training text are unknown."""
    context: int = 512
    """Symbols of a window: what the model may look back to."""
    dropout: float = 0.1
    """On the vectors of the symbols, while training."""
    windows: int = 0
    """Windows of an epoch; 0 = as many as make up the text once."""

    def __post_init__(self) -> None:
        check_choice(self, "unit", ("characters", "words", "bytes"))
        check_range(self, "context", "max_symbols", "min_count", low=1)
        check_range(self, "windows", low=0)
        check_range(self, "dropout", low=0, high=1, open=True)


@dataclass(frozen=True)
class MaskedWordsConfig:
    """How words are hidden and told."""

    share: float = 0.2
    """Share of the words of a text that are hidden."""
    kept: float = 0.1
    """Of the hidden words, the share that the encoder sees all the same: later it sees all."""
    negatives: int = 4096
    """Random words that a hidden word is told from, in training."""

    def __post_init__(self) -> None:
        check_range(self, "share", low=0, high=1, open=True)
        check_range(self, "kept", low=0, high=1, open=True)
        check_range(self, "negatives", low=1)


@dataclass(frozen=True)
class ThresholdConfig:
    """From probabilities to labels: the thresholds that are fitted on dev."""

    min_texts: int = 1
    """A label with fewer dev texts takes the threshold that is best for all labels together; that of others
    is held back towards it."""

    def __post_init__(self) -> None:
        check_range(self, "min_texts", low=1)


@dataclass(frozen=True)
class PretrainedConfig:
    """Which pretrained encoder reads the words, and what is taken from it."""

    name: str = ""
    """A model of the Hugging Face hub (owner/name) or a folder, with safetensors weights and a fast
    tokenizer; empty = none, words have vectors of their own."""
    revision: str = "main"
    """Branch, tag or commit on the hub."""
    train: bool = True
    """Train it with the rest (fine-tuning); off keeps it frozen, without dropout."""
    train_layers: int | None = None
    """Train only this many of its last layers; none = all of it, the vectors of its pieces too."""
    learning_rate: float = 2e-5
    """Of its weights, at its highest."""
    layers: tuple[int, ...] = ()
    """The layers whose states are taken, from 1; 0 is what goes into the first. Several are mixed with
    weights that are learned; empty = the last. Layers above these are left out."""
    pooling: str = "mean"
    """From the pieces of a word to its vector: that of the first or the last piece, or the mean."""
    max_pieces: int | None = None
    """Most pieces that it reads at once, special tokens included; none = as many as it can. Longer texts
    are read in several windows."""
    overlap: int = 64
    """Pieces that neighbouring windows share, so that words at their ends have context."""
    remember: int = 1024
    """MiB of memory for the states of the training texts, where it is frozen: each is then read once, not
    in every epoch. 0 = none."""
    dropout: float = 0.1
    """On the word vectors, while training."""

    def __post_init__(self) -> None:
        check_range(self, "learning_rate", "overlap", "remember", low=0)
        check_range(self, "train_layers", "max_pieces", low=1)
        check_range(self, "dropout", low=0, high=1, open=True)
        check_choice(self, "pooling", ("first", "mean", "last"))
        if self.train_layers is not None and not self.train:
            raise ConfigError(f"train_layers is {self.train_layers}, but train is off: choose one")
        rising = sorted({layer for layer in self.layers if layer >= 0})
        if self.layers and (list(self.layers) != rising or rising[-1] == 0):
            raise ConfigError(
                "layers must be different numbers of 0 or more in rising order, and not 0 alone; got "
                f"{', '.join(map(str, self.layers))}"
            )


MOST_REACH = 16  # upper bound for model folders


@dataclass(frozen=True)
class LinearMemberConfig:
    """The linear expert beside the encoder."""

    kind: Literal["linear", "none"] = "linear"
    """linear: a linear SVM on words, word pairs and characters (of text pairs on what both texts share,
    where they differ and how their words match) adds its say, as much as dev asks for; none: the encoder
    alone."""
    max_features: int = 200_000
    """Most features of texts that it reads: words, word pairs, runs of characters. Beyond 200,000 these are
    such as several texts have."""
    features: int = 0
    """How many it found in training; not to be set."""
    words: int = 0
    """How many of them are words and word pairs, where it reads characters too; not to be set."""
    characters: int = 0
    """How many of them are runs of characters; not to be set."""
    vectors: int = 0
    """Numbers of the vectors of texts that it reads beside them; not to be set."""
    kept: int = 0
    """How many weights it keeps, where it has many labels and not all are worth it; not to be set."""
    reach: int = 1
    """How far apart the words of its word pairs are at most; not to be set."""
    form: bool = False
    """Whether it reads how long texts are, their capitals and marks; not to be set."""
    edges: bool = False
    """Whether it reads which words are near the beginning and the end of a text; not to be set."""

    grouped: int = 0
    """Of a tagger: how many words it knows the groups of; not to be set."""

    SIZES: ClassVar[tuple[str, ...]] = (
        *("features", "words", "characters", "vectors", "kept", "reach", "form", "edges"),
        "grouped",
    )
    """What training finds out."""

    def __post_init__(self) -> None:
        check_range(self, "reach", low=1, high=MOST_REACH)


@dataclass(frozen=True)
class SampleConfig:
    """How a text is gone on with."""

    length: int = 500
    """Characters, words or bytes to write."""
    temperature: float = 0.8
    """Below 1 the probable becomes more probable; 0 takes the most probable symbol every time."""
    top_k: int = 0
    """Choose among so many of the most probable symbols; 0 = among all."""
    seed: int = 0
    """Another seed gives another text."""

    def __post_init__(self) -> None:
        check_range(self, "length", "temperature", "top_k", low=0)
        check_range(self, "seed", low=0, high=2**63 - 1)
