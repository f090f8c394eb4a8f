"""A model as a component of a spaCy pipeline: `nlp.add_pipe("headwise", config={"model": FOLDER})`.

The words of the model are aligned with the tokens of spaCy on the same text. spaCy finds `make_component`
by the entry point `spacy_factories`, and imports this module whenever a pipeline is created. PyTorch is
therefore imported only when the first model is loaded.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import srsly
from spacy.language import Language
from spacy.parts_of_speech import IDS as POS
from spacy.pipeline import Pipe
from spacy.scorer import Scorer, get_ner_prf
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import filter_spans, minibatch

from headwise.app.spacy_files import AdapterError, ModelFiles
from headwise.core.config import JsonObject
from headwise.core.errors import ConfigError

if TYPE_CHECKING:
    from headwise.app.session import ModelSession

CharacterSpan = tuple[int, int]
"""Character offsets of a word or token in its text, `(start, end)`, end exclusive."""


def words_of_tokens(tokens: Sequence[CharacterSpan], words: Sequence[CharacterSpan]) -> list[int | None]:
    """For each token, the index of the word with which it shares most characters, `[tokens]`. Ties go to
    the first word; None if the token overlaps no word.

    Args:
        tokens: Character offsets of the tokens, in text order.
        words: Character offsets of the words, in text order.
    """
    word_of_token: list[int | None] = []
    first = 0  # all words before this index end before the token begins
    for start, end in tokens:
        while first < len(words) and words[first][1] <= start:
            first += 1
        best, most = None, 0
        for word in range(first, len(words)):
            if words[word][0] >= end:
                break
            shared = min(end, words[word][1]) - max(start, words[word][0])
            if shared > most:
                best, most = word, shared
        word_of_token.append(best)
    return word_of_token


Mode = Literal["strict", "contract", "expand"]
UNTYPED_SPAN_LABEL = "SPAN"
"""The label of spans whose tags have no type, since spaCy entities need a label."""
_WHITESPACE_TAGS = {"tag": "_SP", "pos": "SPACE"}
"""Values for white-space tokens, as in spaCy's own pipelines."""


