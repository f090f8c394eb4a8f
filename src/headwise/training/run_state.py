"""The state of a training run on disk, and what stops a run: signals and too little memory.

The state is everything that the rest of the run depends on. One safetensors file holds the tensors and, in
its header, a JSON text with the counters. So one atomic rename replaces the whole state: a run that is
killed while it saves keeps the state before. On Ctrl-C or a termination signal a run ends between two
updates, with its state saved (`record_signals`). A batch that does not fit into memory is halved until it
does (`learn_batches`).
"""

import hashlib
import json
import os
import signal
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from logging import getLogger
from pathlib import Path
from types import FrameType

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from headwise.core.allocator import is_out_of_memory
from headwise.core.config import JsonObject, differences, from_dict
from headwise.core.errors import HeadwiseError
from headwise.core.folder_layout import RUN_STATE

FORMAT = "headwise-training-state-1"
REFIT_FOLDER = ".refit"  # inside the folder of the first run
_FOLD = ".fold-"


@dataclass
class RunProgress:
    """Counters of a run.

    Attributes:
        epoch: From 0; the epoch that is under way.
        batch: Batches of this epoch that are done; always at the end of an update.
        step: Updates done in the whole run.
        loss: Sum of the losses of this epoch's texts so far.
        texts: Number of those texts.
        best_epoch: Epoch with the best dev score, -1 before the first.
        best_score: Its merit (see `TrainConfig.selection_score`; higher is better).
        stale: Epochs since then.
        seconds: Time spent training, over all sessions.
        finished: Whether the run has ended (all epochs, or stopped early).
        history: One entry for each finished epoch.
    """

    epoch: int = 0
    batch: int = 0
    step: int = 0
    loss: float = 0.0
    texts: int = 0
    best_epoch: int = -1
    best_score: float = float("-inf")
    stale: int = 0
    seconds: float = 0.0
    finished: bool = False
    history: list[dict[str, float]] = field(default_factory=list)


def write_tensors(tensors: dict[str, Tensor], path: Path, metadata: dict[str, str]) -> None:
    """Write a safetensors file so that `path` always holds either the old or the new one, whole.

    Raises:
        HeadwiseError: HW407, it cannot be written.
    """
    partial = path.with_name(path.name + ".partial")
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        save_file(plain, partial, metadata)
        with open(partial, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(partial, path)
    except (OSError, SafetensorError) as error:
        raise HeadwiseError(f"{path}: the state cannot be saved: {error}", code="HW407") from None


def save_state(path: Path, tensors: dict[str, Tensor], progress: RunProgress, identity: JsonObject) -> None:
    """Save a run's state.

    Args:
        path: The file.
        tensors: Weights, moments of the optimizer, generator states.
        progress: The counters.
        identity: What identifies the run (configuration, data); `load_state` compares it.
    """
    # JSON knows no infinities.
    best = progress.best_score if abs(progress.best_score) < float("inf") else None
    counters = {**asdict(progress), "best_score": best}
    metadata = {"format": FORMAT, "progress": json.dumps(counters), "identity": json.dumps(identity)}
    write_tensors(tensors, path, metadata)


def digest_of(tensors: Mapping[str, Tensor]) -> str:
    """The SHA-256 of the names, types and values of tensors."""
    digest = hashlib.sha256()
    for name, tensor in tensors.items():
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().data)
    return digest.hexdigest()


