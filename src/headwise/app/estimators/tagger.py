"""TextTagger: sequence labelling as an estimator, `TextTagger().fit(sentences, tags)`."""

from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral
from typing import Any, ClassVar, Self

from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from headwise.app.estimators.base_estimator import TextEstimator
from headwise.app.estimators.estimator_inputs import (
    UNORDERED_TYPES,
    Inputs,
    Targets,
    Weights,
    check_is_list,
    check_targets,
    column_values,
    plain_str,
    unpack_dev,
    weights_for,
)
from headwise.artifacts.model_info import ModelInfo
from headwise.data.items.examples import TaggedSentence
from headwise.models.tag_evaluation import score_tagging
from headwise.nn.networks.tag_model import TagModel
from headwise.runtime.tag_outputs import TaggedText


class TextTagger(TextEstimator[TagModel]):
    """A sequence tagger for named entities, parts of speech or other spans; see `TextEstimator` for its
    parameters.

    The tagging scheme of spans (IOB1, IOB2 or BIOES) is detected from the tags. Tags in no such scheme are
    plain, one per word.

    Attributes:
        classes_: The tags, sorted.
        model_: The fitted `headwise.nn.networks.tag_model.TagModel`.
        recipe_: The settings that were used, as the sections of a recipe.
        history_: Dev scores, one dictionary per epoch.
    """

    TASK: ClassVar[str] = "tag"

    def fit(
        self,
        X: Inputs,
        y: Targets,
        sample_weight: Weights = None,
        *,
        dev: tuple[Inputs, Targets] | None = None,
    ) -> Self:
        """Train on sentences, which are lists of words, and a list of tags for each.

        Args:
            X: Sentences, each a list of one or more words.
            y: Their tags, one for each word.
            sample_weight: How much each sentence counts, `[sentences]`, 0 or more; also on dev.
            dev: Sentences and tags that select the best epoch. By default a share of X (`split.dev` of the
                recipe, 15 %); equal sentences stay on one side of the split.

        Raises:
            HeadwiseError: A setting is invalid, or the sentences are too few to split.
            TypeError, ValueError: X or y has a wrong type or value.
        """
        sentences = _tagged_sentences(X, y, sample_weight)
        tags = {tag for sentence in sentences for tag in sentence.tags}
        if len(tags) < 2:
            number = "only one" if tags else "no"
            raise ValueError(f"y has {number} tag; a tagger needs two or more")
        return self._fit(sentences, None if dev is None else _tagged_sentences(*unpack_dev(dev)))

    def predict(self, X: Inputs) -> list[list[str]]:
        """The tags of each sentence, in the scheme of the training tags; [] for one without words."""
        check_is_fitted(self, "model_")
        return [list(tagged.tags) for tagged in self.model_.tag(self._items(X))]

    def tag(self, texts: Iterable[str]) -> Iterator[TaggedText]:
        """Tag raw texts: each is tokenised first; results include the character offsets of each word."""
        check_is_fitted(self, "model_")
        if isinstance(texts, str):
            raise TypeError("texts is one text; give a list of texts")
        return self.model_.predict(texts)

    def score(self, X: Inputs, y: Targets) -> float:
        """Entity F1 (exact spans) if the tags mark spans; else token accuracy."""
        check_is_fitted(self, "model_")
        sentences = _tagged_sentences(X, y, may_be_empty=True)
        predicted = self.predict([sentence.tokens for sentence in sentences])
        tokens, entities = score_tagging(predicted, sentences, self.model_.written)
        return tokens.accuracy if entities is None else entities.f1

    def _items(self, X: Inputs) -> list[TaggedSentence]:
        return [TaggedSentence(words, ()) for words in _word_lists(X, may_be_empty=True)]

    def _take(self, model: TagModel, info: ModelInfo) -> None:
        super()._take(model, info)
        self.classes_ = sorted(info.data.train.labels or model.tags)


def _word_lists(X: Inputs, *, may_be_empty: bool = False) -> list[tuple[str, ...]]:
    check_is_list(X, "lists of words")
    return [_strings_of_row("X", place, row, may_be_empty) for place, row in enumerate(column_values(X))]


def _tagged_sentences(
    X: Inputs, y: Targets, weights: Weights = None, *, may_be_empty: bool = False
) -> list[TaggedSentence]:
    rows, words = check_targets(y, "lists of tags"), _word_lists(X, may_be_empty=may_be_empty)
    tags = [_strings_of_row("y", place, row, may_be_empty) for place, row in enumerate(rows)]
    check_consistent_length(words, tags)
    for place, (tokens, named) in enumerate(zip(words, tags, strict=True)):
        if not all(map(str.strip, named)):
            raise ValueError(f"y[{place}] has an empty tag; write O for a word without one")
        if len(tokens) != len(named):
            raise ValueError(f"X[{place}] has {len(tokens)} words and y[{place}] {len(named)} tags")
    rows = enumerate(zip(words, tags, weights_for(words, weights), strict=True))
    return [TaggedSentence(tokens, named, place, weight=weight) for place, (tokens, named, weight) in rows]


def _strings_of_row(name: str, place: int, row: Any, may_be_empty: bool) -> tuple[str, ...]:
    if (
        isinstance(row, (str, Mapping, *UNORDERED_TYPES))
        or not hasattr(row, "__len__")
        or not all(isinstance(item, str) for item in row)
    ):
        numbers = (
            name == "y" and hasattr(row, "__len__") and all(isinstance(item, Integral) for item in row)
        )
        fix = "; give the names that the numbers stand for, or str(number)" if numbers else ""
        if isinstance(row, str) and name == "X":
            fix = "; `tag` takes running texts, and `headwise.train_files` a table of texts and spans"
        elements = "words" if name == "X" else "tags, one for each word"
        raise TypeError(f"{name}[{place}] is {row!r:.80}; expected a list of {elements}{fix}")
    if not len(row) and not may_be_empty:
        raise ValueError(f"{name}[{place}] is empty; a sentence has one or more words")
    return tuple(map(plain_str, row))
