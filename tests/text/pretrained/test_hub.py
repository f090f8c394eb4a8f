"""Loading: what is taken, and what is refused."""

import json
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file, save_file

from headwise.core.errors import ConfigError
from headwise.nn.embeddings.pretrained.hub import load_pretrained
from headwise.nn.embeddings.pretrained.word_pieces import PretrainedError

transformers = pytest.importorskip("transformers", reason="needs pip install '.[pretrained]'")


def change(path, **settings):
    data = {**json.loads(path.read_text()), **settings}
    path.write_text(json.dumps({name: value for name, value in data.items() if value is not None}))


def test_what_is_loaded(bert):
    source = load_pretrained(str(bert))
    assert source.encoder.pooler is None
    assert source.begins_with_summary
    assert source.window == 40
    stored = load_file(bert / "model.safetensors")
    for name, tensor in source.encoder.state_dict().items():
        assert torch.equal(tensor, stored[name])


def test_nothing_is_printed(bert, capfd):
    load_pretrained(str(bert), layers=2)  # of weights that are left out, transformers would say so
    assert capfd.readouterr() == ("", "")


def test_half_precision_becomes_single(encoder):
    folder = encoder()
    halves = {n: t.half() for n, t in load_file(folder / "model.safetensors").items()}
    save_file(halves, folder / "model.safetensors", {"format": "pt"})
    change(folder / "config.json", dtype="float16", torch_dtype="float16")
    assert {p.dtype for p in load_pretrained(str(folder)).encoder.parameters()} == {torch.float32}


def test_the_tokenizer_may_set_a_smaller_window(encoder):
    folder = encoder()
    change(folder / "tokenizer_config.json", model_max_length=16)
    assert load_pretrained(str(folder)).window == 16


@pytest.mark.parametrize(
    ("kind", "window"), [("bert", 40), ("roberta", 38), ("mpnet", 38), ("modernbert", 40)]
)
def test_the_window_is_what_the_table_of_positions_has_room_for(encoder, kind, window):
    assert load_pretrained(str(encoder(kind, pad_token_id=1))).window == window


def test_a_tokenizer_without_special_tokens_gives_no_summary(encoder):
    source = load_pretrained(str(encoder(special=False)))
    assert not source.begins_with_summary


@pytest.mark.parametrize("name", ["", "./nothing-here", "~/nothing-here-at-all", "/nothing/here"])
def test_no_such_folder(name):
    with pytest.raises(PretrainedError, match=r"HW702.*no such folder"):
        load_pretrained(name)


