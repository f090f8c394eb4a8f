"""A model as a component of a spaCy pipeline: `nlp.add_pipe("headwise", config={"model": FOLDER})`.

The entry point `spacy_factories` names `make_component`, so spaCy finds it without an import. It imports
this module wherever a pipeline is made, so PyTorch is loaded with the first model only.
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

from headwise.adapters.alignment import words_of_tokens
from headwise.adapters.errors import AdapterError
from headwise.errors import ConfigError

if TYPE_CHECKING:
    from headwise.adapters.folder import ModelFiles

Mode = Literal["strict", "contract", "expand"]
UNTYPED = "SPAN"
"""The label of spans whose tags name no type: spaCy knows no entities without a label."""
_SPACE = {"tag": "_SP", "pos": "SPACE"}  # of tokens that are white space, as spaCy's own pipelines have it


class HeadwiseComponent(Pipe):
    """A model in a pipeline.

    A classifier or a model of label sets writes the probability of every label into `doc.cats`, a tagger of
    spans writes `doc.ents`, one of plain tags `token.tag_`. What `headwise predict` would say of a text, a
    label, a list of labels or a number, is `doc._.headwise`.

    Args:
        name: Its name in the pipeline.
        model: The model's folder.
        overwrite: Entities and tags that are there already give way; else they stay, and of the model's own
            those that do not overlap them are added.
        attribute: Where plain tags go, `tag` (`token.tag_`) or `pos` (`token.pos_`).
        alignment_mode: What becomes of spans that begin or end within a token, as in `Doc.char_span`:
            `expand` takes whole tokens in, `contract` leaves them out, `strict` drops the span.
        tokens: The words that a tagger reads: `headwise` cuts the text as in training, `spacy` takes the
            tokens of the pipeline, but for white space.
        extension: Name of the attribute `doc._.` of what is predicted.
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
        self._loaded: tuple[Any, ModelFiles] | None = None
        if not Doc.has_extension(extension):
            Doc.set_extension(extension, default=None)

    @property
    def text_model(self) -> Any:
        """The model, loaded when it is first used. (By the name `model` spaCy looks for a network of its
        own in every component, whenever one is added.)"""
        return self._own[0]

    @property
    def _own(self) -> "tuple[Any, ModelFiles]":
        return self._loaded or self.load(self.folder)

    @property
    def labels(self) -> tuple[str, ...]:
        """What it writes: labels, types of spans or tags; none before the model is loaded."""
        model: Any = self._loaded and self._loaded[0]
        if not hasattr(model, "labels"):
            return ()
        return _types(model) if _marks_spans(model) else tuple(model.labels)

    def load(self, folder: Path) -> "tuple[Any, ModelFiles]":
        """Take the model of a folder; gives it and its files.

        Raises:
            StoreError: It is not a sound model folder.
            AdapterError: HW911.
            ConfigError: The device or the attribute cannot be used.
        """
        from headwise.adapters.folder import ModelFiles  # with it comes torch

        return self._take(ModelFiles.of(folder))

    def _take(self, files: "ModelFiles") -> "tuple[Any, ModelFiles]":
        from headwise.models.tag_model import TagModel
        from headwise.models.text_model import TextReader

        model = files.load(self.device)
        if not isinstance(model, TagModel | TextReader):
            raise AdapterError(
                f"{files.name}: a model for the task {model.config.task}; a component of spaCy can be a "
                "model of single texts: classify, multi-label, regress or tag"
            )
        tags = model.tags if isinstance(model, TagModel) and self.attribute == "pos" else ()
        if bad := [tag for tag in tags if tag not in POS]:
            raise ConfigError(
                f"{files.name}: attribute = pos, but {bad[0]!r} is no part of speech of Universal "
                "Dependencies, the only ones that spaCy takes there; leave it at tag"
            )
        self._loaded = model, files
        return self._loaded

    def __call__(self, doc: Doc) -> Doc:
        """Write what the model says of a text into its Doc."""
        return next(self.pipe([doc]), doc)

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 1_000) -> Iterator[Doc]:
        """The same for a stream, `batch_size` texts at a time."""
        failed = self.get_error_handler()
        for docs in minibatch(stream, batch_size):
            try:
                self.set_annotations(docs, self.predict(docs))
            except Exception as error:  # what to do then is the pipeline's to say
                failed(self.name, self, docs, error)
            else:
                yield from docs

    def predict(self, docs: Sequence[Doc]) -> list[Any]:
        """What the model says of texts, as its `predict` has it."""
        if self.tokens == "spacy" and hasattr(self.text_model, "tags"):
            return self.text_model.tag([_sentence(doc) for doc in docs])
        return list(self.text_model.predict([doc.text for doc in docs]))

    def set_annotations(self, docs: Sequence[Doc], found: Sequence[Any]) -> None:
        """Write what `predict` gave for these texts into their Docs."""
        model = self.text_model
        for doc, own in zip(docs, found, strict=True):
            if _marks_spans(model):
                self._write_spans(doc, own)
            elif hasattr(model, "tags"):
                self._write_tags(doc, own)
            elif hasattr(own, "probabilities"):
                doc.cats.update(zip(model.labels, own.probabilities, strict=True))
                said = list(own.labels) if model.SETS else own.label
                doc._.set(self.extension, said)
            else:
                doc._.set(self.extension, own)

    def _write_spans(self, doc: Doc, found: Any) -> None:
        spans: list[Span] = []
        for first, last, kind in found.spans:
            start, end = found.places[first][0], found.places[last - 1][1]
            mode = self.alignment_mode
            span = doc.char_span(start, end, label=kind or UNTYPED, alignment_mode=mode)
            if span is not None:
                spans.append(span)
        spans = filter_spans(spans)
        earlier = list(doc.ents)
        if self.overwrite:
            earlier = [own for own in earlier if not any(_overlap(own, span) for span in spans)]
        else:
            spans = [span for span in spans if not any(_overlap(span, own) for own in earlier)]
        doc.ents = sorted([*earlier, *spans])

    def _write_tags(self, doc: Doc, found: Any) -> None:
        words = words_of_tokens([(own.idx, own.idx + len(own)) for own in doc], found.places)
        for token, word in zip(doc, words, strict=True):
            if getattr(token, self.attribute) and not self.overwrite:
                continue
            tag = _SPACE[self.attribute] if word is None else found.tags[word]
            setattr(token, f"{self.attribute}_", tag)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """What `nlp.evaluate` says of the component, by the scores that spaCy's own of its kind have; of
        numbers nothing."""
        model = self.text_model
        if _marks_spans(model):
            return get_ner_prf(examples)
        if hasattr(model, "tags"):
            return Scorer.score_token_attr(examples, self.attribute)
        if not hasattr(model, "labels"):
            return {}
        return Scorer.score_cats(examples, "cats", labels=model.labels, multi_label=model.SETS)

    def to_disk(self, path: Path | str, *, exclude: Iterable[str] = ()) -> None:
        """Copy the model's folder.

        Raises:
            StoreError: A file of the folder cannot be read.
            AdapterError: HW912.
        """
        self._own[1].copy(Path(path))

    def from_disk(self, path: Path | str, *, exclude: Iterable[str] = ()) -> "HeadwiseComponent":
        """Load the copy. A pipeline that was saved without it takes the folder of its configuration."""
        self.load(Path(path) if Path(path).is_dir() else self.folder)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The files of the model's folder, by name; see `to_disk`."""
        return srsly.msgpack_dumps(dict(self._own[1]))

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "HeadwiseComponent":
        """Load what `to_bytes` gave."""
        from headwise.adapters.folder import ModelFiles

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
    """What `nlp.add_pipe("headwise", config={...})` makes; see `HeadwiseComponent`.

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
    # Of a saved pipeline, `from_disk` brings the model; the folder that it came from may be gone.
    if name not in nlp._meta.get("pipeline", ()):
        component.load(Path(model))
    return component


def _marks_spans(model: Any) -> bool:
    return getattr(model, "scheme", "plain") != "plain"


def _types(model: Any) -> tuple[str, ...]:
    """The types of the spans that a tagger finds."""
    from headwise.scores.schemes import read_tag

    tags = (read_tag(tag) for tag in model.tags if tag != "O")
    return tuple(dict.fromkeys(tag.type or UNTYPED for tag in tags if tag is not None))


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _sentence(doc: Doc) -> Any:
    """The tokens of a text, but for white space, as the words of a sentence."""
    from headwise.data.sentence import Tagged

    words = [token for token in doc if not token.is_space]
    places = tuple((word.idx, word.idx + len(word)) for word in words)
    return Tagged(tuple(word.text for word in words), (), text=doc.text, spans=places)
