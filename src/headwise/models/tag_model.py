"""TagModel: a tagger, from the words of texts to a tag for each word.

Beside the encoder may stand a linear CRF. Both score every tag of a word and every tag after another; the
scores are weighed and added, and one Viterbi finds the tags that are best for both together.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from headwise.data.chunks import in_chunks
from headwise.data.example import Example, as_example
from headwise.data.sentence import Tagged
from headwise.encoders.base import Encoded, output_width
from headwise.errors import ConfigError
from headwise.features.alphabet import Alphabet, AlphabetError
from headwise.features.encoded import Batch
from headwise.features.encoded_text import EncodedText
from headwise.features.tagged_words import SpelledWords, read_words, speller, words_of
from headwise.features.vocabulary import Vocabulary
from headwise.layers.crf import CRF
from headwise.layers.tag import Tagger
from headwise.linear.tag_expert import TagExpert
from headwise.models.answers.outputs import OutputsError, output_names
from headwise.models.expert_reader import with_expert
from headwise.models.finite import finite
from headwise.models.model_config import ModelConfig
from headwise.models.text_model import TextModel
from headwise.ragged import Ragged
from headwise.scores.schemes import Scheme, Span, alike, convert, read_spans, scheme_name, write_tags

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


class TagModel(TextModel):
    """A tagger.

    It may compute in another tag scheme than that of the training file (`tagger.scheme`); what it predicts
    is in the latter.

    Args:
        config: See `ModelConfig`.
        vocabulary: The words that it knows.
        tags: Names of the tags it computes with, in the order of the outputs.
        written: The scheme of the training file; plain for tags that stand for themselves.
        alphabet: The characters that it knows.
        files: See `TextModel`.

    Attributes:
        same: For each tag the number of the first one that is written as it is in the training file,
            `[tags]`.
        expert: The linear CRF; None where held-out sentences gave it no say.
        encoder_weight: What the scores of the encoder (and of the CRF above it) are multiplied by: 0 where
            the expert does as well without it.
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

    expert: TagExpert | None

    def __init__(
        self,
        config: ModelConfig,
        vocabulary: Vocabulary,
        tags: Sequence[str],
        written: str,
        alphabet: Alphabet,
        files: Mapping[str, Any] | None = None,
    ):
        if not tags or len(set(tags)) < len(tags):
            raise ConfigError(f"a tagger needs one or more different tags, got {list(tags)}")
        spelled, width = config.characters.size > 0, config.encoder.width
        if config.windows.long == "truncate":
            raise ConfigError("windows: long = truncate leaves words without a tag; choose split or error")
        own = config.base.size if config.base.name else config.words.vector_size
        inner = own if spelled and not config.pretrained.name else width
        super().__init__(config, vocabulary, files, width=inner)
        self.features.spell = speller(self.embedding)
        self.tags = tuple(tags)
        self.written: Scheme = scheme_name(written)
        self.scheme: Scheme = scheme_name(config.tagger.scheme) if self.written != "plain" else "plain"
        self.alphabet = alphabet
        self.spelling = SpelledWords(inner, width, config.characters, alphabet) if spelled else None
        plain = "plain" in (self.scheme, self.written)
        same = list(range(len(tags))) if plain else alike(self.tags, self.written)
        self.same = np.array(same, dtype=np.int64)
        self.tagger = Tagger(output_width(config.encoder), self.tags, self.scheme, config.tagger)
        features = config.expert.features
        self.expert = TagExpert(features, self.tags) if features else None
        self.encoder_weight, self.expert_weight = 1.0, 0.0
        self.expert_share, self.outside = 0.0, 0.0

    def add_expert(
        self, expert: TagExpert | None, weights: tuple[float, float], share: float, outside: float = 0.0
    ) -> None:
        """Give a linear CRF a say.

        Args:
            expert: Of the same tags in the same order; None if it is to have no say.
            weights: Of the encoder's scores and the expert's.
            share: See `expert_share`.
            outside: See there.
        """
        self.config = with_expert(self.config, {} if expert is None else expert.sizes())
        self.expert = None if expert is None else expert.to(self.device)
        self.encoder_weight, self.expert_weight = weights
        self.expert_share, self.outside = share, outside

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

    def encode(self, batch: Batch) -> Encoded:
        """Texts -> the states of their words."""
        words, summary = read_words(self.embedding, batch)
        if self.spelling is not None:
            words = self.spelling(words, words_of(batch))
        return replace(self.encode_words(words), cls=summary)

    def forward(self, batch: Batch) -> Ragged:
        """Texts -> a score of every tag for each word, `[total, tags]`."""
        return self.tagger(self.encode(batch).tokens)

    def encode_sentences(self, sentences: Sequence[Tagged]) -> list[EncodedText]:
        """What the model reads of sentences whose words are given."""
        examples = [Example("", line=own.line, heads=own.heads) for own in sentences]
        return self.features.encode_words([own.tokens for own in sentences], examples)

    def targets(self, sentence: Tagged) -> np.ndarray:
        """Numbers of the true tags, `[words]`; -1 for a tag that the model does not have."""
        number = {tag: n for n, tag in enumerate(self.tags)}
        tags = sentence.tags if self.scheme == "plain" else convert(sentence.tags, self.scheme)
        return np.array([number.get(tag, -1) for tag in tags], dtype=np.int64)

    def expert_scores(self, batch: Batch) -> Ragged:
        """Texts -> what the expert says of every tag for each word, `[total, tags]`, before it is
        weighed."""
        if self.expert is None:
            raise ValueError("the model has no expert")
        return Ragged(torch.from_numpy(self.expert(words_of(batch))).to(self.device), batch.layout)

    def _mixed(self, batch: Batch, weights: tuple[float, float]) -> Ragged:
        """The weighed scores of encoder and expert together; who has no weight is not asked."""
        asked = (weights[0], self), (weights[1], self.expert_scores)
        said = [weight * ask(batch).values.float() for weight, ask in asked if weight or not any(weights)]
        return Ragged(torch.stack(said).sum(dim=0), batch.layout)

    def _decided(self, scores: Ragged) -> Ragged:
        """The scores by which tags are chosen (see `outside`)."""
        values = scores.values.clone()
        values[:, self.tags.index("O")] -= self.outside
        return Ragged(values, scores.layout)

    @torch.no_grad()
    def decode(
        self,
        encoded: Sequence[EncodedText],
        *,
        weights: tuple[float, float] | None = None,
        batch_texts: int = 256,
        batch_tokens: int = 16_384,
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The most probable tags of each text, `[words]`, and the probabilities of what is written for them
        (see `names`), each word for itself.

        Args:
            encoded: The texts.
            weights: Of encoder and expert, instead of those that held-out sentences gave them; without
                `outside`.
            batch_texts: Most texts at once.
            batch_tokens: Most words at once.
        """
        numbers = [np.zeros(0, np.int64)] * len(encoded)
        sure = [np.zeros(0, np.float32)] * len(encoded)
        sizes = {"batch_texts": batch_texts, "batch_tokens": batch_tokens}
        for places, scores, crf in self._scored(encoded, weights, **sizes):
            decided = self._decided(scores) if self.outside and not weights else scores
            if crf is None:
                found, chances = self.tagger.decode(decided), self.tagger.probabilities(scores).values
            else:
                found, chances = crf.viterbi(decided)[0], crf.marginals(scores).values
            same = torch.from_numpy(self.same).to(found.device)
            written = torch.zeros_like(chances).index_add_(1, same, chances)
            chances = written.gather(1, same[found][:, None])[:, 0].clamp(max=1.0)
            cuts = scores.layout.offsets[1:-1].tolist()
            tags = np.split(found.cpu().numpy(), cuts)
            shares = np.split(finite(chances.float().cpu().numpy()), cuts)
            for place, own, share in zip(places, tags, shares, strict=True):
                numbers[place], sure[place] = own, share
        return numbers, sure

    @torch.no_grad()
    def marginals(self, encoded: Sequence[EncodedText]) -> list[np.ndarray]:
        """The probability of every tag for each word, given its text, `[words, tags]` float64 for each
        text."""
        out = [np.zeros((0, len(self.tags)))] * len(encoded)
        for places, scores, crf in self._scored(encoded, None):
            exact = scores.map(Tensor.double)
            chances = (self.tagger.probabilities(exact) if crf is None else crf.marginals(exact)).values
            parts = np.split(chances.cpu().numpy(), scores.layout.offsets[1:-1].tolist())
            for place, part in zip(places, parts, strict=True):
                out[place] = part
        return out

    def _scored(
        self, encoded: Sequence[EncodedText], weights: tuple[float, float] | None, **sizes: int
    ) -> Iterator[tuple[list[int], Ragged, CRF | None]]:
        """Batches: the numbers of their texts, the scores of the tags, and the CRF for both that goes with
        them, where it is not the encoder's own."""
        weights = weights or (self.encoder_weight, self.expert_weight)
        crf: CRF | None = None
        if weights != (1.0, 0.0):
            crf = self.tagger.beside(None if self.expert is None else self.expert.transitions, weights)
        for places, batch in self.batches(encoded, **sizes):
            yield places, self(batch) if crf is None else self._mixed(batch, weights), crf

    def names(self, numbers: np.ndarray) -> list[str]:
        """The tags with these numbers, in the scheme of the training file."""
        tags = [self.tags[number] for number in numbers]
        if self.scheme == "plain" or self.written == "plain":
            return tags
        return write_tags(read_spans(tags), len(tags), self.written)

    def tag(self, sentences: Sequence[Tagged], *, batch_tokens: int = 16_384) -> list[TaggedText]:
        """Tags of sentences whose words are given."""
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