def load_state(path: Path, identity: JsonObject) -> tuple[dict[str, Tensor], RunProgress]:
    """Load what `save_state` saved.

    Raises:
        HeadwiseError: There is no such file, it is damaged, or it belongs to a run with another
            configuration or other data (the differences are named).
    """
    if not path.exists():
        raise HeadwiseError(f"{path}: there is no interrupted run to resume", code="HW401")
    tensors, metadata = load_tensors(path)
    if metadata.get("format") != FORMAT:
        raise HeadwiseError(f"{path}: not a training state of this version of headwise", code="HW402")
    try:
        saved, counters = dict(json.loads(metadata["identity"])), dict(json.loads(metadata["progress"]))
        progress = _progress(counters)
    except (HeadwiseError, AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        reason = error.args[0] if error.args else "nested too deeply"
        raise _damaged(path, f"its counters cannot be read: {reason}") from None
    compare_runs(saved, identity, path)
    return tensors, progress


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of a safetensors file, in memory of their own, and its metadata.

    Raises:
        HeadwiseError: HW402, it cannot be read.
    """
    try:
        with safe_open(path, framework="pt") as file:
            # Copied: the file is replaced by the next save, and must not be mapped by then.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
            return tensors, file.metadata() or {}
    except (SafetensorError, OSError) as error:
        raise _damaged(path, str(error)) from None


def check_tensors(path: Path, tensors: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> None:
    """Check that a file held tensors of these names, shapes and types.

    Raises:
        HeadwiseError: HW402, with the first difference.
    """
    for name in [*expected, *tensors]:
        if name not in tensors or name not in expected:
            raise _damaged(path, f"it {'lacks' if name in expected else 'also holds'} {name[:200]!r}")
        tensor, template = tensors[name], expected[name]
        if (tensor.shape, tensor.dtype) != (template.shape, template.dtype):
            raise _damaged(
                path,
                f"{name} is {list(tensor.shape)} {tensor.dtype}, not {list(template.shape)} "
                f"{template.dtype}",
            )


def _damaged(path: Path, reason: str) -> HeadwiseError:
    return HeadwiseError(
        f"{path}: the saved state is damaged or of another run ({reason}); start the run again without "
        "resuming",
        code="HW402",
    )


def _progress(counters: JsonObject) -> RunProgress:
    """Undo `asdict` of the counters; anything that cannot be is an error of some kind."""
    if absent := vars(RunProgress()).keys() - counters.keys():
        raise ValueError(f"without {', '.join(sorted(absent))}")
    history, best = counters.pop("history"), counters.pop("best_score")
    progress = from_dict(RunProgress, counters)
    progress.history = [dict(entry) for entry in history]
    progress.best_score = float("-inf") if best is None else float(best)
    numbers = (progress.epoch, progress.batch, progress.step, progress.texts, progress.stale)
    if min(numbers) < 0 or not -1 <= progress.best_epoch < progress.epoch:
        raise ValueError("a counter is out of range")
    if len(progress.history) != progress.epoch:
        raise ValueError(f"{len(progress.history)} entries for {progress.epoch} epochs")
    return progress


def compare_runs(saved: JsonObject, requested: JsonObject, path: Path) -> None:
    """Check that a saved run has the same identity (configuration, data).

    Raises:
        HeadwiseError: HW403, with the differences.
    """
    if difference := differences(saved, requested):
        raise HeadwiseError(
            f"{path}: the run to resume was another one: {difference}. Resume with the same "
            "data and settings, or start again in another folder",
            code="HW403",
        )


def fold_folder(folder: Path, fold: int) -> Path:
    """Folder of the training run without a fold, numbered from 0."""
    return folder / f"{_FOLD}{fold + 1}" if fold else folder


def remove_run(folder: Path) -> None:
    """Remove a run's state, and the folder unless something else is in it."""
    for inner in (folder / REFIT_FOLDER, *folder.glob(f"{_FOLD}*")):
        if inner.is_dir():
            remove_run(inner)
    # The state goes first: without it, nothing reads the rest.
    leftovers = [
        *folder.glob("best-*.safetensors"),
        *folder.glob("*.safetensors.partial"),
        *folder.glob(".tmp*"),
    ]
    for path in (folder / RUN_STATE, *leftovers):
        path.unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def generator_state(device: torch.device) -> dict[str, Tensor]:
    """States of torch's random generators that training draws from."""
    states = {"random/cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["random/cuda"] = torch.cuda.get_rng_state(device)
    return states


def restore_generators(tensors: dict[str, Tensor], device: torch.device) -> None:
    """Undo `generator_state`.

    Raises:
        HeadwiseError: HW402, a state is none that the generator can be in.
    """
    try:
        torch.set_rng_state(tensors["random/cpu"])
        if device.type == "cuda" and "random/cuda" in tensors:
            torch.cuda.set_rng_state(tensors["random/cuda"], device)
    except RuntimeError as error:
        raise HeadwiseError(f"the saved random state is damaged: {error}", code="HW402") from None


class RecordedSignals(list[int]):
    """The numbers of the signals so far.

    Attributes:
        act_at_once: Whether the first signal raises KeyboardInterrupt, too.
    """

    act_at_once = False


@contextmanager
def record_signals() -> Generator[RecordedSignals]:
    """Record Ctrl-C, SIGTERM and SIGHUP (a closed terminal) for the training loop, which checks between
    updates; a second signal acts at once. Ignored signals, as under nohup, stay ignored."""
    caught = RecordedSignals()
    if threading.current_thread() is not threading.main_thread():
        yield caught  # signals can only be handled in the main thread
        return

    def handle(number: int, frame: FrameType | None) -> None:
        if caught:
            raise KeyboardInterrupt
        caught.append(number)
        if caught.act_at_once:
            raise KeyboardInterrupt

    names = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    heard = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handle) for number in heard}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_log = getLogger(__name__)


def learn_batches(
    batches: Sequence[Sequence[int]],
    learn: Callable[[Sequence[int]], float],
    forget: Callable[[], None],
    where: Callable[[int], str],
    lengths: NDArray[np.int64],
) -> float:
    """The total loss of the batches of an update; a batch that does not fit into memory is halved.

    Args:
        batches: Indices of the texts of each batch.
        learn: Computes the gradients of one batch and returns its loss.
        forget: Clears the gradients of the update so far.
        where: Function from the index of a text to its place in a file.
        lengths: Number of words of each text, `[texts]`.

    Raises:
        HeadwiseError: HW410, a single text does not fit.
    """
    left = list(batches)
    while True:
        total, failed = 0.0, None
        for place, batch in enumerate(left):
            try:
                total += learn(batch)
            except (MemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                failed = place
                break
        if failed is None:
            return total
        # Outside the except block, which keeps the tensors alive.
        forget()
        batch = left[failed]
        longest = max(batch, key=lambda text: lengths[text])
        what = f"{where(longest)}, {lengths[longest]:,} words"
        if len(batch) == 1:
            raise HeadwiseError(
                f"the memory is not enough to learn from one text ({what}); read it in shorter windows "
                "(windows.words), shorten it, or take a smaller encoder",
                code="HW410",
            )
        _log.info(
            "a batch of %s texts does not fit into the memory (its longest: %s): cut in two. A smaller "
            "--batch-tokens spares the attempt",
            f"{len(batch):,}",
            what,
        )
        middle = len(batch) // 2
        left[failed : failed + 1] = batch[:middle], batch[middle:]
