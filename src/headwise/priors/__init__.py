"""Priors: where an attention head may look, and how strongly."""

from headwise.priors.alibi import alibi
from headwise.priors.base import Band, LearnedPrior, Pairs, Prior, Sum
from headwise.priors.dilated import Dilated
from headwise.priors.direction import Backward, Earlier, Forward, Later
from headwise.priors.everything import Everything
from headwise.priors.gaussian import Gaussian
from headwise.priors.global_tokens import GlobalTokens
from headwise.priors.head_lists import parse_heads, parse_layers
from headwise.priors.known import PRIORS, from_json, register
from headwise.priors.random_blocks import RandomBlocks
from headwise.priors.rotary import Rotary
from headwise.priors.scales import allocate_scales, head_counts, parse_scale
from headwise.priors.shaw import Shaw
from headwise.priors.spell import parse_prior, spell
from headwise.priors.t5_buckets import T5Buckets
from headwise.priors.transformer_xl import TransformerXL
from headwise.priors.tree_buckets import TreeBuckets
from headwise.priors.tree_distance import TreeDistance
from headwise.priors.window import Window
from headwise.priors.word_distance import WordDistance

__all__ = [
    "PRIORS",
    "Backward",
    "Band",
    "Dilated",
    "Earlier",
    "Everything",
    "Forward",
    "Gaussian",
    "GlobalTokens",
    "Later",
    "LearnedPrior",
    "Pairs",
    "Prior",
    "RandomBlocks",
    "Rotary",
    "Shaw",
    "Sum",
    "T5Buckets",
    "TransformerXL",
    "TreeBuckets",
    "TreeDistance",
    "Window",
    "WordDistance",
    "alibi",
    "allocate_scales",
    "from_json",
    "head_counts",
    "parse_heads",
    "parse_layers",
    "parse_prior",
    "parse_scale",
    "register",
    "spell",
]
