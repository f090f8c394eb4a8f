import json
import os
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers

from headwise.core.errors import ConfigError, HeadwiseError
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.errors import DataError
from headwise.text.static_embeddings.base_folder import load_base
from headwise.training.pretraining import (
    CardNotes,
    ContextConfig,
    PretrainConfig,
    PretrainError,
    StudentConfig,
    TeacherConfig,
    pretrain_files,
    sentence_encoder,
)

SMALL = {"words": 40, "size": 8, "subwords": 64}


def alone(**settings) -> PretrainConfig:
    return PretrainConfig(**SMALL, context=ContextConfig(epochs=3, learning_rate=0.3), **settings)


def taught(encoder, **settings) -> PretrainConfig:
    return PretrainConfig(
        **SMALL,
        teacher=TeacherConfig(str(encoder)),
        student=StudentConfig(epochs=8, batch=64, learning_rate=0.02),
        **settings,
    )


def topics_apart(base) -> float:
    one = base.texts([["cat", "barn", "horse"], ["dog", "meadow", "cow"]])
    second = base.texts([["star", "orbit", "moon"], ["comet", "sky", "galaxy"]])
    return float((one @ one.T).min() - (one @ second.T).max())


def test_the_text_is_its_own_teacher(text, tmp_path):
    made = pretrain_files([text], tmp_path / "base", alone(), notes=CardNotes("ours", "from our text"))
    base = load_base(tmp_path / "base")
    assert made.folder == tmp_path / "base"
    assert topics_apart(base) > 0.5
    assert base.name == "base"
    assert base.size == 8
    assert base.about["licence"] == "ours"
    assert base.about["teacher"] == ""
    card = (tmp_path / "base" / "README.md").read_text()
    assert "from our text" in card
    assert "the text itself" in card
    assert str(tmp_path) not in card + (tmp_path / "base" / "base.json").read_text()
    assert not (tmp_path / "base.work").exists()


def test_words_are_grouped_by_what_stands_beside_them(text, encoder, tmp_path):
    for name, config in (("alone", alone()), ("taught", taught(encoder))):
        base = pretrain_files([text], tmp_path / name, config).base
        assert base.groups is not None
        assert len(base.groups) == 33  # all words of the text
        assert (base.groups.of(["cat", "galaxy", "the"]) >= 0).all()
        again = load_base(tmp_path / name).groups
        assert again is not None
        assert (again.numbers == base.groups.numbers).all()
        assert "33 words are in groups" in (tmp_path / name / "README.md").read_text()
    assert pretrain_files([text], tmp_path / "without", alone(groups=0)).base.groups is None
    assert "in groups" not in (tmp_path / "without" / "README.md").read_text()


def test_little_text_is_told_where_there_is_no_teacher(text, encoder, tmp_path, monkeypatch):
    messages: list[str] = []
    pretrain_files([text], tmp_path / "taught", taught(encoder), note=messages.append)
    assert not messages
    made = pretrain_files([text], tmp_path / "alone", alone(), note=messages.append)
    words = made.base.about["words_read"]
    assert messages == [
        f"{words:,} words of text; a base of less than 1,000,000 is seldom better than none"
    ]
    monkeypatch.setattr("headwise.training.pretraining.pretrain.LEAST_WORDS", words)
    pretrain_files([text], tmp_path / "more", alone(), note=messages.append)
    assert len(messages) == 1


def test_a_sentence_encoder_is_the_teacher(text, encoder, tmp_path):
    made = pretrain_files([text], tmp_path / "base", taught(encoder))
    cosine = made.scores["mean cosine to the teacher, held-out passages"]
    assert cosine > 0.7
    base = load_base(tmp_path / "base")
    # The base's cosines go with those of the teacher (which has random weights, and goes by order as well).
    texts = text.read_text().splitlines()[:60]
    theirs = sentence_encoder.SentenceEncoder(TeacherConfig(str(encoder))).read(texts).astype(np.float32)
    is_temporary = base.texts([text.split() for text in texts])
    off = ~np.eye(60, dtype=bool)
    assert np.corrcoef((is_temporary @ is_temporary.T)[off], (theirs @ theirs.T)[off])[0, 1] > 0.25


