"""Attacks on a model folder: damaged, forged, foreign and hostile files are refused, at once and by name.

Where a test signs, the manifest is right for the forged files: hashes are against damage, not malice.
"""

import json
import os
import pickle
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from headwise.artifacts import StoreError, load_model, read_info, save_model
from headwise.core.errors import HeadwiseError
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.nn.networks.linear_members import TextLinearBuffers

WEIGHTS = "model.safetensors"
LOADED = [WEIGHTS, "config.json", "vocabulary.json", "labels.json", "calibration.json"]
INFO = ["config.json", "labels.json", "calibration.json", "environment.json", "data.json", "training.json"]
VECTORS = "embedding.vectors.weight"


def refused(folder: Path, load: Callable[[Path], Any] = load_model) -> StoreError:
    """The error; it comes soon, and without a large allocation."""
    for _ in range(3):  # one run alone also measures what else the machine does
        began = time.process_time()
        with pytest.raises(StoreError) as caught:
            load(folder)
        if time.process_time() - began < 20:  # seconds on a slow machine, far less than without a check
            return caught.value
    pytest.fail("it takes more than 20 seconds of CPU to refuse the folder")


def refused_as(code: str, mention: str, folder: Path) -> None:
    error = refused(folder)
    assert error.code == code
    assert mention in str(error)


