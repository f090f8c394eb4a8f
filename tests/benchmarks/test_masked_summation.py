"""Masked summation: marked rows add up to the target."""

import pytest
import torch

from headwise.errors import ConfigError


def test_sums():
    from masked_summation import masked_sums

    rows, sums = masked_sums(2, 5, marked=3, length=7, features=4)
    for text, target in zip(rows, sums, strict=True):
        assert text[:, 0].sum() == 3
        torch.testing.assert_close(text[text[:, 0] == 1][:, 1:].sum(0), target)
    with pytest.raises(ConfigError, match="between 1 and the length 7"):
        masked_sums(2, marked=8, length=7)
