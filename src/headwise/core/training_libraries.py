"""Imports of modules of headwise, which name a library for training where it is needed and not installed.

Every `import headwise` runs this file, so it imports little.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.util import find_spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    from headwise.core.errors import MissingLibraryError

TRAINING_LIBRARIES = ("torch", "scipy", "sklearn", "joblib", "threadpoolctl")
"""Libraries that prediction does without."""
INSTALL_ALL = "pip install '.[train]'"
"""Installs what training needs, in the source folder of headwise."""


def needs_message(name: str, reason: str | None = None) -> str:
    """The message that a library is missing, and how to install it."""
    subject = "this needs" if reason is None else f"{reason}: this needs"
    return f"{subject} {name}; in the source folder of headwise: {INSTALL_ALL}"


def check_training_libraries() -> None:
    """Check that the libraries for training are installed, without importing them.

    Raises:
        MissingLibraryError: HW957, one is not.
    """
    for name in TRAINING_LIBRARIES:
        try:
            is_installed = find_spec(name) is not None
        except ModuleNotFoundError:
            is_installed = False
        if not is_installed:
            raise _missing(name, "training")


def _missing(name: str, reason: str) -> MissingLibraryError:
    from headwise.core.errors import MissingLibraryError

    missing = MissingLibraryError(needs_message(name, reason))
    missing.name = name
    return missing


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
            from headwise.core.errors import HeadwiseError

            name = (error.name or "").partition(".")[0]
            if isinstance(error, HeadwiseError) or name not in TRAINING_LIBRARIES:
                raise
            raise _missing(name, f"import {module.__name__}") from None


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
