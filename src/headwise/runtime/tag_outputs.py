"""Prediction of a tag for each word (sequence labelling)."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from headwise.core.config import JsonMapping, JsonObject
from headwise.core.errors import ConfigError
from headwise.core.tokenizer import normalize_tokens
from headwise.data.formats.tag_checks import ENTITY_TAG
from headwise.data.items.dataset import require_list
from headwise.data.items.examples import Example, TaggedSentence, as_example, as_sentence
from headwise.metrics.tag_schemes import (
    Scheme,
    TagSpan,
    canonical_tags,
    read_spans,
    scheme_name,
    write_tags,
)
from headwise.runtime.entity_spans import EntitySpan, marked_text
from headwise.runtime.outputs import LINEAR_NUMBERS, FittedNumbers, OutputsError, output_names
from headwise.runtime.prediction_stream import PredictionStream
from headwise.text.character_features import Alphabet, AlphabetError
from headwise.text.text_features import EncodedText, TextFeatures

_MOST_TAGS = 4096  # a CRF has a number for each two
_SHOWN = 80  # characters of a text in its representation


@dataclass(frozen=True, repr=False)
class TaggedText:
    """Prediction of a tagger for one text.

    Attributes:
        words: The words of the text.
        tags: Predicted tag of each word, in the scheme of the training file.
        probabilities: Marginal probability of each predicted tag, from 0 to 1 (under iob1, that the word is
            in a span of that type). A tag chosen for the best F1 may be less probable than `O`.
        places: Character offsets (start, end) of each word in the text; None if the input was words.
        text: The text that the offsets refer to.
        unknown_words: Share of words, from 0 to 1, that neither the vocabulary nor a base lists.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    probabilities: tuple[float, ...]
    places: tuple[tuple[int, int], ...] | None = None
    text: str | None = None
    unknown_words: float = 0.0

    @property
    def spans(self) -> list[TagSpan]:
        """The spans that the tags mark, in words; with plain tags, each word is a span.

        `entities` have their texts and characters."""
        return read_spans(self.tags)

    @property
    def entities(self) -> list[EntitySpan]:
        """The spans with their texts, characters and probabilities."""
        return [self._entity(*span) for span in self.spans]

    def _entity(self, start: int, end: int, kind: str) -> EntitySpan:
        text, first, last = " ".join(self.words[start:end]), None, None
        if self.places is not None and self.text is not None:
            first, last = self.places[start][0], self.places[end - 1][1]
            text = self.text[first:last]
        return EntitySpan(text, kind, first, last, min(self.probabilities[start:end]), (start, end))

    @property
    def _is_plain(self) -> bool:
        """Whether the tags are plain ones, which mark no spans."""
        return any(not ENTITY_TAG.fullmatch(tag) for tag in self.tags)

    def __repr__(self) -> str:
        if self._is_plain:
            shown = " ".join(map("/".join, zip(self.words, self.tags, strict=True)))
        else:
            text = " ".join(self.words) if self.text is None else self.text
            spans = ", ".join(map(str, self.entities)) or "no span"
            shown = f"{text if len(text) <= _SHOWN else f'{text[:_SHOWN]}…'!r}: {spans}"
        return f"<TaggedText {shown}>"

    def _repr_html_(self) -> str | None:
        return None if self._is_plain else marked_text(self.words, self.text, self.entities)


