"""Training runs with a teacher: an encoder, a model, a file of soft labels."""

import json
import shlex

import numpy as np
import pytest

from headwise.app import teachers as encoder_room
from headwise.app import training_checks as output_folder
from headwise.app.cli import main
from headwise.app.distillation import DistillationSet, DistillationSettings, sample_texts, sharpened
from headwise.app.reporter import Reporter
from headwise.app.training_checks import LEAST_UNLABELLED, TEACHER_CACHE, TrainingFinished
from headwise.app.workflows.train import train_files
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.data.errors import DataError
from headwise.models.tasks import task_settings as defaults
from headwise.text.static_embeddings.installed_bases import open_base
from headwise.training import fit as training_fit
from headwise.training.pretraining.base_config import TeacherConfig
from headwise.training.settings import DistillationConfig

SMALL = {
    "model": {"task": "classify"},
    "base": {"name": "none"},
    "words": {"vector_size": 8},
    "encoder": {"width": 8, "heads": 2, "head-size": 4, "layers": 1},
    "classifier": {"hidden": 8},
    "train": {"epochs": 1, "batch-texts": 8, "refit": True},
}
GOOD, BAD = ("fine", "great", "lovely", "superb"), ("poor", "awful", "dull", "dire")


def text(number: int) -> str:
    return f"this film {number} is {(GOOD if number % 2 else BAD)[number // 2 % 4]}"


def write(path, numbers, answers=False) -> str:
    rows = [f"{text(n)},{'good' if n % 2 else 'bad'}" if answers else text(n) for n in numbers]
    path.write_text("\n".join([*(["text,label"] if answers else []), *rows, ""]))
    return str(path)


