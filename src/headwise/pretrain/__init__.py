"""Training of bases (static embeddings) on unlabelled text, by context prediction, distillation of a
sentence encoder, or both."""

from typing import TYPE_CHECKING

from headwise.pretrain.card import Notes
from headwise.pretrain.config import ContextConfig, PretrainConfig, StudentConfig, TeacherConfig
from headwise.pretrain.errors import PretrainError

if TYPE_CHECKING:
    from headwise.pretrain.run import Made, pretrain_files

__all__ = [
    "ContextConfig",
    "Made",
    "Notes",
    "PretrainConfig",
    "PretrainError",
    "StudentConfig",
    "TeacherConfig",
    "pretrain_files",
]


def __getattr__(name: str) -> object:  # what needs torch is loaded when it is asked for
    if name in ("Made", "pretrain_files"):
        from headwise.pretrain import run

        return getattr(run, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
