"""The network of an exported model in onnxruntime, from encoded texts to outputs.

An `OnnxSession` is one graph. A `Runner` runs the two graphs of a model, in batches and in windows.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.artifacts.onnx.onnx_errors import ExportError, library
from headwise.artifacts.onnx.onnx_settings import NetworkSizes, WindowSizes
from headwise.artifacts.onnx.onnx_tables import CharacterAugmentedLookup
from headwise.core.threads import requested_threads
from headwise.data.items.dataset import TextWindow, cut_windows
from headwise.runtime.word_lookup import BaseLookup, WordLookup
from headwise.text.document_structure import DOCUMENT_MARKS
from headwise.text.text_features import EncodedText

_WHOLE = ("lengths", "lengths_1", "lengths_2", "letters", "grams", "counts", "clusters")
_KINDS: dict[str, str] = dict.fromkeys((*_WHOLE, *DOCUMENT_MARKS), "tensor(int64)")

_EXTERNAL_DATA = b"location"
"""A key that every graph with weights in an external file contains; our graphs have no such name."""


class OnnxSession:
    """An ONNX graph, ready to run.

    Args:
        content: Content of the ONNX file, without external data.
        inputs: Names of the available inputs; the graph need not read all of them.
        outputs: Expected number of outputs.
        where: Name of the file, for error messages.
        threads: Number of threads; None for OMP_NUM_THREADS, else the number of processor cores.

    Attributes:
        inputs: Names of the inputs that the graph reads.
        widths: Size of the last dimension of each output.

    Raises:
        ExportError: HW951 onnxruntime is not installed, HW956 it cannot run the file, or the graph reads
            or gives something else.
    """

    def __init__(
        self, content: bytes, inputs: Sequence[str], outputs: int, where: str, threads: int | None = None
    ):
        self._made = (content, tuple(inputs), outputs, where, threads)
        runtime = library("onnxruntime", "an exported model")
        self.where = where
        if _EXTERNAL_DATA in content:
            raise self._error("it names other files, and has to hold all of its numbers itself")
        options = runtime.SessionOptions()
        options.log_severity_level = 4  # errors are raised
        # Threads that wait for work by spinning bring small models to a crawl on a busy machine.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.intra_op_num_threads = requested_threads() if threads is None else threads
        try:
            self._session = runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise self._error(error) from None
        actual = {node.name: node.type for node in self._session.get_inputs()}
        expected = {name: _KINDS.get(name, "tensor(float)") for name in inputs}
        self.inputs = list(actual)
        output_types = [node.type for node in self._session.get_outputs()]
        self.widths = [node.shape[-1] for node in self._session.get_outputs()]
        if not actual.items() <= expected.items() or output_types != ["tensor(float)"] * outputs:
            raise self._error(f"it reads {actual} and gives {output_types}, unlike its settings")

    def __reduce__(self) -> tuple[Any, ...]:
        # onnxruntime's own sessions cannot be copied, nor sent to other processes.
        return type(self), self._made

    def __call__(self, inputs: Mapping[str, NDArray]) -> list[NDArray]:
        """Run the graph; returns its outputs.

        Raises:
            ExportError: HW956, onnxruntime fails.
        """
        try:
            return self._session.run(None, {name: inputs[name] for name in self.inputs})
        except Exception as error:
            raise self._error(error) from None

    def _error(self, problem: Any) -> ExportError:
        return ExportError(f"{self.where}: onnxruntime cannot run it: {problem!s:.300}", code="HW956")


MOST_WORDS = 16_384
"""Maximum number of words per text if memory grows with its square: more would take gigabytes per head."""
_PAIRS = 1 << 18  # pairs of words per batch and head, so that scores fit into caches
_WORDS = 1 << 14  # words per batch, padding included

Floats = NDArray[np.float32]


class Runner:
    """Runs the two graphs of a model, in batches and in windows.

    Args:
        encoder: The graph from word vectors to states.
        readout: The graph from states to outputs.
        network: Sizes of their inputs and outputs.
        windows: How long texts are read.
        reader: Looks up word vectors.
    """

    def __init__(
        self,
        encoder: OnnxSession,
        readout: OnnxSession,
        network: NetworkSizes,
        windows: WindowSizes,
        reader: WordLookup | BaseLookup | CharacterAugmentedLookup,
    ):
        self.encoder, self.readout, self.network, self.windows = encoder, readout, network, windows
        self.reader = reader
        self.reads_compared = "compared" in readout.inputs

    def outputs(self, texts: Sequence[EncodedText]) -> Floats:
        """Outputs of texts, `[texts, outputs]`; the texts are sorted, the longest one first.

        Raises:
            ExportError: HW955 a text is too long to be read at once; HW956 a graph cannot be run.
        """
        parts = [self._outputs(texts[start:stop]) for start, stop in self._cuts([*map(len, texts)])]
        return np.concatenate(parts)

    def word_outputs(self, texts: Sequence[EncodedText]) -> Floats:
        """Outputs of words, text after text, `[words, outputs]`; the texts are sorted, the longest one
        first.

        Raises:
            ExportError: As `outputs`.
        """
        parts = []
        for start, stop in self._cuts([*map(len, texts)]):
            part = texts[start:stop]
            lengths = [len(text) for text in part]
            read = {"vectors": self._words(part)[0], **self._marks(part)}
            scores = self.readout({"tokens": self._encoded(read, lengths)[0]})[0]
            parts.append(scores[np.arange(scores.shape[1]) < np.array(lengths)[:, None]])
        return np.concatenate(parts)

    def pairs(
        self, firsts: Sequence[EncodedText], seconds: Sequence[EncodedText], compared: Floats | None
    ) -> Floats:
        """Outputs of pairs, `[pairs, outputs]`.

        Args:
            firsts: The first texts.
            seconds: The second texts.
            compared: Comparison features from a base, `[pairs, size]`, if the model reads them.

        Raises:
            ExportError: As `outputs`.
        """
        parts, sizes = [], [(len(one), len(two)) for one, two in zip(firsts, seconds, strict=True)]
        for start, stop in self._pair_cuts(sizes):
            features = None if compared is None else compared[start:stop]
            parts.append(self._pairs(firsts[start:stop], seconds[start:stop], features))
        return np.concatenate(parts)

    def _pair_cuts(self, sizes: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Bounds of batches of pairs that fit into memory when they are padded."""
        start, longest = 0, (1, 1)
        for place, lengths in enumerate(sizes):
            longest = max(longest[0], lengths[0]), max(longest[1], lengths[1])
            count, product = place + 1 - start, longest[0] * longest[1] * self.network.crossed
            if count > 1 and (count * max(longest) > _WORDS or count * product > _PAIRS):
                yield start, place
                start, longest = place, (max(1, lengths[0]), max(1, lengths[1]))
            if self.network.crossed and lengths[0] * lengths[1] > MOST_WORDS**2:
                raise _too_long(max(lengths))
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
        """States of the words of texts in any order, `[texts, longest, width]`, and summaries of the texts,
        `[texts, width]`, if the encoder has them."""
        lengths = np.array([len(text) for text in texts])
        order = np.argsort(-lengths, kind="stable")
        states = np.zeros((len(texts), max(1, *lengths), self.network.width), dtype=np.float32)
        summary = np.zeros((len(texts), self.network.width), dtype=np.float32)
        for start, stop in self._cuts(lengths[order].tolist()):
            places = order[start:stop]
            part = [texts[place] for place in places]
            read = {"vectors": self._words(part)[0], **self._marks(part)}
            tokens, sums = self._encoded(read, lengths[places].tolist())
            states[places, : tokens.shape[1]] = tokens
            if sums is not None:
                summary[places] = sums
        return states, summary if self.network.summary else None

    def _cuts(self, lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Bounds of batches of texts, sorted by falling length, that fit into memory."""
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
        encoder_inputs = {"vectors": read["vectors"], **self._marks(texts)}
        read["tokens"], summary = self._encoded(encoder_inputs, lengths)
        if summary is not None:
            read["summary"] = summary
        return self.readout(read)[0]

    def _words(self, texts: Sequence[EncodedText]) -> tuple[Floats, Floats]:
        """Padded word vectors, `[texts, longest, size]`, and weights, `[texts, longest]`; padding is 0."""
        shape = len(texts), max(1, *map(len, texts))
        rows, weights = self.reader.words(texts)
        real = np.arange(shape[1]) < np.array([len(text) for text in texts])[:, None]
        vectors = np.zeros((*shape, self.reader.size), dtype=np.float32)
        vectors[real] = rows
        padded = np.zeros(shape, dtype=np.float32)
        padded[real] = weights
        return vectors, padded

    def _marks(self, texts: Sequence[EncodedText]) -> dict[str, NDArray[np.int64]]:
        """By name, the padded marks of words that the encoder reads, `[texts, longest]`."""
        shape = len(texts), max(1, *map(len, texts))
        marks = {name: np.zeros(shape, dtype=np.int64) for name in self.network.marks}
        for name, padded in marks.items():
            for row, text in zip(padded, texts, strict=True):
                row[: len(text)] = text.marks[name]
        return marks

    def _encoded(self, read: Mapping[str, NDArray], lengths: Sequence[int]) -> tuple[Floats, Floats | None]:
        """States of words, `[texts, longest, width]`, and summaries of texts, `[texts, width]`, from the
        padded inputs of the encoder; longer texts are read in windows."""
        most = self.windows.words
        if not most or max(lengths) <= most:
            return self._run(read, lengths)
        plan = [
            (text, window)
            for text, length in enumerate(lengths)
            for window in cut_windows(length, most, self.windows.overlap)
        ]
        plan.sort(key=lambda item: item[1].start - item[1].stop)
        tokens = np.zeros((*read["vectors"].shape[:2], self.network.width), dtype=np.float32)
        summary = np.zeros((len(lengths), self.network.width), dtype=np.float32)
        for start, stop in self._cuts([window.stop - window.start for _, window in plan]):
            group = plan[start:stop]
            states, sums = self._run(
                {name: _cut_out(padded, group) for name, padded in read.items()},
                [window.stop - window.start for _, window in group],
            )
            for place, (text, w) in enumerate(group):
                tokens[text, w.first : w.last] = states[place, w.first - w.start : w.last - w.start]
                if sums is not None:
                    share = (w.last - w.first) / lengths[text] if lengths[text] else 1.0
                    summary[text] += sums[place] * np.float32(share)
        return tokens, summary if self.network.summary else None

    def _run(self, read: Mapping[str, NDArray], lengths: Sequence[int]) -> tuple[Floats, Floats | None]:
        longest = max(lengths)
        if self.network.pairs and longest > MOST_WORDS:
            raise _too_long(longest)
        tensors = self.encoder({**read, "lengths": np.array(lengths, dtype=np.int64)})
        return (tensors[0], tensors[1]) if self.network.summary else (tensors[0], None)


def _too_long(words: int) -> ExportError:
    return ExportError(
        f"a text of {words:,} words: an exported model of this kind reads at most {MOST_WORDS:,} at once; "
        f"train with --windows.words {MOST_WORDS // 4}, which reads longer texts in windows, or predict "
        "with the model folder itself",
        code="HW955",
    )


def _cut_out(words: NDArray, group: Sequence[tuple[int, TextWindow]]) -> NDArray:
    """The part of padded words, `[texts, longest, ...]`, in each window, `[windows, longest, ...]`."""
    longest = max(window.stop - window.start for _, window in group)
    padded = np.zeros((len(group), max(1, longest), *words.shape[2:]), dtype=words.dtype)
    for place, (text, window) in enumerate(group):
        padded[place, : window.stop - window.start] = words[text, window.start : window.stop]
    return padded