def split(content: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and data of a safetensors file."""
    end = 8 + int.from_bytes(content[:8], "little")
    return json.loads(content[8:end]), content[end:]


def join(header: Any, data: bytes) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


@pytest.fixture
def forge_weights(folder, sign):
    """Changes header and data of the weights (in place or by what is returned), and signs."""

    def do(change: Callable[[dict[str, Any], bytes], Any]) -> Path:
        header, data = split((folder / WEIGHTS).read_bytes())
        changed = change(header, data)
        header, data = changed if isinstance(changed, tuple) else (header, data)
        (folder / WEIGHTS).write_bytes(join(header, data))
        sign(folder)
        return folder

    return do


# The path


def test_no_folder(tmp_path):
    refused_as("HW501", "no such folder", tmp_path / "x")
    (tmp_path / "file").write_text("x")
    refused_as("HW501", "is not a folder", tmp_path / "file")


def test_a_folder_reached_through_a_link(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder)
    assert load_model(tmp_path / "link")


def test_an_empty_folder(tmp_path):
    refused_as("HW502", "manifest.json", tmp_path)


@pytest.mark.parametrize("extra", [{}, {"manifest.json": '{"files": {}}'}])
def test_a_hugging_face_model(tmp_path, extra):
    files = {"config.json": '{"model_type": "bert", "architectures": ["BertModel"]}', WEIGHTS: "x"} | extra
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    refused_as("HW502", "Hugging Face model (bert)", tmp_path)


@pytest.mark.parametrize("manifest", ['{"name": "app"}', '{"format": 3}', '{"format": "other"}'])
def test_a_foreign_manifest(tmp_path, manifest):
    (tmp_path / "manifest.json").write_text(manifest)
    refused_as("HW502", "not the folder of a headwise model", tmp_path)


def test_a_run_that_has_no_model_yet(tmp_path):
    (tmp_path / "training").mkdir()
    refused_as("HW503", "incomplete", tmp_path)


# Missing and damaged files


@pytest.mark.parametrize("name", LOADED)
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    refused_as("HW503", name, folder)


def test_a_missing_manifest(folder):
    (folder / "manifest.json").unlink()
    refused_as("HW503", "incomplete", folder)


@pytest.mark.parametrize("name", LOADED)
@pytest.mark.parametrize("where", [0, 0.5, 0.999])
def test_one_flipped_bit_is_noticed(folder, name, where):
    content = bytearray((folder / name).read_bytes())
    content[int(where * len(content))] ^= 1
    (folder / name).write_bytes(content)
    refused_as("HW504", name, folder)


@pytest.mark.parametrize("name", LOADED)
@pytest.mark.parametrize("change", [lambda c: b"", lambda c: c[:-1], lambda c: c + b" ", lambda c: c * 3])
def test_another_size_is_noticed(folder, name, change):
    (folder / name).write_bytes(change((folder / name).read_bytes()))
    refused_as("HW504", name, folder)


@pytest.mark.parametrize("name", LOADED)
def test_a_file_of_another_model_is_noticed(make_model, save, folder, tmp_path, name):
    different = save(make_model(1, labels=("x", "z")), tmp_path / "other")
    if (different / name).read_bytes() == (folder / name).read_bytes():
        assert name == "config.json"  # the same settings
        return
    shutil.copy(different / name, folder / name)
    refused_as("HW504", name, folder)


@pytest.mark.parametrize("name", INFO)
def test_info_is_checked_too(folder, name):
    (folder / name).write_text('{"a": 1}')
    assert refused(folder, read_info).code == "HW504"


def test_what_is_not_needed_may_be_missing_or_edited(folder):
    (folder / "README.md").unlink()
    for name in ("data.json", "metrics.json", "environment.json", "training.json"):
        (folder / name).write_text("edited")
    assert load_model(folder)
    assert refused(folder, read_info).code == "HW504"


# What is not a plain file


@pytest.mark.parametrize("name", [*LOADED, "manifest.json"])
@pytest.mark.parametrize("absolute", [True, False])
def test_links_are_not_followed(folder, tmp_path, name, absolute):
    shutil.move(folder / name, tmp_path / name)
    (folder / name).symlink_to(tmp_path / name if absolute else Path("..") / name)
    refused_as("HW505", f"{name}: this is a link", folder)


def test_dangling_links_and_links_to_devices(folder):
    for name, target in (("config.json", "/dev/zero"), ("manifest.json", "nowhere")):
        (folder / name).unlink()
        (folder / name).symlink_to(target)
        refused_as("HW505", name, folder)


@pytest.mark.parametrize("name", [*LOADED, "manifest.json"])
def test_pipes_are_not_waited_for(folder, name):
    (folder / name).unlink()
    os.mkfifo(folder / name)
    refused_as("HW505", name, folder)


@pytest.mark.parametrize("name", [*LOADED, "manifest.json"])
def test_folders_in_place_of_files(folder, name):
    (folder / name).unlink()
    (folder / name).mkdir()
    refused_as("HW505", name, folder)


def test_a_link_that_comes_after_the_check(folder, tmp_path, monkeypatch):
    """Someone swaps the file between our look at it and our opening it."""
    shutil.move(folder / "config.json", tmp_path / "config.json")
    (folder / "config.json").symlink_to(tmp_path / "config.json")
    monkeypatch.setattr(Path, "lstat", Path.stat)
    assert refused(folder).code == "HW505"


def test_no_path_of_the_manifest_is_opened(forge, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("{}")

    def change(manifest):
        manifest["files"]["../secret"] = {"sha256": "0" * 64, "size": 2}
        manifest["files"][str(secret)] = {"sha256": "0" * 64, "size": 2}

    assert load_model(forge("manifest.json", change))  # they mean nothing


# The manifest


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.pop("files"),
        lambda m: m.update(files=[]),
        lambda m: m["files"].pop(WEIGHTS),
        lambda m: m["files"].update({"labels.json": "x"}),
        lambda m: m["files"]["labels.json"].pop("sha256"),
        lambda m: m["files"]["labels.json"].update(sha256=None),
        lambda m: m["files"]["labels.json"].update(sha256="abc"),
        lambda m: m["files"]["labels.json"].update(size="12"),
    ],
)
def test_bad_manifests(forge, change):
    def in_place(manifest):
        change(manifest)

    refused_as("HW507", "manifest.json", forge("manifest.json", in_place))


@pytest.mark.parametrize("name", ["manifest.json", "config.json"])
@pytest.mark.parametrize("version", ["1", "9"])
def test_another_format_says_which_version_to_use(forge, name, version):
    folder = forge(name, lambda d: {**d, "format": f"headwise-model-{version}", "headwise": "7.8.9"})
    refused_as("HW508", "the headwise that wrote it (7.8.9)", folder)


# JSON


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "cannot be read"),
        (b"{", "cannot be read"),
        (b"\xff\xfe{}", "utf-8"),
        (b"\xef\xbb\xbf{}", "BOM"),
        (b"[]", "expected a JSON object"),
        (b'"x"', "expected a JSON object"),
        (b'{"a": 1, "a": 2}', "twice"),
        (b'{"x": {"a": 1, "b": 2, "a": 1}}', "twice"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "Infinity"),
        (b'{"a": 1e999}', "too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "cannot be read"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (pickle.dumps({"a": print}), "utf-8"),
    ],
)
@pytest.mark.parametrize("name", ["config.json", "labels.json", "vocabulary.json", "calibration.json"])
def test_bad_json(folder, sign, name, content, says):
    (folder / name).write_bytes(content)
    sign(folder)
    error = refused(folder)
    assert (error.code, name in str(error), says in str(error)) == ("HW507", True, True)


@pytest.mark.parametrize("name", ["config.json", "labels.json", "calibration.json", "manifest.json"])
def test_files_too_large_are_not_read(folder, name):
    with open(folder / name, "wb") as file:
        file.truncate(1 << 40)  # a file with a hole, of a terabyte
    refused_as("HW506", name, folder)


def test_weights_too_large_are_not_read(folder):
    with open(folder / WEIGHTS, "r+b") as file:
        file.truncate(1 << 40)
    refused_as("HW504", WEIGHTS, folder)


# The configuration


def encoder(**settings: Any):
    return lambda c: c["model"]["encoder"].update(settings)


CONFIGS = {
    "no model": lambda c: c.pop("model"),
    "model no table": lambda c: c.update(model=[1]),
    "no weights": lambda c: c.pop("weights"),
    "other weights": lambda c: c.update(weights="float64"),
    "unknown setting": encoder(colour=1),
    "unknown section": lambda c: c["model"].update(other={}),
    "unknown encoder": encoder(name="rnn"),
    "encoder of a list": lambda c: c["model"].update(encoder=[["name"]]),
    "name of a list": encoder(name=["transformer"]),
    "name of a table": encoder(name={}),
    "words of a number": lambda c: c["model"].update(words=3),
    "unknown task": lambda c: c["model"].update(task="paint"),
    "task of a list": lambda c: c["model"].update(task=[]),
    "unknown readout": lambda c: c["model"].update(readout="sum"),
    "readout of a list": lambda c: c["model"].update(readout=["max"]),
    "unknown tokenizer": lambda c: c["model"]["words"].update(tokenizer="os.system"),
    "text for a number": encoder(width="8"),
    "float for a number": encoder(width=8.5),
    "truth for a number": encoder(width=True),
    "dropout of 2": encoder(dropout=2.0),
    "negative width": encoder(width=-8),
    "no width": encoder(width=0),
    "no heads": encoder(heads=0),
    "no layers": encoder(layers=0),
    "huge width": encoder(width=10**9),
    "very huge width": encoder(width=10**4000),
    "large width": encoder(width=1 << 24),
    "huge heads": encoder(heads=10**9),
    "many heads": encoder(heads=4096),
    "huge layers": encoder(layers=10**9),
    "many layers": encoder(layers=4096),
    "huge head": encoder(head_size=10**12),
    "huge positions": encoder(positions="learned", max_positions=10**10),
    "large positions": encoder(positions="learned", max_positions=1 << 24),
    "huge vectors": lambda c: c["model"]["words"].update(vector_size=10**10),
    "large vectors": lambda c: c["model"]["words"].update(vector_size=1 << 24),
    "huge classifier": lambda c: c["model"]["classifier"].update(hidden=10**10),
    "large everything": encoder(width=1 << 24, head_size=1 << 24, heads=4096, layers=9),
    "scale that never ends": encoder(scales=["1e999999999"]),
    "scale that never ends 2": encoder(scales=["1e-999999999"]),
    "scale without sense": encoder(scales=["n/0"]),
    "scales of numbers": encoder(scales=[1, 3]),
    "even scale": encoder(scales=["4"]),
    "many scales": encoder(scales=["1"] * 100_000),
    "no scales": encoder(scales=[]),
    "steep alpha": encoder(alpha=1e308),
}


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
@pytest.mark.parametrize("change", CONFIGS.values(), ids=CONFIGS)
def test_bad_configurations(forge, change):
    def in_place(config):
        change(config)

    error = refused(forge("config.json", in_place))
    assert error.code in ("HW507", "HW509")
    assert len(str(error)) < 1000


def test_a_huge_size_is_named(forge):
    folder = forge("config.json", lambda c: c["model"]["encoder"].update(width=10**9) and None)
    refused_as("HW507", "config.json: model: encoder: width is 1000000000", folder)


@pytest.mark.parametrize("numbers", [(10**9, 4), (1 << 40, 1 << 40)])
def test_building_alone_takes_no_memory(forge, numbers, monkeypatch):
    """Even without the check of the settings, tensors are compared before memory is taken."""
    from headwise.artifacts import folder_config

    monkeypatch.setattr(folder_config, "check_limits", lambda *_: None)
    width, hidden = numbers

    def change(config):
        config["model"]["encoder"]["width"] = width
        config["model"]["classifier"]["hidden"] = hidden

    assert refused(forge("config.json", change)).code in ("HW507", "HW509")


# Vocabulary, labels, calibration


@pytest.mark.parametrize(
    "change",
    [
        lambda v: v.pop("case"),
        lambda v: v.update(case="UPPER"),
        lambda v: v.update(case=["lower"]),
        lambda v: v.update(case={"a": 1}),
        lambda v: v["words"].pop(0),
        lambda v: v["words"].__setitem__(1, v["words"][2]),
        lambda v: v["words"].append(3),
        lambda v: v["words"].append("more"),
        lambda v: v["counts"].append(1),
        lambda v: v["counts"].__setitem__(0, -1),
        lambda v: v["counts"].__setitem__(0, True),
        lambda v: v.update(words={}),
        lambda v: v.update(more=1),
    ],
)
def test_bad_vocabularies(forge, change):
    def in_place(vocabulary):
        change(vocabulary)

    refused_as("HW507", "vocabulary.json", forge("vocabulary.json", in_place))


def test_a_vocabulary_of_another_size(forge):
    def change(vocabulary):
        vocabulary["words"].append("more")
        vocabulary["counts"].append(1)

    refused_as("HW509", VECTORS, forge("vocabulary.json", change))


@pytest.mark.parametrize(
    "labels",
    [None, "xy", {"x": 1}, [], ["x"], ["x", "x"], ["x", 1], [["x"], ["y"]], ["x"] * 100_000],
)
def test_bad_labels(forge, labels):
    folder = forge("labels.json", lambda _: {"labels": labels})
    refused_as("HW507", "labels.json", folder)
    assert len(str(refused(folder))) < 1000


def test_labels_of_another_number(forge):
    folder = forge("labels.json", lambda _: {"labels": ["x", "y", "z"]})
    refused_as("HW509", "head.layers.4", folder)


@pytest.mark.parametrize("value", [None, "1", True, [1.0], 0, -1.0, 1e-300, 1e300, 10**400])
def test_bad_temperatures(forge, value):
    folder = forge("calibration.json", lambda _: {"temperature": value})
    refused_as("HW510", "calibration.json", folder)


@pytest.mark.parametrize(
    "value", [None, 1.0, "1", [], [1.0], [1.0] * 3, [1.0, "1"], [1.0, None], [1.0, 1e300]]
)
@pytest.mark.parametrize("name", ["biases", "thresholds"])
def test_bad_numbers_of_labels(forge, name, value):
    folder = forge("calibration.json", lambda content: {**content, name: value})
    refused_as("HW510", f"calibration.json: {name} must be", folder)


# The weights


def entry(name: str, **changes: Any):
    return lambda header, data: header[name].update(changes)


def reorder(header: dict[str, Any], data: bytes) -> None:
    """Two tensors on one place."""
    first, second = sorted(set(header) - {"__metadata__"}, key=lambda n: header[n]["data_offsets"])[:2]
    header[second]["data_offsets"] = list(header[first]["data_offsets"])


def moved(header: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """All tensors 4 bytes later, after a gap."""
    for name in set(header) - {"__metadata__"}:
        header[name]["data_offsets"] = [place + 4 for place in header[name]["data_offsets"]]
    return header, bytes(4) + data


def transposed(header: dict[str, Any], data: bytes) -> None:
    header[VECTORS]["shape"].reverse()


HEADERS = {
    "missing tensor": lambda h, d: h.pop(VECTORS) and None,
    "more tensors": lambda h, d: h.update(more={"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}),
    "other type": entry(VECTORS, dtype="I32"),
    "unknown type": entry(VECTORS, dtype="F31"),
    "type of a list": entry(VECTORS, dtype=["F32"]),
    "half as whole": entry(VECTORS, dtype="F16"),
    "other shape": entry(VECTORS, shape=[1, 1]),
    "huge shape": entry(VECTORS, shape=[1 << 62, 1 << 62]),
    "negative shape": entry(VECTORS, shape=[-7, -6]),
    "shape of text": entry(VECTORS, shape="7x6"),
    "transposed": transposed,
    "no places": lambda h, d: h[VECTORS].pop("data_offsets") and None,
    "three places": entry(VECTORS, data_offsets=[0, 1, 2]),
    "places of text": entry(VECTORS, data_offsets=["0", "168"]),
    "outside": entry(VECTORS, data_offsets=[10**6, 10**6 + 168]),
    "negative": entry(VECTORS, data_offsets=[-168, 0]),
    "backwards": entry(VECTORS, data_offsets=[168, 0]),
    "more keys": entry(VECTORS, more=1),
    "entry of a list": lambda h, d: h.update({VECTORS: [1]}),
    "overlapping": reorder,
    "gap": moved,
    "data after the end": lambda h, d: (h, d + bytes(4)),
    "data too short": lambda h, d: (h, d[:-4]),
    "no data": lambda h, d: (h, b""),
    "header of a list": lambda h, d: (b"[]", d),
    "header no JSON": lambda h, d: (b"{" * 50, d),
    "header nested": lambda h, d: (b'{"a":' * 100_000, d),
    "header twice": lambda h, d: (json.dumps(h)[:-1].encode() + b', "x": 1, "x": 1}', d),
    "header of nothing": lambda h, d: (b"", d),
}


@pytest.mark.parametrize("change", HEADERS.values(), ids=HEADERS)
def test_bad_headers(forge_weights, change):
    error = refused(forge_weights(change))
    assert error.code in ("HW507", "HW509")
    assert WEIGHTS in str(error)


@pytest.mark.parametrize("start", [b"", b"\x01", b"\xff" * 8, (1 << 62).to_bytes(8, "little"), bytes(8)])
def test_bad_beginnings(folder, sign, start):
    (folder / WEIGHTS).write_bytes(start)
    sign(folder)
    refused_as("HW507" if start == bytes(8) else "HW509", WEIGHTS, folder)


def test_a_long_header_is_not_read(folder, sign):
    (folder / WEIGHTS).write_bytes(join(b" " * (5 << 20) + b"{}", b""))
    sign(folder)
    refused_as("HW509", "header", folder)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite(forge_weights, value):
    def change(header, data):
        place = header["encoder.node.state"]["data_offsets"][0]
        return header, data[:place] + np.float32(value).tobytes() + data[place + 4 :]

    folder = forge_weights(change)
    refused_as("HW510", "encoder.node.state", folder)


def test_a_pickle_in_place_of_the_weights(folder, sign, tmp_path):
    class Attack:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path}/owned",)

    torch.save(Attack(), folder / WEIGHTS)
    sign(folder)
    assert refused(folder).code == "HW509"
    (folder / "config.json").write_bytes(pickle.dumps(Attack()))
    sign(folder)
    assert refused(folder).code == "HW507"
    assert not (tmp_path / "owned").exists()


def test_nothing_else_in_the_folder_is_looked_at(folder, tmp_path):
    for name in ("modeling.py", "__init__.py", "setup.py", "conftest.py", "sitecustomize.py"):
        (folder / name).write_text(f"open({str(tmp_path / 'owned')!r}, 'w')")
    (folder / "pytorch_model.bin").write_bytes(b"x")
    assert load_model(folder)
    assert not (tmp_path / "owned").exists()


def test_tensors_have_memory_of_their_own(folder):
    first, second = load_model(folder), load_model(folder)
    pointers = {p.untyped_storage().data_ptr() for m in (first, second) for p in m.parameters()}
    assert len(pointers) == 2 * len(list(first.parameters()))
    before = (folder / WEIGHTS).read_bytes()
    with torch.no_grad():
        first.embedding.vectors.weight.zero_()
    assert (folder / WEIGHTS).read_bytes() == before
    (folder / WEIGHTS).write_bytes(bytes(len(before)))  # no map of the file is left
    assert second.embedding.vectors.weight.abs().sum() > 0


def test_errors_are_headwise_errors(tmp_path):
    with pytest.raises(HeadwiseError, match=r"\[HW501\]"):
        load_model(str(tmp_path / "x"))


def with_linear_model(folder: Path, classes: int = 2) -> Path:
    """The model of a folder, with a linear model on texts beside its encoder."""
    texts = ["red apples", "green pears", "red cherries", "green plums"] * 3
    model = load_model(folder)
    model.add_linear_model(
        TextLinearBuffers.of(fit_linear(LinearExamples(texts, np.arange(12) % 2, 2)).model), 1.0, share=0.5
    )
    save_model(model, folder.parent / "linear_model", data={}, training={}, metrics={})
    return folder.parent / "linear_model"


def test_a_linear_member_on_texts_is_saved(folder):
    saved = with_linear_model(folder)
    one, second = load_model(saved), load_model(saved)
    texts = ["a green apple", "", "red plums"]
    np.testing.assert_array_equal(one.predict_proba(texts), second.predict_proba(texts))
    assert (
        one.linear_share,
        one.config.linear_model.words > 0,
        one.config.linear_model.characters > 0,
    ) == (0.5, 1, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"words": 1 << 25},
        {"characters": -1},
        {"vectors": 7},
        {"words": 0},
        {"words": 3, "characters": 4},
        {"words": "many"},
    ],
)
def test_bad_sizes_of_an_linear_model(folder, sign, change):
    saved = with_linear_model(folder)
    path = saved / "config.json"
    config = json.loads(path.read_text())
    config["model"]["linear_model"] |= change
    path.write_text(json.dumps(config))
    sign(saved)
    assert refused(saved).code in ("HW507", "HW509")


@pytest.fixture
def many_labels(make_model, save) -> Path:
    """A saved model of 40 labels, whose linear model keeps some of its weights."""
    model = make_model(labels=tuple(f"l{n}" for n in range(40)))
    texts = [f"red apples{n} green pears" for n in range(80)]
    model.add_linear_model(
        TextLinearBuffers.of(fit_linear(LinearExamples(texts, np.arange(80) % 40, 40)).model),
        1.0,
        share=0.5,
    )
    return save(model)


def test_a_linear_member_of_many_labels_is_saved(many_labels):
    model = load_model(many_labels)
    retained = model.config.linear_model.kept
    assert 0 < retained == len(model.linear_model.weights) < model.linear_model.tables.features * 40 / 2
    assert model.linear_model(["apples7"]).argmax() == 7


@pytest.mark.parametrize(
    ("name", "fill"), [("columns", 0x7F), ("columns", 0xFF), ("ends", 0x7F), ("ends", 0)]
)
def test_weights_of_labels_or_features_that_are_not_there(many_labels, sign, name, fill):
    header, data = split((many_labels / WEIGHTS).read_bytes())
    start, end = header[f"linear_model.{name}"]["data_offsets"]
    forged = data[:start] + bytes([fill]) * (end - start) + data[end:]
    (many_labels / WEIGHTS).write_bytes(join(header, forged))
    sign(many_labels)
    refused_as("HW509", name, many_labels)


@pytest.mark.parametrize("count", [0, 1, 10**7, 1 << 25, -1])
def test_another_number_of_kept_weights(many_labels, sign, count):
    path = many_labels / "config.json"
    config = json.loads(path.read_text())
    config["model"]["linear_model"]["kept"] = count
    path.write_text(json.dumps(config))
    sign(many_labels)
    assert refused(many_labels).code in ("HW507", "HW509")


def test_a_model_is_no_folder():
    for value in (torch.nn.Linear(1, 1), None):
        for read in (load_model, read_info):
            with pytest.raises(StoreError, match=r"is not a folder.*save_model") as caught:
                read(value)
            assert caught.value.code == "HW501"
