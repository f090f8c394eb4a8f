"""Imports of modules of headwise, which name a library for training where it is needed and not installed.

Every `import headwise` runs this file, so it imports little.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

TRAINING_LIBRARIES = ("torch", "scipy", "sklearn", "joblib", "threadpoolctl")
"""Libraries that prediction does without."""
INSTALL_ALL = "pip install '.[train]'"
"""Installs what training needs, in the source folder of headwise."""


def needs_message(name: str, reason: str | None = None) -> str:
    """The message that a library is missing, and how to install it."""
    subject = "this needs" if reason is None else f"{reason}: this needs"
    return f"{subject} {name}; in the source folder of headwise: {INSTALL_ALL}"


class _Loader(SourceFileLoader):
    """Loads a module, and names what to install where one of the `TRAINING_LIBRARIES` is missing."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module.

        Raises:
            MissingLibraryError: HW957, a library is not installed.
        """
        try:
            super().exec_module(module)
        except ModuleNotFoundError as error:
            from headwise.core.errors import HeadwiseError, MissingLibraryError

            name = (error.name or "").partition(".")[0]
            if isinstance(error, HeadwiseError) or name not in TRAINING_LIBRARIES:
                raise
            missing = MissingLibraryError(needs_message(name, f"import {module.__name__}"))
            missing.name = name
            raise missing from None


class TrainingLibraryFinder:
    """Finds the modules of headwise in their folders, and has a `_Loader` load them."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("headwise."):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def install() -> None:
    """Let imports of headwise name libraries that are missing."""
    if not any(isinstance(finder, TrainingLibraryFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, TrainingLibraryFinder())
