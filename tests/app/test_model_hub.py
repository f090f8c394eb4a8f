"""Models on the hub, which a folder stands for here."""

import shutil
import sys

import pytest

from headwise import TextClassifier, TextClassifierModel, from_pretrained, pull_from_hub, push_to_hub
from headwise.app.model_hub import front_matter, without_front_matter
from headwise.artifacts import StoreError
from headwise.core.errors import ConfigError
from headwise.nn.networks.text_models import MultiLabelModel

hub = pytest.importorskip("huggingface_hub")

TEXTS = [f"{('stuck', 'dark')[n % 2]} {('door', 'lamp', 'roof')[n % 3]} {n}" for n in range(30)]
LABELS = [("repair", "light")[n % 2] for n in range(30)]
RECIPE = {
    "encoder": {"layers": 1, "heads": 2, "head_size": 4, "width": 8},
    "words": {"vector_size": 8},
    "base": {"name": "none"},
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub") / "m"
    TextClassifier(recipe=RECIPE, epochs=1).fit(TEXTS, LABELS).save(folder)
    (folder / "training").mkdir()
    (folder / "training" / "state").write_text("private", "utf-8")
    return folder


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A folder of repositories; downloads are links, as in the cache of the hub."""
    repositories, calls = tmp_path / "server", []

    class Api:
        def __init__(self, token=None):
            calls.append(("token", token))

        def create_repo(self, *, repo_id, private, exist_ok):
            assert exist_ok
            calls.append(("private", private))
            (repositories / repo_id).mkdir(parents=True, exist_ok=True)

        def upload_folder(self, *, repo_id, folder_path, commit_message):
            shutil.copytree(folder_path, repositories / repo_id, dirs_exist_ok=True)

    def snapshot_download(*, repo_id, revision, token, allow_patterns):
        if not (repositories / repo_id).is_dir():
            raise OSError("404: no such repository")
        cache = tmp_path / "cache" / repo_id
        cache.mkdir(parents=True, exist_ok=True)
        for file in (repositories / repo_id).iterdir():
            if file.name in allow_patterns and not (cache / file.name).exists():
                (cache / file.name).symlink_to(file)
        return str(cache)

    monkeypatch.setattr(hub, "HfApi", Api)
    monkeypatch.setattr(hub, "snapshot_download", snapshot_download)
    return repositories, calls


def test_a_round_trip(model, server, tmp_path):
    repositories, calls = server
    address = push_to_hub(model, "me/intents", private=True, token="t", language="en", license="mit")
    assert address.endswith("/me/intents")
    assert calls == [("token", "t"), ("private", True)]
    uploaded = {path.name for path in (repositories / "me/intents").iterdir()}
    assert "training" not in uploaded
    assert {"README.md", "config.json", "manifest.json", "model.safetensors"} <= uploaded
    (repositories / "me/intents" / "code.py").write_text("raise SystemExit", "utf-8")
    pulled = pull_from_hub("me/intents", tmp_path / "pulled")
    assert not (pulled / "code.py").exists()
    (tmp_path / "usual").mkdir()
    assert pulled.stat().st_mode == (tmp_path / "usual").stat().st_mode
    wanted = TextClassifier.load(model).predict_proba(TEXTS)
    assert (TextClassifier.load(pulled).predict_proba(TEXTS) == wanted).all()
    loaded = from_pretrained("me/intents", TextClassifierModel)
    columns = [loaded.labels.index(label) for label in ("light", "repair")]
    assert (loaded.predict_proba(TEXTS)[:, columns] == wanted).all()
    with pytest.raises(StoreError, match="expected a MultiLabelModel"):
        from_pretrained("me/intents", MultiLabelModel)


def test_a_changed_file_is_refused(model, server):
    repositories, _ = server
    push_to_hub(model, "me/changed")
    labels = repositories / "me/changed" / "labels.json"
    labels.write_text(labels.read_text("utf-8").replace("light", "night"), "utf-8")
    with pytest.raises(StoreError):
        from_pretrained("me/changed")


def test_repositories_and_folders_that_cannot_be(model, server, tmp_path):
    with pytest.raises(ConfigError, match=r"me/none: the hub cannot be used: 404: no such repository"):
        pull_from_hub("me/none", tmp_path / "new")
    with pytest.raises(ConfigError, match="exists; give a folder that does not"):
        pull_from_hub("me/none", tmp_path)
    with pytest.raises(StoreError):
        push_to_hub(tmp_path, "me/empty")
    repositories, _ = server
    (repositories / "me/other").mkdir(parents=True)
    with pytest.raises(StoreError):
        pull_from_hub("me/other", tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("message", ["no route to host\nmore", ""])
def test_a_hub_that_cannot_be_reached(model, server, monkeypatch, message):
    """huggingface_hub passes on the exceptions of its HTTP client, which differs by version."""
    client = next((sys.modules[name] for name in ("httpx2", "httpx") if name in sys.modules), None)
    error = ConnectionError(message) if client is None else client.ConnectError(message)

    def unreachable(self, **_):
        raise error

    monkeypatch.setattr(hub.HfApi, "create_repo", unreachable)
    expected = message.partition("\n")[0] or type(error).__name__
    with pytest.raises(ConfigError, match=f"me/far: the hub cannot be used: {expected}$"):
        push_to_hub(model, "me/far")


def test_the_front_matter_is_yaml():
    yaml = pytest.importorskip("yaml")
    card = front_matter("tag", ["en", "no"], "apache-2.0") + "# A model\n"
    assert yaml.safe_load(card.split("---")[1]) == {
        "library_name": "headwise",
        "pipeline_tag": "token-classification",
        "language": ["en", "no"],
        "license": "apache-2.0",
        "tags": ["headwise", "tag"],
    }
    assert without_front_matter(card) == "# A model\n"
    assert without_front_matter("# A model\n---\n") == "# A model\n---\n"
