"""Attention with a prior on every head: one definition, several implementations."""

from headwise.nn.attention.cross import cross_attention
from headwise.nn.attention.dispatch import IMPLEMENTATIONS, Choice, attention, choose
from headwise.nn.attention.self_attention import SelfAttention

__all__ = ["IMPLEMENTATIONS", "Choice", "SelfAttention", "attention", "choose", "cross_attention"]
