"""The training runs of language_modelling.py: limited by steps or by time, resumable.

The windows of a step are a function of seed and step, and nothing else is random after the start: weights,
moments and counters are the whole state.
"""

import math
import time
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks import DATA
from benchmarks.papers.kept_state import SAVE_EVERY, keep_state, read_state
from headwise import __version__
from headwise.core.errors import HeadwiseError
from headwise.data.items.symbols import choose_symbols
from headwise.data.readers.streams import SymbolStream, count_symbols, read_stream
from headwise.nn.encoders import BPTransformerConfig, EncoderConfig, TransformerConfig
from headwise.nn.networks.language_model import LanguageModel, window_batch
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.task_layers.language_layers import LanguageWindow
from headwise.nn.task_layers.layer_configs import LanguageConfig
from headwise.training.run_state import record_signals

TEXTS = {
    "war-and-peace": [f"charlm/war_and_peace/wap.{part}.txt.gz" for part in ("train", "valid", "test")],
    "ptb": [f"ptb_lm/ptb.zip!ptb.{part}.txt" for part in ("train", "valid", "test")],
}
MODELS = ("transformer", "bp-transformer")
POSITIONS = ("distance", "alibi", "rotary", "sinusoidal")
WARMUP = 0.1  # share of the run
DEV = 100_000  # characters of the dev text that settings are chosen by


class Stopped(Exception):
    """The run was asked to stop and has saved its state."""

    def __init__(self, number: int, step: int):
        super().__init__()
        self.signal, self.step = number, step


