"""The processes that torchrun has started, by its environment variables."""

import os


def process_rank() -> int:
    """The number of this process, from 0; 0 without torchrun."""
    return int(os.environ["RANK"]) if process_count() > 1 else 0


def process_count() -> int:
    """How many processes there are; 1 without torchrun."""
    return int(os.environ["WORLD_SIZE"]) if "TORCHELASTIC_RUN_ID" in os.environ else 1
