"""Runner: the network of an exported model, from what is read of texts to its outputs."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from headwise.adapters.onnx.errors import ExportError
from headwise.adapters.onnx.session import Session
from headwise.adapters.onnx.settings import NetworkSizes, WindowSizes
from headwise.adapters.onnx.vectors import BaseReader, WordReader
from headwise.data.windows import Window, cut_windows
from headwise.features.encoded_text import EncodedText

MOST_WORDS = 16_384
"""Words that are read at once where memory grows with their square: more would take gigabytes a head."""
_PAIRS = 1 << 24  # pairs of words that are looked at together, for each head
_WORDS = 1 << 14  # words of windows that are read together

Floats = NDArray[np.float32]


class Runner:
    """The two graphs, and what goes on between them.

    Args:
        encoder: From words to their states.
        readout: From these to outputs.
        network: What they read and give.
        windows: How long texts are read.
        reader: Looks words up.
    """

    def __init__(
        self,
        encoder: Session,
        readout: Session,
        network: NetworkSizes,
        windows: WindowSizes,
        reader: WordReader | BaseReader,
    ):
        self.encoder, self.readout, self.network, self.windows = encoder, readout, network, windows
        self.reader = reader

    def outputs(self, texts: Sequence[EncodedText]) -> Floats:
        """The outputs of texts, `[texts, outputs]`, the longest one first.

        Raises:
            ExportError: HW955 a text is too long to be read at once; HW956 a graph cannot be run.
        """
        parts = [self._outputs(texts[start:stop]) for start, stop in self._cuts([*map(len, texts)])]
        return np.concatenate(parts)

    def _cuts(self, lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Where to cut texts, the longest first, so that what is computed together fits into the memory."""
        start = 0
        while start < len(lengths):
            longest = lengths[start]
            read = min(longest, self.windows.words or longest) + 1
            most = max(1, _PAIRS // read**2) if self.network.pairs else len(lengths)
            yield start, min(start + most, len(lengths))
            start += most

    def _outputs(self, texts: Sequence[EncodedText]) -> Floats:
        lengths = [len(text) for text in texts]
        read: dict[str, NDArray] = {"lengths": np.array(lengths, dtype=np.int64)}
        read["vectors"], read["weights"] = self._words(texts)
        read["tokens"], summary = self._encoded(read["vectors"], lengths)
        if summary is not None:
            read["summary"] = summary
        return self.readout(read)[0]

    def _words(self, texts: Sequence[EncodedText]) -> tuple[Floats, Floats]:
        """The vectors of words, `[texts, longest, size]`, and their weights, `[texts, longest]`; 0 where
        there are none."""
        shape = len(texts), max(1, *map(len, texts))
        found, weights = self.reader.words(texts)
        real = np.arange(shape[1]) < np.array([len(text) for text in texts])[:, None]
        vectors = np.zeros((*shape, self.reader.size), dtype=np.float32)
        vectors[real] = found
        padded = np.zeros(shape, dtype=np.float32)
        padded[real] = weights
        return vectors, padded

    def _encoded(self, vectors: Floats, lengths: Sequence[int]) -> tuple[Floats, Floats | None]:
        """The states of words, `[texts, longest, width]`, and of texts, `[texts, width]`."""
        most = self.windows.words
        if not most or max(lengths) <= most:
            return self._run(vectors, lengths)
        plan = [
            (text, window)
            for text, length in enumerate(lengths)
            for window in cut_windows(length, most, self.windows.overlap)
        ]
        plan.sort(key=lambda item: item[1].start - item[1].stop)
        tokens = np.zeros((*vectors.shape[:2], self.network.width), dtype=np.float32)
        summary = np.zeros((len(lengths), self.network.width), dtype=np.float32)
        for group in self._groups(plan):
            states, sums = self._run(*_cut_out(vectors, group))
            for place, (text, w) in enumerate(group):
                tokens[text, w.first : w.last] = states[place, w.first - w.start : w.last - w.start]
                if sums is not None:
                    share = (w.last - w.first) / lengths[text] if lengths[text] else 1.0
                    summary[text] += sums[place] * np.float32(share)
        return tokens, summary if self.network.summary else None

    def _groups(self, plan: Sequence[tuple[int, Window]]) -> Iterator[Sequence[tuple[int, Window]]]:
        sizes = [window.stop - window.start for _, window in plan]
        for start, stop in self._cuts(sizes):
            step = max(1, _WORDS // max(sizes[start], 1))
            for first in range(start, stop, step):
                yield plan[first : min(first + step, stop)]

    def _run(self, vectors: Floats, lengths: Sequence[int]) -> tuple[Floats, Floats | None]:
        longest = max(lengths)
        if self.network.pairs and longest > MOST_WORDS:
            raise ExportError(
                f"a text of {longest:,} words: an exported model of this encoder reads at most "
                f"{MOST_WORDS:,} at once; train with --windows.words {MOST_WORDS // 4}, which reads longer "
                "texts in windows, or predict with the model folder itself",
                code="HW955",
            )
        found = self.encoder({"vectors": vectors, "lengths": np.array(lengths, dtype=np.int64)})
        return (found[0], found[1]) if self.network.summary else (found[0], None)


def _cut_out(vectors: Floats, group: Sequence[tuple[int, Window]]) -> tuple[Floats, list[int]]:
    """The vectors of the words of some windows, padded, and their sizes."""
    sizes = [window.stop - window.start for _, window in group]
    found = np.zeros((len(group), max(1, *sizes), vectors.shape[2]), dtype=np.float32)
    for place, (text, window) in enumerate(group):
        found[place, : sizes[place]] = vectors[text, window.start : window.stop]
    return found, sizes