def test_two_sentence_encoders_are_the_teachers(text, encoder, tmp_path):
    second = tmp_path / "other"
    shutil.copytree(encoder, second)
    config = transformers.BertConfig.from_pretrained(encoder, hidden_size=16)
    torch.manual_seed(1)
    transformers.BertModel(config).save_pretrained(second)
    made = pretrain_files([text], tmp_path / "base", taught(f"{encoder}, {second}"))
    assert made.scores["mean cosine to the teacher, held-out passages"] > 0.7
    assert {"other reads words", f"{encoder.name} reads passages"} <= set(made.seconds)
    assert load_base(tmp_path / "base").about["teacher"] == f"{encoder.name}, other"
    with pytest.raises(ConfigError, match="empty name"):
        TeacherConfig(f"{encoder},")


def test_a_folder_with_a_comma_in_its_path_is_one_teacher(encoder, tmp_path):
    folder = tmp_path / "ours, the first" / "encoder"
    assert len(TeacherConfig(f"{folder}").names) == 2  # there is no such folder
    shutil.copytree(encoder, folder)
    assert TeacherConfig(f"{folder}").names == (str(folder),)
    assert TeacherConfig(f"{encoder}, {tmp_path}").names == (str(encoder), str(tmp_path))


def test_a_few_passages_are_enough_to_go_through(encoder, tmp_path):
    (tmp_path / "few.txt").write_text("the cat and the dog\n\nthe moon and the cat\nthe dog\n")
    made = pretrain_files([tmp_path / "few.txt"], tmp_path / "base", taught(encoder, rarest=1))
    assert "mean cosine to the teacher, held-out passages" not in made.scores  # there are none
    assert np.isfinite(load_base(tmp_path / "base").texts([["cat", "gnu"]])).all()


def test_both_teach(text, encoder, tmp_path):
    config = taught(encoder, context=ContextConfig(epochs=1))
    made = pretrain_files([text], tmp_path / "base", config)
    assert {"learning from the text", "learning from the teacher"} <= set(made.seconds)


def test_words_of_a_list_come_in(text, encoder, tmp_path):
    made = pretrain_files([text], tmp_path / "base", taught(encoder), word_list=["Stupendous", "cat"])
    assert "stupendous" in made.base.words


@pytest.mark.parametrize("stage", ["numbering", "learning from the text"])
def test_an_interrupted_run_goes_on_to_the_same_base(stage, text, tmp_path):
    full = pretrain_files([text], tmp_path / "whole", alone()).base

    def stop(at, done, total, tell):
        if at == stage and done >= 1500:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pretrain_files([text], tmp_path / "base", alone(), report=stop)
    assert not (tmp_path / "base").exists()
    assert (tmp_path / "base.work").is_dir()
    again = pretrain_files([text], tmp_path / "base", alone(), resume=True).base
    assert again.words == full.words
    assert (again.table.values == full.table.values).all()
    assert (again.subwords.values == full.subwords.values).all()
    assert not (tmp_path / "base.work").exists()


@pytest.mark.skipif(os.name != "posix", reason="no locks of files there")
@pytest.mark.parametrize("how", [{}, {"resume": True}, {"overwrite": True}])
def test_two_runs_do_not_work_in_one_folder(how, text, tmp_path):
    outputs = []

    def meanwhile(at, done, total, tell):
        if at == "learning from the text" and done and not outputs:
            with pytest.raises(HeadwiseError, match=r"HW606.*base\.work.*another --output") as second:
                pretrain_files([text], tmp_path / "base", alone(), **how)
            outputs.append(second)

    pretrain_files([text], tmp_path / "base", alone(), report=meanwhile)
    assert outputs
    assert not (tmp_path / "base.work").exists()


