"""Student: distillation of sentence encoders to static word embeddings.

    e(w) = v(w) + mean of sub(r) over the character n-grams r of w    (an unlisted word: the mean alone)
    s(t) = sum of a(w) e(w) / sum of a(w)                             over the words w of a passage t
    loss = mean (1 - cos(P s, y)) + c mean ((P s) (P s)^T - y y^T)^2     with P s and the teacher's y at
                                                                         length 1

The linear map P exists during training only: with P = Q R, |P x| = |R x|, so the vectors R e(w) of the base
have the angles of the teacher's space without P. With several teachers, y concatenates their embeddings,
each at the same length, and P s has the same parts.
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

from headwise.training.pretraining.base_config import StudentConfig
from headwise.training.pretraining.corpus import EncodedPassages
from headwise.training.pretraining.work_folder import atomic_path

Hidden = Callable[[int], Tensor]

_WARM = 200  # maximum number of warm-up steps; at most a tenth of all steps
_SHOWN = 20  # steps between reports
_RIDGE = 1e-2


@dataclass(frozen=True)
class StudentInit:
    """Initial parameters of a student.

    Attributes:
        vectors: Vectors of the listed words, `[words, size]`.
        weights: Weights of the listed words, and one of all other words, `[words + 1]`.
        project: Projection to the space of the teachers, `[sum of the teachers' sizes, size]`.
    """

    vectors: NDArray[np.float32]
    weights: NDArray[np.float32]
    project: NDArray[np.float32]


def start_from_words(answers: NDArray, weights: NDArray[np.float32], size: int) -> StudentInit:
    """Initialise with the first principal components of the teacher's embeddings of single words."""
    centred = answers.astype(np.float32) - answers.astype(np.float32).mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    top = np.ascontiguousarray(directions[:, ::-1][:, :size]).astype(np.float32)
    return StudentInit(centred @ top, weights, top)


def interpolate_vectors(
    vectors: NDArray[np.float32],
    texts: NDArray[np.float32],
    share: NDArray[np.float64],
    often: NDArray[np.int64],
) -> NDArray[np.float32]:
    """Interpolate the teacher's word vectors with those from context prediction, `[words, size]`.

    The latter are first mapped into the teacher's space by a ridge regression, weighted towards words that
    are frequent and that the teacher does not split.

    Args:
        vectors: The teacher's word vectors, `[words, size]`.
        texts: Word vectors from context prediction, `[words, any]`.
        share: Weight of the teacher's vector of each word, 0 to 1; 1 for a word that is one piece.
        often: Frequency of each word; words with 0 have the teacher's vector.
    """
    trust = (share * np.log1p(often)).astype(np.float32)[:, None]
    square = texts.T @ (trust * texts)
    square[np.diag_indices(len(square))] += _RIDGE * max(float(square.trace()) / len(square), 1e-9)
    mapped = texts @ np.linalg.solve(square, texts.T @ (trust * vectors))
    # Regression shrinks vectors: rescale them to the total norm of the teacher's.
    mapped *= np.linalg.norm(vectors) / max(float(np.linalg.norm(mapped)), 1e-9)
    teacher_share = np.where(often > 0, share, 1.0).astype(np.float32)[:, None]
    return (teacher_share * vectors + (1 - teacher_share) * mapped).astype(np.float32)


