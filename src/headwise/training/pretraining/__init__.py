"""Training of bases (static embeddings) on unlabelled text, by context prediction, distillation of a
sentence encoder, or both."""

from typing import TYPE_CHECKING

from headwise.training.pretraining.base_config import (
    CardNotes,
    ContextConfig,
    PretrainConfig,
    PretrainError,
    StudentConfig,
    TeacherConfig,
)

if TYPE_CHECKING:
    from headwise.training.pretraining.pretrain import PretrainResult, pretrain_files

__all__ = [
    "CardNotes",
    "ContextConfig",
    "PretrainConfig",
    "PretrainError",
    "PretrainResult",
    "StudentConfig",
    "TeacherConfig",
    "pretrain_files",
]


def __getattr__(name: str) -> object:  # what needs torch is loaded when it is asked for
    if name in ("PretrainResult", "pretrain_files"):
        from headwise.training.pretraining import pretrain as run

        return getattr(run, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