def test_the_learning_of_an_interrupted_run_is_not_thrown_away_by_mistake(text, tmp_path):
    def stop(at, done, total, tell):
        if at == "learning from the text" and done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pretrain_files([text], tmp_path / "base", alone(), report=stop)
    with pytest.raises(PretrainError, match="--resume"):
        pretrain_files([text], tmp_path / "base", alone())
    pretrain_files([text], tmp_path / "base", alone(), overwrite=True)


def test_a_work_folder_keeps_what_the_teacher_said(text, encoder, tmp_path, monkeypatch):
    pretrain_files([text], tmp_path / "one", taught(encoder), work=tmp_path / "work")
    assert len(list((tmp_path / "work").glob("answers-*"))) == 2
    monkeypatch.setattr(sentence_encoder.SentenceEncoder, "read", None)
    second = PretrainConfig(
        words=40, size=6, subwords=32, teacher=TeacherConfig(str(encoder)), student=StudentConfig(epochs=1)
    )
    assert pretrain_files([text], tmp_path / "two", second, work=tmp_path / "work").base.size == 6


def test_a_work_folder_is_not_taken_for_that_of_another_encoding(tmp_path):
    (tmp_path / "text.txt").write_text("caf\u00e9 and th\u00e9\n" * 20, encoding="utf-8")
    made = [
        pretrain_files(
            [tmp_path / "text.txt"],
            tmp_path / name,
            alone(),
            options=ReadOptions(encoding=name),
            work=tmp_path / "work",
        )
        for name in ("utf-8", "latin-1")
    ]
    assert "caf\u00e9" in made[0].base.words
    assert "caf\u00e9" not in made[1].base.words


def test_bytes_that_cannot_be_decoded_are_replaced_where_that_is_asked_for(tmp_path):
    (tmp_path / "text.txt").write_bytes("caf\u00e9 and th\u00e9\n".encode("latin-1") * 20)
    with pytest.raises(DataError, match="HW105"):
        pretrain_files([tmp_path / "text.txt"], tmp_path / "one", alone())
    made = pretrain_files(
        [tmp_path / "text.txt"], tmp_path / "two", alone(), options=ReadOptions(encoding_errors="replace")
    )
    assert "and" in made.base.words


def test_a_run_with_other_settings_does_not_go_on_from_an_interrupted_one(text, encoder, tmp_path):
    def config(width):
        student = StudentConfig(epochs=2, batch=64)
        context = ContextConfig(epochs=1, width=width)
        return replace(taught(encoder, context=context), student=student)

    def stop(at, done, total, tell):
        if at == "learning from the teacher" and "held out" in tell:
            raise KeyboardInterrupt

    work = tmp_path / "work"
    with pytest.raises(KeyboardInterrupt):
        pretrain_files([text], tmp_path / "one", config(12), work=work, report=stop)
    again = pretrain_files([text], tmp_path / "two", config(3), work=work, resume=True).base
    fresh = pretrain_files([text], tmp_path / "three", config(3), work=work).base
    assert (again.table.values == fresh.table.values).all()


def test_a_line_with_a_carriage_return_in_it_is_one_passage(encoder, tmp_path):
    (tmp_path / "text.txt").write_bytes(b"the cat\rand the dog\n" + b"the moon\n")
    config = taught(encoder, rarest=1, cut=False)
    made = pretrain_files([tmp_path / "text.txt"], tmp_path / "base", config)
    assert made.scores["passages that the teacher read"] == 2


def test_what_is_there_is_not_lost(text, tmp_path):
    pretrain_files([text], tmp_path / "base", alone())
    with pytest.raises(PretrainError, match="holds a base"):
        pretrain_files([text], tmp_path / "base", alone())
    pretrain_files([text], tmp_path / "base", alone(), overwrite=True)
    shutil.rmtree(tmp_path / "base")
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "letter.txt").write_text("dear")
    with pytest.raises(PretrainError, match=r"holds letter\.txt, which is not a file of a base"):
        pretrain_files([text], tmp_path / "base", alone(), overwrite=True)
    with pytest.raises(PretrainError, match="something else"):
        pretrain_files([text], tmp_path / "other", alone(), work=tmp_path / "base")
    assert (tmp_path / "base" / "letter.txt").read_text() == "dear"


