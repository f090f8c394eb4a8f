"""The training procedure of all tasks: from the parts of the data to a trained model on a device."""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Protocol

import torch

from headwise.core.errors import ConfigError, HeadwiseError
from headwise.core.folder_layout import RUN_STATE
from headwise.core.scratch import scratch_folder
from headwise.data.files.file_lists import place
from headwise.data.items.labels import evaluated_items
from headwise.data.splits.data_parts import DataParts
from headwise.nn.embeddings.pretrained import PretrainedEmbedding
from headwise.nn.embeddings.word_embedding import WordEmbedding
from headwise.nn.networks.word_model import WordModel
from headwise.text.vector_files import load_vectors
from headwise.text.vocabulary import Coverage, Vocabulary, WordVectors, matrix_for
from headwise.training.callbacks import EpochReport
from headwise.training.cross_fitting import cross_fit
from headwise.training.loop import Objective, run_epochs
from headwise.training.run_state import REFIT_FOLDER, RunProgress
from headwise.training.settings import RunConfig
from headwise.training.train_result import HeldOutPart, ModelEnsembleFitter, TrainResult
from headwise.training.warm_start import copy_weights


def pick_device(name: torch.device | str) -> torch.device:
    """The device of this name; `auto` is CUDA where available, else the CPU.

    Raises:
        ConfigError: The device is unknown or not available.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).tolist()  # fails on the meta device, which has no values
    except (RuntimeError, AssertionError) as error:
        why = str(error).splitlines()[0].split(". ")[0]  # for a missing backend, PyTorch lists all others
        raise ConfigError(
            f"the device {str(name)!r} cannot be used: {why}; auto takes what there is"
        ) from None
    return device


@contextmanager
def default_float32_cpu() -> Generator[None]:
    """Create modules in float32 and on the CPU within this context, whatever `torch.set_default_dtype` and
    `torch.set_default_device` say."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    elsewhere = torch.empty(0).device.type != "cpu"  # entering the CPU context costs time
    try:
        with torch.device("cpu") if elsewhere else nullcontext():
            yield
    finally:
        torch.set_default_dtype(before)


class TrainableTask(Protocol):
    """The part of a task that training uses (see `headwise.models.tasks.task.Task`)."""

    def build(
        self, parts: DataParts, run_config: RunConfig, vectors: WordVectors | None
    ) -> tuple[Any, Coverage | None]:
        """Build an untrained model for these data."""
        ...

    def objective(self, model: Any, parts: DataParts) -> Objective:
        """The training objective."""
        ...

    def begin(self, model: Any, objective: Any) -> None:
        """Initialise parameters that gradient descent does not fit, before the first epoch."""
        ...

    def ensemble_fitter(self, objective: Any) -> ModelEnsembleFitter:
        """Fits the linear member, ensemble weights and calibration after the epochs."""
        ...

    post_training_step: ClassVar[str]
    """Name of the step after the epochs, for the progress bar."""
    supports_cross_fitting: ClassVar[bool]
    """Whether its ensembles can be fitted on out-of-fold outputs."""


def uses_folds(task: TrainableTask, parts: DataParts, run_config: RunConfig) -> bool:
    """Whether a run without a teacher is cross-fitted: then no item of these data is for dev alone."""
    return bool(run_config.train.folds) and task.supports_cross_fitting and "dev" not in parts.files