@pytest.mark.parametrize("name", ["nobody/nothing-at-all", "not a name", "a/b/c"])
def test_no_such_name_offline(name, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(PretrainedError, match=r"HW702.*no such model.*cannot be reached"):
        load_pretrained(name)


def test_offline_asks_for_local_files_only(monkeypatch):
    loaded_with = {}

    def from_pretrained(name, **options):
        loaded_with.update(options)
        raise OSError

    monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", from_pretrained)
    for value, local in (("1", True), ("0", False)):
        monkeypatch.setenv("HF_HUB_OFFLINE", value)
        with pytest.raises(PretrainedError):
            load_pretrained("owner/name", revision="v1")
        assert loaded_with == {"local_files_only": local, "revision": "v1", "trust_remote_code": False}


def test_the_folder_of_the_model_is_named_where_the_one_above_is_given(encoder):
    folder = encoder()
    with pytest.raises(PretrainedError, match=rf"HW702.*did you mean '{re.escape(str(folder))}'"):
        load_pretrained(str(folder.parent))


def test_a_folder_without_a_model(tmp_path):
    with pytest.raises(PretrainedError, match=r"HW702.*no config\.json"):
        load_pretrained(str(tmp_path))


@pytest.mark.parametrize(
    ("file", "form", "what"),
    [
        ("config.json", "headwise-model-3", "a model"),
        ("config.json", "headwise-exported-1", "a model"),
        ("base.json", "headwise-base-1", "a base"),
    ],
)
def test_a_folder_of_ours_is_no_encoder(tmp_path, file, form, what):
    (tmp_path / file).write_text(json.dumps({"format": form}))
    with pytest.raises(PretrainedError, match=f"HW705.*this is {what} of headwise.* --base .* distill"):
        load_pretrained(str(tmp_path))


def test_pickled_weights_are_not_read(encoder):
    folder = encoder()
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(PretrainedError, match=r"HW703.*pickles, which can run any code\) are not read"):
        load_pretrained(str(folder))


def test_incomplete_weights(encoder):
    folder = encoder()
    tensors = load_file(folder / "model.safetensors")
    del tensors["encoder.layer.1.output.dense.weight"]
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(PretrainedError, match=r"HW703.*lack encoder\.layer\.1\.output\.dense\.weight"):
        load_pretrained(str(folder))


def test_weights_of_another_size(encoder):
    folder = encoder()
    change(folder / "config.json", intermediate_size=16)
    with pytest.raises(PretrainedError, match=r"HW703.*cannot be loaded"):
        load_pretrained(str(folder))


def test_damaged_weights(encoder):
    folder = encoder()
    (folder / "model.safetensors").write_bytes(b"\x08" + bytes(7) + b"no JSON!")
    with pytest.raises(PretrainedError, match="HW703"):
        load_pretrained(str(folder))


def test_no_fast_tokenizer(bert, monkeypatch):
    slow = SimpleNamespace(is_fast=False)
    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda *_, **__: slow)
    with pytest.raises(PretrainedError, match=r"HW704.*no fast tokenizer"):
        load_pretrained(str(bert))


def test_no_tokenizer(encoder):
    folder = encoder()
    (folder / "tokenizer.json").unlink()
    with pytest.raises(PretrainedError, match="HW704"):
        load_pretrained(str(folder))


def test_a_tokenizer_of_another_encoder(encoder):
    folder = encoder(vocab_size=50)
    with pytest.raises(
        PretrainedError, match=r"HW704.*pieces up to number 59, but the encoder knows only 50"
    ):
        load_pretrained(str(folder))


@pytest.mark.parametrize("kind", ["gpt2", "t5", "bart", "xlm", "vit"])
def test_no_encoder_of_text(tmp_path, kind):
    transformers.AutoConfig.for_model(kind).save_pretrained(tmp_path)
    with pytest.raises(PretrainedError, match=f"HW705.*a {kind} model cannot be used"):
        load_pretrained(str(tmp_path))


def test_a_type_that_is_not_known(encoder):
    folder = encoder()
    change(folder / "config.json", model_type="never-heard-of")
    with pytest.raises(PretrainedError, match=r"HW705.*cannot read its configuration"):
        load_pretrained(str(folder))


@pytest.mark.parametrize("model_type_exists", [True, False])
def test_a_models_own_code_is_never_run(encoder, tmp_path, model_type_exists):
    folder = encoder()
    trace = tmp_path / "was-run"
    (folder / "own.py").write_text(f"open({str(trace)!r}, 'w')\nclass Own: pass\n")
    custom_code = {"auto_map": {"AutoConfig": "own.Own", "AutoModel": "own.Own"}}
    if model_type_exists:
        change(folder / "config.json", **custom_code)
        load_pretrained(str(folder))  # with the code of transformers
    else:
        change(folder / "config.json", model_type="of-its-own", **custom_code)
        with pytest.raises(PretrainedError, match=r"HW706.*code of its own, which headwise does not run"):
            load_pretrained(str(folder))
    assert not trace.exists()


def test_more_layers_than_there_are(bert):
    with pytest.raises(ConfigError, match=r"layers: .* has 3 layers, not 4"):
        load_pretrained(str(bert), layers=4)


def test_transformers_is_imported_only_when_it_is_used():
    code = "import sys, headwise.nn.embeddings.pretrained; print('transformers' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"


def test_without_transformers(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(PretrainedError, match=r"HW701.*: pip install 'transformers<6'"):
        load_pretrained("owner/name")
