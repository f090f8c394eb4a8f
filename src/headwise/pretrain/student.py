"""Student: words whose weighted mean says what a teacher says of the passage.

    e(w) = own(w) + mean of sub(r) over its runs of letters r    (a word that is not listed: the mean alone)
    s(t) = sum of a(w) e(w) / sum of a(w)                        over the words w of a passage t
    loss = mean (1 - cos(P s, y)) + c mean ((P s) (P s)^T - y y^T)^2     with P s and the teacher's y at
                                                                         length 1

P is linear and only there while it learns: with P = Q R, |P x| = |R x|, so the vectors R e(w) of the base
have the angles of the teacher's space without P. Of several teachers y is what all say, one behind the
other, each at the same length, and so is P s.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from headwise.pretrain.config import StudentConfig
from headwise.pretrain.numbering import Numbers
from headwise.pretrain.work import whole

Hidden = Callable[[int], Tensor]

_WARM = 200  # steps until the rate is at its highest, at most; a tenth of all if these are few
_SHOWN = 20  # steps between reports


@dataclass(frozen=True)
class Start:
    """Where a student begins.

    Attributes:
        vectors: Of the listed words, `[words, size]`.
        weights: Of them, and of all others, `[words + 1]`.
        project: From the vectors to those of the teachers, `[sum of the teachers' sizes, size]`.
    """

    vectors: NDArray[np.float32]
    weights: NDArray[np.float32]
    project: NDArray[np.float32]


def start_from_words(answers: NDArray, weights: NDArray[np.float32], size: int) -> Start:
    """Begin with the teacher's vectors of words alone, in the directions in which they differ most."""
    centred = answers.astype(np.float32) - answers.astype(np.float32).mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    top = np.ascontiguousarray(directions[:, ::-1][:, :size]).astype(np.float32)
    return Start(centred @ top, weights, top)


