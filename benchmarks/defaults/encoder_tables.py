"""Tables of sentence encoders and the default, frozen and as teachers, from the runs of default.py and
distill.py."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from benchmarks.defaults.default_results import ALL, OURS, Results, set_of
from benchmarks.defaults.default_table import size_name

FROZEN = ("e5-small", "mpnet")
TRAINED = ("setfit", "fine-tuned-minilm")
TAUGHT_BY = {
    "distilled, leading": "MiniLM",  # the runs with 250 and 4,000 labels
    "distilled, pairs up to three apart": "MiniLM",  # those with 1,000
    "distilled, e5-small": "e5-small",
    "distilled, mpnet": "mpnet",
    "distilled, beside the encoder of the base": "MiniLM",  # those with 25 labels at most
    "distilled, mpnet beside the encoder of the base": "mpnet",
    "distilled, from the encoder of the base": "MiniLM",  # the model starts from it, too
    "distilled, mpnet from the encoder of the base": "mpnet",
}
"""The teacher of each system of distill.py that the tables show."""

Table = tuple[list[str], list[list[str]]]


def encoder_table(results: Results, systems: Sequence[str]) -> Table:
    """Head and rows of systems with a sentence encoder, and of frozen MiniLM with logistic regression,
    beside the default: test accuracy on the same training texts, and the means of each size, in which the
    splits of a set count as one."""
    head = ["system", "set", "labels", "the system", "frozen MiniLM", "the default", "difference"]
    scores: dict[tuple[str, int], dict[str, list[list[float]]]] = {}
    rows: list[list[str]] = []
    for job in sorted(results, key=lambda job: (job.system, job.texts, job.set, job.seed)):
        ours, minilm = (results.get(replace(job, system=name)) for name in (OURS, "minilm"))
        if job.system in systems and ours and minilm:
            values = [100 * run["test"] for run in (results[job], minilm, ours)]
            of_sets = scores.setdefault((job.system, job.texts), {})
            of_sets.setdefault(set_of(job.set), []).append(values)
            rows.append([job.system, f"`{job.set}`", f"{job.texts:,}", *_compared(values)])
    for (system, texts), of_sets in scores.items():
        means = np.mean([np.mean(runs, axis=0) for runs in of_sets.values()], axis=0).tolist()
        rows.append([system, f"mean of {len(of_sets)}", f"{texts:,}", *_compared(means)])
    return head, rows


WITHOUT_ENCODER = "headwise, no base encoder"


def base_encoder_table(results: Results) -> Table:
    """Head and rows of the default with and without the encoder of the base: test accuracy and log loss,
    and the means of each size. Runs that do not start from it, which have equal scores, are left out."""
    scores: dict[int, list[list[float]]] = {}
    rows: list[list[str]] = []
    for job in sorted(results, key=lambda job: (job.texts == ALL, job.texts, job.set, job.seed)):
        ours = results.get(replace(job, system=OURS))
        if job.system != WITHOUT_ENCODER or not ours:
            continue
        runs = results[job], ours
        values = [100 * run["test"] for run in runs] + [run["log_loss"] for run in runs]
        if values[0] != values[1] or values[2] != values[3]:
            scores.setdefault(job.texts, []).append(values)
            rows.append([f"`{job.set}`", size_name(job.texts), *_both(values)])
    for texts, of_size in scores.items():
        means = np.mean(of_size, axis=0).tolist()
        rows.append([f"mean of {len(of_size)}", size_name(texts), *_both(means)])
    return ["set", "labels", "without", "with", "difference", "log loss without", "with"], rows


def _both(values: Sequence[float]) -> list[str]:
    without, with_encoder, *losses = values
    gain = f"{with_encoder - without:+.1f}"
    return [f"{without:.1f}", f"{with_encoder:.1f}", gain, *(f"{loss:.3f}" for loss in losses)]


def _compared(values: Sequence[float]) -> list[str]:
    """Accuracies, and the last less the first."""
    return [*(f"{value:.1f}" for value in values), f"{values[-1] - values[0]:+.1f}"]


def teacher_table(distilled: Results, default: Results) -> Table:
    """Head and rows of models that a teacher has taught, between the default and the teacher.

    Args:
        distilled: Runs of distill.py.
        default: Runs of default.py.
    """
    head = ["teacher", "set", "labels", "unlabelled", "the default", "the model", "the teacher"]
    runs = {
        replace(job, system=teacher): run
        for system, teacher in TAUGHT_BY.items()  # of runs of one teacher, those of the later name
        for job, run in distilled.items()
        if job.system == system
    }
    scores: dict[tuple[str, int], list[list[float]]] = {}
    rows: list[list[str]] = []
    for job in sorted(runs, key=lambda job: (job.texts, job.system, job.set)):
        ours, run = default.get(replace(job, system=OURS)), runs[job]
        if ours:
            values = [100 * score for score in (ours["test"], run["test"], run["teacher"])]
            scores.setdefault((job.system, job.texts), []).append(values)
            times = run["texts_per_second"] / run["teacher_texts_per_second"]
            first = [job.system, f"`{job.set}`", f"{job.texts:,}", f"{run['unlabelled']:,}"]
            rows.append([*first, *(f"{value:.1f}" for value in values), _way(values), f"{times:,.0f}"])
    for (teacher, texts), of_size in scores.items():
        means = np.mean(of_size, axis=0).tolist()
        first = [teacher, f"mean of {len(of_size)}", f"{texts:,}", ""]
        rows.append([*first, *(f"{value:.1f}" for value in means), _way(means), ""])
    return [*head, "of the way", "times its texts/s"], rows


def _way(values: Sequence[float]) -> str:
    """How far the model is from the default to the teacher; nothing where the teacher is no better."""
    default, model, teacher = values
    return f"{(model - default) / (teacher - default):.0%}" if teacher > default else "-"
