"""parse_heads and parse_layers: which prior sits on which head, as text.

    layers := heads ("|" heads)*
    heads  := item (";" item)*
    item   := (prior or alibi) ["*" count]

for instance `window(3)*4; forward + tree-distance(1)*2; everything*2`. How a prior is spelled:
`headwise.nn.priors.notation`. `alibi(8)` and `alibi(8, halves)` are the 8 priors that the function
`alibi` gives.
"""

from collections.abc import Sequence
from typing import get_type_hints

from headwise.core.errors import ConfigError
from headwise.core.lazy_pattern import lazy_pattern
from headwise.nn.priors.base import Prior, Sum
from headwise.nn.priors.distance import alibi
from headwise.nn.priors.notation import PriorReader
from headwise.nn.priors.sparse import GlobalTokens

Group = list[tuple[Prior, int]]  # the priors of a layer, each with the number of heads that follow with it

MOST = 1 << 15  # priors on all heads of all layers, the parts of sums counted: texts may be hostile

_COUNT = lazy_pattern(r"\d{1,5}(?![\w.])")
_ALIBI = lazy_pattern(r"alibi(?![\w-])")


def parse_heads(text: str | Sequence[str], heads: int) -> tuple[Prior, ...]:
    """One prior for each head.

    Args:
        text: Items with semicolons between them; several texts are the same as one with semicolons between
            them. Fewer items than heads are repeated in turn.
        heads: Number of heads.

    Raises:
        ConfigError: The text spells no priors (says what is wrong where), or their number does not divide
            the number of heads.
    """
    [priors] = parse_layers(text, heads, 1)
    return priors


def parse_layers(text: str | Sequence[str], heads: int, layers: int) -> tuple[tuple[Prior, ...], ...]:
    """One prior for each head of each layer.

    Args:
        text: As for `parse_heads`, with `|` between layers, the lowest first. Fewer than there are layers
            are repeated in turn: one for all of them, two for every other.
        heads: Heads of a layer.
        layers: Number of layers.

    Raises:
        ConfigError: As for `parse_heads`; or the number of layers in the text does not divide `layers`.
    """
    if min(heads, layers) < 1:
        raise ConfigError(f"expected 1 or more heads and layers, got {heads} and {layers}")
    if heads * layers > MOST:
        raise ConfigError(f"{heads} heads in {layers} layers: priors as text are possible for {MOST} heads")
    groups = _groups(text)
    _check_turns(len(groups), layers, "layer")
    made, parts = [], 0
    for group in groups:
        priors = [prior for prior, count in group for _ in range(count)]
        _check_turns(len(priors), heads, "head")
        turns = heads // len(priors)
        made.append(tuple(priors) * turns)
        parts += turns * sum(count * _count_priors(prior) for prior, count in group)
    turns = layers // len(groups)
    if parts * turns > MOST:
        raise ConfigError(
            f"the priors of all heads have {parts * turns} parts; at most {MOST} are possible"
        )
    return tuple(made) * turns


def without_heads(layers: Sequence[Sequence[Prior]], dropped: Sequence[str]) -> list[list[Prior]]:
    """The priors of the heads that are left.

    Args:
        layers: The prior of each head, layer by layer.
        dropped: Heads that are not, as `layer.head`, both from 1.

    Raises:
        ConfigError: There is no such head, or a layer would have none left.
    """
    names = {
        f"{layer}.{head}" for layer, priors in enumerate(layers, 1) for head in range(1, len(priors) + 1)
    }
    if not names.issuperset(dropped):
        raise ConfigError(f"dropped: there is no head {min(set(dropped) - names)!r}")
    gone = set(dropped)
    left = [
        [prior for head, prior in enumerate(priors, 1) if f"{layer}.{head}" not in gone]
        for layer, priors in enumerate(layers, 1)
    ]
    if not all(left):
        raise ConfigError("dropped: a layer has no head left")
    return left


def check_spelling(text: str | Sequence[str]) -> None:
    """Check a text whose numbers of heads and layers are not yet known.

    Raises:
        ConfigError: It spells no priors of heads.
    """
    _groups(text)


def _groups(text: str | Sequence[str]) -> list[Group]:
    if not isinstance(text, str):
        if not isinstance(text, Sequence) or not all(isinstance(part, str) for part in text):
            raise ConfigError(
                f"the priors of heads are spelled as texts such as 'window(3)*2', got {text!r}"
            )
        text = "; ".join(text)
    reader = PriorReader(text)
    groups = [_group(reader)]
    while reader.sign("|"):
        groups.append(_group(reader))
    reader.end()
    return groups


def _group(reader: PriorReader) -> Group:
    """Read the priors of one layer, up to its end."""
    group: Group = []
    heads = 0
    while not group or reader.sign(";"):
        start = reader.skip()
        priors = _alibi(reader) if reader.take(_ALIBI) else [reader.prior()]
        count = 1
        if reader.sign("*"):
            match = reader.take(_COUNT)
            count = int(match[0]) if match else 0
            if count < 1:
                reader.fail("expected how many heads, at least 1")
        heads += len(priors) * count
        if heads > MOST:
            reader.fail(f"more than {MOST} heads", start)
        group += [(priors[0], count)] if len(priors) == 1 else [(prior, 1) for prior in priors] * count
    return group


def _alibi(reader: PriorReader) -> Sequence[Prior]:
    start = reader.skip()
    settings = reader.arguments("alibi", {"heads": int, "sided": get_type_hints(alibi)["sided"]}, ["heads"])
    if settings["heads"] > MOST:
        reader.fail(f"more than {MOST} heads", start)
    try:
        return alibi(**settings)
    except ConfigError as error:
        reader.fail(error.args[0], start)


def _check_turns(listed: int, number: int, what: str) -> None:
    if number % listed:
        raise ConfigError(
            f"priors are given for {listed} {what}s, and there are {number}: give as many, or a number "
            f"that divides it to be repeated in turn, or set {what}s to {listed}"
        )


def _count_priors(prior: Prior) -> int:
    """How many priors it consists of."""
    if isinstance(prior, GlobalTokens):
        return 1 + _count_priors(prior.inner)
    return sum(map(_count_priors, prior.parts)) if isinstance(prior, Sum) else 1