class Student(nn.Module):
    """Vectors and weights of words, and the projection to the teacher's space.

    Args:
        start: Where it begins.
        runs: Buckets of the runs of letters of all numbered words, the listed ones first; see `runs_of`.
        run_starts: Where those of each word begin.
        buckets: How many buckets there are.
        seed: Of the buckets' first vectors.
        sizes: Features of each teacher's vectors; one teacher if empty.
    """

    def __init__(
        self,
        start: Start,
        runs: NDArray[np.int64],
        run_starts: NDArray[np.int64],
        buckets: int,
        seed: int,
        sizes: Sequence[int] = (),
    ):
        super().__init__()
        self.listed, size = start.vectors.shape
        random = torch.Generator().manual_seed(seed)
        self.own = nn.Parameter(torch.tensor(start.vectors))
        self.sub = nn.Parameter(torch.randn(buckets, size, generator=random) * 0.3 / size**0.5)
        self.free = nn.Parameter(torch.log(torch.expm1(torch.tensor(start.weights).clamp(min=1e-3))))
        self.project = nn.Parameter(torch.tensor(start.project))
        self.sizes = list(sizes) or [len(start.project)]
        self._runs, self._starts = torch.from_numpy(runs), torch.from_numpy(run_starts)

    def vectors(self, words: Tensor, hidden: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Vectors and weights of words by their numbers; `hidden` ones are seen as runs of letters."""
        starts = self._starts[words]
        lengths = self._starts[words + 1] - starts
        begin = torch.cumsum(lengths, 0) - lengths
        inside = torch.arange(int(lengths.sum())) - torch.repeat_interleave(begin, lengths)
        own_runs = self._runs[inside + torch.repeat_interleave(starts, lengths)]
        vectors = F.embedding_bag(own_runs, self.sub, begin, mode="mean")
        known = words < self.listed
        if hidden is not None:
            known = known & ~hidden
        own = torch.where(known, words, self.listed)
        weights = F.softplus(self.free)[own]
        listed = known.nonzero().flatten()
        return vectors.index_add(0, listed, self.own[own[listed]]), weights

    def forward(
        self, flat: Tensor, lengths: Tensor, hidden: Callable[[int], Tensor] | None = None
    ) -> Tensor:
        """The vectors of passages in the teachers' space, at length 1, as much of it for each teacher.

        Args:
            flat: Numbers of their words, one passage behind the other.
            lengths: Words of each passage, 1 or more.
            hidden: Chooses the words that are seen as runs of letters alone, of so many.
        """
        kinds, which = torch.unique(flat, return_inverse=True)
        vectors, weights = self.vectors(kinds, None if hidden is None else hidden(len(kinds)))
        begin = torch.cumsum(lengths, 0) - lengths
        own = weights[which]
        means = F.embedding_bag(which, vectors, begin, mode="sum", per_sample_weights=own)
        found = (means @ self.project.T).split(self.sizes, dim=1)
        return torch.cat([F.normalize(own, dim=1) for own in found], 1) / len(self.sizes) ** 0.5

    @torch.no_grad()
    def tables(self) -> tuple[NDArray, NDArray, NDArray]:
        """Vectors of listed words and of buckets in the teacher's geometry, and the weights."""
        turn = torch.linalg.qr(self.project)[1].T
        listed = [self.vectors(numbers)[0] for numbers in torch.arange(self.listed).split(4096)]
        weights = F.softplus(self.free)
        return (torch.cat(listed) @ turn).numpy(), (self.sub @ turn).numpy(), weights.numpy()


def loss_of(found: Tensor, wanted: Tensor, similarities: float) -> tuple[Tensor, Tensor]:
    """The loss, and the mean cosine to the teacher."""
    cosine = (found * wanted).sum(1).mean()
    gap = ((found @ found.T - wanted @ wanted.T) ** 2).mean()
    return 1 - cosine + similarities * gap, cosine


def train_student(
    student: Student,
    numbers: Numbers,
    answers: NDArray[np.float16],
    config: StudentConfig,
    *,
    seed: int,
    held: NDArray[np.int64],
    state: Path,
    report: Callable[[int, int, str], None],
) -> float:
    """Train a student; returns its mean cosine to the teacher on passages that are held out.

    The state is written after every epoch, and what is random depends on seed and epoch alone: a run that
    is interrupted and called again ends with the same student.

    Args:
        student: Trained in place.
        numbers: The passages.
        answers: What the teachers say of each, one behind the other.
        config: See there.
        seed: Of the order and of the words that are hidden.
        held: Passages that are not learnt from.
        state: File of the state.
        report: Called with steps done, all steps, and what to tell.
    """
    long_enough = numbers.lengths > 0
    held = held[long_enough[held]]
    use = long_enough.copy()
    use[held] = False
    rows = np.flatnonzero(use)
    batch = min(config.batch, len(rows))
    each = max(1, len(rows) // max(batch, 1))
    steps, rate = config.epochs * each, config.learning_rate
    groups = [
        {"params": [student.own, student.sub], "lr": rate},
        {"params": [student.free], "lr": 3 * rate},
        {"params": [student.project], "lr": rate / 3},
    ]
    optimizer = torch.optim.Adam(groups, betas=(0.9, 0.99), fused=True)
    highest = [group["lr"] for group in optimizer.param_groups]
    begin, cosine = _restore(student, optimizer, state)
    for epoch in range(begin, config.epochs):
        order = np.random.default_rng([seed, epoch]).permutation(rows)
        random = torch.Generator().manual_seed(1000 * seed + epoch)

        def hidden(count: int, random: torch.Generator = random) -> Tensor:
            return torch.rand(count, generator=random) < config.word_dropout

        for step in range(each):
            done = epoch * each + step
            pace = min(1, (done + 1) / min(_WARM, 1 + steps // 10)) * (1 - done / steps)
            for group, top in zip(optimizer.param_groups, highest, strict=True):
                group["lr"] = top * pace
            found, wanted = _batch(
                student, numbers, answers, order[step * batch : (step + 1) * batch], hidden
            )
            loss, near = loss_of(found, wanted, config.similarities)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            if done % _SHOWN == 0:
                report(done, steps, f"cosine {float(near.detach()):.3f}")
        cosine = _judge(student, numbers, answers, held)
        _keep(student, optimizer, state, epoch + 1, cosine)
        report((epoch + 1) * each, steps, f"cosine {cosine:.4f} held out")
    return cosine


def _batch(
    student: Student, numbers: Numbers, answers: NDArray, rows: NDArray[np.int64], hidden: Hidden | None
) -> tuple[Tensor, Tensor]:
    flat, lengths = numbers.take(rows)
    wanted = torch.from_numpy(answers[rows].astype(np.float32)) / len(student.sizes) ** 0.5
    return student(torch.from_numpy(flat.astype(np.int64)), torch.from_numpy(lengths), hidden), wanted


@torch.no_grad()
def _judge(student: Student, numbers: Numbers, answers: NDArray, rows: NDArray[np.int64]) -> float:
    cosines = []
    for start in range(0, len(rows), 1024):
        found, wanted = _batch(student, numbers, answers, rows[start : start + 1024], None)
        cosines.append((found * wanted).sum(1))
    return float(torch.cat(cosines).mean()) if cosines else float("nan")


def _keep(
    student: Student, optimizer: torch.optim.Optimizer, path: Path, epochs: int, cosine: float
) -> None:
    tensors = {name: own.detach() for name, own in student.named_parameters()}
    for name, own in student.named_parameters():
        state = optimizer.state[own]
        tensors |= {f"{name}.{key}": state[key].reshape(-1) for key in ("exp_avg", "exp_avg_sq", "step")}
    with whole(path) as partial:
        save_file(tensors, partial, {"epochs": str(epochs), "cosine": repr(cosine)})


def _restore(student: Student, optimizer: torch.optim.Optimizer, path: Path) -> tuple[int, float]:
    """Take up a state; returns the epochs that it has seen and its cosine."""
    if not path.exists():
        return 0, float("nan")
    with safe_open(path, "pt") as file:
        about = file.metadata()
        for name, own in student.named_parameters():
            own.data.copy_(file.get_tensor(name))
            state = {key: file.get_tensor(f"{name}.{key}") for key in ("exp_avg", "exp_avg_sq", "step")}
            optimizer.state[own] = {
                key: value.reshape(()) if key == "step" else value.reshape(own.shape)
                for key, value in state.items()
            }
    return int(about["epochs"]), float(about["cosine"])
