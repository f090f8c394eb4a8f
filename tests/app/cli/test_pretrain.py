import os

import pytest

from headwise.app.cli import main
from headwise.text.static_embeddings.base_folder import load_base

SMALL = ["--words", "20", "--size", "6", "--subwords", "32", "--rarest", "1"]


@pytest.fixture
def texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["The cat saw a dog near the barn.", "A dog ran to the cat.", "The moon is a light at night."]
    (tmp_path / "texts.txt").write_text("\n".join(lines * 20))
    return tmp_path


def test_a_base_is_made_of_texts(texts, capsys):
    command = ["pretrain", "texts.txt", "--output", "base", *SMALL, "--epochs", "2", "--licence", "CC0"]
    assert main([*command, "--source", "our barn", "--source", "our sky"]) == 0
    out = capsys.readouterr()
    assert "20 words and 32 vectors" in out.out.replace("\n", " ") or "words and 32" in out.out
    assert "--base base" in out.out
    assert "learning from the text" in out.err
    base = load_base(texts / "base")
    assert base.about["settings"]["context"]["epochs"] == 2
    card = (texts / "base" / "README.md").read_text()
    assert "CC0" in card
    assert "our sky" in card
    assert main(command) == 2
    assert "HW811" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--teacher", "./nowhere"], "HW702"),
        (["--word-list", "nowhere.txt"], "HW101"),
        (["--words", "0"], "words must be at least 1"),
        (["--tokenizer", "pen"], "Did you mean 'penn'"),
        (["--context.width", "0"], "width must be at least 1"),
    ],
)
def test_what_is_wrong_is_told(texts, capsys, extra, message):
    assert main(["pretrain", "texts.txt", "--output", "base", *extra]) == 2
    assert message in capsys.readouterr().err


def test_bytes_that_cannot_be_decoded(texts, capsys):
    with open("texts.txt", "ab") as file:
        file.write(b"th\xe9\n")
    command = ["pretrain", "texts.txt", "--output", "base", *SMALL, "--epochs", "1"]
    assert main(command) == 2
    assert "--encoding-errors replace" in capsys.readouterr().err
    assert main([*command, "--encoding-errors", "replace", "--overwrite"]) == 0


def test_of_a_table_the_texts_are_read(texts, capsys):
    lines = (texts / "texts.txt").read_text().splitlines()
    rows = [f"{number}\thelpdesk\t{line}" for number, line in enumerate(lines)]
    (texts / "table.tsv").write_text("\n".join(["id\tlabel\ttext", *rows]))
    command = ["pretrain", "table.tsv", "--output", "base", *SMALL, "--epochs", "1"]
    assert main([*command, "--text-column", "words"]) == 2
    assert "'words'" in capsys.readouterr().err
    assert main(command) == 0
    assert "column 'text'" in capsys.readouterr().err.replace("\n", " ")
    words = load_base(texts / "base").words
    assert "cat" in words
    assert "helpdesk" not in words


@pytest.mark.skipif(os.name != "posix", reason="no limits of files here")
@pytest.mark.parametrize(
    ("most", "size", "runs", "named"),
    [
        (150, 6, 32, ".work/counts-"),
        (1_000, 6, 32, ".numbers"),
        (3_000, 60, 32, "context.safetensors"),
        (3_000, 6, 512, "base:"),
    ],
)
def test_a_full_disk_names_what_could_not_be_written_and_the_run_goes_on(
    texts, fork, most, size, runs, named
):
    sizes = ["--words", "20", "--rarest", "1", "--size", str(size), "--subwords", str(runs)]
    command = ["pretrain", "texts.txt", "--output", "base", *sizes, "--epochs", "2"]
    process = fork(*command, largest_file=most)
    said = process.communicate()[1].decode()
    assert (process.returncode, "Traceback" in said) == (2, False), said
    assert "[HW604]" in said
    assert named in said.splitlines()[-1]
    assert main([*command, "--resume"]) == 0
    assert not (texts / "base.work").exists()


def test_texts_are_needed(texts, capsys):
    assert main(["pretrain", "--output", "base"]) == 2
    assert "no texts" in capsys.readouterr().err
    assert main(["pretrain", "missing.txt", "--output", "base"]) == 2
    assert "HW101" in capsys.readouterr().err
    assert not (texts / "base").exists()


def test_an_interruption_says_how_to_go_on(texts, capsys, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    from headwise.training.pretraining import pretrain as run

    monkeypatch.setattr(run, "train_contexts", stop)
    assert main(["pretrain", "texts.txt", "--output", "base", *SMALL]) == 130
    assert "--resume" in capsys.readouterr().err


def test_a_finished_base_is_not_made_again(texts, capsys):
    command = ["pretrain", "texts.txt", "--output", "base", *SMALL, "--epochs", "1"]
    assert main(command) == 0
    before = {path.name: path.read_bytes() for path in (texts / "base").iterdir()}
    assert main([*command, "--resume"]) == 0
    assert "nothing to resume" in capsys.readouterr().err.replace("\n", " ")
    assert before == {path.name: path.read_bytes() for path in (texts / "base").iterdir()}
    assert main([*command, "--seed", "9", "--resume"]) == 2
    assert "HW811" in capsys.readouterr().err


@pytest.mark.parametrize("how", [[], ["--overwrite"], ["--resume"]])
def test_a_model_is_not_replaced_by_a_base(texts, capsys, how):
    model = texts / "model"
    model.mkdir()
    for name in ("base.json", "README.md", "manifest.json"):  # a model that began with a base has its card
        (model / name).write_text(name)
    assert main(["pretrain", "texts.txt", "--output", "model", *SMALL, *how]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "[HW811] model holds manifest.json, which is not a file of a base; give another --output" in said
    assert {path.name: path.read_text() for path in model.iterdir()} == {
        name: name for name in ("base.json", "README.md", "manifest.json")
    }


def test_what_a_killed_save_has_left_is_replaced(texts):
    (texts / "base").mkdir()
    (texts / "base" / "words.json").write_text("[")
    assert main(["pretrain", "texts.txt", "--output", "base", *SMALL, "--epochs", "1"]) == 0


def test_what_fails_leaves_nothing_behind(texts, capsys):
    (texts / "few.txt").write_text("a\n")
    assert main(["pretrain", "few.txt", "--output", "base", *SMALL]) == 2
    assert "HW810" in capsys.readouterr().err
    assert not list(texts.glob("base*"))


def test_of_tagged_sentences_the_words_are_read(texts, capsys):
    words = (texts / "texts.txt").read_text().split()
    tagged = (f"{word}\tZ\n" + "\n" * (n % 9 == 8) for n, word in enumerate(words))
    (texts / "tagged.conll").write_text("".join(tagged))
    assert main(["pretrain", "tagged.conll", "--output", "base", *SMALL, "--epochs", "1"]) == 0
    assert "tagged sentences, of which the words are read" in capsys.readouterr().err.replace("\n", " ")
    known = load_base(texts / "base").words
    assert {"cat", "dog"} <= set(known)
    assert "z" not in known
