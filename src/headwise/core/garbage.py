"""Python's search for cyclic garbage, which takes a fifth of the time of starting a command."""

import gc


def pause_collection() -> None:
    """Stop the search, while libraries and models are loaded."""
    gc.disable()


def resume_collection() -> None:
    """Search again, but not among the objects that are there by now. Nothing happens unless
    `pause_collection` was called."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
