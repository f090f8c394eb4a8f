"""Upper limits of model settings, for untrusted model folders.

Check of model outputs for NaN and infinity.
"""

from typing import Any

import numpy as np

from headwise.core.errors import ConfigError, HeadwiseError
from headwise.core.lazy_pattern import lazy_pattern

# Settings that may be large; all others count modules (layers, heads, ...).
_SIZES = {
    *("width", "head_size", "feedforward", "hidden", "vector_size"),
    *("max_positions", "max_words", "min_count", "max_features", "features", "characters", "vectors"),
    *("max_pieces", "overlap", "remember", "buckets", "words", "min_texts"),
    *("size", "subwords", "kept", "grouped", "clustered", "texts"),
    *("context", "windows", "max_symbols", "relative_rows"),
}
_LARGEST_SIZE = 1 << 24
_LARGEST_COUNT = 1 << 12
_SCALE = lazy_pattern(r"[n0-9./ ]{1,40}")  # no exponents: Fraction("1e999999999") takes forever


def check_limits(settings: Any, where: str = "") -> None:
    """Reject settings that would need excessive time or memory.

    Raises:
        ConfigError: A setting is above its limit; the message has both.
    """
    before = f"{where}: " if where else ""
    if isinstance(settings, dict):
        for key, value in settings.items():
            if type(value) is int:
                largest = _LARGEST_SIZE if key in _SIZES else _LARGEST_COUNT
                if not 0 <= value <= largest:
                    shown = value if abs(value) < 10**30 else "a huge number"
                    raise ConfigError(f"{before}{key} is {shown}; 0 to {largest} is possible")
            elif key == "scales" and isinstance(value, list):
                for scale in value:
                    if not (isinstance(scale, str) and _SCALE.fullmatch(scale)):
                        raise ConfigError(f"{before}cannot read the scale {scale!r:.80}")
            check_limits(value, f"{before}{key:.80}")
    elif isinstance(settings, list):
        if len(settings) > _LARGEST_COUNT:
            raise ConfigError(f"{before}a list of {len(settings)}; at most {_LARGEST_COUNT}")
        for value in settings:
            check_limits(value, where)


def check_finite(outputs: np.ndarray) -> np.ndarray:
    """Return the outputs unchanged, if all are finite.

    Raises:
        HeadwiseError: HW409, an output is NaN or infinite.
    """
    if not np.isfinite(outputs).all():
        raise HeadwiseError(
            "the outputs of the model are no longer numbers: its weights are too large. If it is being "
            "trained, try a smaller learning rate or a lower clip, else a sound copy of the model",
            code="HW409",
        )
    return outputs
