"""A base of reviews without a teacher: from the unlabelled texts of MTL-16 and IMDB, no others.

    python -m benchmarks.papers.reviews_base --output reviews-base
    headwise train apparel.tsv --base reviews-base     # beside: headwise train apparel.tsv --base none

Some 18 million words; a pass over them takes about two minutes of a busy core.
"""

import argparse
import gzip
import lzma
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import DATA
from headwise.app.cli.pretrain_command import PretrainProgress
from headwise.training.pretraining import CardNotes, ContextConfig, PretrainConfig, pretrain_files

NOTES = CardNotes(
    licence="Not stated: the reviews are for research.",
    sources="The unlabelled reviews of MTL-16 (Liu, Qiu, Huang; 2017) and of IMDB (Maas et al.; 2011); no "
    "labelled text, no test text.",
    command="python -m benchmarks.papers.reviews_base --output FOLDER",
)


def reviews(imdb: int | None = None) -> Iterator[str]:
    """The texts, a line each; of IMDB so many, None = all."""
    for path in sorted((DATA / "mtl16").glob("*.unlabel.gz")):
        with gzip.open(path, "rt", encoding="utf-8", errors="replace", newline="\n") as file:
            for line in file:
                yield line.rpartition("\t")[2]
    with lzma.open(DATA / "imdb" / "train_unsup.tsv.xz", "rt", encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file):
            if number == imdb:
                return
            yield line.rpartition("\t")[2].replace("<br />", " ")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--imdb", type=int, help="so many reviews of IMDB; else all 50,000")
    parser.add_argument("--overwrite", action="store_true")
    options = parser.parse_args()
    config = PretrainConfig(context=ContextConfig(epochs=options.epochs))
    with tempfile.TemporaryDirectory() as folder, PretrainProgress() as progress:
        texts = Path(folder) / "reviews.txt"
        with open(texts, "w", encoding="utf-8") as file:
            for text in reviews(options.imdb):
                if plain := " ".join(text.replace("\0", " ").split()):
                    file.write(plain + "\n")
        pretrain_files(
            [texts], options.output, config, notes=NOTES, overwrite=options.overwrite, report=progress
        )


if __name__ == "__main__":
    main()
