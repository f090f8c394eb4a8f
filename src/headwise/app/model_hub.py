"""Model folders on the Hugging Face hub: upload, download, load."""

import json
import shutil
import sys
from collections.abc import Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, overload

from headwise.artifacts.model_folder import VerifiedFolder
from headwise.core.errors import ConfigError
from headwise.core.extras import install_line
from headwise.core.folder_layout import CARD, CONFIG, LIMITS, WEIGHTS
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK

if TYPE_CHECKING:
    from collections.abc import Generator

    from headwise.nn.networks.trained_models import ModelType, TrainedModel

_FILES = (*LIMITS, WEIGHTS)
"""The files that a model folder may have; nothing else is uploaded or downloaded."""


def push_to_hub(
    folder: PathLike[str] | str,
    repo: str,
    *,
    private: bool = False,
    token: str | None = None,
    language: str | Sequence[str] = (),
    license: str | None = None,
    message: str = "Upload a model of headwise",
) -> str:
    """Upload a model folder to the Hugging Face hub; returns its address.

    Only the files of the model are uploaded, not the state of a training run. The model card gets front
    matter by which the hub finds the model.

    Args:
        folder: The model folder.
        repo: The repository, `USER/NAME`; created if it does not exist.
        private: Whether a new repository is private.
        token: An access token; by default that of `hf auth login`.
        language: Codes of the languages of the texts, such as `en`.
        license: The licence of the model, such as `apache-2.0`.
        message: The message of the commit.

    Raises:
        StoreError: It is not a sound model folder.
        ConfigError: huggingface_hub is not installed, or the hub refuses the upload.
    """
    files = VerifiedFolder(folder)
    task = files.json(CONFIG)["model"].get("task", "classify")
    hub = _hub()
    with _hub_errors(repo), TemporaryDirectory(prefix="headwise-hub-") as staging:
        for name in _FILES:
            if (files.path / name).is_file():
                shutil.copyfile(files.path / name, Path(staging) / name)
        card = Path(staging) / CARD
        text = card.read_text("utf-8") if card.is_file() else ""
        card.write_text(front_matter(task, language, license) + without_front_matter(text), "utf-8")
        api = hub.HfApi(token=token)
        api.create_repo(repo_id=repo, private=private, exist_ok=True)
        api.upload_folder(repo_id=repo, folder_path=staging, commit_message=message)
    return f"https://huggingface.co/{repo}"


def pull_from_hub(
    repo: str, folder: PathLike[str] | str, *, revision: str | None = None, token: str | None = None
) -> Path:
    """Download a model of headwise from the Hugging Face hub to a new folder; returns the folder.

    Args:
        repo: The repository, `USER/NAME`.
        folder: The new folder.
        revision: A branch, tag or commit; a commit names exactly one state of the model.
        token: An access token, for private repositories.

    Raises:
        StoreError: The repository holds no sound model folder.
        ConfigError: The folder exists, huggingface_hub is not installed, or the download fails.
    """
    target = Path(folder)
    if target.exists():
        raise ConfigError(f"{target} exists; give a folder that does not")
    hub = _hub()
    with _hub_errors(repo):
        snapshot = hub.snapshot_download(
            repo_id=repo, revision=revision, token=token, allow_patterns=list(_FILES)
        )
    source = Path(snapshot)
    with TemporaryDirectory(prefix="headwise-hub-") as temporary:
        staging = Path(temporary) / "model"  # a temporary folder itself is closed to other users
        staging.mkdir()
        for name in _FILES:
            if (source / name).is_file():  # links into the cache of the hub
                shutil.copyfile(source / name, staging / name)
        VerifiedFolder(staging)
        shutil.copytree(staging, target)
    return target


@overload
def from_pretrained(
    repo: str, model_type: None = None, *, revision: str | None = None, token: str | None = None
) -> "TrainedModel": ...


@overload
def from_pretrained(
    repo: str, model_type: "type[ModelType]", *, revision: str | None = None, token: str | None = None
) -> "ModelType": ...


def from_pretrained(
    repo: str, model_type: type[Any] | None = None, *, revision: str | None = None, token: str | None = None
) -> Any:
    """Load a model from the Hugging Face hub; no code of the repository runs.

    Args:
        repo: The repository, `USER/NAME`.
        model_type: The expected class, see `headwise.load_model`.
        revision: A branch, tag or commit.
        token: An access token, for private repositories.

    Raises:
        StoreError, ConfigError: As `pull_from_hub` and `headwise.load_model`.
    """
    from headwise.artifacts.load import load_model

    with TemporaryDirectory(prefix="headwise-hub-") as parent:
        folder = pull_from_hub(repo, Path(parent) / "model", revision=revision, token=token)
        return load_model(folder, model_type)


def front_matter(task: str, language: str | Sequence[str] = (), license_name: str | None = None) -> str:
    """The YAML front matter of a model card on the hub."""
    item_type = ITEM_TYPES_BY_TASK[task]
    languages = [language] if isinstance(language, str) else list(language)
    lines = ["---", "library_name: headwise"]
    if item_type.has_tags:
        lines.append("pipeline_tag: token-classification")
    elif item_type.sides:
        lines.append("pipeline_tag: text-classification")
    if languages:
        lines += ["language:", *(f"- {json.dumps(code)}" for code in languages)]  # JSON is YAML
    if license_name:
        lines.append(f"license: {json.dumps(license_name)}")
    return "\n".join([*lines, "tags:", "- headwise", f"- {json.dumps(task)}", "---", "", ""])


def without_front_matter(card: str) -> str:
    """A card without the front matter at its start."""
    if not card.startswith("---\n") or (end := card.find("\n---\n", 3)) < 0:
        return card
    return card[end + 5 :].lstrip("\n")


def _hub() -> Any:
    try:
        import huggingface_hub
    except ImportError:
        raise ConfigError(f"the hub needs huggingface_hub: {install_line('hub')}") from None
    return huggingface_hub


@contextmanager
def _hub_errors(repo: str) -> "Generator[None]":
    """Converts errors of the hub to a `ConfigError` that names the repository."""
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    # Without a connection, huggingface_hub passes on what its HTTP client raises (requests: an OSError).
    clients = [client for name in ("httpx", "httpx2") if (client := sys.modules.get(name)) is not None]
    expected: tuple[type[Exception], ...] = (HfHubHTTPError, HFValidationError, OSError)
    expected += tuple(client.HTTPError for client in clients)
    try:
        yield
    except expected as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise ConfigError(f"{repo}: the hub cannot be used: {reason}") from error
