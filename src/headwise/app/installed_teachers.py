"""Proposals of a teacher: sentence encoders that are in the local cache of the Hugging Face hub."""

from importlib.util import find_spec
from pathlib import Path

ENGLISH_TEACHERS = ("sentence-transformers/all-mpnet-base-v2", "sentence-transformers/all-MiniLM-L6-v2")
"""Teachers of English texts, the best first."""
MULTILINGUAL_TEACHERS = (
    "sentence-transformers/paraphrase-multilingual-mpnet-base-v2",
    "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
)
"""Teachers of texts in other languages, the best first."""


def installed_teacher(*, english: bool | None = None) -> str | None:
    """The name of the best recommended sentence encoder that needs no download; None if there is none, or
    if the extra `pretrained` is not installed. The network is not used.

    Args:
        english: Whether the texts are English; None if that is unclear: the teachers of English come first.
    """
    if find_spec("transformers") is None or find_spec("huggingface_hub") is None:
        return None
    from huggingface_hub import constants

    names = {
        True: ENGLISH_TEACHERS,
        False: MULTILINGUAL_TEACHERS,
        None: ENGLISH_TEACHERS + MULTILINGUAL_TEACHERS,
    }
    folder = Path(constants.HF_HUB_CACHE)
    return next((name for name in names[english] if _is_cached(folder, name)), None)


def _is_cached(folder: Path, name: str) -> bool:
    """Whether a snapshot with configuration and safetensors weights is in the cache folder."""
    snapshots = (folder / f"models--{name.replace('/', '--')}" / "snapshots").glob("*")
    return any(
        (snapshot / "config.json").exists() and (snapshot / "model.safetensors").exists()
        for snapshot in snapshots
    )
