"""TreeDistance: the farther away a word in the dependency tree, the lower its score (MS-SAN, Eq. 6)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor

from headwise.errors import ConfigError, HeadwiseError
from headwise.priors.base import Pairs, Prior, TreeUse, check_number


@dataclass(frozen=True)
class TreeDistance(Prior):
    """Adds `-alpha * d(i, j)`, d the steps from word to word in the dependency tree (MS-SAN, 2020).

    The trees come with the batch (`Layout.trees`). Words at the same distance are not told apart; with a
    tree that is a chain this is `WordDistance`.

    Args:
        alpha: Per step, in units of the scaled logits. The paper's value is not public.
        fallback: What a batch without trees gets: "error", or "word" for the distance in the text.
    """

    alpha: float = 1.0
    fallback: Literal["error", "word"] = "error"
    name: ClassVar[str] = "tree-distance"

    def __post_init__(self) -> None:
        check_number(self, "alpha")
        check_fallback(self.fallback)

    def score(self, pairs: Pairs) -> Tensor:
        """`-alpha * d(i, j)`.

        Raises:
            HeadwiseError: HW310, the batch has no trees and there is no fallback.
        """
        distance = tree_steps(pairs, self.fallback)
        # In float64, where there is one, for the same reason as in WordDistance.
        return -self.alpha * (distance if distance.device.type == "mps" else distance.double())

    @property
    def tree_use(self) -> TreeUse:
        return self.fallback

    def __str__(self) -> str:
        return f"tree distance {self.alpha:g}"


def tree_steps(pairs: Pairs, fallback: str) -> Tensor:
    """The steps from word to word in the dependency tree, whole numbers.

    Raises:
        HeadwiseError: HW310, the batch has no trees and there is no fallback.
    """
    distance = pairs.tree
    if distance is None and fallback == "word":
        distance = (pairs.query - pairs.key).abs()
    if distance is None:
        raise HeadwiseError(
            "a head goes by the distance in the dependency tree, but the texts come without parses; "
            "read their heads with headwise.features.syntax.read_heads (or take them from any parser) "
            "and give Layout(lengths, trees=...) their tree_distances, or take the distance in the "
            "text instead with the fallback 'word' (tree_fallback of an encoder; in a list of priors "
            "tree-distance(1, fallback=word))",
            code="HW310",
        )
    return distance


def check_fallback(fallback: str) -> None:
    """Check the fallback of a prior that goes by trees.

    Raises:
        ConfigError: It is unknown.
    """
    if fallback not in ("error", "word"):
        raise ConfigError(f"the fallback of a tree distance is 'error' or 'word', got {fallback!r}")
