"""A tag for each word of a text."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from headwise.data.chunks import in_chunks, several
from headwise.data.example import Example, as_example
from headwise.data.sentence import Tagged, as_sentence
from headwise.errors import ConfigError
from headwise.features.alphabet import Alphabet, AlphabetError
from headwise.features.encoded_text import EncodedText
from headwise.features.words import TextFeatures
from headwise.models.answers.outputs import OutputsError, output_names
from headwise.scores.schemes import Scheme, Span, alike, read_spans, scheme_name, write_tags

_MOST_TAGS = 4096  # a CRF has a number for each two


@dataclass(frozen=True)
class TaggedText:
    """What a tagger says of one text.

    Attributes:
        words: Its words.
        tags: The tag of each, in the scheme of the training file.
        probabilities: Of these tags, each word for itself, between 0 and 1 (under iob1, that it is in a
            span of that type); a tag that F1 asks for may be less probable than `O`.
        places: Where each word stands in the text: its first character, and the one after its last. None
            where the words were given without a text.
        text: The text that the places are in.
        unknown_words: Share of the words that neither the vocabulary nor a base knows.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    probabilities: tuple[float, ...]
    places: tuple[tuple[int, int], ...] | None = None
    text: str | None = None
    unknown_words: float = 0.0

    @property
    def spans(self) -> list[Span]:
        """The spans that the tags mark, by words; each word is one where tags mark none."""
        return read_spans(self.tags)


class TagAnswers:
    """What a model says that gives words tags.

    It may compute in another tag scheme than that of the training file (`tagger.scheme`); what it predicts
    is in the latter.

    Attributes:
        tags: Names of the tags it computes with, in the order of the outputs.
        written: The scheme of the training file; plain for tags that stand for themselves.
        scheme: The one that it computes in.
        alphabet: The characters that it knows.
        none: The number of `O`, in a list; none where there is no such tag.
        same: For each tag the number of the first one that is written as it is in the training file,
            `[tags]`.
        encoder_weight: What the scores of the encoder (and of the CRF above it) are multiplied by: 0 where
            the expert does as well without it.
        expert: The linear CRF; None where held-out sentences gave it no say.
        expert_weight: What those of the expert are multiplied by.
        expert_share: How much of the say the expert has, from 0 to 1: of the distance between the first and
            the second tag, in the mean over held-out words.
        outside: What is taken off the score of `O` when tags are chosen, so that as many spans are found as
            their F1 asks for; probabilities are those without it.
    """

    FACTORS: ClassVar[dict[str, float]] = {
        "encoder_weight": 0.0,
        "expert_weight": 0.0,
        "expert_share": 0.0,
        "outside": 0.0,
    }

    features: TextFeatures
    expert: Any
    encoder_weight: float
    expert_weight: float
    expert_share: float
    outside: float

    def name_tags(self, tags: Sequence[str], written: str, scheme: str, alphabet: Alphabet) -> None:
        """Say which tags there are.

        Args:
            tags: See `tags`.
            written: See there.
            scheme: In which one it computes, unless the tags stand for themselves.
            alphabet: See there.

        Raises:
            ConfigError: There is none, or one stands twice.
        """
        if not tags or len(set(tags)) < len(tags):
            raise ConfigError(f"a tagger needs one or more different tags, got {list(tags)}")
        self.tags, self.alphabet = tuple(tags), alphabet
        self.written: Scheme = scheme_name(written)
        self.scheme: Scheme = scheme_name(scheme) if self.written != "plain" else "plain"
        plain = "plain" in (self.scheme, self.written)
        same = list(range(len(tags))) if plain else alike(self.tags, self.written)
        self.same = np.array(same, dtype=np.int64)
        self.none = [number for number, tag in enumerate(self.tags) if tag == "O"]

    @abstractmethod
    def decode(
        self, encoded: Sequence[EncodedText], *, batch_tokens: int = 16_384
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The most probable tags of each text, `[words]`, and the probabilities of what is written for them
        (see `names`), each word for itself."""

    @property
    def labels(self) -> tuple[str, ...]:
        return self.tags

    @staticmethod
    def read_outputs(outputs: Mapping[str, Any]) -> dict[str, Any]:
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

    def outputs_json(self) -> dict[str, Any]:
        return {
            "labels": list(self.tags),
            "scheme": self.written,
            "alphabet": self.alphabet.to_json(),
        }

    def encode_sentences(self, sentences: Sequence[Tagged]) -> list[EncodedText]:
        """What the model reads of sentences whose words are given."""
        examples = [Example("", line=own.line, heads=own.heads) for own in sentences]
        return self.features.encode_words([own.tokens for own in sentences], examples)

    def names(self, numbers: np.ndarray) -> list[str]:
        """The tags with these numbers, in the scheme of the training file."""
        tags = [self.tags[number] for number in numbers]
        if self.scheme == "plain" or self.written == "plain":
            return tags
        return write_tags(read_spans(tags), len(tags), self.written)

    def tag(
        self, sentences: Iterable[Tagged | Sequence[str]], *, batch_tokens: int = 16_384
    ) -> list[TaggedText]:
        """Tags of sentences whose words are given, as lists of words.

        Raises:
            ConfigError: One is no list of words; running texts are for `predict`.
        """
        sentences = [as_sentence(own) for own in several(sentences, "sentences")]
        encoded = self.encode_sentences(sentences)
        numbers, sure = self.decode(encoded, batch_tokens=batch_tokens)
        return [
            TaggedText(
                *(own.tokens, tuple(self.names(tags)), tuple(map(float, shares)), own.spans, own.text),
                unknown_words=item.unknown / max(len(item), 1),
            )
            for own, item, tags, shares in zip(sentences, encoded, numbers, sure, strict=True)
        ]

    def predict(self, texts: Iterable[str | Example], *, chunk: int = 1024) -> Iterator[TaggedText]:
        """Tags of texts, which are cut into words first, in their order; `chunk` texts at a time."""
        for part in in_chunks(texts, chunk):
            yield from self.tag([self.sentence(as_example(text)) for text in part])

    def sentence(self, example: Example | Tagged) -> Tagged:
        """A text cut into words, without tags; sentences stay as they are."""
        if isinstance(example, Tagged):
            return example
        text = example.text
        places = tuple(self.features.tokenizer.spans(text))
        words = tuple(text[start:end] for start, end in places)
        heads = None if example.heads is None else tuple(map(int, example.heads))
        return Tagged(words, (), example.line, heads, text=text, spans=places)
