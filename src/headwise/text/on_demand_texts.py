"""OnDemandTexts: encoded texts that are too many for memory, and are encoded whenever they are needed.

Encoding takes some 0.1 ms per text, a small part of an update of the network. An encoded text takes several
times the bytes of the text.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.data.items.dataset import ComputedItems, in_chunks, items_at
from headwise.data.items.examples import as_example
from headwise.text.text_features import EncodedText

MOST_ENCODED = 1 << 25
"""Number of characters of all texts together that are encoded once and held in memory: those of some 25,000
reviews, or 350,000 short sentences."""
_CHUNK = 1_024  # texts that are encoded at once

Encode = Callable[[Sequence[Any]], Sequence[EncodedText]]


class OnDemandTexts(ComputedItems[EncodedText]):
    """A sequence of encoded texts, of which only the lengths are in memory.

    Attributes:
        lengths: Number of words of each text, int64 `[texts]`.
    """

    def __init__(self, encode: Encode, examples: Sequence[Any]):
        self._encode, self._examples = encode, examples
        self._appended: list[EncodedText] = []
        self.lengths: NDArray[np.int64] = np.zeros(len(examples), dtype=np.int64)
        self._cut: set[int] = set()
        for number, text in enumerate(self):
            self.lengths[number] = len(text)
            if text.cut:
                self._cut.add(number)

    def __len__(self) -> int:
        return len(self._examples) + len(self._appended)

    def __getitem__(self, number: Any) -> Any:
        numbers = range(len(self))[number]
        return self.take(numbers) if isinstance(numbers, range) else self.take([numbers])[0]

    def __iter__(self) -> Iterator[EncodedText]:
        for part in in_chunks(self._examples, _CHUNK):
            yield from self._encode(part)
        yield from self._appended

    def take(self, numbers: Sequence[int] | NDArray[np.int64]) -> list[EncodedText]:
        """The texts with these indices, encoded together."""
        count = len(self._examples)
        listed = [int(number) for number in numbers]
        encoded = iter(self._encode([self._examples[number] for number in listed if number < count]))
        return [next(encoded) if number < count else self._appended[number - count] for number in listed]

    def subset(self, numbers: Sequence[int] | NDArray[np.int64]) -> "OnDemandTexts":
        count, chosen = len(self._examples), np.asarray(numbers, dtype=np.int64)
        if not (np.diff(chosen >= count).astype(int) >= 0).all():
            raise ValueError("appended texts come last")
        texts = object.__new__(OnDemandTexts)
        texts._encode = self._encode
        texts._examples = items_at(self._examples, chosen[chosen < count].tolist())
        texts._appended = items_at(self._appended, (chosen[chosen >= count] - count).tolist())
        texts.lengths = self.lengths[chosen]
        texts._cut = set(np.flatnonzero(np.isin(chosen, [*self._cut])).tolist())
        return texts

    def with_items(self, items: Sequence[EncodedText]) -> "OnDemandTexts":
        texts = self.subset(np.arange(len(self)))
        texts._appended += items
        texts.lengths = np.append(self.lengths, [len(item) for item in items]).astype(np.int64)
        return texts

    @property
    def texts(self) -> list[str]:
        """The original texts, as far as they are read."""
        listed = [as_example(example).text for example in self._examples]
        for number in self._cut:
            listed[number] = self[number].text
        return [*listed, *(text.text for text in self._appended)]


def encode_texts(encode: Encode, examples: Sequence[Any]) -> Sequence[EncodedText]:
    """Encode texts, at once or, where they are too many, each time that they are needed."""
    if sum(len(as_example(example).text) for example in examples) <= MOST_ENCODED:
        return encode(examples)
    return OnDemandTexts(encode, examples)