@torch.inference_mode(False)
@torch.enable_grad()
@default_float32_cpu()
def fit_model(
    task: TrainableTask,
    parts: DataParts,
    run_config: RunConfig,
    folder: Path,
    *,
    vectors: WordVectors | None = None,
    resume: bool = False,
    refit_parts: Callable[[DataParts], DataParts] | None = None,
    report: Callable[[EpochReport], None] = lambda _: None,
    stage: Callable[[str], None] = lambda _: None,
) -> TrainResult:
    """Train a model; the best epoch is chosen on dev.

    Args:
        task: The task.
        parts: Training data, and dev data for early stopping, calibration and ensemble weights. Test data
            are not used.
        run_config: The configuration.
        folder: Folder of the run's state.
        vectors: The vectors of `run_config.vectors.file`; read from there by default.
        resume: Whether to resume the run in `folder`.
        refit_parts: Gives the data of the refit from `parts`; by default dev is moved into training. With
            it, there is no cross-fitting.
        report: Called after each update and each epoch.
        stage: Called with a message between and after training runs.

    Raises:
        HeadwiseError: The data, the settings or a state to resume do not fit.
    """
    for name, part in (("training", parts.train), ("dev", parts.dev)):
        if not len(part):
            advice = "; give dev=(X, y), or let split.dev of the recipe be above 0" * (name == "dev")
            raise HeadwiseError(f"there are no {name} {parts.item_type.nouns.many}{advice}", code="HW405")
    if vectors is None and run_config.vectors.file is not None:
        vectors = load_vectors(run_config.vectors.file)
    train_network = partial(_train_network, task, run_config, vectors, stage)

    def train_again(more_parts: DataParts) -> _TrainedNetwork:
        """The refit on training and dev items, for as many epochs as were best; its time is added."""
        inner = folder / REFIT_FOLDER
        again = train_network(
            more_parts,
            inner,
            resume=resume and (inner / RUN_STATE).exists(),
            report=lambda epoch: report(replace(epoch, scores=None, part="once more, on all")),
            until=progress.best_epoch + 1,
        )
        progress.seconds += again.progress.seconds
        stage(task.post_training_step)
        return again

    with scratch_folder(folder):
        if uses_folds(task, parts, run_config) and refit_parts is None:
            all_parts = merge_dev_into_train(parts)
            out_of_fold = cross_fit(
                train_network,
                replace(all_parts, dev=[]),
                run_config.train,
                folder,
                resume=resume,
                report=report,
            )
            progress, refit = out_of_fold.progress, True
            network = train_again(all_parts)
            fitted = network.fitter.fit(out_of_fold)
            held_out = HeldOutPart(len(out_of_fold.held), out_of_fold.folds)
        else:
            network = train_network(parts, folder, resume=resume, report=report)
            progress, fitter = network.progress, network.fitter
            stage(task.post_training_step)
            fitted = fitter.fit()
            counted = evaluated_items(parts.dev) if parts.item_type.has_keys else None
            held_out = HeldOutPart(None if counted is None else len(counted))
            refit = run_config.train.refit and "dev" not in parts.files
            if refit:
                network = train_again((refit_parts or merge_dev_into_train)(parts))
                network.fitter.refit(fitter)
    scores = fitted.dev, fitted.calibration
    return TrainResult(network.model, progress, network.coverage, *scores, refit, held_out)


@dataclass(frozen=True)
class _TrainedNetwork:
    """A trained network before calibration and ensemble weights are fitted."""

    model: Any
    coverage: Coverage | None
    objective: Any
    fitter: ModelEnsembleFitter
    progress: RunProgress


