"""Runner: the network of an exported model, from what is read of texts to its outputs."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from headwise.data.windows import Window, cut_windows
from headwise.exported.errors import ExportError
from headwise.exported.session import Session
from headwise.exported.settings import NetworkSizes, WindowSizes
from headwise.exported.spelling import SpelledReader
from headwise.exported.vectors import BaseReader, WordReader
from headwise.features.encoded_text import EncodedText

MOST_WORDS = 16_384
"""Words that are read at once where memory grows with their square: more would take gigabytes a head."""
_PAIRS = 1 << 18  # pairs of words that are looked at together, for each head: what fits into caches
_WORDS = 1 << 14  # words that are read together, padding included

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
        reader: WordReader | BaseReader | SpelledReader,
    ):
        self.encoder, self.readout, self.network, self.windows = encoder, readout, network, windows
        self.reader = reader
        self.reads_compared = "compared" in readout.inputs

    def outputs(self, texts: Sequence[EncodedText]) -> Floats:
        """The outputs of texts, `[texts, outputs]`, the longest one first.

        Raises:
            ExportError: HW955 a text is too long to be read at once; HW956 a graph cannot be run.
        """
        parts = [self._outputs(texts[start:stop]) for start, stop in self._cuts([*map(len, texts)])]
        return np.concatenate(parts)

    def word_outputs(self, texts: Sequence[EncodedText]) -> Floats:
        """The outputs of the words of texts, the longest one first, text after text, `[words, outputs]`.

        Raises:
            ExportError: As `outputs`.
        """
        parts = []
        for start, stop in self._cuts([*map(len, texts)]):
            own = texts[start:stop]
            lengths = [len(text) for text in own]
            found = self.readout({"tokens": self._encoded(self._words(own)[0], lengths)[0]})[0]
            parts.append(found[np.arange(found.shape[1]) < np.array(lengths)[:, None]])
        return np.concatenate(parts)

    def pairs(
        self, firsts: Sequence[EncodedText], seconds: Sequence[EncodedText], compared: Floats | None
    ) -> Floats:
        """The outputs of pairs, `[pairs, outputs]`.

        Args:
            firsts: Their first texts.
            seconds: Their second texts.
            compared: How they compare by the vectors of a base, `[pairs, size]`, if that is read.

        Raises:
            ExportError: As `outputs`.
        """
        parts, sizes = [], [(len(one), len(two)) for one, two in zip(firsts, seconds, strict=True)]
        for start, stop in self._pair_cuts(sizes):
            own = None if compared is None else compared[start:stop]
            parts.append(self._pairs(firsts[start:stop], seconds[start:stop], own))
        return np.concatenate(parts)

    def _pair_cuts(self, sizes: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Where to cut pairs, so that what is padded and computed together fits into the memory."""
        start, longest = 0, (1, 1)
        for place, own in enumerate(sizes):
            longest = max(longest[0], own[0]), max(longest[1], own[1])
            count, product = place + 1 - start, longest[0] * longest[1] * self.network.crossed
            if count > 1 and (count * max(longest) > _WORDS or count * product > _PAIRS):
                yield start, place
                start, longest = place, (max(1, own[0]), max(1, own[1]))
            if self.network.crossed and own[0] * own[1] > MOST_WORDS**2:
                raise _too_long(max(own))
        yield start, len(sizes)

    def _pairs(
        self, firsts: Sequence[EncodedText], seconds: Sequence[EncodedText], compared: Floats | None
    ) -> Floats:
        read: dict[str, NDArray] = {} if compared is None else {"compared": compared}
        for side, texts in enumerate((firsts, seconds), start=1):
            lengths = [len(text) for text in texts]
            tokens, summary = self._states(texts)
            read |= {f"tokens_{side}": tokens, f"lengths_{side}": np.array(lengths, dtype=np.int64)}
            if summary is not None:
                read[f"summary_{side}"] = summary
        return self.readout(read)[0]

    def _states(self, texts: Sequence[EncodedText]) -> tuple[Floats, Floats | None]:
        """The states of the words of texts in any order, `[texts, longest, width]`, and of the texts,
        `[texts, width]`, if the encoder keeps some."""
        lengths = np.array([len(text) for text in texts])
        order = np.argsort(-lengths, kind="stable")
        states = np.zeros((len(texts), max(1, *lengths), self.network.width), dtype=np.float32)
        summary = np.zeros((len(texts), self.network.width), dtype=np.float32)
        for start, stop in self._cuts(lengths[order].tolist()):
            places = order[start:stop]
            vectors, _ = self._words([texts[place] for place in places])
            tokens, sums = self._encoded(vectors, lengths[places].tolist())
            states[places, : tokens.shape[1]] = tokens
            if sums is not None:
                summary[places] = sums
        return states, summary if self.network.summary else None

    def _cuts(self, lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Where to cut texts, the longest first, so that what is computed together fits into the memory."""
        start = 0
        while start < len(lengths):
            longest = lengths[start]
            read = min(longest, self.windows.words or longest) + 1
            most = _WORDS // max(longest, 1)
            if self.network.pairs:
                most = min(most, _PAIRS // read**2)
            most = max(1, most)
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
        for start, stop in self._cuts([window.stop - window.start for _, window in plan]):
            group = plan[start:stop]
            states, sums = self._run(*_cut_out(vectors, group))
            for place, (text, w) in enumerate(group):
                tokens[text, w.first : w.last] = states[place, w.first - w.start : w.last - w.start]
                if sums is not None:
                    share = (w.last - w.first) / lengths[text] if lengths[text] else 1.0
                    summary[text] += sums[place] * np.float32(share)
        return tokens, summary if self.network.summary else None

    def _run(self, vectors: Floats, lengths: Sequence[int]) -> tuple[Floats, Floats | None]:
        longest = max(lengths)
        if self.network.pairs and longest > MOST_WORDS:
            raise _too_long(longest)
        found = self.encoder({"vectors": vectors, "lengths": np.array(lengths, dtype=np.int64)})
        return (found[0], found[1]) if self.network.summary else (found[0], None)


def _too_long(words: int) -> ExportError:
    return ExportError(
        f"a text of {words:,} words: an exported model of this kind reads at most {MOST_WORDS:,} at once; "
        f"train with --windows.words {MOST_WORDS // 4}, which reads longer texts in windows, or predict "
        "with the model folder itself",
        code="HW955",
    )


def _cut_out(vectors: Floats, group: Sequence[tuple[int, Window]]) -> tuple[Floats, list[int]]:
    """The vectors of the words of some windows, padded, and their sizes."""
    sizes = [window.stop - window.start for _, window in group]
    found = np.zeros((len(group), max(1, *sizes), vectors.shape[2]), dtype=np.float32)
    for place, (text, window) in enumerate(group):
        found[place, : sizes[place]] = vectors[text, window.start : window.stop]
    return found, sizes