@dataclass(frozen=True)
class Settings:
    """The settings of a run; it ends after `steps`, or after `minutes` by the clock where there are any."""

    data: str
    context: int
    model: str
    steps: int
    clock: str
    batch_tokens: int
    width: int
    layers: int
    k: int
    rate: float
    seed: int
    threads: int
    positions: str = "sinusoidal"
    minutes: float = 0.0

    @property
    def shape(self) -> str:
        kind = f"k{self.k}" if self.model == "bp-transformer" else f"-{self.positions}"
        return f"{self.layers}x{self.width}{kind}"

    @property
    def name(self) -> str:
        length = f"{self.minutes:.2f}min" if self.minutes else f"{self.steps}"
        return f"{self.data}-{self.context}-{self.model}-{self.shape}-{self.rate:g}-{length}-{self.seed}"

    @property
    def identity(self) -> dict[str, Any]:
        """What a resumed run must have in common with the one before."""
        fields = asdict(self)
        return {name: value for name, value in fields.items() if name not in ("clock", "threads")}

    @property
    def encoder(self) -> EncoderConfig:
        """The same sizes for both; nothing is dropped, for a run sees the text once or twice."""
        sizes: dict[str, Any] = {"width": self.width, "layers": self.layers, "heads": self.width // 32}
        sizes |= {"head_size": 32, "feedforward": 4 * self.width, "dropout": 0.0}
        if self.model == "transformer":
            return TransformerConfig(
                **sizes,
                classification_node=False,
                priors=causal_priors(self.positions, sizes["heads"]),
                positions="sinusoidal" if self.positions == "sinusoidal" else "none",
            )
        clip = max(0, int(math.log2(max(1, self.context / self.k))) - 1)  # as in the paper
        return BPTransformerConfig(**sizes, k=self.k, clip=clip, causal=True, attention_dropout=0.0)

    @property
    def model_config(self) -> ModelConfig:
        language = LanguageConfig(context=self.context, dropout=0.0)
        return ModelConfig(task="language-model", encoder=self.encoder, language=language)


def causal_priors(positions: str, heads: int) -> tuple[str, ...]:
    """How heads that look back know the order.

    `distance` is ALiBi with steeper slopes: 4, 1, 1/4, 1/16, ... ALiBi's begin at 1/4 with four heads, so
    that none can look at the character before alone.
    """
    return {
        "distance": tuple(f"forward + word-distance({4.0 ** (1 - head):g})" for head in range(heads)),
        "alibi": (f"alibi({heads}, left)",),
        "rotary": ("forward + rotary",),
        "sinusoidal": ("forward",),
    }[positions]


class Parts(NamedTuple):
    """The parts of a text."""

    train: SymbolStream
    dev: SymbolStream
    test: SymbolStream


@dataclass
class Counters:
    """How far a run is: updates, and the time that they took, by the clock and of the processor."""

    step: int = 0
    seconds: float = 0.0
    processor_seconds: float = 0.0
    losses: list[float] = field(default_factory=list)


@lru_cache(maxsize=1)
def read_parts(data: str) -> Parts:
    """The three parts of a text as numbers of the characters of the first.

    Raises:
        HeadwiseError: A file is not there.
    """
    paths = [str(DATA / name) for name in TEXTS[data]]
    symbols = choose_symbols("characters", count_symbols(paths[0], "characters"))
    return Parts(*(read_stream(path, symbols) for path in paths))


def train(settings: Settings, cache: Path, *, on_dev: bool = False) -> dict[str, Any]:
    """A run, or what is left of it; its scores on the test text (or on a part of the dev text, to choose
    settings by), and what they cost.

    Raises:
        Stopped: A signal came.
        HeadwiseError: The texts are not there, the saved state is of another run, or the loss is no number.
    """
    parts = read_parts(settings.data)
    run = _Run(settings, parts, cache / f"{settings.name}.safetensors")
    with record_signals() as caught:
        while run.share < 1:
            run.step()
            if caught:
                run.save()
                raise Stopped(caught[0], run.counters.step)
            run.save_if_due()
    run.save()
    began = time.process_time()
    test = run.model.score(replace(parts.dev, ids=parts.dev.ids[:DEV]) if on_dev else parts.test)
    counters = run.counters
    done = counters.step * run.windows * run.size
    result = {
        "bits_per_character": test.bits,
        "characters_scored": test.symbols,
        "steps_done": counters.step,
        "characters_read": done,
        "characters_per_second": done / max(counters.processor_seconds, 1e-9),
        "seconds": counters.seconds,
        "processor_seconds": counters.processor_seconds,
        "scoring_processor_seconds": time.process_time() - began,
        "train_bits": [loss / math.log(2) for loss in counters.losses],
        "parameters": sum(p.numel() for p in run.model.parameters()),
        "versions": {"headwise": __version__, "torch": torch.__version__},
    }
    print(f"{settings.name}: {result['bits_per_character']:.3f} bits per character", flush=True)
    run.path.unlink(missing_ok=True)
    return result


class _Run:
    """A model in training, its optimizer and its counters."""

    def __init__(self, settings: Settings, parts: Parts, path: Path):
        self.settings, self.text, self.path = settings, parts.train, path
        torch.manual_seed(settings.seed)
        self.model = LanguageModel(settings.model_config, parts.train.symbols)
        self.optimizer = torch.optim.Adam(self.model.parameters(), betas=(0.9, 0.98), fused=True)
        self.counters = Counters()
        self.size = min(settings.context, len(self.text))
        self.windows = max(1, settings.batch_tokens // self.size)
        self._saved = time.monotonic()
        if path.exists():
            counters = read_state(path, self.model, self.optimizer, settings.identity)
            self.counters = Counters(**counters)

    @property
    def share(self) -> float:
        """How much of the run is done."""
        settings, counters = self.settings, self.counters
        if not settings.minutes:
            return counters.step / settings.steps
        seconds = counters.processor_seconds if settings.clock == "processor" else counters.seconds
        return seconds / (60 * settings.minutes)

    def step(self) -> None:
        """One update, at a rate that rises in a line and falls as a cosine."""
        counters, share = self.counters, self.share
        began, processor_began = time.monotonic(), time.process_time()
        fall = 0.5 * (1 + math.cos(math.pi * max(0.0, share - WARMUP) / (1 - WARMUP)))
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.rate * max(0.01, min(share / WARMUP, fall))
        random = np.random.default_rng([self.settings.seed, counters.step])
        starts = random.integers(0, len(self.text) - self.size + 1, self.windows).tolist()
        windows = [LanguageWindow(start, start, start + self.size) for start in starts]
        inputs, targets = window_batch(self.text.ids, windows)
        loss = self.model.losses(self.model(inputs).values, targets).mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0, foreach=True)
        self.optimizer.step()
        self.optimizer.zero_grad()
        value = loss.item()
        if not math.isfinite(value):
            raise HeadwiseError(f"the loss became {value} in step {counters.step}", code="HW404")
        if counters.step % 50 == 0:
            counters.losses.append(value)
        counters.step += 1
        counters.seconds += time.monotonic() - began
        counters.processor_seconds += time.process_time() - processor_began

    def save(self) -> None:
        keep_state(self.path, self.model, self.optimizer, self.counters, self.settings.identity)
        self._saved = time.monotonic()

    def save_if_due(self) -> None:
        if time.monotonic() - self._saved >= SAVE_EVERY:
            self.save()