class Encoder:
    """Stands for a sentence encoder: it knows all opinions."""

    size, fingerprint, asked = 2, "1", 0

    def __init__(self, config):
        pass

    def try_bfloat16(self, texts):
        pass

    def read(self, texts):
        type(self).asked += len(texts)
        return np.array([[1, 0] if set(GOOD) & set(t.split()) else [0, 1] for t in texts], np.float16)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Labels of 24 texts, which have half of the words; 30 texts without, two of which are labelled too."""
    monkeypatch.setattr(encoder_room, "SentenceEncoder", Encoder)
    monkeypatch.setattr(Encoder, "asked", 0)
    labelled = [n for n in range(48) if n // 2 % 4 < 2]
    return {
        "file": write(tmp_path / "labelled.csv", labelled, answers=True),
        "unlabelled": write(tmp_path / "texts.txt", [0, 1, 60, *range(60, 88)]),
        "test": write(tmp_path / "test.csv", range(100, 132), answers=True),
    }


def run(tmp_path, files, teacher, output="model", *, unlabelled=True, settings=(), listener=None, **config):
    teaching = DistillationSettings(
        teacher, files["unlabelled"] if unlabelled else None, DistillationConfig(**config)
    )
    return train_files(
        files["file"], tmp_path / output, test=files["test"], settings=[SMALL, *settings],
        distillation=teaching, baseline=False, reporter=listener or Reporter(),
    )  # fmt: skip


def test_an_encoder_teaches_words_that_no_label_has(tmp_path, files):
    said = list[str]()
    hears = Reporter()
    hears.note = said.append  # type: ignore[method-assign]
    outcome = run(tmp_path, files, "hub/encoder", listener=hears)
    assert outcome.systems["teacher"].scores["accuracy"] == 1
    assert outcome.test.scores.accuracy > 0.9
    assert any("28 unlabelled texts" in note and "2 labelled too" in note for note in said)
    metrics = json.loads((tmp_path / "model" / "metrics.json").read_text())
    assert metrics["teaching"]["texts"] == 28
    assert metrics["teaching"]["texts_per_second"]["model"] > 0
    assert metrics["teacher"]["accuracy"] == 1
    assert not (tmp_path / "model" / "training").exists()
    assert 0 < len(outcome.parts.train) < 24  # those that people have labelled


def test_an_encoder_has_the_encoder_of_the_base_beside_it(tmp_path, files):
    said = list[str]()
    hears = Reporter()
    hears.note = said.append  # type: ignore[method-assign]
    base = {"base": {"name": "english", "encoder": "off"}}
    outcome = run(tmp_path, files, "hub/encoder", settings=[base], listener=hears)
    assert "the teacher reads the sentence vectors of the base english, too" in said
    assert outcome.systems["teacher"].scores["accuracy"] == 1


def test_vectors_are_those_of_the_encoder_and_of_the_base(tmp_path, monkeypatch):
    monkeypatch.setattr(encoder_room, "SentenceEncoder", Encoder)
    base_encoder = encoder_room.BaseSentenceEncoder("english", open_base("english"))
    alone, both = (
        encoder_room.EncoderTeacher(
            TeacherConfig("hub/encoder"), base, linear=True, work=tmp_path, report=lambda *_: None
        )
        for base in (None, base_encoder)
    )
    assert alone.fingerprint != both.fingerprint
    texts = ["not a good film", "a good film", "not a bad film"]
    vectors = both.vectors(texts)
    np.testing.assert_array_equal(vectors[:, :2], alone.vectors(texts))
    np.testing.assert_allclose((vectors[:, 2:] ** 2).sum(axis=1), 1, rtol=1e-5)
    first, second, third = vectors[:, 2:]
    assert first @ second < 0.95
    assert abs(first @ third) < 0.99
    np.testing.assert_allclose(both.vectors(texts[1:2], keep=False), vectors[1:2], atol=1e-5)


def test_texts_without_labels_are_decoded_as_the_labelled_ones(tmp_path, files):
    with open(files["unlabelled"], "ab") as file:
        file.write(b"caf\xe9 nice\n")
    assert run(tmp_path, files, "hub/encoder", settings=[{"data": {"encoding": "latin-1"}}])
    with pytest.raises(DataError, match="HW105"):
        run(tmp_path, files, "hub/encoder", "other")
    assert run(tmp_path, files, "hub/encoder", "third", settings=[{"data": {"encoding_errors": "replace"}}])
    answers = tmp_path / "answers.csv"
    answers.write_bytes(b"text,label\ncaf\xe9 nice,good\nso dull,bad\n")
    own = {"data": {"encoding_errors": "replace"}}
    assert run(tmp_path, files, str(answers), "fourth", unlabelled=False, settings=[own])


@pytest.mark.parametrize(("few", "most", "again"), [(40, 100, True), (10, 100, False), (40, 30, False)])
def test_labels_by_people_say_whether_dev_texts_are_learnt_too(
    tmp_path, files, monkeypatch, few, most, again
):
    monkeypatch.setattr(defaults, "FEW", few)
    monkeypatch.setattr(defaults, "_LONG", most)
    asked = list[int]()

    def learn(teacher, items, labels):
        asked.append(len(items))
        return was(teacher, items, labels)

    was = encoder_room.EncoderTeacher.learn
    monkeypatch.setattr(encoder_room.EncoderTeacher, "learn", learn)
    settings = SMALL | {"train": {"epochs": 1, "batch-texts": 8}}
    teaching = DistillationSettings("hub/encoder", files["unlabelled"])
    how = {"test": files["test"], "distillation": teaching, "baseline": False}
    outcome = train_files(files["file"], tmp_path / "model", settings=settings, **how)
    gold_texts = len(outcome.parts.train)
    assert (
        10 < gold_texts < 30 < 40 < gold_texts + 28
    )  # where all texts decided, there would be too many of them
    assert outcome.fitted.refit is outcome.run_config.train.refit is again
    assert asked == ([gold_texts, 24] if again else [gold_texts])
    own = settings | {"train": settings["train"] | {"refit": not again}}
    outcome = train_files(files["file"], tmp_path / "other", settings=own, **how)
    assert outcome.fitted.refit is not again  # what is asked for goes before


def test_what_an_encoder_has_read_is_not_read_again(tmp_path, files, monkeypatch):
    def stops(*_arguments, **_settings):
        raise KeyboardInterrupt

    fit = training_fit.fit_model
    monkeypatch.setattr(training_fit, "fit_model", stops)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, files, "hub/encoder")
    assert (tmp_path / "model" / "training" / TEACHER_CACHE).is_dir()
    monkeypatch.setattr(training_fit, "fit_model", fit)
    monkeypatch.setattr(encoder_room.SentenceEncoder, "asked", 0)
    work = tmp_path / "model" / "training" / TEACHER_CACHE
    kept = sorted(path.name for path in work.iterdir())
    train_files(
        files["file"], tmp_path / "model", settings=[SMALL, {"train": {"refit": False}}], resume=True,
        distillation=DistillationSettings("hub/encoder", files["unlabelled"]), test=files["test"],
        baseline=False,
    )  # fmt: skip
    assert len(kept) == 3  # the training texts, those without labels, and the names of labels
    assert Encoder.asked < 28 + 2 * 32 + 32 + 1  # the test texts, and the speed


@pytest.mark.parametrize("teacher", ["hub/encoder", "big", "answers.csv"])
def test_of_a_finished_run_the_teacher_is_not_asked_again(tmp_path, files, monkeypatch, teacher):
    write(tmp_path / "answers.csv", range(60, 88), answers=True)
    if teacher == "big":
        train_files(files["test"], tmp_path / "big", settings=[SMALL], baseline=False)
    who = teacher if teacher == "hub/encoder" else str(tmp_path / teacher)

    def again(settings=(), drop=None, **config):
        return train_files(
            files["file"], tmp_path / "model", test=files["test"], settings=[plain, *settings], drop=drop,
            distillation=DistillationSettings(who, files["unlabelled"], DistillationConfig(**config)),
            resume=True, baseline=False,
        )  # fmt: skip

    def refused(said, **other):
        with pytest.raises(HeadwiseError, match=said) as caught:
            again(**other)
        assert caught.value.code == "HW403"

    plain = SMALL | {"train": {"epochs": 1}}
    again()  # there was no run
    monkeypatch.setattr(DistillationSet, "parts", None)
    with pytest.raises(TrainingFinished, match="nothing to resume"):
        again()
    refused(r"texts\.temperature was 1.0 and is now 0.5", temperature=0.5)
    refused(r"train\.epochs was 1 and is now 2", settings=[{"train": {"epochs": 2}}])
    refused(r"train\.refit was True and is now False", settings=[{"train": {"refit": False}}])
    (tmp_path / "drop.csv").write_text("line\n3\n")
    refused(r"texts\.(dev|train) was", drop=tmp_path / "drop.csv")
    write(tmp_path / "texts.txt", range(60, 87))
    refused(r"texts\.unlabelled was")
    write(tmp_path / "texts.txt", [0, 1, 60, *range(60, 88)])
    if teacher == "big":
        train_files(files["file"], tmp_path / "big", settings=[SMALL], baseline=False, overwrite=True)
    write(tmp_path / "answers.csv", range(58, 88), answers=True)
    monkeypatch.setattr(Encoder, "fingerprint", "2")
    refused(r"another one: texts\.teacher was")


def test_a_finished_run_that_has_not_kept_its_lesson_is_compared_by_the_answers(
    tmp_path, files, monkeypatch
):
    def read(folder):
        info = was(folder)
        del info["data"]["lesson"]
        return info

    was = output_folder.read_info
    run(tmp_path, files, "hub/encoder")
    monkeypatch.setattr(output_folder, "read_info", read)
    monkeypatch.setattr(Encoder, "asked", 0)
    teaching = DistillationSettings("hub/encoder", files["unlabelled"])
    with pytest.raises(TrainingFinished):
        train_files(
            files["file"], tmp_path / "model", test=files["test"], settings=[SMALL], distillation=teaching,
            resume=True, baseline=False,
        )  # fmt: skip
    assert Encoder.asked
    assert not (tmp_path / "model" / "training" / TEACHER_CACHE).exists()


def test_a_model_teaches(tmp_path, files):
    train_files(files["test"], tmp_path / "big", settings=[SMALL], baseline=False)
    outcome = run(tmp_path, files, str(tmp_path / "big"), temperature=0.5, label_weight=2.0)
    assert outcome.distillation["teacher"] == "the model big"
    assert outcome.test.scores.accuracy > 0.8


def test_texts_that_a_model_has_learnt_from_are_told(tmp_path, files):
    train_files(files["test"], tmp_path / "big", settings=[SMALL], baseline=False)
    said = list[str]()
    hears = Reporter()
    hears.warn = said.append  # type: ignore[method-assign]
    outcome = run(tmp_path, files, str(tmp_path / "big"), listener=hears)
    known = len(train_files(files["test"], tmp_path / "same", settings=[SMALL], baseline=False).parts.test)
    assert outcome.test_duplicates == 32 - known
    assert any(f"{32 - known} of 32 test texts are the model big's training texts" in own for own in said)


def test_weights_repeats_and_empty_labels_of_answers(tmp_path, files, monkeypatch):
    answers = tmp_path / "answers.csv"
    rows = [f"{text(n)},{'good' if n % 2 else 'bad'},{0.5 if n < 70 else 2}" for n in range(60, 80)]
    answers.write_text("\n".join(["text,label,weight", *rows, rows[0], f"{text(81)},,1", ""]))
    with pytest.raises(DataError, match=r"answers\.csv:23"):
        run(tmp_path, files, str(answers), unlabelled=False)
    told, said, taught = Reporter(), list[str](), list[float]()
    told.notes = said.extend  # type: ignore[method-assign]

    def fit(task, parts, *rest, **more):
        taught[:] = [own.weight for own in parts.train if own.shares is not None]
        return was(task, parts, *rest, **more)

    was = training_fit.fit_model
    monkeypatch.setattr(training_fit, "fit_model", fit)
    how = {"unlabelled": False, "settings": [{"data": {"empty_labels": "skip"}}], "listener": told}
    run(tmp_path, files, str(answers), "some", **how)
    assert any("20 unlabelled texts from" in note and "1 repeated" in note for note in said)
    assert taught == [0.5] * 10 + [2.0] * 10
    said.clear()
    assert run(tmp_path, files, str(answers), "few", **how, most=7).distillation["texts"] <= 7
    assert any("a random sample of 7 of 21 texts" in note for note in said)


def test_a_file_teaches_with_its_texts_or_with_some_of_them(tmp_path, files):
    rows = [
        {"text": text(n), "probabilities": {"good": n % 2 * 0.8 + 0.1, "bad": 0.9 - n % 2 * 0.8}}
        for n in range(60, 80)
    ]
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    outcome = run(tmp_path, files, str(answers), unlabelled=False)
    assert outcome.distillation["texts"] == 20
    assert outcome.distillation["texts_per_second"] is None
    assert "teacher" not in outcome.systems
    write(tmp_path / "texts.txt", range(70, 90))
    assert run(tmp_path, files, str(answers), "other").distillation["texts"] == 10


@pytest.mark.parametrize(
    ("name", "content"), [("plain.txt", "a good film\na bad one\n"), ("table.csv", "text\na film\n")]
)
def test_texts_without_answers_are_no_teacher(tmp_path, files, name, content):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=f"HW1.*{name}.*a file of answers as teacher: .* --unlabelled"):
        run(tmp_path, files, str(tmp_path / name), unlabelled=False)


def test_texts_that_are_nearly_dev_or_test_texts_are_not_learnt(tmp_path, files, monkeypatch):
    review = "one of the best films that I have seen this year and the actors are a joy"
    rows = {f"{text(n)} !": n % 2 for n in [*(n for n in range(48) if n // 2 % 4 < 2), *range(100, 132)]}
    with open(files["test"], "a") as file:
        file.write(f"{review},good\n")
    answers = tmp_path / "answers.csv"
    rows |= {f"{review} to watch": 1, "another film that nobody knows": 0}
    lines = [f"{own},{'good' if good else 'bad'},1" for own, good in rows.items()]
    answers.write_text("\n".join(["text,label,confidence", *lines, ""]))
    told, said, taught = Reporter(), list[str](), list[str]()
    told.notes = said.extend  # type: ignore[method-assign]

    def fit(task, parts, *rest, refit_parts, **more):
        for own in (parts, refit_parts(parts)):
            taught[:] = [item.text for item in own.train if item.shares is not None]
            assert set(taught) == expected(own.dev)
        return was(task, parts, *rest, refit_parts=refit_parts, **more)

    def expected(dev):
        known = {f"{item.text} !" for item in dev}
        assert known
        return {own for own in rows if own not in known and own[:-2] not in tests and review not in own}

    tests, was = [text(n) for n in range(100, 132)], training_fit.fit_model
    monkeypatch.setattr(training_fit, "fit_model", fit)
    outcome = run(tmp_path, files, str(answers), unlabelled=False, listener=told)
    near = 33 + len(outcome.parts.dev)
    assert len(taught) == len(rows) - near > 1  # what is nearly a training text may be learnt
    assert any(f"left out: {near} too similar to dev or test texts" in note for note in said)


def test_what_cannot_be_taught(tmp_path, files):
    with pytest.raises(ConfigError, match="--unlabelled"):
        run(tmp_path, files, "hub/encoder", unlabelled=False)
    with pytest.raises(ConfigError, match="only classifiers of texts"):
        run(tmp_path, files, "hub/encoder", settings=[{"model": {"task": "multi-label"}}])
    write(tmp_path / "texts.txt", [0, 1, 1])
    with pytest.raises(HeadwiseError, match="0 unlabelled texts") as caught:
        run(tmp_path, files, "hub/encoder")
    assert caught.value.code == "HW411"
    with pytest.raises(ConfigError, match="temperature"):
        DistillationConfig(temperature=0)
    (tmp_path / "wrong.csv").write_text("text,a,b\nx y z,.5,.4\nx y,.5,.5\n")
    with pytest.raises(DataError, match="HW125"):
        run(tmp_path, files, str(tmp_path / "wrong.csv"))
    with pytest.raises(DataError, match="no such file"):  # and no name of the hub
        run(tmp_path, files, str(tmp_path / "answer.csv"))


def test_labels_of_another_task(tmp_path, files):
    answers = tmp_path / "answers.csv"
    write(answers, range(60, 80), answers=True)
    answers.write_text(answers.read_text().replace(",good", ",Good").replace(",bad", ",Bad"))
    with pytest.raises(ConfigError, match="csv: 'Bad', 'Good'; expected labels"):
        run(tmp_path, files, str(answers), unlabelled=False)
    answers.write_text(answers.read_text().replace(",Good", ",good"))
    told = Reporter()
    told.notes = lambda notes: seen.extend(notes)
    seen = []
    run(tmp_path, files, str(answers), unlabelled=False, listener=told)
    assert "labels that only the teacher gives, which the model learns too: 'Bad'" in seen


def test_a_teacher_may_spell_whole_numbers_otherwise(tmp_path, files):
    answers, labelled = tmp_path / "answers.csv", tmp_path / "labelled.csv"
    write(answers, range(60, 80), answers=True)
    answers.write_text(answers.read_text().replace(",good", ",1.0").replace(",bad", ",0.0"))
    with open(files["file"]) as file:
        labelled.write_text(file.read().replace(",good", ",1").replace(",bad", ",0"))
    own = files | {"file": str(labelled), "test": str(labelled)}
    assert run(tmp_path, own, str(answers), unlabelled=False).fitted.model.labels == ("0", "1")


def test_flags_that_need_a_teacher(tmp_path, files, capsys):
    for flags in (["--unlabelled", files["unlabelled"]], ["--teach.temperature", "2"]):
        assert main(["train", files["file"], "--output", str(tmp_path / "m"), *flags]) == 2
        assert "needs a --teacher" in capsys.readouterr().err


def test_flags_that_need_a_teacher_name_an_installed_one(tmp_path, files, capsys, monkeypatch):
    monkeypatch.setattr("headwise.app.training_checks.installed_teacher", lambda: "owner/encoder")
    flags = ["--output", str(tmp_path / "m"), "--unlabelled", files["unlabelled"]]
    assert main(["train", files["file"], *flags]) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert "--unlabelled needs a --teacher; installed here: --teacher owner/encoder" in error


@pytest.fixture
def partly_labelled(tmp_path):
    """24 labelled texts, and as many without a label as make a proposal worthwhile."""
    path = tmp_path / "partly labelled.csv"
    write(path, range(24), answers=True)
    with open(path, "a") as file:
        file.writelines(f"{text(number)},\n" for number in range(100, 100 + LEAST_UNLABELLED))
    return str(path)


def proposals(tmp_path, file, **distillation) -> list[str]:
    """The notes of a training run on a file that propose a teacher."""
    notes, reporter = [], Reporter()
    reporter.note = notes.append
    data = {"data": {"empty-labels": "skip"}}
    train_files(
        file, tmp_path / "m", settings=[SMALL, data], baseline=False, reporter=reporter, **distillation
    )
    return [note for note in notes if "headwise distill" in note]


def test_train_proposes_an_installed_teacher(tmp_path, partly_labelled, monkeypatch):
    monkeypatch.setattr(output_folder, "installed_teacher", lambda **_: "owner/encoder")
    (note,) = proposals(tmp_path, partly_labelled)
    assert note.startswith("200 texts without a label are not used")
    command = shlex.split(note[note.index("headwise distill") :])
    assert command[2:] == [
        partly_labelled, "--empty-labels", "skip", "--unlabelled", partly_labelled,
        "--teacher", "owner/encoder",
    ]  # fmt: skip


def test_a_teacher_labels_the_texts_of_the_proposal(tmp_path, partly_labelled, files, monkeypatch):
    monkeypatch.setattr(output_folder, "installed_teacher", lambda **_: "owner/encoder")
    settings = DistillationSettings("owner/encoder", partly_labelled)
    assert proposals(tmp_path, partly_labelled, distillation=settings) == []
    saved = json.loads((tmp_path / "m" / "metrics.json").read_text())
    assert saved["teaching"]["texts"] == LEAST_UNLABELLED


def test_no_teacher_is_proposed_without_one_or_for_a_few_texts(
    tmp_path, partly_labelled, files, monkeypatch
):
    monkeypatch.setattr(output_folder, "installed_teacher", lambda **_: None)
    assert proposals(tmp_path, partly_labelled) == []
    monkeypatch.setattr(output_folder, "installed_teacher", lambda **_: "owner/encoder")
    assert proposals(tmp_path / "other", files["file"]) == []


def test_a_sample_keeps_the_order():
    texts = [str(n) for n in range(1000)]
    found, total = sample_texts(iter(texts), 100, 1)
    assert total == 1000
    assert len(set(found)) == 100
    assert found == sorted(found, key=int)
    assert 300 < np.mean([int(text) for text in found]) < 700
    assert sample_texts(iter(texts), 0, 1) == (texts, 1000)


def test_a_low_temperature_sharpens():
    found = sharpened(np.array([[0.8, 0.2]], np.float32), 0.5)
    assert np.allclose(found, [[0.64 / 0.68, 0.04 / 0.68]])
    many = sharpened(np.array([[0.02] * 48 + [0.04, 0.0]], np.float32), 0.02)
    assert np.allclose(many, [[0] * 48 + [1, 0]])
