"""Linear-chain conditional random field (Lafferty, McCallum, Pereira; ICML 2001) over ragged batches.

The score of the tags y_1 .. y_n of a text is

    start[y_1] + sum_t emission[t, y_t] + sum_t transition[y_t-1, y_t] + end[y_n]

and its probability exp(score) divided by the sum of exp(score) of all tag sequences. That sum, the best
sequence and the marginals are exact. The recursions process one word of all texts per step, texts sorted by
falling length, so that finished texts drop off the end and nothing is padded. Carried values are shifted to
a maximum of 0, so 32 bits are enough for texts of any length.
"""

import torch
from torch import Tensor, nn

from headwise.metrics.tag_schemes import Constraints
from headwise.nn.packed_sequence import PackedSequence, pack_layout
from headwise.nn.ragged import Ragged
from headwise.nn.torch_modes import once_differentiable

# Score of forbidden transitions inside the recursions. Finite, so that no difference of two is NaN; so low
# that its exponential is exactly 0.
_FORBIDDEN = -1e30


class CRF(nn.Module):
    """A linear-chain CRF with transition, start and end scores.

    Emissions are scores of the tags for each word, `[total, tags]`. They are promoted to 32 bits, or to the
    precision of the CRF's scores if that is higher.

    Args:
        tags: Number of tags.
        constraints: Which tags may begin, follow one another and end; None allows all. Forbidden sequences
            have the probability 0 in training and prediction.
        learned: If False, transition, start and end scores stay 0, and only the constraints apply.

    Raises:
        ValueError: The constraints are of another number of tags, or leave texts of some length no tags.
    """

    transitions: Tensor
    start: Tensor
    end: Tensor
    may_transitions: Tensor
    may_start: Tensor
    may_end: Tensor

    def __init__(self, tags: int, constraints: Constraints | None = None, *, learned: bool = True):
        super().__init__()
        shapes = {"transitions": (tags, tags), "start": (tags,), "end": (tags,)}  # transitions: [from, to]
        for name, shape in shapes.items():
            if learned:
                self.register_parameter(name, nn.Parameter(torch.empty(shape).uniform_(-0.1, 0.1)))
            else:
                zeros = torch.zeros(shape, device="cpu")  # also where a model is built on no device
                self.register_buffer(name, zeros, persistent=False)
        self.constrained = constraints is not None
        if constraints is not None:
            may = {"transitions": constraints.follow, "start": constraints.start, "end": constraints.end}
            if constraints.follow.shape != (tags, tags):
                raise ValueError(f"constraints of {len(constraints.start)} tags for a CRF of {tags} tags")
            constraints.check()
            for name, allowed in may.items():
                # They follow from the tags, so they are not saved.
                self.register_buffer(f"may_{name}", torch.from_numpy(allowed.copy()), persistent=False)

    def log_likelihood(self, emissions: Ragged, tags: Tensor) -> Tensor:
        """Log-probability of the tags of each text, `[texts]`.

        0 for a text without words; minus infinity where the tags are forbidden by the constraints.

        Args:
            emissions: `[total, tags]`.
            tags: Tag numbers, `[total]`, int64.
        """
        steps, x = self._ordered(emissions)
        transitions, start, end = self._scores(float("-inf"))
        y = tags.index_select(0, steps.rows)
        count = len(steps.texts)
        # The start scores are transitions from an additional tag before every text.
        before = torch.cat([y.new_full((count,), len(start)), y.index_select(0, steps.previous)])
        table = torch.cat([transitions, start[None]]).flatten()
        path = x.gather(1, y[:, None])[:, 0] + table.index_select(0, before * len(start) + y)
        path = path.index_add(0, steps.last, end.index_select(0, y.index_select(0, steps.last)))
        return -self._log_partition(x, steps, len(emissions), path)

    def log_partition(self, emissions: Ragged) -> Tensor:
        """Logarithm of the sum over all tag sequences of each text, `[texts]`; 0 where it has no words."""
        steps, x = self._ordered(emissions)
        return self._log_partition(x, steps, len(emissions), x.new_zeros(len(x)))

    def _log_partition(self, x: Tensor, steps: PackedSequence, texts: int, shift: Tensor) -> Tensor:
        """Log-partition of all texts, `[texts]`, minus the sum of `shift`, `[total]`, over each text. The
        small difference of large numbers is precise because it is computed word by word."""
        full = _LogPartition.apply(x, *self._scores(_FORBIDDEN), shift, steps)
        return full.new_zeros(texts).index_copy(0, steps.texts, full)

    @torch.no_grad()
    def marginals(self, emissions: Ragged) -> Ragged:
        """Probability of every tag for each word, given the whole text, `[total, tags]`."""
        steps, x = self._ordered(emissions)
        transitions, start, end = self._scores(_FORBIDDEN)
        ways, _ = _forward_recursion(x, transitions, start, steps)
        single, _ = _backward_recursion(ways, transitions, end, x.new_ones(len(steps.texts)), steps)
        return emissions.with_values(single.index_select(0, steps.places))

    @torch.no_grad()
    def viterbi(self, emissions: Ragged) -> tuple[Tensor, Tensor]:
        """The most probable tags (Viterbi 1967).

        Returns:
            Tag numbers `[total]`, int64, and the score of each text's tags `[texts]`, 0 for a text without
            words. Ties are broken arbitrarily.
        """
        steps, x = self._ordered(emissions)
        best, scores = _viterbi(x, *self._scores(_FORBIDDEN), steps)
        scores = scores.new_zeros(len(emissions)).index_copy(0, steps.texts, scores)
        return best.index_select(0, steps.places), scores

    def _ordered(self, emissions: Ragged) -> tuple[PackedSequence, Tensor]:
        steps = pack_layout(emissions.layout)
        x = to_float32(emissions.values).index_select(0, steps.rows)
        return steps, x.to(torch.promote_types(x.dtype, self.transitions.dtype))

    def _scores(self, forbidden: float) -> tuple[Tensor, Tensor, Tensor]:
        """Transition, start and end scores, with those that the constraints forbid replaced."""
        scores = to_float32(self.transitions), to_float32(self.start), to_float32(self.end)
        if not self.constrained:
            return scores
        may = self.may_transitions, self.may_start, self.may_end
        transitions, start, end = (s.masked_fill(~m, forbidden) for s, m in zip(scores, may, strict=True))
        return transitions, start, end