class HeadwiseComponent(Pipe):
    """A headwise model as a component of a spaCy pipeline.

    A classifier, also a multi-label one, writes the probability of every label into `doc.cats`. A span
    tagger writes `doc.ents`, a tagger with plain tags `token.tag_`. The prediction of `headwise predict` (a
    label, a list of labels or a number) is `doc._.headwise`.

    Args:
        name: Name of the component in the pipeline.
        model: Path of the model folder.
        overwrite: Replace existing entities and tags. If False, they stay, and only predicted entities that
            do not overlap them are added.
        attribute: Where plain tags are written, `tag` (`token.tag_`) or `pos` (`token.pos_`).
        alignment_mode: How to treat spans that begin or end within a token, as in `Doc.char_span`: `expand`
            includes the whole token, `contract` excludes it, `strict` drops the span.
        tokens: The words that a tagger reads: `headwise` tokenises the text as in training, `spacy` takes
            the tokens of the pipeline except white space.
        extension: Name of the `doc._.` attribute of the prediction.
        device: Where the model computes: cpu, cuda, or auto for a GPU where there is one.
    """

    def __init__(
        self,
        name: str,
        model: str,
        *,
        overwrite: bool = False,
        attribute: Literal["tag", "pos"] = "tag",
        alignment_mode: Mode = "expand",
        tokens: Literal["headwise", "spacy"] = "headwise",
        extension: str = "headwise",
        device: str = "auto",
    ):
        self.name = name
        self.folder, self.overwrite, self.attribute = Path(model), overwrite, attribute
        self.alignment_mode: Mode = alignment_mode
        self.tokens, self.extension, self.device = tokens, extension, device
        self._loaded: tuple[ModelSession, ModelFiles] | None = None
        if not Doc.has_extension(extension):
            Doc.set_extension(extension, default=None)

    @property
    def text_model(self) -> Any:
        """The model, loaded on first use. (It is not called `model`, because spaCy expects a Thinc model
        under that name.)"""
        return self._session_and_files[0].model

    @property
    def _session_and_files(self) -> "tuple[ModelSession, ModelFiles]":
        return self._loaded or self.load(self.folder)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, span types or tags that the component writes; empty before the model is loaded."""
        model: Any = self._loaded and self._loaded[0].model
        if not hasattr(model, "labels"):
            return ()
        return _types(model) if _marks_spans(model) else tuple(model.labels)

    def load(self, folder: Path) -> "tuple[ModelSession, ModelFiles]":
        """Open the model of a folder; returns the session and the files of the model.

        Raises:
            StoreError: It is not a sound model folder.
            AdapterError: HW911.
            ConfigError: The device or the attribute cannot be used.
        """
        return self._take(ModelFiles.of(folder))

    def _take(self, files: ModelFiles) -> "tuple[ModelSession, ModelFiles]":
        session = files.open(self.device)
        model = session.model
        if not session.task.in_python:
            raise AdapterError(
                f"{files.name}: a model for the task {model.config.task}; a component of spaCy can be a "
                "model of single texts: classify, multi-label, regress or tag"
            )
        tags = model.tags if session.item_type.has_tags and self.attribute == "pos" else ()
        if bad := [tag for tag in tags if tag not in POS]:
            raise ConfigError(
                f"{files.name}: attribute = pos, but {bad[0]!r} is not a part of speech of Universal "
                "Dependencies, the only ones that spaCy takes there; leave it at tag"
            )
        self._loaded = session, files
        return self._loaded

    def __call__(self, doc: Doc) -> Doc:
        """Write the prediction for a text into its Doc."""
        return next(self.pipe([doc]), doc)

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 1_000) -> Iterator[Doc]:
        """Write predictions into a stream of Docs, `batch_size` at a time."""
        failed = self.get_error_handler()
        for docs in minibatch(stream, batch_size):
            try:
                self.set_annotations(docs, self.predict(docs))
            except Exception as error:  # the error handler of the pipeline decides
                failed(self.name, self, docs, error)
            else:
                yield from docs

    def predict(self, docs: Sequence[Doc]) -> list[Any]:
        """The predictions for texts, as the model's `predict` returns them."""
        if self.tokens == "spacy" and hasattr(self.text_model, "tags"):
            return self.text_model.tag([_untagged_sentence(doc) for doc in docs])
        return list(self.text_model.predict([doc.text for doc in docs]))

    def set_annotations(self, docs: Sequence[Doc], predictions: Sequence[Any]) -> None:
        """Write the results of `predict` into the Docs."""
        model = self.text_model
        for doc, prediction in zip(docs, predictions, strict=True):
            if _marks_spans(model):
                self._write_spans(doc, prediction)
            elif hasattr(model, "tags"):
                self._write_tags(doc, prediction)
            elif hasattr(prediction, "probabilities"):
                doc.cats.update(zip(model.labels, prediction.probabilities, strict=True))
                answer = list(prediction.labels) if hasattr(prediction, "labels") else prediction.label
                doc._.set(self.extension, answer)
            else:
                doc._.set(self.extension, prediction)

    def _write_spans(self, doc: Doc, tagged: Any) -> None:
        spans: list[Span] = []
        for first, last, kind in tagged.spans:
            start, end = tagged.places[first][0], tagged.places[last - 1][1]
            mode = self.alignment_mode
            span = doc.char_span(start, end, label=kind or UNTYPED_SPAN_LABEL, alignment_mode=mode)
            if span is not None:
                spans.append(span)
        spans = filter_spans(spans)
        present = list(doc.ents)
        if self.overwrite:
            present = [entity for entity in present if not any(_overlap(entity, span) for span in spans)]
        else:
            spans = [span for span in spans if not any(_overlap(span, entity) for entity in present)]
        doc.ents = sorted([*present, *spans])

    def _write_tags(self, doc: Doc, tagged: Any) -> None:
        words = words_of_tokens([(token.idx, token.idx + len(token)) for token in doc], tagged.places)
        for token, word in zip(doc, words, strict=True):
            if getattr(token, self.attribute) and not self.overwrite:
                continue
            tag = _WHITESPACE_TAGS[self.attribute] if word is None else tagged.tags[word]
            setattr(token, f"{self.attribute}_", tag)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> JsonObject:
        """The scores for `nlp.evaluate`, those of spaCy's own component of the same type; empty for a
        regressor."""
        model = self.text_model
        if _marks_spans(model):
            return get_ner_prf(examples)
        if hasattr(model, "tags"):
            return Scorer.score_token_attr(examples, self.attribute)
        if not hasattr(model, "labels"):
            return {}
        return Scorer.score_cats(
            examples, "cats", labels=model.labels, multi_label=hasattr(model, "separator")
        )

    def to_disk(self, path: Path | str, *, exclude: Iterable[str] = ()) -> None:
        """Copy the model's folder.

        Raises:
            StoreError: A file of the folder cannot be read.
            AdapterError: HW912.
        """
        self._session_and_files[1].copy(Path(path))

    def from_disk(self, path: Path | str, *, exclude: Iterable[str] = ()) -> "HeadwiseComponent":
        """Load the copy of the model; if there is none, load the folder that the configuration names."""
        self.load(Path(path) if Path(path).is_dir() else self.folder)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The files of the model folder by name, as msgpack; see `to_disk`."""
        return srsly.msgpack_dumps(dict(self._session_and_files[1]))

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "HeadwiseComponent":
        """Load a model from the result of `to_bytes`."""
        self._take(ModelFiles(self.name, cast(Any, srsly.msgpack_loads(bytes_data))))
        return self


@Language.factory(
    "headwise",
    default_config={
        "overwrite": False,
        "attribute": "tag",
        "alignment_mode": "expand",
        "tokens": "headwise",
        "extension": "headwise",
        "device": "auto",
    },
)
def make_component(
    nlp: Language,
    name: str,
    model: str,
    overwrite: bool,
    attribute: Literal["tag", "pos"],
    alignment_mode: Mode,
    tokens: Literal["headwise", "spacy"],
    extension: str,
    device: str,
) -> HeadwiseComponent:
    """The factory of `nlp.add_pipe("headwise", config={...})`; see `HeadwiseComponent` for its arguments.

    Raises:
        HeadwiseError: The model cannot be used.
    """
    component = HeadwiseComponent(
        name,
        model,
        overwrite=overwrite,
        attribute=attribute,
        alignment_mode=alignment_mode,
        tokens=tokens,
        extension=extension,
        device=device,
    )
    # In a saved pipeline, `from_disk` loads the model; the original folder may no longer exist.
    if name not in nlp._meta.get("pipeline", ()):
        component.load(Path(model))
    return component


def _marks_spans(model: Any) -> bool:
    return getattr(model, "scheme", "plain") != "plain"


def _types(model: Any) -> tuple[str, ...]:
    """The span types of a tagger."""
    from headwise.metrics.tag_schemes import read_tag

    tags = (read_tag(tag) for tag in model.tags if tag != "O")
    return tuple(dict.fromkeys(tag.type or UNTYPED_SPAN_LABEL for tag in tags if tag is not None))


def _overlap(first: Span, second: Span) -> bool:
    return first.start < second.end and second.start < first.end


def _untagged_sentence(doc: Doc) -> Any:
    """The tokens of a Doc except white space, as a `TaggedSentence` sentence without tags."""
    from headwise.data.items.examples import TaggedSentence

    words = [token for token in doc if not token.is_space]
    places = tuple((word.idx, word.idx + len(word)) for word in words)
    return TaggedSentence(tuple(word.text for word in words), (), text=doc.text, spans=places)
