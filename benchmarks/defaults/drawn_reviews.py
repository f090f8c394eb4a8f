"""A file of any number of reviews, to measure memory and time: no labelled set at hand has a million texts.

    python -m benchmarks.defaults.drawn_reviews 1000000 train.csv test.csv
    python -m benchmarks.defaults.train_memory --updates 30 train.csv test.csv model -- --epochs 1

A review consists of sentences drawn from MTL-16's labelled reviews of its label, until it has as many words
as one of these drawn at random. So its words are those of reviews, and no two are equal; but the label is
easier to find than that of real reviews. 5,000 more are for testing. Needs the data folder.
"""

import csv
import random
import re
import sys
from collections.abc import Iterator

from benchmarks.speed.speed_texts import DOMAINS, read_domain

TEST = 5_000
_END = re.compile(r"(?<= [.!?]) ")


def drawn(texts: int) -> Iterator[tuple[str, str]]:
    """Reviews with their labels, in random order."""
    reviews = [
        review for domain in DOMAINS for part in ("train", "test") for review in read_domain(domain, part)
    ]
    lengths = [review.text.count(" ") + 1 for review in reviews]
    sentences: dict[str, list[str]] = {review.label: [] for review in reviews}
    for review in reviews:
        sentences[review.label] += _END.split(review.text)
    generator = random.Random(0)
    for _ in range(texts):
        label = generator.choice([*sentences])
        parts, words, length = [], 0, generator.choice(lengths)
        while words < length:
            parts.append(generator.choice(sentences[label]))
            words += parts[-1].count(" ") + 1
        yield " ".join(parts), label


def main() -> None:
    texts, train, test = int(sys.argv[1]), *sys.argv[2:4]
    rows = drawn(texts + TEST)
    for path, number in ((test, TEST), (train, texts)):
        with open(path, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("text", "label"), *(next(rows) for _ in range(number))])


if __name__ == "__main__":
    main()
