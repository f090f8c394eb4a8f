"""Tables as X of an estimator: one column is the text, others are columns beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Self, TypeVar

import numpy as np

from headwise.app.configuration import Sections
from headwise.app.estimators.base_estimator import TextEstimator
from headwise.app.estimators.estimator_inputs import (
    Inputs,
    column_names,
    column_values,
    plain_str,
    texts_of,
    warn_caller,
)
from headwise.artifacts.model_info import ModelInfo
from headwise.core.errors import ConfigError, close_names
from headwise.data.columns.column_names import join_text_parts, joined_column_names
from headwise.data.columns.tabular_columns import TabularColumn, guess_type, parse_features
from headwise.data.items.examples import Example
from headwise.data.readers.tabular_cells import is_missing, memory_cell_text, row_of
from headwise.nn.encoders.encoder_configs import EncoderName
from headwise.nn.networks.trained_models import ModelType
from headwise.training.callbacks import TrainingCallback

AnyExample = TypeVar("AnyExample", bound=Example)

Features = str | Sequence[str] | Mapping[str, str | None]
"""Columns beside the text: `"price,country:category"`, a list of such names, or types by name (None: the
type is guessed)."""


class TableEstimator(TextEstimator[ModelType]):
    """An estimator whose X may be a table: a DataFrame of pandas or Polars, an Arrow
    table, a dictionary of columns, or a list of dictionaries.

    Args:
        text_column: The column of the text; `subject+body` joins two. None: X is a list of texts.
        feature_columns: Columns beside the text that the model reads, too; see `Features`.
        encoder, vectors, epochs, recipe, random_state, verbose, callbacks: See `TextEstimator`.
    """

    _tabular: tuple[TabularColumn, ...] = ()

    def __init__(
        self,
        *,
        text_column: str | None = None,
        feature_columns: Features | None = None,
        encoder: EncoderName | None = None,
        vectors: str | PathLike[str] | None = None,
        epochs: int | None = None,
        recipe: Sections | str | PathLike[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
        callbacks: Sequence[TrainingCallback] = (),
    ):
        super().__init__(
            encoder=encoder,
            vectors=vectors,
            epochs=epochs,
            recipe=recipe,
            random_state=random_state,
            verbose=verbose,
            callbacks=callbacks,
        )
        self.text_column = text_column
        self.feature_columns = feature_columns

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        loaded = super().load(folder)
        text_column = loaded._info.training.columns.get("text_column")
        if loaded._tabular:
            text_column = text_column or "text"
            loaded.feature_columns = {column.name: column.type for column in loaded._tabular}
        elif str(text_column).isdecimal():  # of a file without a header
            text_column = None
        loaded.text_column = text_column
        return loaded

    def _take(self, model: ModelType, info: ModelInfo) -> None:
        super()._take(model, info)
        self._tabular = model.config.linear_model.tabular_columns

    def _fit(self, *arguments: Any, **training: Any) -> Self:
        if self.text_column is not None:
            training["columns"] = {"text_column": self.text_column}
        return super()._fit(*arguments, **training)

    def _learn_columns(self, X: Inputs) -> None:
        """Find the types of the columns beside the text, before anything else is read of the training X.

        Raises:
            ConfigError: There is no text column, no such column, or a type cannot be guessed.
        """
        self._tabular = ()
        self._warn_of_missing_texts(X)
        if self.feature_columns is None:
            return
        if self.text_column is None:
            raise ConfigError("feature_columns are columns beside the text; give text_column, too")
        columns = list[TabularColumn]()
        for column in _requested(self.feature_columns):
            if column.type is None:
                try:
                    kind, _ = guess_type(
                        column.name, [memory_cell_text(cell) for cell in _column_cells(X, column.name)]
                    )
                except ValueError as error:
                    raise ConfigError(
                        f"the type of the column {column.name!r} cannot be guessed: {error}; name it, "
                        f"as in feature_columns={{{column.name!r}: 'category'}}",
                        code="HW146",
                    ) from None
                column = TabularColumn(column.name, kind)
            columns.append(column)
        if self.text_column in (column.name for column in columns):
            raise ConfigError(
                f"{self.text_column!r} is the text column and one beside it; each needs its own"
            )
        self._tabular = tuple(columns)

    def _warn_of_missing_texts(self, X: Inputs) -> None:
        """Warn if cells of the text column are missing, as the commands report null texts."""
        if not isinstance(self.text_column, str) or not _is_table(X):
            return
        for name in joined_column_names(self.text_column, names := _column_names(X)):
            if names.count(name) == 1 and (missing := sum(map(is_missing, _column_cells(X, name)))):
                rows = "1 row" if missing == 1 else f"{missing:,} rows"
                warn_caller(f"the column {name!r} is missing in {rows}, which are read as empty texts")

    def _texts(self, X: Inputs) -> list[str]:
        if self.text_column is None or not _is_table(X):
            return texts_of(X)
        if not isinstance(self.text_column, str):
            raise TypeError(
                f"text_column is {self.text_column!r}; expected a text, {str(self.text_column)!r}"
            )
        names = joined_column_names(self.text_column, _column_names(X))
        columns = (_column_cells(X, name) for name in names)
        parts = [texts_of(["" if is_missing(cell) else cell for cell in cells]) for cells in columns]
        return parts[0] if len(parts) == 1 else [join_text_parts(row) for row in zip(*parts, strict=True)]

    def _with_rows(self, X: Inputs, items: Sequence[AnyExample]) -> list[AnyExample]:
        """The items of X with the values of the columns beside them.

        Raises:
            ConfigError: A column is missing, or a cell is not of its type.
        """
        if not self._tabular:
            return list(items)
        cells = [_column_cells(X, column.name) for column in self._tabular]
        rows = (row_of(values, self._tabular) for values in zip(*cells, strict=True))
        return [replace(item, tabular=row) for item, row in zip(items, rows, strict=True)]

    def _items(self, X: Inputs) -> Sequence[Any]:
        texts = self._texts(X)
        return self._with_rows(X, list(map(Example, texts))) if self._tabular else texts


def _requested(features: Features) -> list[TabularColumn]:
    if isinstance(features, str):
        return parse_features(features)
    if isinstance(features, Mapping):
        names = [f"{name}:{kind}" if kind else name for name, kind in features.items()]
    else:
        names = list(features)
    if not names or not all(isinstance(name, str) for name in names):
        raise ConfigError(f"feature_columns is {features!r:.80}; expected names of columns")
    return [column for name in names for column in parse_features(f'"{name}"')]


def _is_table(X: Inputs) -> bool:
    """Whether X has named columns."""
    if (
        hasattr(X, "column_names")
        or hasattr(X, "columns")
        or (isinstance(X, Mapping) and not hasattr(X, "dtype"))
    ):
        return True
    return isinstance(X, Sequence) and bool(X) and isinstance(X[0], Mapping)


def _column_names(X: Any) -> list[str]:
    if hasattr(X, "column_names") or hasattr(X, "columns"):
        return [plain_str(name) for name in column_names(X)]
    rows = [X] if isinstance(X, Mapping) else X
    return list(dict.fromkeys(name for row in rows for name in row))


def _column_cells(X: Any, name: str) -> list[Any]:
    """The cells of a column of a table.

    Raises:
        ConfigError: X is no table, or has no such column.
    """
    if not _is_table(X):
        raise ConfigError(
            f"X has no named columns, and {name!r} is needed; give a DataFrame or a list of dictionaries",
            code="HW147",
        )
    if name not in (names := _column_names(X)):
        shown = ", ".join(map(repr, names[:10])) + ", ..." * (len(names) > 10)
        shown += "".join(f"; did you mean {close!r}?" for close in close_names(name, names))
        raise ConfigError(f"X has no column {name!r}; expected one of {shown}", code="HW147")
    if (count := names.count(name)) > 1:
        raise ConfigError(f"X has {count} columns {name!r}; rename all but one", code="HW112")
    if isinstance(X, Sequence):
        return [row.get(name) for row in X]
    keys = list(X) if isinstance(X, Mapping) else column_names(X)
    return column_values(X[keys[names.index(name)]])  # pandas numbers columns without names
