"""Which encoder suits training texts with static embeddings, by their numbers of texts, words and labels.

| training texts | labels | words in all | encoder |
| --- | --- | --- | --- |
| fewer than 500, or than 50 of each label | any | few | that of the base |
| fewer than 4,000 | 5 | few | that of the base |
| more | 25, or one per 500 texts | few | that of the base |
| from 4,000 on | 25, or one per 1,000 texts | any, if short or fewer than 20,000 texts | MS-SAN |
| other | | | a small MS-Transformer |

Few are ten million words, and 250,000 in long texts, of more than 100 words on average. A text that a
teacher has labelled counts as words alone. The numbers were chosen on held-out training texts of many data
sets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headwise.core.config import JsonObject
from headwise.data.splits.data_parts import DataParts
from headwise.models.tasks.task_settings import Settings
from headwise.text.static_embeddings.base_encoder import BASE_ENCODER_LABELS, OPINION_LABELS

_SAMPLED_TEXTS = 1_000


@dataclass(frozen=True)
class EncoderRules:
    """The numbers of the rules.

    Attributes:
        order_texts: Minimum number of texts from which attention learns word order by itself.
        long_words: Mean number of words above which texts are long. Attention to all words of a text takes
            longer there.
        long_texts: Number of long texts from which such attention is too slow for its gain.
        most_words: Maximum number of words of all texts for attention.
        base_long_words: Maximum number of words of all texts for the encoder of the base, if texts are
            long: three minutes of a core.
        two_epoch_words: Maximum number of words of all texts for two epochs from the encoder of the base:
            eight minutes of a core.
        two_epoch_texts: Number of texts from which two such epochs are as good as five. From here to
            `order_texts`, topics are learnt nearly as well without that encoder in a third of the time, so
            it is for opinions and feelings (`OPINION_LABELS`), or few texts of a label.
        texts_per_label: Number of texts of a label below which they are few.
        base_texts_per_label, order_texts_per_label: Number of texts for each label beyond
            `BASE_ENCODER_LABELS`, with the encoder of the base and without.
    """

    order_texts: int = 4_000
    long_words: int = 100
    long_texts: int = 20_000
    most_words: int = 10_000_000
    base_long_words: int = 250_000
    two_epoch_words: int = 2_000_000
    two_epoch_texts: int = 500
    texts_per_label: int = 50
    base_texts_per_label: int = 500
    order_texts_per_label: int = 1_000


RULES = EncoderRules()


@dataclass(frozen=True)
class TextCounts:
    """What the rules ask about training texts.

    Attributes:
        texts: Number of texts.
        labels: Number of labels; 1 for numbers.
        mean_words: Mean number of words of a text.
        taught: Number of the texts that a teacher has labelled.
    """

    texts: int
    labels: int
    mean_words: float
    taught: int = 0

    @classmethod
    def of(cls, parts: DataParts[Sequence[Any]], labels: int, taught: int = 0) -> "TextCounts":
        """Those of the training part; the mean number of words is that of a sample."""
        sample = parts.train[:: max(1, len(parts.train) // _SAMPLED_TEXTS)]
        words = sum(map(parts.item_type.size, sample)) / max(len(sample), 1)
        return cls(len(parts.train), labels, words, taught)

    @property
    def gold_texts(self) -> int:
        """Number of texts that people have labelled."""
        return self.texts - self.taught

    @property
    def words(self) -> float:
        """Number of words of all texts."""
        return self.texts * self.mean_words

    @property
    def are_long(self) -> bool:
        """Whether the texts are long on average."""
        return self.mean_words > RULES.long_words


def pretrained_encoder(settings: Mapping[str, JsonObject], counts: TextCounts) -> Settings:
    """The settings of a model that starts from the encoder of the base, with these settings; {} without
    one, or where that does not suit the texts."""
    if not settings or not _base_encoder_suits(counts):
        return {}
    epochs = 1
    if counts.words <= RULES.two_epoch_words:
        epochs = 5 if counts.texts < RULES.two_epoch_texts else 2
    train: JsonObject = {"epochs": epochs}
    return {**settings, "base": {"encoder": "on"}, "train": train}


def _base_encoder_suits(counts: TextCounts) -> bool:
    gold = counts.gold_texts
    if counts.words > (RULES.base_long_words if counts.are_long else RULES.most_words):
        return False
    # Beside a teacher, many labels are learnt as well without the encoder.
    if counts.taught and (counts.labels > BASE_ENCODER_LABELS or gold >= RULES.order_texts):
        return False
    if gold < max(RULES.two_epoch_texts, RULES.texts_per_label * counts.labels):
        return True
    if gold < RULES.order_texts:
        return counts.labels <= OPINION_LABELS
    return counts.labels <= max(BASE_ENCODER_LABELS, gold // RULES.base_texts_per_label)


def attention_learns_order(counts: TextCounts) -> bool:
    """Whether there are enough texts for an encoder that starts from random weights, as a correction to the
    static embeddings and the linear model."""
    gold = counts.gold_texts
    if gold < RULES.order_texts:
        return False
    if counts.labels > max(BASE_ENCODER_LABELS, gold // RULES.order_texts_per_label):
        return False
    words = gold * counts.mean_words
    return gold < RULES.long_texts or not (counts.are_long or words > RULES.most_words)
