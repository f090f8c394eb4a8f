"""`headwise train --base TAGGER`: warm start from a previous tagger, compared with training without it.

    python -m benchmarks.defaults.going_on_taggers
    python -m benchmarks.defaults.going_on_taggers --sets tweets --sizes 300 --seeds 1
    python -m benchmarks.defaults.going_on_taggers --table      # only print stored results

The previous tagger has learnt names from 3,000 sentences of news (CoNLL-2003). The new sentences are:

- `news`: other sentences of CoNLL-2003
- `tweets`: WNUT-17, its types merged into those of CoNLL-2003

Systems, each with the options that `headwise train` takes by itself:

- `earlier`: the previous tagger as it is
- `new`: trained on the new sentences alone
- `both`: trained on the previous and the new sentences
- `after`: trained on the new sentences, initialized from the previous tagger

F1 on the test part of the new sentences. Each seed draws other new sentences. A run is a line of
results/going_on_taggers.jsonl; what is there is not run again. Needs the data folder (HEADWISE_DATA).
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.common.accuracy_tables import print_header, print_row
from benchmarks.common.runs import Result
from benchmarks.defaults.default_model import write_part
from benchmarks.defaults.default_results import Job, append_result, read_results
from benchmarks.defaults.default_sets import Part
from benchmarks.papers.learning_curves import Cells
from benchmarks.papers.tagging import Sentences, read
from headwise.data.items.examples import TaggedSentence

RESULTS = Path(__file__).parent / "results" / "going_on_taggers.jsonl"
EARLIER = 3_000
SETS = ("news", "tweets")
SYSTEMS = ("earlier", "new", "both", "after")
TYPES = {
    "person": "PER",
    "location": "LOC",
    "group": "ORG",
    "corporation": "ORG",
    "product": "MISC",
    "creative-work": "MISC",
}
Tagged = Sequence[TaggedSentence]


def with_merged_types(sentences: Tagged) -> list[TaggedSentence]:
    """Sentences of WNUT-17 with the types of CoNLL-2003."""

    def merged(tag: str) -> str:
        prefix, _, kind = tag.partition("-")
        return f"{prefix}-{TYPES[kind]}" if kind else tag

    return [replace(sentence, tags=tuple(map(merged, sentence.tags))) for sentence in sentences]


def write(sentences: Tagged, path: Path) -> str:
    """A file with a word and its tag per line; its name."""
    words, tags = ([getattr(sentence, name) for sentence in sentences] for name in ("tokens", "tags"))
    return str(write_part(Part(words, tags), "tag", path))


def headwise(*arguments: str) -> str:
    """What a command of headwise prints; its errors end the program."""
    done = subprocess.run([sys.executable, "-m", "headwise", *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


class Runs:
    """The runs, and the files that they read.

    Args:
        folder: For files and models.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        news: Sentences = read("conll2003")
        order = np.random.default_rng(0).permutation(len(news.train))
        self._previous_train = [news.train[number] for number in order[:EARLIER]]
        self._parts = {"news": ([news.train[number] for number in order[EARLIER:]], list(news.test))}
        tweets = read("wnut17")
        self._parts["tweets"] = with_merged_types(tweets.train), with_merged_types(tweets.test)

    def previous_model(self) -> str:
        """The folder of the previous tagger."""
        model, file = self.folder / "earlier", self.folder / "earlier.conll"
        if not model.exists():
            headwise("train", write(self._previous_train, file), "--output", str(model), "--no-baseline")
        return str(model)

    def run(self, job: Job) -> Result:
        """A run."""
        train, test = self._parts[job.set]
        model = self.previous_model() if job.system == "earlier" else str(self.folder / "model")
        if job.system != "earlier":
            order = np.random.default_rng(job.seed).permutation(len(train))[: job.texts]
            new = [train[number] for number in order]
            learnt = [*self._previous_train, *new] if job.system == "both" else new
            options = ["--base", self.previous_model()] if job.system == "after" else []
            file = write(learnt, self.folder / "new.conll")
            headwise("train", file, "--output", model, "--overwrite", "--no-baseline", *options)
        scores = headwise("evaluate", model, write(test, self.folder / "test.conll"), "--json")
        return {"f1": json.loads(scores)["entities"]["f1"]}


def job_of(name: str, system: str, sentences: int, seed: int) -> Job:
    """A run; the previous tagger reads no new sentences."""
    return Job(name, system, 0, 0) if system == "earlier" else Job(name, system, sentences, seed)


def scores_table(results: Mapping[Job, Result]) -> Cells:
    """Mean F1 over seeds, by set and number of sentences, where all systems have run."""
    rows = []
    for name, size in sorted({(job.set, job.texts) for job in results if job.texts}):
        seeds = (
            [job_of(name, system, size, seed) for system in SYSTEMS]
            for seed in {job.seed for job in results}
        )
        runs = [
            [results[job]["f1"] for job in jobs] for jobs in seeds if all(job in results for job in jobs)
        ]
        if runs:
            means = 100 * np.mean(runs, axis=0)
            rows.append([name, f"{size:,}", str(len(runs)), *(f"{mean:.1f}" for mean in means)])
    return ["F1", "new sentences", "seeds", *SYSTEMS], rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--sizes", nargs="+", type=int, default=[100, 300, 1_000])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--table", action="store_true", help="only print stored results")
    arguments = parser.parse_args()
    jobs = [
        job_of(name, system, size, seed)
        for seed in range(arguments.seeds)
        for name in arguments.sets
        for size in arguments.sizes
        for system in SYSTEMS
    ]
    with tempfile.TemporaryDirectory() as folder:
        runs = None
        for job in () if arguments.table else jobs:
            if job not in read_results(RESULTS):
                runs = runs or Runs(Path(folder))
                result = runs.run(job)
                append_result(RESULTS, job, result)
                print(f"{job}: {100 * result['f1']:.1f}", flush=True)
    head, rows = scores_table(read_results(RESULTS))
    print_header(head)
    for row in rows:
        print_row(row)


if __name__ == "__main__":
    main()