def test_a_finished_base_of_something_else_is_not_taken_for_the_one_asked_for(text, tmp_path):
    text_file, listed = tmp_path / "text.txt", ["cat"]
    shutil.copy(text, text_file)
    options = ReadOptions(encoding="latin-1")

    def again(**second):
        how = {"config": alone(), "word_list": listed, "options": options, **second}
        return pretrain_files([text_file], tmp_path / "base", **how, resume=True)

    def made():
        return {path.name: path.read_bytes() for path in (tmp_path / "base").iterdir()}

    assert again().seconds  # there was none, so it was made
    before = made()
    text_file.touch()
    again(word_list=("cat",))
    for second, outputs in (
        ({"word_list": []}, "read.word_list was"),
        ({"options": ReadOptions()}, "read.encoding was 'latin-1' and is now 'utf-8'"),
        ({"config": alone(seed=9)}, "settings.seed was 0 and is now 9"),
    ):
        with pytest.raises(PretrainError, match=outputs) as caught:
            again(**second)
        assert caught.value.code == "HW811"
    text_file.write_text(text_file.read_text()[::-1])  # as long as it was
    with pytest.raises(PretrainError, match=r"read\.contents was"):
        again()
    assert made() == before
    again(overwrite=True)
    assert made() != before
    assert str(tmp_path) not in (tmp_path / "base" / "base.json").read_text()


def test_of_an_earlier_base_files_and_settings_are_compared(text, tmp_path):
    pretrain_files([text], tmp_path / "base", alone())
    path = tmp_path / "base" / "base.json"
    saved = json.loads(path.read_text())
    del saved["about"]["read"]
    path.write_text(json.dumps(saved))
    messages: list[str] = []
    pretrain_files([text], tmp_path / "base", alone(), word_list=["cat"], resume=True, note=messages.append)
    assert messages == [f"{tmp_path / 'base'}: the base is finished, so there is nothing to resume"]
    with pytest.raises(PretrainError, match=r"settings\.seed"):
        pretrain_files([text], tmp_path / "base", alone(seed=9), resume=True)
    del saved["about"]["files"]
    path.write_text(json.dumps(saved))
    with pytest.raises(PretrainError, match="files was None"):
        pretrain_files([text], tmp_path / "base", alone(), resume=True)


def test_too_little_text_is_told(tmp_path):
    (tmp_path / "short.txt").write_text("One word is not enough.\n")
    with pytest.raises(PretrainError, match=r"short.txt: 0 words occur 3 times"):
        pretrain_files([tmp_path / "short.txt"], tmp_path / "base", alone())


def test_what_cannot_be_read_twice_is_refused(tmp_path):
    for files in ([], ["-"]):
        with pytest.raises(ConfigError, match="more than once"):
            pretrain_files(files, tmp_path / "base")


@pytest.mark.parametrize("teachers", ["{other}", "{encoder},{other}"])
def test_a_teacher_that_cannot_be_asked_is_told_before_the_text_is_read(text, encoder, tmp_path, teachers):
    """Which may take hours."""
    (tmp_path / "other").mkdir()
    names = teachers.format(encoder=encoder, other=tmp_path / "other")
    config = PretrainConfig(**SMALL, teacher=TeacherConfig(names))
    steps = []
    with pytest.raises(HeadwiseError, match="other"):
        pretrain_files([text], tmp_path / "base", config, report=lambda step, *_: steps.append(step))
    assert steps == []


def test_no_teacher_at_all_is_refused(text, tmp_path):
    with pytest.raises(ConfigError, match=r"--context.epochs 0"):
        pretrain_files([text], tmp_path / "base", PretrainConfig(context=ContextConfig(epochs=0)))


def test_a_seed_that_is_too_large_is_told():
    with pytest.raises(ConfigError, match="seed must be"):
        PretrainConfig(seed=10**12)
