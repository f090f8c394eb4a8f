"""Attention with a prior on every head: one definition, several implementations."""

from headwise.attention.choose import IMPLEMENTATIONS, Choice, attention, choose
from headwise.attention.cross import cross_attention
from headwise.attention.self_attention import SelfAttention

__all__ = ["IMPLEMENTATIONS", "Choice", "SelfAttention", "attention", "choose", "cross_attention"]
