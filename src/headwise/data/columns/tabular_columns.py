"""Columns beside the text: numbers, categories and dates, their types and the values of their cells.

A column is named by `--features price,country:category,created_at`. A type that is not named is guessed
from all cells of the training file. Dates are wall times in seconds since 1970; a time zone is ignored.

Importing this file loads neither torch nor NumPy.
"""

import csv
import io
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Literal, get_args

from headwise.core.config import check_range
from headwise.core.errors import ConfigError
from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.column_names import normal_name

ColumnType = Literal["number", "decimal-comma", "category", "date", "day-first", "month-first"]
"""number: `1234.5` or `1,234.5`; decimal-comma: `1.234,5`; date: ISO 8601, such as `2024-05-31 14:00`;
day-first and month-first: `31.5.2024` and `5/31/2024`."""

TYPES: tuple[ColumnType, ...] = get_args(ColumnType)
DATES = ("date", "day-first", "month-first")
NUMBERS = ("number", "decimal-comma")

CellValue = float | str | None
"""A number, the seconds of a date, or a category; None where it is missing."""

MOSTLY = 0.9
"""Least share of the filled cells that must be numbers (or dates) for a column to be one of them."""
_FEW, _ROWS_EACH = 20, 20
"""Whole numbers are categories where they have at most `_FEW` values, with `_ROWS_EACH` rows each on
average: then there is enough data to learn each value by itself."""
_CODE_NAMES = {"zip", "zipcode", "postcode", "postal_code", "plz", "code", "id", "class", "type", "cluster"}
_LONGEST = 80  # characters of a category; the rest is left out
_LONG_TEXT = 6  # mean number of words of a column that is a text and no category
_NULLS = {"", "nan", "null", "<na>", "nat"}
_MISSING = _NULLS | {"-", "--", "?", ".", "n/a", "#n/a", "na", "none"}
_AROUND = "$€£¥%  "
_ENGLISH = lazy_pattern(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_COMMA = lazy_pattern(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+")
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_WHOLE = lazy_pattern(r"[+-]?\d+(\.0+)?")
_ISO = lazy_pattern(
    r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?"
    r" ?(?:Z|UTC|[+-]\d{2}:?\d{2})?)?"
)
_SHORT = lazy_pattern(
    r"(\d{1,2})[-/.] ?(\d{1,2})[-/.] ?(\d{4})(?:[T ,]+(\d{1,2}):(\d{2})(?::(\d{2}))? ?([AaPp][Mm])?)?"
)
_EPOCH = lazy_pattern(r"1\d{9}(\d{3})?(\.\d+)?")  # seconds or milliseconds from 2001 to 2033


@dataclass(frozen=True, slots=True)
class TabularColumn:
    """A column beside the text.

    Attributes:
        name: The name of the column.
        type: Its type; None if it is to be guessed.
    """

    name: str
    type: ColumnType | None = None

    def value(self, cell: str) -> CellValue:
        """The value of a cell.

        Raises:
            ValueError: It is not of the type of the column.
        """
        if self.type == "category":
            return category(cell)
        text = cell.strip()
        if text.casefold() in _MISSING:
            return None
        value = _READERS[self.type or "number"](text)
        if value is None:
            raise ValueError(f"{text[:40]!r} is no {'date' if self.type in DATES else 'number'}")
        return value

    def shown(self, value: CellValue) -> str:
        """A value as people read it; `missing` for None."""
        if value is None:
            return "missing"
        if isinstance(value, str):
            return value
        if self.type in DATES:
            return date_of(value).isoformat(" ").removesuffix(" 00:00:00")
        return f"{value:.6g}" if abs(value) < 1e6 else f"{value:,.0f}"


@dataclass(frozen=True, slots=True)
class TabularRow:
    """The values of the columns beside one text.

    Attributes:
        columns: The columns, shared by all rows.
        values: The value of each column.
    """

    columns: tuple[TabularColumn, ...]
    values: tuple[CellValue, ...]

    @property
    def shown(self) -> tuple[str, ...]:
        """The values as people read them."""
        return tuple(column.shown(value) for column, value in zip(self.columns, self.values, strict=True))


def parse_features(requested: str | None) -> list[TabularColumn]:
    """The columns that `--features` names: `price,country:category`. A name with a comma stands in double
    quotes.

    Raises:
        ConfigError: There is no name, or a name occurs twice.
    """
    if requested is None:
        return []
    parts = [part.strip() for part in next(csv.reader([requested], skipinitialspace=True), [])]
    columns = list[TabularColumn]()
    for part in filter(None, parts):
        name, _, suffix = part.rpartition(":")
        kind: ColumnType | None = next((option for option in TYPES if option == suffix.strip()), None)
        columns.append(TabularColumn(name.strip(), kind) if kind and name else TabularColumn(part))
    if not columns:
        raise ConfigError(f"features {requested!r}; expected names of columns, such as price,country")
    counts = Counter(column.name for column in columns)
    if twice := [name for name, count in counts.items() if count > 1]:
        raise ConfigError(f"features {requested} names the column {twice[0]!r} twice")
    return columns


def features_text(columns: Sequence[TabularColumn]) -> str:
    """The columns as `--features` names them."""
    out = io.StringIO()
    parts = [f"{column.name}:{column.type}" if column.type else column.name for column in columns]
    csv.writer(out, lineterminator="").writerow(parts)
    return out.getvalue()


def category(cell: str) -> str | None:
    """A category: trimmed and cut, whole numbers without decimals; None for an empty cell."""
    text = " ".join(cell.split())[:_LONGEST]
    if text.casefold() in _NULLS:
        return None
    if text.casefold() in ("true", "false"):  # as Excel, JSON and Python write them
        return text.casefold()
    return text.partition(".")[0] if _WHOLE.fullmatch(text) else text


def guess_type(name: str, cells: Sequence[str]) -> tuple[ColumnType, str]:
    """The type of a column and why, if that may surprise ("" if not).

    Raises:
        ValueError: The type cannot be guessed; the message says why.
    """
    counts = Counter(text for cell in cells if (text := cell.strip()).casefold() not in _MISSING)
    filled = counts.total()
    if not filled:
        return "category", "it is empty"
    fits: dict[ColumnType, float] = {
        kind: sum(rows for text, rows in counts.items() if _READERS[kind](text) is not None) / filled
        for kind in (*DATES, *NUMBERS)
    }
    first = next(iter(counts))
    if fits["date"] >= MOSTLY and not _EPOCH.fullmatch(first):
        return "date", ""
    if max(fits["day-first"], fits["month-first"]) >= MOSTLY:
        if fits["day-first"] != fits["month-first"]:
            return ("day-first", "") if fits["day-first"] > fits["month-first"] else ("month-first", "")
        if all("." in text for text in counts):
            return "day-first", "as dates with dots are written"
        raise ValueError(f"{first!r} may be day first or month first, and no cell tells which")
    if max(fits["number"], fits["decimal-comma"]) >= MOSTLY:
        return _number_type(name, counts, fits)
    words = sum(rows * len(text.split()) for text, rows in counts.items()) / filled
    if words >= _LONG_TEXT and 2 * len(counts) > filled:
        raise ValueError(f"it holds texts of {words:.0f} words on average, no categories")
    return "category", ""


def _number_type(name: str, counts: Counter[str], fits: dict[ColumnType, float]) -> tuple[ColumnType, str]:
    """The type of a column whose cells are numbers, which may be codes, or dates in seconds."""
    normal, rows = normal_name(name), counts.total()
    last = normal.split("_")[-1]
    if 2 * len(counts) <= rows and all(map(_WHOLE.fullmatch, counts)):
        if any(len(text) > 1 and text[0] == "0" and text[1] != "." for text in counts):
            return "category", "numbers with leading zeros are codes"
        if last in _CODE_NAMES or normal in _CODE_NAMES:
            return "category", f"whole numbers named {name!r} are codes"
        if len(counts) <= _FEW and rows >= _ROWS_EACH * len(counts):
            return "category", f"{len(counts)} different whole numbers"
    timed = last in ("at", "time", "date", "timestamp", "created", "updated")
    if timed and all(map(_EPOCH.fullmatch, counts)):
        return "date", "seconds or milliseconds since 1970"
    if fits["decimal-comma"] > fits["number"]:
        return "decimal-comma", ""
    return "number", "commas part thousands" if any("," in text for text in counts) else ""


@dataclass(frozen=True)
class ColumnEncoding:
    """How a column becomes features, measured on the training texts.

    The features are, in this order, those that exist of: the standardised number (or seconds of a date),
    its standardised logarithm, an indicator of each of `values`, of rare values, and of missing ones.

    Attributes:
        name: The name of the column.
        type: Its type.
        mean: The mean of its numbers.
        deviation: Their standard deviation; 0 where there are none, or all are equal.
        log_unit: The number u in the logarithm `sign(x) log(1 + |x| / u)`; 0 where that is not used.
        log_mean: The mean of the logarithms.
        log_deviation: Their standard deviation.
        values: The values with an indicator: categories, or parts of dates such as `month 5`.
        shares: The frequency of each in the filled rows.
        rare: The frequency of all other categories; 0 where there are none.
        missing: The frequency of missing cells; 0 where there are none.
    """

    name: str
    type: ColumnType
    mean: float = 0.0
    deviation: float = 0.0
    log_unit: float = 0.0
    log_mean: float = 0.0
    log_deviation: float = 0.0
    values: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    rare: float = 0.0
    missing: float = 0.0

    def __post_init__(self) -> None:
        if len(self.values) != len(self.shares) or len(set(self.values)) < len(self.values):
            raise ConfigError(f"column {self.name!r}: values and shares do not belong together")
        check_range(self, "deviation", "log_unit", "log_deviation", low=0)
        check_range(self, "mean", "log_mean", low=-1e300)
        check_range(self, "rare", "missing", low=0, high=1)
        if not all(0 <= share <= 1 for share in self.shares):
            raise ConfigError(f"column {self.name!r}: shares must be at least 0 and at most 1")

    @property
    def column(self) -> TabularColumn:
        """The column."""
        return TabularColumn(self.name, self.type)

    @property
    def numbers(self) -> int:
        """Number of features before the indicators."""
        return (self.deviation > 0) + (self.log_deviation > 0)

    @property
    def width(self) -> int:
        """Number of features."""
        return self.numbers + len(self.values) + (self.rare > 0) + (self.missing > 0)


def value_keys(kind: ColumnType, value: CellValue, *, hours: bool = True) -> list[str]:
    """The indicators that a value switches on: its category, or the parts of a date."""
    if isinstance(value, str):
        return [value]
    if value is None or kind not in DATES:
        return []
    date = date_of(value)
    parts = [f"year {date.year}", f"month {date.month}", f"weekday {_WEEKDAYS[date.weekday()]}"]
    return [*parts, f"hour {date.hour}"] if hours else parts


def date_of(seconds: float) -> datetime:
    """A wall time from its seconds since 1970."""
    return datetime.fromtimestamp(round(seconds), UTC).replace(tzinfo=None)


@cache
def _seconds(year: int, month: int, day: int, hour: int, minute: int, second: int) -> float | None:
    try:
        return datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC).timestamp()
    except ValueError:  # 31 April
        return None


def _iso_date(text: str) -> float | None:
    if _EPOCH.fullmatch(text):
        seconds = float(text)
        return seconds / 1000 if seconds > 1e11 else seconds
    match = _ISO.fullmatch(text)
    return None if match is None else _seconds(*(int(part or 0) for part in match.groups()))


def _short_date(text: str, *, day_first: bool) -> float | None:
    match = _SHORT.fullmatch(text)
    if match is None:
        return None
    first, second, year, hour, minute, seconds = (int(part or 0) for part in match.groups()[:6])
    if half := match.group(7):
        hour = hour % 12 + 12 * (half.lower() == "pm")
    day, month = (first, second) if day_first else (second, first)
    return _seconds(year, month, day, hour, minute, seconds)


def _parse_amount(text: str, *, comma: bool) -> float | None:
    """A finite number, with signs of currencies and percent left out."""
    text = text.strip(_AROUND)
    if comma:
        text = text.replace(".", "").replace(",", ".") if _COMMA.fullmatch(text) else text
    elif _ENGLISH.fullmatch(text):
        text = text.replace(",", "")
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) <= 1e100 and "_" not in text else None


_READERS: dict[ColumnType, Callable[[str], float | None]] = {
    "number": lambda text: _parse_amount(text, comma=False),
    "decimal-comma": lambda text: _parse_amount(text, comma=True),
    "date": _iso_date,
    "day-first": lambda text: _short_date(text, day_first=True),
    "month-first": lambda text: _short_date(text, day_first=False),
}
