"""Priors of attention heads: which positions a head sees, and how scores depend on their relation. The
names are imported when they are used."""

import importlib
from typing import TYPE_CHECKING, Any

from headwise.core.deprecation import warn_renamed

if TYPE_CHECKING:
    from headwise.nn.priors.base import Band, LearnedPrior, PositionPairs, Prior, Sum
    from headwise.nn.priors.direction import Backward, Earlier, Forward, Later
    from headwise.nn.priors.distance import Gaussian, TreeDistance, WordDistance, alibi
    from headwise.nn.priors.document import SameParagraph, SameSentence, SentenceDistance
    from headwise.nn.priors.flex import flex_mods
    from headwise.nn.priors.head_lists import parse_heads, parse_layers
    from headwise.nn.priors.learned_decay import AdaptiveSpan, Cope, Fire, Forgetting, Kerple, LearnedSlope
    from headwise.nn.priors.learned_distance import (
        Rotary,
        Shaw,
        Sink,
        T5Buckets,
        TransformerXL,
        TreeBuckets,
    )
    from headwise.nn.priors.notation import format_prior, parse_prior
    from headwise.nn.priors.registry import PRIORS, from_json, register
    from headwise.nn.priors.scales import allocate_scales, head_counts, parse_scale
    from headwise.nn.priors.sparse import Dilated, GlobalTokens, RandomBlocks
    from headwise.nn.priors.text_matrix import Matrix, TextMatrix
    from headwise.nn.priors.tree_relations import Child, Parent, Sibling, TreeRelations
    from headwise.nn.priors.window import Everything, ShiftedWindow, Window

__all__ = [
    "PRIORS",
    "AdaptiveSpan",
    "Backward",
    "Band",
    "Child",
    "Cope",
    "Dilated",
    "Earlier",
    "Everything",
    "Fire",
    "Forgetting",
    "Forward",
    "Gaussian",
    "GlobalTokens",
    "Kerple",
    "Later",
    "LearnedPrior",
    "LearnedSlope",
    "Matrix",
    "Parent",
    "PositionPairs",
    "Prior",
    "RandomBlocks",
    "Rotary",
    "SameParagraph",
    "SameSentence",
    "SentenceDistance",
    "Shaw",
    "ShiftedWindow",
    "Sibling",
    "Sink",
    "Sum",
    "T5Buckets",
    "TextMatrix",
    "TransformerXL",
    "TreeBuckets",
    "TreeDistance",
    "TreeRelations",
    "Window",
    "WordDistance",
    "alibi",
    "allocate_scales",
    "flex_mods",
    "format_prior",
    "from_json",
    "head_counts",
    "parse_heads",
    "parse_layers",
    "parse_prior",
    "parse_scale",
    "register",
]

_NAMES = {
    "base": ("Band", "LearnedPrior", "PositionPairs", "Prior", "Sum"),
    "direction": ("Backward", "Earlier", "Forward", "Later"),
    "distance": ("Gaussian", "TreeDistance", "WordDistance", "alibi"),
    "document": ("SameParagraph", "SameSentence", "SentenceDistance"),
    "flex": ("flex_mods",),
    "head_lists": ("parse_heads", "parse_layers"),
    "learned_decay": ("AdaptiveSpan", "Cope", "Fire", "Forgetting", "Kerple", "LearnedSlope"),
    "learned_distance": ("Rotary", "Shaw", "Sink", "T5Buckets", "TransformerXL", "TreeBuckets"),
    "notation": ("parse_prior", "format_prior"),
    "registry": ("PRIORS", "from_json", "register"),
    "scales": ("allocate_scales", "head_counts", "parse_scale"),
    "sparse": ("Dilated", "GlobalTokens", "RandomBlocks"),
    "text_matrix": ("Matrix", "TextMatrix"),
    "tree_relations": ("Child", "Parent", "Sibling", "TreeRelations"),
    "window": ("Everything", "ShiftedWindow", "Window"),
}
"""The names above, by module."""
_HOMES = {name: module for module, names in _NAMES.items() for name in names}


_RENAMED = {"Pairs": "PositionPairs", "spell": "format_prior"}
"""Public names that changed, for one release."""


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        warn_renamed(f"{__name__}.{name}", _RENAMED[name])
        return globals().get(_RENAMED[name]) or __getattr__(_RENAMED[name])
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
