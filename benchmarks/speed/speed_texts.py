"""The texts of speed.py: MTL-16, in the batches that are timed."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks import DATA
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.items.examples import Example
from headwise.data.readers.labelled_files import read_examples

BATCH = 128
ORDERS = ("sorted", "random")
DOMAINS = (
    "MR",
    "apparel",
    "baby",
    "books",
    "camera_photo",
    "dvd",
    "electronics",
    "health_personal_care",
    "imdb",
    "kitchen_housewares",
    "magazines",
    "music",
    "software",
    "sports_outdoors",
    "toys_games",
    "video",
)


def missing_data() -> str | None:
    """Why nothing can be read, or None."""
    if (DATA / "mtl16").is_dir():
        return None
    return f"no folder mtl16 in {DATA}; set HEADWISE_DATA to the folder of the data"


def read_domain(domain: str, part: str) -> list[Example]:
    """The labelled texts of a domain: part is `train` or `test`."""
    options = ReadOptions(format="label-text", encoding_errors="replace")
    return read_examples(DATA / "mtl16" / f"{domain}.task.{part}.gz", options).items


@dataclass(frozen=True)
class TextBatch:
    """Some texts of a domain that are read together.

    Attributes:
        domain: Where they come from.
        texts: The words of each.
    """

    domain: str
    texts: tuple[tuple[str, ...], ...]

    @property
    def sizes(self) -> list[int]:
        """Words of each text."""
        return [len(text) for text in self.texts]


def make_batches(texts: Sequence[Sequence[str]], domain: str, order: str) -> list[TextBatch]:
    """Cut texts into batches of 128, from short to long (the rest that is left over are then the longest)
    or in a random order that is always the same."""
    texts = sorted(texts, key=len)
    if order == "random":
        random.Random(0).shuffle(texts)
    cuts = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
    return [TextBatch(domain, tuple(map(tuple, cut))) for cut in cuts]


def test_batches(domain: str, order: str) -> list[TextBatch]:
    """The batches of a domain's test texts, which are tokenised already."""
    return make_batches([example.text.split() for example in read_domain(domain, "test")], domain, order)


def sampled(
    batches: dict[str, list[TextBatch]], *, complete: Sequence[str] = (), middle: Sequence[str] = ()
) -> dict[str, list[TextBatch]]:
    """One batch of 128 of each domain, the first, the second, the third in turns.

    Args:
        batches: Those of each domain.
        complete: Domains of which all batches stay.
        middle: Domains of which the one in the middle is taken.
    """
    sample = {}
    for place, (domain, domain_batches) in enumerate(batches.items()):
        full = [batch for batch in domain_batches if len(batch.texts) == BATCH] or domain_batches
        chosen = full[len(full) // 2 if domain in middle else place % len(full)]
        sample[domain] = domain_batches if domain in complete else [chosen]
    return sample