class StaticStudent(nn.Module):
    """Trainable word vectors, subword vectors, word weights, and the projection to the teachers' space.

    Args:
        start: Initial parameters.
        runs: Hash buckets of the n-grams of all words with ids, the listed ones first; see `word_ngrams`.
        run_starts: Start of each word's n-grams in `runs`.
        buckets: Number of hash buckets.
        seed: Seed of the initial subword vectors.
        sizes: Dimensions of each teacher's embeddings; empty for one teacher.
    """

    def __init__(
        self,
        start: StudentInit,
        runs: NDArray[np.int64],
        run_starts: NDArray[np.int64],
        buckets: int,
        seed: int,
        sizes: Sequence[int] = (),
    ):
        super().__init__()
        self.listed, size = start.vectors.shape
        random = torch.Generator().manual_seed(seed)
        self.word_vectors = nn.Parameter(torch.tensor(start.vectors))
        self.sub = nn.Parameter(torch.randn(buckets, size, generator=random) * 0.3 / size**0.5)
        self.free = nn.Parameter(torch.log(torch.expm1(torch.tensor(start.weights).clamp(min=1e-3))))
        self.project = nn.Parameter(torch.tensor(start.project))
        self.sizes = list(sizes) or [len(start.project)]
        self._runs, self._starts = torch.from_numpy(runs), torch.from_numpy(run_starts)

    def vectors(self, words: Tensor, hidden: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Vectors `[words, size]` and weights `[words]` of words by ids; `hidden` words count as
        unlisted."""
        starts = self._starts[words]
        lengths = self._starts[words + 1] - starts
        begin = torch.cumsum(lengths, 0) - lengths
        inside = torch.arange(int(lengths.sum())) - torch.repeat_interleave(begin, lengths)
        own_runs = self._runs[inside + torch.repeat_interleave(starts, lengths)]
        vectors = F.embedding_bag(own_runs, self.sub, begin, mode="mean")
        is_listed = words < self.listed
        if hidden is not None:
            is_listed = is_listed & ~hidden
        rows = torch.where(is_listed, words, self.listed)
        weights = F.softplus(self.free)[rows]
        listed = is_listed.nonzero().flatten()
        return vectors.index_add(0, listed, self.word_vectors[rows[listed]]), weights

    def forward(self, flat: Tensor, lengths: Tensor, hidden: Hidden | None = None) -> Tensor:
        """Embeddings of passages in the teachers' space, at length 1; the parts of all teachers have equal
        lengths.

        Args:
            flat: Word ids, passage after passage, `[total]`.
            lengths: Number of words of each passage, 1 or more.
            hidden: Returns a mask of the words, given their number, that count as unlisted.
        """
        kinds, kind_of = torch.unique(flat, return_inverse=True)
        vectors, weights = self.vectors(kinds, None if hidden is None else hidden(len(kinds)))
        begin = torch.cumsum(lengths, 0) - lengths
        word_weights = weights[kind_of]
        means = F.embedding_bag(kind_of, vectors, begin, mode="sum", per_sample_weights=word_weights)
        projected = (means @ self.project.T).split(self.sizes, dim=1)
        return torch.cat([F.normalize(part, dim=1) for part in projected], 1) / len(self.sizes) ** 0.5

    @torch.no_grad()
    def tables(self) -> tuple[NDArray, NDArray, NDArray]:
        """Vectors of listed words and of subword buckets in the teacher's geometry, and the weights."""
        turn = torch.linalg.qr(self.project)[1].T
        listed = [self.vectors(numbers)[0] for numbers in torch.arange(self.listed).split(4096)]
        weights = F.softplus(self.free)
        return (torch.cat(listed) @ turn).numpy(), (self.sub @ turn).numpy(), weights.numpy()


def distillation_loss(outputs: Tensor, targets: Tensor, similarities: float) -> tuple[Tensor, Tensor]:
    """The loss of passages, and their mean cosine to the teacher."""
    cosine = (outputs * targets).sum(1).mean()
    gap = ((outputs @ outputs.T - targets @ targets.T) ** 2).mean()
    return 1 - cosine + similarities * gap, cosine


def train_student(
    student: StaticStudent,
    numbers: EncodedPassages,
    answers: NDArray[np.float16],
    config: StudentConfig,
    *,
    seed: int,
    held: NDArray[np.int64],
    state: Path,
    report: Callable[[int, int, str], None],
) -> float:
    """Train a student; returns its mean cosine to the teacher on held-out passages.

    The state is saved after every epoch, and random numbers depend on seed and epoch only, so an
    interrupted run that is called again gives the same student.

    Args:
        student: Trained in place.
        numbers: The passages.
        answers: Concatenated embeddings of the teachers, `[passages, sum of sizes]`.
        config: See `StudentConfig`.
        seed: Seed of the order of passages and of word dropout.
        held: Indices of the held-out passages.
        state: File of the state.
        report: Called with the number of steps done, of all steps, and a message.
    """
    long_enough = numbers.lengths > 0
    held = held[long_enough[held]]
    use = long_enough.copy()
    use[held] = False
    rows = np.flatnonzero(use)
    batch = min(config.batch, len(rows))
    steps_per_epoch = max(1, len(rows) // max(batch, 1))
    steps, rate = config.epochs * steps_per_epoch, config.learning_rate
    groups = [
        {"params": [student.word_vectors, student.sub], "lr": rate},
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

        for step in range(steps_per_epoch):
            done = epoch * steps_per_epoch + step
            pace = min(1, (done + 1) / min(_WARM, 1 + steps // 10)) * (1 - done / steps)
            for group, top in zip(optimizer.param_groups, highest, strict=True):
                group["lr"] = top * pace
            outputs, targets = _batch(
                student, numbers, answers, order[step * batch : (step + 1) * batch], hidden
            )
            loss, cosine_now = distillation_loss(outputs, targets, config.similarities)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            if done % _SHOWN == 0:
                report(done, steps, f"cosine {float(cosine_now.detach()):.3f}")
        cosine = _evaluate(student, numbers, answers, held)
        _save_state(student, optimizer, state, epoch + 1, cosine)
        report((epoch + 1) * steps_per_epoch, steps, f"cosine {cosine:.4f} held out")
    return cosine


def _batch(
    student: StaticStudent,
    numbers: EncodedPassages,
    answers: NDArray,
    rows: NDArray[np.int64],
    hidden: Hidden | None,
) -> tuple[Tensor, Tensor]:
    flat, lengths = numbers.take(rows)
    targets = torch.from_numpy(answers[rows].astype(np.float32)) / len(student.sizes) ** 0.5
    return student(torch.from_numpy(flat.astype(np.int64)), torch.from_numpy(lengths), hidden), targets


@torch.no_grad()
def _evaluate(
    student: StaticStudent, numbers: EncodedPassages, answers: NDArray, rows: NDArray[np.int64]
) -> float:
    cosines = []
    for start in range(0, len(rows), 1024):
        outputs, targets = _batch(student, numbers, answers, rows[start : start + 1024], None)
        cosines.append((outputs * targets).sum(1))
    return float(torch.cat(cosines).mean()) if cosines else float("nan")


def _saved_parameters(student: StaticStudent) -> list[tuple[str, nn.Parameter]]:
    """The parameters by their names in state files, which call the vectors of the listed words `own`."""
    return [
        ("own" if name == "word_vectors" else name, weights) for name, weights in student.named_parameters()
    ]


def _save_state(
    student: StaticStudent, optimizer: torch.optim.Optimizer, path: Path, epochs: int, cosine: float
) -> None:
    tensors: dict[str, Tensor] = {}
    for name, parameter in _saved_parameters(student):
        tensors[name] = parameter.detach()
        state = optimizer.state[parameter]
        tensors |= {f"{name}.{key}": state[key].reshape(-1) for key in ("exp_avg", "exp_avg_sq", "step")}
    with atomic_path(path) as partial:
        save_file(tensors, partial, {"epochs": str(epochs), "cosine": repr(cosine)})


def _restore(student: StaticStudent, optimizer: torch.optim.Optimizer, path: Path) -> tuple[int, float]:
    """Load a saved state; returns its number of epochs and its held-out cosine."""
    if not path.exists():
        return 0, float("nan")
    with safe_open(path, "pt") as file:
        about = file.metadata()
        for name, parameter in _saved_parameters(student):
            parameter.data.copy_(file.get_tensor(name))
            state = {key: file.get_tensor(f"{name}.{key}") for key in ("exp_avg", "exp_avg_sq", "step")}
            optimizer.state[parameter] = {
                key: value.reshape(()) if key == "step" else value.reshape(parameter.shape)
                for key, value in state.items()
            }
    return int(about["epochs"]), float(about["cosine"])