class TagOutputs:
    """Mixin of taggers.

    The internal tag scheme (`tagger.scheme`) may differ from that of the training file; predictions are in
    the latter.

    Attributes:
        tags: Names of the internal tags, in the order of the outputs.
        written: Tag scheme of the training file; plain for tags without span prefixes.
        scheme: Internal tag scheme.
        alphabet: The character vocabulary.
        none: The id of `O`, in a list; empty if there is no such tag.
        same: For each tag the id of the first tag with the same spelling in the training file's scheme,
            `[tags]`.
        encoder_weight: Ensemble weight of the scores of the encoder and its CRF; 0 if the linear CRF alone
            is as good.
        linear_model: The linear CRF; None if it did not improve the score on held-out sentences.
        linear_weight: Ensemble weight of the scores of the linear CRF.
        linear_share: Contribution of the linear CRF, from 0 to 1, to the margin between the best and the
            second tag, averaged over held-out words.
        outside: Subtracted from the score of `O` in decoding, chosen for the best F1 of spans; it does not
            affect probabilities.
    """

    gives_tags: ClassVar[bool] = True

    FITTED: ClassVar = FittedNumbers({**LINEAR_NUMBERS, "outside": 0.0})

    features: TextFeatures
    linear_model: Any
    encoder_weight: float
    linear_weight: float
    linear_share: float
    outside: float

    def name_tags(self, tags: Sequence[str], written: str, scheme: str, alphabet: Alphabet) -> None:
        """Set the tags.

        Args:
            tags: See the attribute `tags`.
            written: See the attribute `written`.
            scheme: Internal tag scheme; ignored for plain tags.
            alphabet: See the attribute `alphabet`.

        Raises:
            ConfigError: There is no tag, or a tag occurs twice.
        """
        if not tags or len(set(tags)) < len(tags):
            raise ConfigError(f"a tagger needs one or more different tags, got {list(tags)}")
        self.tags, self.alphabet = tuple(tags), alphabet
        self.written: Scheme = scheme_name(written)
        self.scheme: Scheme = scheme_name(scheme) if self.written != "plain" else "plain"
        plain = "plain" in (self.scheme, self.written)
        same = list(range(len(tags))) if plain else canonical_tags(self.tags, self.written)
        self.same = np.array(same, dtype=np.int64)
        self.none = [number for number, tag in enumerate(self.tags) if tag == "O"]

    @abstractmethod
    def decode(
        self, encoded: Sequence[EncodedText], *, batch_tokens: int = 16_384
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Tag ids of the best tag sequence of each text, `[words]`, and the marginal probabilities of the
        tags that are written for them (see `names`), `[words]`."""

    @property
    def labels(self) -> tuple[str, ...]:
        return self.tags

    @staticmethod
    def read_outputs(outputs: JsonMapping) -> JsonObject:
        try:
            alphabet = Alphabet.from_json(outputs.get("alphabet", {}))
        except AlphabetError as error:
            raise OutputsError(error.args[0]) from error
        if not isinstance(outputs.get("scheme"), str):
            raise OutputsError("'scheme' must be a text")
        tags = output_names(outputs, least=1)
        if len(tags) > _MOST_TAGS:
            raise OutputsError(f"{len(tags)} tags; at most {_MOST_TAGS} are possible")
        return {"tags": tags, "written": outputs["scheme"], "alphabet": alphabet}

    def outputs_json(self) -> JsonObject:
        return {"labels": list(self.tags), "scheme": self.written, "alphabet": self.alphabet.to_json()}

    def encode_sentences(self, sentences: Sequence[TaggedSentence]) -> list[EncodedText]:
        """Encode tokenised sentences, in the spelling in which the model reads texts."""
        tokens = [normalize_tokens(self.features.tokenizer, sentence.tokens) for sentence in sentences]
        examples = [Example("", line=sentence.line, parse=sentence.parse) for sentence in sentences]
        return self.features.encode_words(tokens, examples)

    def names(self, numbers: np.ndarray) -> list[str]:
        """Names of tag ids `[words]` of a text, in the scheme of the training file."""
        tags = [self.tags[number] for number in numbers]
        if self.scheme == "plain" or self.written == "plain":
            return tags
        return write_tags(read_spans(tags), len(tags), self.written)

    def tag(
        self, sentences: Iterable[TaggedSentence | Sequence[str]], *, batch_tokens: int = 16_384
    ) -> list[TaggedText]:
        """Tag tokenised sentences.

        Raises:
            ConfigError: A sentence is not a list of words; `predict` is for running text.
        """
        untagged = [as_sentence(sentence) for sentence in require_list(sentences, "sentences")]
        encoded = self.encode_sentences(untagged)
        numbers, probabilities = self.decode(encoded, batch_tokens=batch_tokens)
        return [
            TaggedText(
                sentence.tokens,
                tuple(self.names(tags)),
                tuple(map(float, shares)),
                sentence.spans,
                sentence.text,
                item.unknown / max(len(item), 1),
            )
            for sentence, item, tags, shares in zip(untagged, encoded, numbers, probabilities, strict=True)
        ]

    def predict(self, texts: Iterable[str | Example], *, chunk: int = 1024) -> Iterator[TaggedText]:
        """Tokenise and tag texts, in their order, `chunk` texts at a time.

        Raises:
            ConfigError: An element is no text, which is raised while iterating.
        """

        def tagged(part: list[str | Example]) -> list[TaggedText]:
            if words := next((text for text in part if isinstance(text, list | tuple)), None):
                advice = "sentences cut into words are tagged by `tag` (of TextTagger: `predict`)"
                raise ConfigError(f"expected a text, got {words!r:.80}; {advice}")
            return self.tag([self.sentence(as_example(text)) for text in part])

        return PredictionStream(texts, tagged, chunk)

    def sentence(self, example: Example | TaggedSentence | Sequence[str]) -> TaggedSentence:
        """Tokenise a text to a sentence without tags; words and sentences stay as they are.

        Raises:
            ConfigError: It is neither a text nor a list of words.
        """
        if not isinstance(example, Example):
            return as_sentence(example)
        text = example.text
        places = tuple(self.features.tokenizer.spans(text))
        words = tuple(text[start:end] for start, end in places)
        heads = None if example.parse is None else tuple(map(int, example.parse))
        return TaggedSentence(words, (), example.line, heads, text=text, spans=places)
