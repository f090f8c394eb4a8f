"""Translation with BP-Transformers (Ye et al. 2019, section 4.4), and with a Transformer of the same size.

    python -m benchmarks.papers.translation --model bpt-k4 --minutes 60      # Multi30k, English to German
    python -m benchmarks.papers.translation --model transformer
    python -m benchmarks.papers.translation --sweep                          # all models in turn
    python -m benchmarks.papers.translation --table
    python -m benchmarks.papers.translation --data iwslt/{train,dev,test}.{zh,en}  # six files of yours

Lines of words between spaces; words that training has once are unknown. BLEU is sacrebleu's on these words
(`tokenize none`), of a beam of 5. The paper's IWSLT15 and WMT14 must be brought; it reports 19.84 (zh-en,
k 4, context 64) and 26.9, 27.4, 27.6, 26.7 for k 1, 2, 4, 8 (en-de, Transformer 27.2). Needs the data
folder (HEADWISE_DATA) and sacrebleu (`pip install '.[bleu]'`). A run can be stopped and goes on; see
set_tasks.py.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from benchmarks import DATA
from benchmarks.common.accuracy_tables import print_header, print_row
from benchmarks.papers.set_tasks_training import Run, Scores, Settings, Task, train
from benchmarks.papers.translation_model import BEGIN, END, UNKNOWN, Sizes, Translator
from headwise.core.allocator import keep_freed_memory
from headwise.core.errors import HeadwiseError
from headwise.data.files.text_lines import read_lines
from headwise.nn.ragged import Ragged

RESULTS = Path(__file__).parent / "results"
MULTI30K = [
    DATA / "multi30k" / "tok" / f"{part}.lc.norm.tok.{language}.gz"
    for part in ("train", "val", "test_2016_flickr")
    for language in ("en", "de")
]
MODELS = {"transformer": Sizes(k=0)} | {
    f"bpt-k{k}": Sizes(k=k, clip=clip) for k, clip in ((1, 4), (2, 3), (4, 2), (8, 1))
}  # clip as in the released configurations for WMT14
Pair = tuple[list[int], list[int]]
"""Word numbers of a sentence and of its translation."""
LONGEST = 60  # words of a training sentence


@dataclass(frozen=True)
class Side:
    """The sentences of one language, `train`, `dev` and `test`, and the words that the model knows."""

    words: tuple[str, ...]
    parts: tuple[list[list[str]], ...]

    @classmethod
    def read(cls, paths: Sequence[Path]) -> "Side":
        parts = tuple([line.split() for _, line in read_lines(str(path))] for path in paths)
        counts = Counter(word for sentence in parts[0] for word in sentence)
        frequent = [word for word, count in counts.most_common() if count > 1]
        return cls(("<begin>", "<end>", "<unk>", *frequent), parts)

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def encode(self, sentence: Sequence[str]) -> list[int]:
        return [self.numbers.get(word, UNKNOWN) for word in sentence]


def batch_of(sentences: Sequence[Sequence[int]]) -> Ragged:
    """Word numbers of sentences."""
    flat = torch.tensor([word for sentence in sentences for word in sentence], dtype=torch.int64)
    return Ragged.from_lengths(flat, [len(sentence) for sentence in sentences])


class Translation(Task):
    """Loss of a word and BLEU, greedy, on dev sentences."""

    name = "translation"
    metrics = ("loss", "bleu")
    model = "bpt-k4"
    steps, rate, decay_at, precision, warmup = 20_000, 1e-3, 0.7, "bfloat16", 1000
    evaluation_sets, evaluate_every = 500, 1000
    paper: Mapping[str, tuple[float, ...]] = {}
    sentences = 64  # of a step
    smoothing = 0.1

    def __init__(self, paths: Sequence[Path]):
        self.paths = paths

    @cached_property
    def sides(self) -> tuple[Side, Side]:
        """Source and target.

        Raises:
            HeadwiseError: They do not have as many sentences.
        """
        sides = Side.read(self.paths[::2]), Side.read(self.paths[1::2])
        for path, source, target in zip(self.paths, sides[0].parts, sides[1].parts, strict=False):
            if len(source) != len(target):
                raise HeadwiseError(f"{path}: {len(source)} sentences for {len(target)} translations")
        return sides

    @cached_property
    def pairs(self) -> list[Pair]:
        """Training pairs by length, which are cut into batches."""
        source, target = self.sides
        encoded = [
            (source.encode(source_words), target.encode(target_words))
            for source_words, target_words in zip(source.parts[0], target.parts[0], strict=True)
            if 0 < len(source_words) <= LONGEST and 0 < len(target_words) <= LONGEST
        ]
        return sorted(encoded, key=lambda pair: (len(pair[0]), len(pair[1])))

    def make(self, model: str) -> Translator:
        if model not in MODELS:
            raise HeadwiseError(f"unknown model {model!r}; expected one of {', '.join(MODELS)}")
        return Translator(MODELS[model], *(len(side.words) for side in self.sides))

    def loss(self, model: Translator, seed: list[int]) -> Tensor:
        run, step = seed
        batches = -(-len(self.pairs) // self.sentences)
        epoch, place = divmod(step, batches)
        first = int(np.random.default_rng([run, epoch]).permutation(batches)[place]) * self.sentences
        torch.manual_seed(int(np.random.default_rng(seed).integers(2**63)))  # of dropout
        return self._loss(model, self.pairs[first : first + self.sentences], self.smoothing)

    def _loss(self, model: Translator, pairs: Sequence[Pair], smoothing: float) -> Tensor:
        source = batch_of([sentence for sentence, _ in pairs])
        inputs = batch_of([[BEGIN, *sentence] for _, sentence in pairs])
        targets = torch.tensor([word for _, sentence in pairs for word in (*sentence, END)])
        return cross_entropy(model(source, inputs).float(), targets, label_smoothing=smoothing)

    def evaluate(self, model: Translator, sets: int) -> Scores:
        source, target = self.sides
        dev = [
            (source.encode(source_words), target.encode(target_words))
            for source_words, target_words in zip(source.parts[1][:sets], target.parts[1], strict=False)
        ]
        model.eval()
        losses = [self._loss(model, dev[at : at + 100], 0.0).item() for at in range(0, len(dev), 100)]
        bleu, _ = self.bleu(model, 1, beam=1, sentences=sets)
        model.train()
        return {"loss": sum(losses) / len(losses), "bleu": bleu}

    def references(self, sets: int) -> dict[str, Scores]:
        return {}

    def bleu(
        self, model: Translator, part: int, beam: int, sentences: int | None = None
    ) -> tuple[float, str]:
        """BLEU on dev (1) or test (2), and how it was computed."""
        from sacrebleu.metrics.bleu import BLEU

        source, target = (side.parts[part][:sentences] for side in self.sides)
        names, translations = self.sides[1].words, list[str]()
        for at in range(0, len(source), 50):
            batch = batch_of([self.sides[0].encode(words) for words in source[at : at + 50]])
            translations += [
                " ".join(names[word] for word in words) for words in model.translate(batch, beam)
            ]
        metric = BLEU(tokenize="none", force=True)
        score = metric.corpus_score(translations, [[" ".join(words) for words in target]])
        return float(score.score), str(metric.get_signature())


def run(task: Translation, settings: Settings, results: Path) -> int:
    """Train, and read the test sentences at the end."""
    status = train(task, settings, results)
    if status:
        return status
    name = f"{task.name}-{settings.model}-{settings.seed}"
    trained = Run(task, settings, results / "cache" / "set_tasks" / f"{name}.safetensors")
    trained.model.eval()
    bleu, how = task.bleu(trained.model, 2, beam=5)
    path = results / "set_tasks" / f"{name}.json"
    result = json.loads(path.read_text()) | {"test_bleu": bleu, "bleu": how}
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"{name}: test BLEU {bleu:.2f} ({how})")
    return 0


def print_results(results: Path) -> None:
    """Print the stored results in Markdown."""
    print_header(["model", "seed", "steps", "minutes", "parameters", "dev loss", "dev BLEU", "test BLEU"])
    for path in sorted((results / "set_tasks").glob("translation-*.json")):
        run = json.loads(path.read_text())
        scores = run["scores"]["loss"], run["scores"]["bleu"], run.get("test_bleu", float("nan"))
        cells = [run["model"], str(run["seed"]), f"{run['steps']:,}", f"{run['seconds'] / 60:.0f}"]
        print_row([*cells, f"{run['parameters']:,}", *(f"{score:.2f}" for score in scores)])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", choices=list(MODELS), default=Translation.model)
    parser.add_argument("--sweep", action="store_true", help="all models in turn")
    parser.add_argument("--data", type=Path, nargs=6, default=MULTI30K, metavar="FILE")
    parser.add_argument("--minutes", type=float, default=60, help="of training, over all sessions")
    parser.add_argument("--clock", choices=["wall", "processor"], default="wall")
    parser.add_argument("--steps", type=int, default=Translation.steps)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="only print stored results")
    options = parser.parse_args(arguments)
    task = Translation(options.data)
    task.warmup = min(task.warmup, options.steps // 10)
    if options.table:
        print_results(options.results)
        return 0
    if find_spec("sacrebleu") is None:
        print("error: BLEU needs sacrebleu: pip install '.[bleu]'", file=sys.stderr)
        return 2
    if options.threads:
        torch.set_num_threads(options.threads)
    keep_freed_memory()
    try:
        for model in MODELS if options.sweep else [options.model]:
            settings = Settings(
                model,
                options.seed,
                options.steps,
                options.minutes,
                options.clock,
                task.decay_at,
                task.precision,
            )
            if status := run(task, settings, options.results):
                return status
    except HeadwiseError as error:
        print(f"error {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
