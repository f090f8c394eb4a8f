"""Time and memory of a token, for language_modelling.py: forward and backward of one batch."""

import resource
import sys
import time

import numpy as np
import torch

from benchmarks.papers.language_modelling_training import Settings
from headwise.data.items.symbols import SymbolVocabulary
from headwise.nn.networks.language_model import LanguageModel, window_batch
from headwise.nn.task_layers.language_layers import LanguageWindow

CONTEXTS = (512, 2048, 8192)
TOKENS = 8192  # of a batch, whatever the context
TIMES = 4


def cost_of(settings: Settings) -> dict[str, float]:
    """Tokens per second of a training step, and its memory, of 8,192 tokens in windows of the context."""
    torch.manual_seed(0)
    symbols = SymbolVocabulary("characters", tuple(map(chr, range(97, 147))), (1,) * 50)
    model = LanguageModel(settings.model_config, symbols)
    text = np.random.default_rng(0).integers(0, 50, TOKENS).astype(np.uint8)
    _step(model, text[:64], 64)  # what is made once
    before = _memory()
    best = float("inf")
    for _ in range(TIMES):
        began = time.process_time()
        _step(model, text, settings.context)
        best = min(best, time.process_time() - began)
    return {
        "tokens_per_second": TOKENS / best,
        "microseconds_per_token": 1e6 * best / TOKENS,
        "kilobytes_per_token": (_memory() - before) / TOKENS / 1000,
        "threads": torch.get_num_threads(),
    }


def _step(model: LanguageModel, text: np.ndarray, context: int) -> None:
    windows = [LanguageWindow(at, at, at + context) for at in range(0, len(text), context)]
    inputs, targets = window_batch(text, windows)
    model.losses(model(inputs).values, targets).mean().backward()
    model.zero_grad()


def _memory() -> float:
    """The most that the process has had, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most
