"""Priors of the document: the sentences and paragraphs that words belong to.

With `SameSentence` and `SameParagraph` a head sees the words of the same unit (Segatron). With
`SentenceDistance` the score falls with the number of sentences between two words.
"""

from __future__ import annotations  # the priors are read without torch

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from headwise.core.errors import HeadwiseError
from headwise.nn.priors.base import PositionPairs, Prior, check_number, check_whole
from headwise.nn.priors.distance import exact

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class _SameUnit(Prior):
    """Words of one unit of the text see each other. A classification node belongs to every unit."""

    def visible(self, pairs: PositionPairs) -> Tensor:
        """Who shares the unit.

        Raises:
            HeadwiseError: HW312, the batch does not say the units of its words.
        """
        query, key = unit_numbers(pairs, self._unit)
        return (query == key) | (query < 0) | (key < 0)

    @property
    def _unit(self) -> str:
        return self.name.removeprefix("same-")

    @property
    def marks(self) -> frozenset[str]:
        return frozenset({self._unit})

    @property
    def sees_self(self) -> bool:
        return True

    def __str__(self) -> str:
        return self.name.replace("-", " ")


@dataclass(frozen=True)
class SameSentence(_SameUnit):
    """Words of one sentence see each other (sentences as in Segatron; Bai et al. 2021; 2.2).

    Where sentences end: `headwise.text.document_structure`. The numbers come with the batch
    (`Layout.marks`).
    """

    name: ClassVar[str] = "same-sentence"


@dataclass(frozen=True)
class SameParagraph(_SameUnit):
    """Words of one paragraph see each other (paragraphs as in Segatron; Bai et al. 2021; 2.2).

    Where paragraphs end: `headwise.text.document_structure`.
    """

    name: ClassVar[str] = "same-paragraph"


@dataclass(frozen=True)
class SentenceDistance(Prior):
    """Adds `-alpha * |s(i) - s(j)|`, s the number of the sentence of a word; with `reach`, a window of
    sentences.

    Sentence positions are those of Segatron (Bai et al. 2021), taken relative as in ALiBi.
    A classification node is at distance 0 from every word.

    Args:
        alpha: Per sentence, in units of the scaled logits.
        reach: Sentences to each side that are seen; None for all.
    """

    alpha: float = 1.0
    reach: int | None = None
    name: ClassVar[str] = "sentence-distance"

    def __post_init__(self) -> None:
        check_number(self, "alpha")
        if self.reach is not None:
            check_whole(self, 0, "reach")

    def _steps(self, pairs: PositionPairs) -> Tensor:
        query, key = unit_numbers(pairs, "sentence")
        return (query - key).abs() * ((query >= 0) & (key >= 0))

    def visible(self, pairs: PositionPairs) -> Tensor:
        if self.reach is None:
            return super().visible(pairs)
        return self._steps(pairs) <= self.reach

    def score(self, pairs: PositionPairs) -> Tensor:
        """`-alpha` times the distance in sentences.

        Raises:
            HeadwiseError: HW312, the batch does not say the sentences of its words.
        """
        return -self.alpha * exact(self._steps(pairs))

    @property
    def marks(self) -> frozenset[str]:
        return frozenset({"sentence"})

    @property
    def sees_self(self) -> bool:
        return True

    def __str__(self) -> str:
        within = "" if self.reach is None else f" within {self.reach}"
        return f"sentence distance {self.alpha:g}{within}"


def unit_numbers(pairs: PositionPairs, unit: str) -> tuple[Tensor, Tensor]:
    """The number of the unit of the query's word and of the key's; -1 for a node of all units.

    Args:
        pairs: The pairs.
        unit: "sentence" or "paragraph".

    Raises:
        HeadwiseError: HW312, the batch does not say the units of its words.
    """
    if unit not in pairs.marks:
        raise HeadwiseError(
            f"a head goes by {unit}s, but the batch does not say which {unit} its words belong to; give "
            f'Layout(lengths, marks={{"{unit}": ...}}) the numbers of each text '
            "(headwise.text.document_structure.word_marks)",
            code="HW312",
        )
    return pairs.marks[unit]