def _train_network(
    task: TrainableTask,
    run_config: RunConfig,
    vectors: WordVectors | None,
    stage: Callable[[str], None],
    parts: DataParts,
    folder: Path,
    *,
    resume: bool,
    report: Callable[[EpochReport], None],
    until: int | None = None,
) -> _TrainedNetwork:
    """Build, initialise and train a network, and round it to 16 bits.

    Args:
        task, run_config, vectors, stage, parts, folder, resume, report: See `fit_model`.
        until: For a refit: the number of epochs, after which the last weights are used; dev is not
            evaluated.
    """
    previous = run_config.init_from
    torch.manual_seed(run_config.train.seed)
    if (evaluated := evaluated_items(parts.dev)) is not parts.dev:
        parts = replace(parts, dev=evaluated)
    model, coverage = task.build(parts, run_config, vectors)
    if previous is not None:
        copy_weights(model, previous)
    model.to(pick_device(run_config.train.device))
    objective = task.objective(model, parts)
    fitter = task.ensemble_fitter(objective)
    task.begin(model, objective)
    hashes = {name: parts.item_type.fingerprint(getattr(parts, name)).sha256 for name in ("train", "dev")}
    warm_start = {} if previous is None else {"former": previous.digest}
    stops = run_config.train.stop_if_unused and until is None
    stops &= not uses_folds(task, parts, run_config)

    def is_unused() -> bool:
        stage(task.post_training_step)  # of many items it takes minutes
        return fitter.encoder_is_unused()

    progress = run_epochs(
        model,
        objective,
        run_config.train,
        folder,
        resume=resume,
        identity={"texts": hashes, **run_config.to_json(), **warm_start},
        rates=learning_rates(run_config) if isinstance(model, WordModel) else {},
        until=until,
        unused=is_unused if stops else None,
        where=item_locator(parts),
        report=report,
    )
    round_to_half(model)
    if isinstance(embedding := getattr(model, "embedding", None), PretrainedEmbedding):
        embedding.clear_cache()
    return _TrainedNetwork(model, coverage, objective, fitter, progress)


@torch.no_grad()
def round_to_half(model: torch.nn.Module) -> None:
    """Round weights to 16-bit floats: the saved model takes half of the bytes and is the same after
    loading, and whatever is fitted on dev afterwards is fitted to the final weights."""
    for weights in model.parameters():
        rounded = weights.half().to(weights.dtype)
        if rounded.isfinite().all():
            weights.copy_(rounded)


def merge_dev_into_train(parts: DataParts) -> DataParts:
    """Move the dev items into the training data."""
    return replace(parts, train=[*parts.train, *parts.dev])


def item_locator(parts: DataParts) -> Callable[[int], str] | None:
    """A function from the index of a training item to its place, `file:line`; None where items have no
    lines."""
    path = getattr(parts.files.get("train"), "path", "")
    if not path or not parts.item_type.has_keys:
        return None
    # Items behind the texts are label names.
    return lambda number: place(path, parts.train[number].line) if number < len(parts.train) else path


def learning_rates(run_config: RunConfig) -> dict[str, float]:
    """Learning rates of parameter groups that have their own, by name prefix."""
    return {
        "embedding.vectors": run_config.train.vectors_learning_rate,
        "embedding.encoder.": run_config.model.pretrained.learning_rate,
    }


def new_vocabulary(
    texts: Iterable[Sequence[str]], run_config: RunConfig, vectors: WordVectors | None = None
) -> Vocabulary:
    """Build the vocabulary of texts, and of the most frequent words of the vectors.

    Raises:
        ConfigError: The vectors do not fit the settings.
    """
    words = run_config.model.words
    if vectors is not None and run_config.model.pretrained.name:
        raise ConfigError("word vectors and a pretrained encoder exclude each other; give one of them")
    if vectors is not None and vectors.size != words.vector_size:
        raise ConfigError(
            f"{run_config.vectors.file}: the vectors have {vectors.size} features, but "
            f"words.vector_size is {words.vector_size}; leave it out or set it to {vectors.size}"
        )
    extra = tuple(vectors.words[: run_config.vectors.extra_words]) if vectors else ()
    if (previous := run_config.init_from) is not None and previous.has_no_task:
        extra = (*previous.words, *extra)
    elif previous is not None:
        texts = chain(texts, [previous.words] * words.min_count)
    return Vocabulary.build(
        texts, min_count=words.min_count, max_size=words.max_words, case=words.case, extra_words=extra
    )


def start_from_vectors(model: WordModel, vectors: WordVectors | None, seed: int) -> Coverage | None:
    """Initialise the embedding from pretrained vectors; returns their coverage of the vocabulary. None
    without vectors, or if the model has no place for them."""
    if vectors is None or not isinstance(model.embedding, WordEmbedding):
        return None
    matrix, _ = matrix_for(model.features.vocabulary, vectors, seed=seed)
    model.embedding.start_from(torch.from_numpy(matrix))
    return model.features.vocabulary.coverage(vectors)
