"""TagModel: a tagger, which predicts a tag for each word.

It may be an ensemble of the encoder's CRF and a linear CRF: emission and transition scores of both are
weighted and added, and one Viterbi pass finds the best tag sequence of the sum.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from headwise.core.errors import ConfigError
from headwise.data.items.examples import TaggedSentence
from headwise.linear.tag_crf import CrfTagger
from headwise.metrics.tag_schemes import Scheme, convert_tags, scheme_constraints
from headwise.nn.embeddings.base_embedding import BaseEmbedding
from headwise.nn.embeddings.character_embedding import ClusterTable
from headwise.nn.embeddings.encoded_batches import TextBatch
from headwise.nn.embeddings.word_embedding import CharacterAugmentedEmbedding, tagger_words
from headwise.nn.encoders.encoder_configs import output_width
from headwise.nn.layers.dropout import Dropout
from headwise.nn.networks.linear_members import TagLinearBuffers, with_linear_sizes
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.word_model import WordModel
from headwise.nn.ragged import Ragged
from headwise.nn.task_layers.crf import CRF, to_float32
from headwise.nn.task_layers.layer_configs import TaggerConfig
from headwise.runtime.limits import check_finite
from headwise.runtime.tag_outputs import TagOutputs
from headwise.text.character_features import Alphabet, character_encoder
from headwise.text.static_embeddings.word_groups import WordClusters
from headwise.text.text_features import EncodedText
from headwise.text.vocabulary import Vocabulary


class Tagger(nn.Module):
    """The tagging head: a classifier of each word and a CRF.

    Args:
        width: Features of a state.
        tags: Names of the tags, in the order of their numbers.
        scheme: Tag scheme of the tags; plain for tags without span prefixes.
        config: See `TaggerConfig`.

    Raises:
        TagError: HW270, a tag does not belong to the scheme, under constraints.
    """

    def __init__(self, width: int, tags: Sequence[str], scheme: Scheme, config: TaggerConfig):
        super().__init__()
        self.config, self.tags = config, len(tags)
        self.layers = nn.Sequential(Dropout(config.dropout))
        if config.hidden:
            self.layers.extend([nn.Linear(width, config.hidden), nn.ReLU(), Dropout(config.dropout)])
        self.layers.append(nn.Linear(config.hidden or width, len(tags)))
        self._may = may = scheme_constraints(tags, scheme) if config.constraints else None
        # Without a learned CRF, one whose scores are all 0 finds the best tags that the scheme allows.
        self.crf = CRF(len(tags), may, learned=config.crf) if config.crf or may is not None else None

    def forward(self, states: Ragged) -> Ragged:
        """States of the words `[total, width]` -> a score of every tag for each word, `[total, tags]`."""
        return states.map(self.layers)

    def loss(self, scores: Ragged, targets: Tensor) -> Tensor:
        """Negative log-likelihood of the true tags of each text, summed over its words, `[texts]`.

        0 for a text without words; infinite where constraints forbid the true tags
        (`headwise.metrics.tag_schemes` finds them beforehand).

        Args:
            scores: Output of `forward`.
            targets: Tag numbers, `[total]`, int64.
        """
        if self.config.crf and self.crf is not None:
            return -self.crf.log_likelihood(scores, targets)
        return scores.with_values(cross_entropy(scores.values.float(), targets, reduction="none")).sum()

    def combined_crf(self, transitions: Tensor | None, weights: Sequence[Tensor | float]) -> CRF:
        """The weighted sum of this tagger's CRF and another one.

        Args:
            transitions: Transition scores of the other CRF, `[from, to]`; None if it has none.
            weights: Weights of this CRF and of the other.
        """
        crf, (weight, other_weight) = self.crf, weights
        combined = CRF(self.tags, self._may, learned=False).to(next(self.parameters()).device)
        if transitions is not None:
            combined.transitions = other_weight * transitions
        if self.config.crf and crf is not None:
            combined.transitions = combined.transitions + weight * crf.transitions
            combined.start, combined.end = weight * crf.start, weight * crf.end
        return combined

    def decode(self, scores: Ragged) -> Tensor:
        """The most probable tags of each text, `[total]`, int64."""
        return scores.values.argmax(1) if self.crf is None else self.crf.viterbi(scores)[0]

    def probabilities(self, scores: Ragged) -> Ragged:
        """Probability of every tag for each word, `[total, tags]`; with a CRF, given the whole text.

        The most probable tag of a word need not be the one that the most probable tags of its text give it.
        """
        if self.config.crf and self.crf is not None:
            return self.crf.marginals(scores)
        return scores.map(lambda values: to_float32(values).softmax(1))


def _clusters_of(embedding: nn.Module) -> WordClusters:
    """The clusters of words of a base.

    Raises:
        ConfigError: There are none.
    """
    clusters = embedding.groups if isinstance(embedding, BaseEmbedding) else None
    if clusters is None:
        raise ConfigError("characters.clusters: there is no base that lists clusters of words; set it to 0")
    return clusters


class TagModel(TagOutputs, WordModel):
    """A tagger.

    Args:
        config: See `ModelConfig`.
        vocabulary: The word vocabulary.
        tags: Names of the internal tags, in the order of the outputs.
        written: Tag scheme of the training file; plain for tags without span prefixes.
        alphabet: The character vocabulary.
        files: See `WordModel`.

    Attributes:
        previous_linear_model: During training, the linear CRF of a previous model, for warm start.
        usual_weights: With it, the share of the linear CRF in the ensemble weights of the previous model,
            and its penalty on `O`, divided by the sum of the weights.
    """

    linear_model: TagLinearBuffers | None
    previous_linear_model: CrfTagger | None = None
    usual_weights: tuple[float, float] | None = None

    def __init__(
        self,
        config: ModelConfig,
        vocabulary: Vocabulary,
        tags: Sequence[str],
        written: str,
        alphabet: Alphabet,
        files: Mapping[str, Any] | None = None,
    ):
        spelled, width = config.characters.size > 0, config.encoder.width
        if config.windows.long == "truncate":
            raise ConfigError("windows: long = truncate leaves words without a tag; choose split or error")
        vector_size = config.base.size if config.base.name else config.words.vector_size
        inner = vector_size if spelled and not config.pretrained.name else width
        super().__init__(config, vocabulary, files, width=inner)
        self.name_tags(tags, written, config.tagger.scheme, alphabet)
        self.features.character_encoder = character_encoder(self.features.character_encoder)
        self.spelling = None
        if spelled:
            new = files is None and config.characters.clusters > 0
            clusters = _clusters_of(self.embedding) if new else None
            if clusters is not None:
                characters = replace(config.characters, clustered=len(clusters))
                self.config = config = replace(config, characters=characters)
            self.spelling = CharacterAugmentedEmbedding(inner, width, config.characters, alphabet)
            if clusters is not None and self.clusters is not None:
                self.clusters.fill(clusters.tables())
        self.tagger = Tagger(output_width(config.encoder), self.tags, self.scheme, config.tagger)
        linear = config.linear_model
        self.linear_model = None
        if linear.features:
            self.linear_model = TagLinearBuffers(linear.features, self.tags, linear.grouped, self.clusters)
        self.encoder_weight, self.linear_weight = 1.0, 0.0
        self.linear_share, self.outside = 0.0, 0.0

    @property
    def clusters(self) -> ClusterTable | None:
        """The clusters of words that the encoder reads, and the linear CRF with it; None without."""
        return None if self.spelling is None else self.spelling.characters.cluster_table

    def add_linear_model(
        self,
        linear_model: TagLinearBuffers | None,
        weights: tuple[float, float],
        share: float,
        outside: float = 0.0,
    ) -> None:
        """Set the linear CRF of the ensemble.

        Args:
            linear_model: A linear CRF with the same tags in the same order; None for no ensemble.
            weights: Ensemble weights of the encoder and of the linear CRF.
            share: See `TagOutputs.linear_share`.
            outside: See `TagOutputs.outside`.
        """
        self.config = with_linear_sizes(self.config, {} if linear_model is None else linear_model.sizes())
        self.linear_model = None if linear_model is None else linear_model.to(self.device)
        self.encoder_weight, self.linear_weight = weights
        self.linear_share, self.outside = share, outside

    def embed(self, batch: TextBatch) -> tuple[Ragged, Tensor | None]:
        """Texts -> word vectors, with the character features, and the embedding's vector of each text."""
        pieces = tuple(spelled.pieces for spelled in batch.spelling)
        words, cls = super().embed(replace(batch, spelling=pieces))
        return words if self.spelling is None else self.spelling(words, tagger_words(batch)), cls

    def forward(self, batch: TextBatch) -> Ragged:
        """Texts -> a score of every tag for each word, `[total, tags]`."""
        return self.tagger(self.encode(batch).tokens)

    def targets(self, sentence: TaggedSentence) -> np.ndarray:
        """Numbers of the true tags, `[words]`; -1 for a tag that the model does not have."""
        number = {tag: n for n, tag in enumerate(self.tags)}
        tags = sentence.tags if self.scheme == "plain" else convert_tags(sentence.tags, self.scheme)
        return np.array([number.get(tag, -1) for tag in tags], dtype=np.int64)

    def linear_scores(self, batch: TextBatch) -> Ragged:
        """Texts -> emission scores of the linear CRF, `[total, tags]`, before weighting."""
        if self.linear_model is None:
            raise ValueError("the model has no linear model")
        scores = torch.from_numpy(self.linear_model(tagger_words(batch)))
        return Ragged(scores.to(self.device), batch.layout)

    def _ensemble_scores(self, batch: TextBatch, weights: tuple[float, float]) -> Ragged:
        """Weighted sum of the emission scores of encoder and linear CRF, `[total, tags]`. A member with
        weight 0 is not computed."""
        scorers: list[tuple[float, Callable[[TextBatch], Ragged]]] = [(weights[0], self)]
        if self.linear_model is not None:
            scorers.append((weights[1], self.linear_scores))
        scorers = [scorer for scorer in scorers if scorer[0]] or scorers[:1]
        scores = [weight * ask(batch).values.float() for weight, ask in scorers]
        return Ragged(torch.stack(scores).sum(dim=0), batch.layout)

    @torch.no_grad()
    def decode(
        self,
        encoded: Sequence[EncodedText],
        *,
        weights: tuple[float, float] | None = None,
        batch_tokens: int = 16_384,
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Tag ids of the best tag sequence of each text, `[words]`, and the marginal probabilities of the
        tags that are written for them (see `names`), `[words]`.

        Args:
            encoded: Encoded texts.
            weights: Ensemble weights in place of the fitted ones; with them, `outside` is not applied.
            batch_tokens: Maximum number of words per batch.
        """
        numbers = [np.zeros(0, np.int64)] * len(encoded)
        probabilities = [np.zeros(0, np.float32)] * len(encoded)
        for places, scores, crf in self._scored(encoded, weights, batch_tokens):
            decided = scores
            if self.outside and not weights:
                decided = scores.map(torch.clone)
                decided.values[:, self.none] -= self.outside
            if crf is None:
                best, chances = self.tagger.decode(decided), self.tagger.probabilities(scores).values
            else:
                best, chances = crf.viterbi(decided)[0], crf.marginals(scores).values
            same = torch.from_numpy(self.same).to(best.device)
            written = torch.zeros_like(chances).index_add_(1, same, chances)
            chances = written.gather(1, same[best][:, None])[:, 0].clamp(max=1.0)
            cuts = scores.layout.offsets[1:-1].tolist()
            tags = np.split(best.cpu().numpy(), cuts)
            shares = np.split(check_finite(chances.float().cpu().numpy()), cuts)
            for place, text_tags, share in zip(places, tags, shares, strict=True):
                numbers[place], probabilities[place] = text_tags, share
        return numbers, probabilities

    @torch.no_grad()
    def marginals(
        self, encoded: Sequence[EncodedText], *, weights: tuple[float, float] | None = None
    ) -> list[np.ndarray]:
        """Marginal probabilities of the tags of each word, float64 `[words, tags]` for each text; for
        `weights` see `decode`."""
        out = [np.zeros((0, len(self.tags)))] * len(encoded)
        for places, scores, crf in self._scored(encoded, weights):
            # In float64, which MPS does not have.
            exact = scores if scores.device.type == "mps" else scores.map(Tensor.double)
            chances = (self.tagger.probabilities(exact) if crf is None else crf.marginals(exact)).values
            parts = np.split(chances.cpu().double().numpy(), scores.layout.offsets[1:-1].tolist())
            for place, part in zip(places, parts, strict=True):
                out[place] = part
        return out

    def _scored(
        self,
        encoded: Sequence[EncodedText],
        weights: tuple[float, float] | None,
        batch_tokens: int = 16_384,
    ) -> Iterator[tuple[list[int], Ragged, CRF | None]]:
        """Batches: indices of the texts, emission scores `[total, tags]`, and the combined CRF; None where
        the encoder's CRF is used alone."""
        weights = weights or (self.encoder_weight, self.linear_weight)
        crf: CRF | None = None
        if weights != (1.0, 0.0):
            transitions = None if self.linear_model is None else self.linear_model.transitions
            crf = self.tagger.combined_crf(transitions, weights)
        for places, batch in self.batches(encoded, batch_tokens=batch_tokens):
            yield places, self(batch) if crf is None else self._ensemble_scores(batch, weights), crf
