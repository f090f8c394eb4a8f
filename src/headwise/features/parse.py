"""Dependency parsing: from tokenised texts to the head of each word."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np

from headwise.errors import HeadwiseError
from headwise.features.syntax import Heads, joined_heads

Progress = Callable[[int], None]
"""Callback that receives the number of texts parsed so far."""

BATCH = 10_000  # words that are parsed at once; a longer text is cut
SENTENCE_ENDS = frozenset(".!?")

# Components that other tasks need. Those of other names are recognised after loading.
NOT_NEEDED = (
    *("tagger", "morphologizer", "attribute_ruler", "lemmatizer", "trainable_lemmatizer", "senter"),
    *("sentencizer", "ner", "beam_ner", "entity_ruler", "span_ruler", "entity_linker", "spancat"),
    *("spancat_singlelabel", "span_finder", "textcat", "textcat_multilabel"),
)
# The parser itself, and what it may listen to.
NEEDED = frozenset({"token.head", "doc.tensor", "doc._.trf_data"})

_ONE_AT_A_TIME = Lock()  # a spaCy vocabulary has one memory zone


@dataclass(frozen=True)
class SyntaxConfig:
    """Where dependency trees come from, for encoders that go by them."""

    pipeline: str | None = None
    """A spaCy pipeline with a parser, by name or path; it parses texts that come without heads."""

    cache: bool = True
    """Keep its parses on disk, so that no text is parsed twice."""


class ParserError(HeadwiseError):
    """The dependency parser cannot be used.

    Codes: HW260 spaCy is not installed, HW261 a pipeline cannot be loaded, HW262 it has no parser.
    """

    code = "HW260"


class Parser(Protocol):
    """A dependency parser."""

    @property
    def identity(self) -> str:
        """A text that differs between parsers that may give different parses."""
        ...

    def __call__(self, texts: Sequence[Sequence[str]], progress: Progress | None = None) -> list[Heads]:
        """The heads of the words of each text, counted through the text."""
        ...


class SpacyParser:
    """Any spaCy pipeline with a dependency parser, loaded on first use.

    The parser receives our tokens, so no alignment is needed, and segments sentences itself: each has a
    root. Only the parser and the components that it depends on are kept. Loading a pipeline runs code of
    its package, so only pipelines that the user names are loaded.

    Words are parsed in batches of about 10,000. A longer text is cut after the last full stop (question or
    exclamation mark) that fits, else between two words, and its parts are parsed separately.

    Args:
        pipeline: The name of an installed pipeline, or the path of a folder.
    """

    def __init__(self, pipeline: str | Path):
        self.pipeline = pipeline

    @cached_property
    def nlp(self) -> Any:
        """The pipeline, a `spacy.Language`.

        Raises:
            ParserError: HW260 to HW262.
        """
        spacy = _spacy()
        try:
            nlp = spacy.load(self.pipeline, exclude=NOT_NEEDED)
        except Exception as error:  # whatever the code of a pipeline raises
            raise ParserError(
                f"the spaCy pipeline '{self.pipeline}' cannot be loaded: {_first_line(error)}. Give the "
                "name of one that is installed (python -m spacy download en_core_web_sm), or its folder",
                code="HW261",
            ) from error
        for name in nlp.pipe_names:
            if NEEDED.isdisjoint(nlp.get_pipe_meta(name).assigns):
                nlp.remove_pipe(name)
        if not any("token.head" in nlp.get_pipe_meta(name).assigns for name in nlp.pipe_names):
            raise ParserError(
                f"the spaCy pipeline '{self.pipeline}' has no dependency parser; choose one that has, "
                "such as en_core_web_sm",
                code="HW262",
            )
        return nlp

    @property
    def identity(self) -> str:
        """Name, version and hash of the weights: `en_core_web_sm 3.8.0 (spaCy 3.8.2, 0f3c...)`."""
        meta = self.nlp.meta
        name = f"{meta['lang']}_{meta['name']} {meta['version']}"
        return f"{name} (spaCy {_spacy().__version__}, {self._digest})"

    @cached_property
    def _digest(self) -> str:
        digest = hashlib.sha256()
        for _, component in self.nlp.pipeline:
            if hasattr(component, "to_bytes"):  # a plain function may parse, too
                # Without the vocabulary, which grows with every text.
                digest.update(component.to_bytes(exclude=["vocab"]))
        return digest.hexdigest()[:16]

    def __call__(self, texts: Sequence[Sequence[str]], progress: Progress | None = None) -> list[Heads]:
        """The heads of the words of each text, counted through the text; 0 for roots.

        Raises:
            ParserError: HW260 to HW262.
        """
        parses: list[Heads] = []
        parts: list[Heads] = []
        for batch in _batches(texts):
            for heads, (_, last) in zip(self._parse(words for words, _ in batch), batch, strict=True):
                parts.append(heads)
                if last:
                    parses.append(joined_heads(parts))
                    parts = []
            if progress is not None:
                progress(len(parses))
        return parses

    def _parse(self, texts: Iterable[Sequence[str]]) -> list[Heads]:
        nlp = self.nlp
        new = import_module("spacy.tokens").Doc
        # What the vocabulary learns of new words is freed with the zone; no document must outlive it.
        with _ONE_AT_A_TIME, nlp.memory_zone():
            docs = nlp.pipe(new(nlp.vocab, words=[_legal(word) for word in words]) for words in texts)
            return [_heads(doc) for doc in docs]


def _spacy() -> Any:
    try:
        return import_module("spacy")
    except ImportError as error:
        raise ParserError(
            f"parsing needs spaCy, which cannot be imported ({_first_line(error)}); install it with: "
            "pip install 'headwise[spacy]'. Or give the parses in a file",
            code="HW260",
        ) from None


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


def _legal(word: str) -> str:
    """A word that spaCy accepts: not empty, without lone surrogates."""
    return word.encode("utf-8", "replace").decode() or " "


def _heads(doc: Any) -> Heads:
    offsets = doc.to_array("HEAD").astype(np.int64)  # 0 for a root
    return np.where(offsets == 0, 0, offsets + np.arange(1, len(offsets) + 1))


def _batches(texts: Iterable[Sequence[str]]) -> Iterator[list[tuple[Sequence[str], bool]]]:
    """Batches of parts of texts, of about `BATCH` words; each part with whether it is the last of its
    text."""
    batch: list[tuple[Sequence[str], bool]] = []
    size = 0
    for text in texts:
        start = 0
        while True:
            end = _cut(text, start)
            part = text[start:end]
            if batch and size + len(part) > BATCH:
                yield batch
                batch, size = [], 0
            batch.append((part, end == len(text)))
            size += len(part)
            if end == len(text):
                break
            start = end
    if batch:
        yield batch


def _cut(text: Sequence[str], start: int) -> int:
    """The end of the part of a text that begins at `start`."""
    end = start + BATCH
    if end >= len(text):
        return len(text)
    full_stops = (place for place in range(end, start + BATCH // 2, -1) if text[place - 1] in SENTENCE_ENDS)
    return next(full_stops, end)
