"""format_prior and parse_prior: priors as text, for the command line, recipes and saved configurations.

    prior    := term ("+" term)*
    term     := name ["(" [argument ("," argument)*] ")"]
    argument := [field "="] value

Names are those of `PRIORS`, fields those of the prior's class. A value is a number (`2`, `0.5`, `1/3`),
`true`, `false`, one of the words that the field knows, or a prior. The first arguments may come without
their names: `dilated(2, width=9)`, `global-tokens(forward + window(3), count=2)`. The one argument of a
window is its width or its part of the text: `window(3)`, `window(n/16)`, `window(0.3)`. `sum(a, b)` is
`a + b` for sums that hold sums.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from fractions import Fraction
from types import NoneType
from typing import Literal, NoReturn, get_args, get_origin

from headwise.core.config import JsonObject, field_types, unknown_name_error
from headwise.core.errors import ConfigError
from headwise.core.lazy_pattern import lazy_pattern
from headwise.nn.priors.base import Prior, Sum
from headwise.nn.priors.registry import PRIORS, UNREGISTERED
from headwise.nn.priors.window import Window

# Texts come from files that may be hostile.
LONGEST = 10_000  # characters
DEEPEST = 8  # brackets in brackets
LARGEST = 10**9  # of whole numbers

_NAME = lazy_pattern(r"[A-Za-z][\w-]{0,39}")
_FIELD = lazy_pattern(r"([A-Za-z_]\w{0,39})\s*=")
_VALUE = lazy_pattern(r"[\w./+-]{1,60}")
_WHOLE = lazy_pattern(r"[+-]?\d+")
_NUMBER = lazy_pattern(r"[+-]?(?:\d{1,20}(?:\.\d{0,25})?|\.\d{1,25})(?:[eE][+-]?\d{1,3})?")
_RATIO = lazy_pattern(r"(\d{1,10})/(\d{1,10})")
_PART = lazy_pattern(r"(\d{0,10})n(?:/(\d{1,10}))?")


def parse_prior(text: str) -> Prior:
    """The prior that a text such as `forward + word-distance(0.5)` spells; see the top of this file.

    Raises:
        ConfigError: The text spells none; says what is wrong at which character.
    """
    reader = PriorReader(text)
    prior = reader.prior()
    reader.end()
    return prior


def format_prior(prior: Prior) -> str:
    """The shortest text that `parse_prior` turns back into an equal prior.

    Raises:
        ConfigError: The prior is neither headwise's nor registered, or has a whole number above 10^9, or
            None where that is not the default.
    """
    if PRIORS.get(getattr(prior, "name", "")) is not type(prior):
        raise ConfigError(
            f"{prior!r} is none of the priors that have a spelling: {', '.join(PRIORS)}; those of your own "
            "have one once headwise.nn.priors.register has been called with their class"
        )
    if isinstance(prior, Sum):
        parts = [format_prior(part) for part in prior.parts]
        if len(parts) > 1 and not any(isinstance(part, Sum) for part in prior.parts):
            return " + ".join(parts)
        return f"sum({', '.join(parts)})"
    hints, arguments = field_types(type(prior)), []
    for place, field in enumerate(fields(prior)):  # type: ignore[arg-type]  # all priors are dataclasses
        value = getattr(prior, field.name)
        if value != field.default:
            if value is None:
                raise ConfigError(f"{field.name} of {prior!r} is None, which has no spelling")
            window = type(prior) is Window
            positional = place == 0 or window
            spelled = _spell_value(value, hints[field.name], part=window)
            arguments.append(("" if positional else f"{field.name}=") + spelled)
    return prior.name + (f"({', '.join(arguments)})" if arguments else "")


Value = bool | int | float | str | Prior
"""A value of a field of a prior."""


def _spell_value(value: Value, kind: object, *, part: bool) -> str:
    kinds = _kinds(kind)
    if isinstance(value, Prior):
        return format_prior(value)
    if isinstance(value, bool | str):
        return value if isinstance(value, str) else str(value).lower()
    if int in kinds:
        if abs(value) > LARGEST:
            raise ConfigError(f"{value} is too large to be spelled; at most {LARGEST} is possible")
        return str(value)
    value = float(value)
    if part:
        ratio = Fraction(value).limit_denominator(1_000)
        top, of = ratio.numerator, ratio.denominator
        if top < 1_000 and top / of == value:
            return ("" if top == 1 else str(top)) + "n" + ("" if of == 1 else f"/{of}")
        return repr(value)
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)


def _kinds(kind: object) -> tuple[object, ...]:
    """The types that a field may have, without None."""
    if get_origin(kind) is Literal or not get_args(kind):
        return (kind,)
    return tuple(option for option in get_args(kind) if option is not NoneType)


class PriorReader:
    """Reads priors from a text, from left to right.

    Args:
        text: At most 10,000 characters.

    Attributes:
        text: The text to read.
        at: Number of characters read so far.
    """

    def __init__(self, text: str):
        if not isinstance(text, str):
            raise ConfigError(f"a prior is spelled as a text such as 'window(3)', got {text!r:.80}")
        if len(text) > LONGEST:
            raise ConfigError(f"priors of {len(text)} characters; at most {LONGEST} are possible")
        self.text, self.at, self._depth = text, 0, 0

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Raise an error about the character at `at`, by default the next one."""
        at = self.at if at is None else at
        start = max(0, at - 30)
        shown = ("..." if start else "") + self.text[start : at + 30] + ("..." * (len(self.text) > at + 30))
        raise ConfigError(f"{shown!r}, character {at + 1}: {message}")

    def skip(self) -> int:
        """Skip white space; returns the position of the next character."""
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.at

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Read the pattern if it comes next; returns its match or None."""
        match = pattern.match(self.text, self.skip())
        if match:
            self.at = match.end()
        return match

    def sign(self, sign: str) -> bool:
        """Whether that sign comes next; it is read if so."""
        matches = self.text.startswith(sign, self.skip())
        self.at += matches
        return matches

    def end(self) -> None:
        """Check that the text ends here."""
        if self.skip() < len(self.text):
            self.fail(f"unexpected {self.text[self.at]!r}")

    def name(self) -> str:
        """A name."""
        match = self.take(_NAME)
        return match[0] if match else self.fail("expected the name of a prior")

    def prior(self) -> Prior:
        """Terms with + between them."""
        terms = [self._term()]
        while self.sign("+"):
            terms.append(self._term())
        if len(terms) == 1:
            return terms[0]
        return Sum(tuple(p for term in terms for p in (term.parts if isinstance(term, Sum) else (term,))))

    def _term(self) -> Prior:
        start, name = self.skip(), self.name()
        if name == "alibi":
            self.fail("alibi is for several heads: it stands alone, in a list of heads", start)
        if name not in PRIORS:
            message = unknown_name_error("prior", name, list(PRIORS)).args[0]
            self.fail(message if "did you mean" in message else message + UNREGISTERED, start)
        made = PRIORS[name]
        if made is Sum:
            return Sum(self._parts())
        kinds = field_types(made)
        fields_by_name = {field.name: field for field in fields(made)}  # type: ignore[arg-type]
        needed = [name for name, field in fields_by_name.items() if field.default is MISSING]
        values = self.arguments(name, {field: kinds[field] for field in fields_by_name}, needed)
        try:
            return made(**values)
        except (ConfigError, ValueError) as error:  # priors of users may raise the latter
            self.fail(str(error.args[0]) if error.args else "a value that cannot be", start)

    def _parts(self) -> tuple[Prior, ...]:
        """The priors of a sum, in brackets."""
        if not self._open():
            self.fail("sum needs priors in brackets")
        parts = [self.prior()]
        while self.sign(","):
            parts.append(self.prior())
        self._close()
        return tuple(parts)

    def arguments(self, name: str, kinds: Mapping[str, object], needed: Collection[str]) -> JsonObject:
        """Arguments in brackets, or nothing.

        Args:
            name: Name of the prior that takes the arguments.
            kinds: The annotations of all arguments, by name, in order.
            needed: Those that have no default.
        """
        start, values, named = self.skip(), {}, False
        opened = self._open()
        if opened and not self.text.startswith(")", self.skip()):
            while not values or self.sign(","):
                at, match = self.skip(), self.take(_FIELD)
                if len(values) == len(kinds):
                    self.fail(f"{name} takes {len(kinds) or 'no'} argument{'s' * (len(kinds) != 1)}", at)
                if match:
                    field, named = match[1], True
                elif named:
                    self.fail("an argument without its name must come before those with")
                else:
                    field = list(kinds)[len(values)]
                    if name == Window.name and not self._is_width():
                        field = "fraction"
                if field not in kinds:
                    self.fail(unknown_name_error(f"argument of {name}", field, list(kinds)).args[0], at)
                if field in values:
                    self.fail(f"{field} is given twice", at)
                values[field] = self._value(field, kinds[field], part=name == Window.name)
        if opened:
            self._close()
        missing = [field for field in needed if field not in values]
        if missing:
            self.fail(f"{name} needs {' and '.join(missing)}", start)
        return values

    def _open(self) -> bool:
        """An opening bracket, if one comes."""
        if not self.sign("("):
            return False
        self._depth += 1
        if self._depth > DEEPEST:
            self.fail(f"more than {DEEPEST} brackets in each other")
        return True

    def _close(self) -> None:
        if not self.sign(")"):
            self.fail("expected a comma or a closing bracket")
        self._depth -= 1

    def _is_width(self) -> bool:
        """Whether the next value is a whole number."""
        match = _VALUE.match(self.text, self.skip())
        return match is not None and _WHOLE.fullmatch(match[0]) is not None

    def _value(self, field: str, kind: object, *, part: bool) -> Value:
        """A value of the kind that a field is annotated with.

        Args:
            field: Its name, for the error.
            kind: The annotation.
            part: Whether a number may be a part of the text, n/16.
        """
        [kind] = _kinds(kind)
        if kind is Prior:
            return self.prior()
        start = self.skip()
        match = self.take(_VALUE)
        text = match[0] if match else self.text[self.at : self.at + 1]
        if get_origin(kind) is Literal and text in get_args(kind):
            return text
        if kind is bool and text in ("true", "false"):
            return text == "true"
        if kind is int and _WHOLE.fullmatch(text) and abs(int(text)) <= LARGEST:
            return int(text)
        if kind is float and (number := _parse_number(text, part=part)) is not None:
            return number
        descriptions: dict[object, str] = {
            bool: "true or false",
            int: f"a whole number, at most {LARGEST}",
            float: "a number such as 0.5 or 1/2" + ", or a part of the text such as n/16" * part,
        }
        expected = descriptions.get(kind) or " or ".join(map(str, get_args(kind)))
        return self.fail(f"{field} must be {expected}, got {text!r}", start)


def _parse_number(text: str, *, part: bool) -> float | None:
    """A number as it is written, None if it is none."""
    if _NUMBER.fullmatch(text):
        return float(text)
    match = _RATIO.fullmatch(text) or (_PART.fullmatch(text) if part else None)
    if match is None or int(match[2] or 1) == 0:
        return None
    return int(match[1] or 1) / int(match[2] or 1)
