"""Python's search for cyclic garbage, which takes a fifth of the time of starting a command."""

import gc

_paused = False


def pause_collection() -> None:
    """Stop the search, while libraries and models are loaded."""
    global _paused
    _paused = gc.isenabled()
    gc.disable()


def resume_collection() -> None:
    """Search again, but not among the objects that are there by now. Nothing happens unless
    `pause_collection` stopped the search: a program that stops it itself decides when it goes on."""
    global _paused
    if _paused:
        _paused = False
        gc.freeze()
        gc.enable()
