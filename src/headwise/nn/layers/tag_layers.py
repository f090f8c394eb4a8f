"""Sequence labelling: a tag for each word of a text, such as named entities or parts of speech."""

from collections.abc import Sequence

from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from headwise.metrics.tag_schemes import Scheme, scheme_constraints
from headwise.nn.layers.crf import CRF, to_float32
from headwise.nn.layers.dropout import Dropout
from headwise.nn.layers.layer_configs import TaggerConfig
from headwise.nn.ragged import Ragged


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