def to_float32(x: Tensor) -> Tensor:
    """Cast float16 and bfloat16 to float32."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


class _LogPartition(torch.autograd.Function):
    """Log-partition of each of `PackedSequence.texts`, less the sum of `shift` over its words.

    The gradient with respect to a score is the expected number of times that it counts (see
    `_backward_recursion`).
    """

    @staticmethod
    def forward(ctx, x, transitions, start, end, shift, steps: PackedSequence) -> Tensor:
        ways, top = _forward_recursion(x, transitions, start, steps)
        ctx.steps = steps
        ctx.save_for_backward(ways, transitions, end)
        rest = (ways.index_select(0, steps.last) + end).logsumexp(1)
        return rest.index_add_(0, steps.ranks, top - shift)

    @staticmethod
    @once_differentiable()
    def backward(ctx, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        (grad,) = grad_outputs
        ways, transitions, end = ctx.saved_tensors
        steps: PackedSequence = ctx.steps
        single, pairs = _backward_recursion(ways, transitions, end, grad, steps)
        first = single[: len(grad)].sum(0)
        last = single.index_select(0, steps.last).sum(0)
        return single, pairs, first, last, -grad.index_select(0, steps.ranks), None


def _forward_recursion(
    x: Tensor, transitions: Tensor, start: Tensor, steps: PackedSequence
) -> tuple[Tensor, Tensor]:
    """The forward recursion.

    Returns:
        `[total, tags]`: the logarithm of the sum of exp(score) of all ways to each tag of a word, shifted
        to a maximum of 0; `[total]`: by how much more it is shifted than at the word before.
    """
    ways, top = torch.empty_like(x), x.new_empty(len(x), 1)
    before = None
    for emission, now, most in _blocks(steps, x, ways, top):
        if before is None:
            come = start + emission
        else:
            come = (before[: len(now), :, None] + transitions).logsumexp(1).add_(emission)
        torch.amax(come, 1, keepdim=True, out=most)
        before = torch.sub(come, most, out=now)
    return ways, top[:, 0]


def _backward_recursion(
    ways: Tensor, transitions: Tensor, end: Tensor, weights: Tensor, steps: PackedSequence
) -> tuple[Tensor, Tensor]:
    """Expected counts of each score (the backward recursion), times the weight of the text.

    The probability of the previous tag, given a tag and the words up to it, follows from the forward
    recursion for all steps at once, as `[total, tags, tags]`; so each backward step needs two small
    operations only.

    Args:
        ways: First output of `_forward_recursion`.
        transitions: `[from, to]`.
        end: `[tags]`.
        weights: Weight of each of `PackedSequence.texts`.
        steps: Steps of the batch.

    Returns:
        The marginals of the tags, `[total, tags]`, and those of neighbouring tags summed over all words,
        `[from, to]`.
    """
    last = (ways.index_select(0, steps.last) + end).softmax(1) * weights[:, None]
    single = torch.zeros_like(ways).index_copy_(0, steps.last, last)
    pairs = (ways.index_select(0, steps.previous)[:, :, None] + transitions).softmax(1)
    words = single.split(steps.sizes)
    for step, pair in reversed(list(enumerate(pairs.split(steps.sizes[1:])))):
        later = words[step + 1]
        words[step][: len(later)].add_(pair.mul_(later[:, None]).sum(2))
    return single, pairs.sum(0)


def _viterbi(
    x: Tensor, transitions: Tensor, start: Tensor, end: Tensor, steps: PackedSequence
) -> tuple[Tensor, Tensor]:
    """The best tags in the order of the steps, `[total]`, and their score for each of
    `PackedSequence.texts`."""
    ways, top, back = torch.empty_like(x), x.new_empty(len(x), 1), torch.zeros_like(x, dtype=torch.int64)
    before = None
    for emission, now, most, pointer in _blocks(steps, x, ways, top, back):
        if before is None:
            come = start + emission
        else:
            come, pointer[:] = (before[: len(now), :, None] + transitions).max(1)
            come += emission
        torch.amax(come, 1, keepdim=True, out=most)
        before = torch.sub(come, most, out=now)
    scores, tag = (ways.index_select(0, steps.last) + end).max(1)
    scores.index_add_(0, steps.ranks, top[:, 0])
    tags = back.new_empty(len(back))
    for out, pointer in reversed(list(_blocks(steps, tags, back))):
        out[:] = tag[: len(out)]  # shorter texts start from their last tag later
        tag[: len(out)] = pointer.gather(1, out[:, None])[:, 0]
    return tags, scores


def _blocks(steps: PackedSequence, *rows: Tensor) -> "zip[tuple[Tensor, ...]]":
    """Views of the rows of each step."""
    return zip(*(part.split(steps.sizes) for part in rows), strict=True)
