import json
import shutil

import numpy as np
import pytest
import torch

from headwise.training.pretraining.base_config import TeacherConfig
from headwise.training.pretraining.sentence_encoder import (
    SHARD,
    SentenceEncoder,
    embed_with_teacher,
    missing_shards,
)

TEXTS = ["the cat is near", "", "a star and one more star . " * 10, "moon"]


def expected(folder, texts, first=False):
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    actual = []
    with torch.inference_mode():
        for text in texts:
            ids = tokenizer(text, truncation=True, max_length=40, return_tensors="pt")
            states = model(ids["input_ids"]).last_hidden_state[0]
            vector = states[0] if first else states.mean(0)
            actual.append((vector / vector.norm()).numpy())
    return np.array(actual)


def test_its_vectors_are_the_means_of_its_states(encoder):
    teacher = SentenceEncoder(TeacherConfig(str(encoder)))
    assert np.allclose(teacher.read(TEXTS), expected(encoder, TEXTS), atol=2e-3)
    assert teacher.size == 24


def test_or_the_first_state_where_its_folder_says_so(encoder, tmp_path):
    folder = tmp_path / "first"
    shutil.copytree(encoder, folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    sentence_encoder = SentenceEncoder(TeacherConfig(str(folder)))
    assert np.allclose(sentence_encoder.read(TEXTS), expected(encoder, TEXTS, first=True), atol=2e-3)
    assert sentence_encoder.fingerprint != SentenceEncoder(TeacherConfig(str(encoder))).fingerprint
    assert (
        sentence_encoder.fingerprint
        == SentenceEncoder(TeacherConfig(str(encoder), pooling="first")).fingerprint
    )


def test_half_precision_says_nearly_the_same(encoder):
    teacher = SentenceEncoder(TeacherConfig(str(encoder)))
    before = teacher.read(TEXTS).astype(np.float32)
    teacher.try_bfloat16(TEXTS)
    assert ((before * teacher.read(TEXTS)).sum(1) > 0.98).all()


def test_what_it_said_is_not_asked_again(encoder, tmp_path, monkeypatch):
    texts = [f"the cat {number}" for number in range(SHARD + 10)]
    teacher = SentenceEncoder(TeacherConfig(str(encoder)))
    monkeypatch.setattr(
        teacher, "read", lambda texts: np.tile(np.array([[len(texts)]], np.float16), (len(texts), 24))
    )
    messages = []
    first = embed_with_teacher(teacher, texts, tmp_path, lambda done, total: messages.append(done))
    assert first.shape == (SHARD + 10, 24)
    assert messages[-1] == SHARD + 10
    assert not missing_shards(len(texts), tmp_path)
    monkeypatch.setattr(teacher, "read", None)
    assert (embed_with_teacher(teacher, texts, tmp_path, lambda done, total: None) == first).all()
    (tmp_path / "000001.npy").unlink()
    assert missing_shards(len(texts), tmp_path) == [SHARD]


@pytest.mark.parametrize("settings", [{"pooling": "max"}, {"max_pieces": 1}, {"share": 2}])
def test_settings_are_checked(settings):
    from headwise.core.errors import ConfigError

    with pytest.raises(ConfigError, match=next(iter(settings))):
        TeacherConfig("x", **settings)
