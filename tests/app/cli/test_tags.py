import csv
import io
import json
import shutil

import pytest

from headwise.models import prediction_resume as resume

SMALL = [
    *("--epochs", "3", "--words.vector-size", "16", "--encoder.width", "16", "--encoder.heads", "2"),
    *("--encoder.head-size", "8", "--encoder.layers", "1", "--learning-rate", "0.01"),
]


@pytest.fixture(scope="session")
def conll() -> str:
    return "\n\n".join(f"mr\tO\nw{n % 30}\tB-PER\nruns\tO" for n in range(60)) + "\n"


@pytest.fixture(scope="module")
def trained(train_once, conll):
    return train_once({"t.conll": conll}, "t.conll", "-o", "m", *SMALL)


@pytest.fixture
def tagger(trained, tmp_path):
    """The file and the model `m` in the folder in which the commands run; what its training said."""
    folder, *said = trained
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return said


def test_a_file_alone_is_enough(tagger):
    out, err = tagger
    assert "task tag guessed from the file" in err
    assert "tag scheme iob2" in err
    assert "A linear CRF on" in out
    assert all(name in out for name in ("CRF on", "encoder", "linear model"))  # columns
    assert "PER" in out


def test_texts_are_predicted_with_their_characters(run, tagger, tmp_path):
    (tmp_path / "new.csv").write_text('id,text\n7,"So, mr w3 runs."\n8,\n')
    code, _, err = run("predict", "m", "new.csv", "-o", "p.jsonl")
    assert code == 0
    assert "2 sentences predicted" in err
    first, second = map(json.loads, (tmp_path / "p.jsonl").read_text().splitlines())
    assert first["id"] == "7"
    assert first["words"] == ["So", ",", "mr", "w3", "runs", "."]
    assert [first["text"][a:b] for a, b in first["places"]] == first["words"]
    for span in first["spans"]:
        assert first["text"][span["start"] : span["end"]] == span["text"]
        assert 0 < span["probability"] <= 1
    assert second["words"] == second["spans"] == []


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_marked_spans_of_another_threshold_are_not_mixed(run, tagger, tmp_path, monkeypatch, form):
    monkeypatch.setattr(resume, "CHUNK_ROWS", 8)
    arguments = ("predict", "m", "t.conll", "-o", f"p.{form}")
    assert run(*arguments, "--unsure", "0.01")[0] == 0
    content = (tmp_path / f"p.{form}").read_bytes()
    (tmp_path / f"p.{form}").write_bytes(content[: len(content) // 2])
    assert b"PER" in content
    assert "marked by another --unsure" in run(*arguments, "--unsure", "1", "--resume")[2]
    assert run(*arguments, "--unsure", "0.01", "--resume")[0] == 0
    assert (tmp_path / f"p.{form}").read_bytes() == content


def test_sentences_are_predicted_word_by_word(run, tagger, tmp_path):
    code, out, _ = run("predict", "m", "t.conll")
    assert code == 0
    blocks = out.strip().split("\n\n")
    assert len(blocks) == 60
    assert [line.split("\t")[0] for line in blocks[0].split("\n")] == ["mr", "w0", "runs"]


def test_an_interrupted_output_is_gone_on_with(run, tagger, tmp_path):
    (tmp_path / "new.txt").write_text("".join(f"mr w{n} runs\n" for n in range(40)))
    assert run("predict", "m", "new.txt", "--format", "text", "-o", "whole.jsonl")[0] == 0
    whole = (tmp_path / "whole.jsonl").read_text()
    (tmp_path / "part.jsonl").write_text(whole[: len(whole) // 2])
    code, _, err = run("predict", "m", "new.txt", "--format", "text", "-o", "part.jsonl", "--resume")
    assert code == 0
    assert "records are kept" in err
    part = [json.loads(line) for line in (tmp_path / "part.jsonl").read_text().splitlines()]
    assert [own["tags"] for own in part] == [json.loads(line)["tags"] for line in whole.splitlines()]
    (tmp_path / "part.jsonl").write_text(whole + whole)
    code, _, err = run("predict", "m", "new.txt", "--format", "text", "-o", "part.jsonl", "--resume")
    assert (code, "HW602" in err) == (2, True)


def test_outputs_that_cannot_be_written(run, tagger):
    code, _, err = run("predict", "m", "t.conll", "-o", "p.docx")
    assert (code, "HW605" in err) == (2, True)
    code, _, err = run("predict", "m", "t.conll", "--format-out", "tsv")
    assert (code, "expected jsonl, csv, conll" in err) == (2, True)


def test_csv_has_the_fields_of_jsonl_with_json_in_the_cells(run, tagger, tmp_path):
    (tmp_path / "new.csv").write_text('id,text,tags\n7,"So, ""mr"" w3 runs.",a\n8,,\n9,"two\nlines",b\n')
    for name in ("p.jsonl", "p.csv"):
        code, _, err = run("predict", "m", "new.csv", "-o", name)
        assert (code, "those of the model are 'tags_2' for 'tags'" in err) == (0, True)
    rows = [*csv.DictReader(io.StringIO((tmp_path / "p.csv").read_text(), newline=""))]
    assert [*rows[0]] == ["id", "text", "tags", "words", "tags_2", "probabilities", "spans"]
    for row, line in zip(rows, (tmp_path / "p.jsonl").read_text().splitlines(), strict=True):
        fields = json.loads(line)
        fields.pop("places")
        parsed = {name: json.loads(row[name]) for name in [*row][3:]}
        assert {**row, **parsed} == fields
    whole = (tmp_path / "p.csv").read_text()
    (tmp_path / "p.csv").write_text(whole[:-40])
    assert run("predict", "m", "new.csv", "-o", "p.csv", "--resume")[0] == 0
    assert (tmp_path / "p.csv").read_text() == whole
    code, _, err = run("predict", "m", "t.conll", "-o", "p.csv", "--resume")
    assert (code, "HW602" in err) == (2, True)
    assert run("predict", "m", "t.conll", "-o", "words.csv")[0] == 0
    code, out, _ = run("doctor", "words.csv")
    assert (code, "lists 'words' and 'tags'" in out) == (0, True)  # it can be corrected and learnt from


def test_evaluation_beside_the_baseline_of_training(run, tagger, tmp_path):
    code, out, _ = run("evaluate", "m", "t.conll", "--json", "--errors", "2")
    assert code == 0
    found = json.loads(out)
    assert 0 <= found["entities"]["f1"] <= 1
    assert found["tokens"]["words"] == 180
    assert found["baseline"] is None  # this is not the part that it was tested on
    code, out, _ = run("evaluate", "m", "t.conll", "--errors", "1")
    assert code == 0
    assert "recall" in out


def test_flags_of_other_tasks_are_refused(run, conll, tmp_path):
    (tmp_path / "t.conll").write_text(conll)
    code, _, err = run("train", "t.conll", "--classifier.hidden", "5")
    assert code == 2
    assert "classifier: the task tag has no such settings" in err
    code, _, err = run("train", "t.conll", "--task", "tga")
    assert (code, "did you mean 'tag'" in err) == (2, True)


def test_a_stopped_run_is_resumed(run, conll, tmp_path, monkeypatch):
    from headwise.training import loop

    (tmp_path / "t.conll").write_text(conll)
    update, seen = loop._TrainingRun.update, []

    def stopping(self, batches):
        seen.append(1)
        if len(seen) == 4:
            raise KeyboardInterrupt
        self.save()
        update(self, batches)

    monkeypatch.setattr(loop._TrainingRun, "update", stopping)
    code, _, err = run("train", "t.conll", "-o", "m", *SMALL)
    assert code == 130
    assert "--resume continues" in err
    code, out, err = run("train", "t.conll", "-o", "m", *SMALL, "--resume")
    assert code == 0, err
    assert "Model: m" in out


def test_lists_of_words_are_predicted_with_their_fields(run, tagger, tmp_path):
    rows = [{"id": 1, "tokens": ["mr", "w3"]}, {"id": 2, "tokens": []}, {"id": 3, "tokens": ["runs"]}]
    (tmp_path / "new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, _, err = run("predict", "m", "new.jsonl", "-o", "p.jsonl")
    assert code == 0, err
    whole = (tmp_path / "p.jsonl").read_bytes()
    found = [json.loads(line) for line in whole.splitlines()]
    assert [(own["id"], own["tokens"], own["words"]) for own in found] == [
        (row["id"], row["tokens"], row["tokens"]) for row in rows
    ]
    assert len(found[0]["tags"]) == 2
    (tmp_path / "p.jsonl").write_bytes(whole[:-9])
    code, _, err = run("predict", "m", "new.jsonl", "-o", "p.jsonl", "--resume")
    assert code == 0, err
    assert (tmp_path / "p.jsonl").read_bytes() == whole


def test_a_file_whose_tags_are_others(run, tagger, conll, tmp_path):
    (tmp_path / "other.conll").write_text(conll.replace("PER", "person"))
    code, _, err = run("evaluate", "m", "other.conll")
    assert (code, "[HW140]" in err, "person" in err) == (2, True, True)
    (tmp_path / "other.conll").write_text(conll.replace("B-", "").replace("I-", ""))
    code, _, err = run("evaluate", "m", "other.conll")
    assert (code, "[HW140] other.conll: tags that mark no spans, such as 'PER'" in err) == (2, True)
    (tmp_path / "plain.conll").write_text(conll.replace("B-", "").replace("I-", ""))
    code, _, err = run("train", "plain.conll", "-o", "plain", "--epochs", "1")
    assert code == 0, err
    (tmp_path / "spans.conll").write_text(conll)
    code, _, err = run("evaluate", "plain", "spans.conll")
    assert (code, "[HW140] spans.conll: tags that do not occur in plain: " in err) == (2, True)
    wrong = conll.replace("mr\tO", "mr\tB-PER", 5).replace("runs\tO", "runs\tB-LOC", 5)
    (tmp_path / "some.conll").write_text(wrong)
    code, _, err = run("report", "m", "--data", "some.conll", "-o", "r.html")  # with mistakes to show
    assert code == 0, err
    page = (tmp_path / "r.html").read_text()
    assert "some.conll:" in page
    assert '<label>type <select name="a"><option value="">any</option><option value="LOC">' in page
    assert '<li data-a="PER" data-b="">' in page


def test_words_without_tags_are_sentences_too(run, tagger, tmp_path):
    (tmp_path / "bare.txt").write_text("mr\nw3\nruns\n\nmr\nw4\nruns\n\nmr\nw5\n")
    code, out, err = run("predict", "m", "bare.txt")
    assert (code, "3 sentences predicted" in err, out.count("\n\n")) == (0, True, 3)


def test_a_word_is_as_unknown_in_predicting_as_in_judging(run, tagger, tmp_path):
    (tmp_path / "new.conll").write_text("tomorrow\tO\nw3\tB-PER\nxqzv\tO\n\n" * 2)
    shares = json.loads(run("evaluate", "m", "new.conll", "--json")[1])["unknown_words"]
    assert f"{100 * shares:.1f} % of their words are unknown" in run("predict", "m", "new.conll")[2]


def test_standard_input_of_tagged_words_is_not_taken_for_texts(run, tagger, conll):
    code, _, err = run("predict", "m", "-", stdin=conll.encode())
    assert (code, "[HW259]" in err, "--format columns" in err) == (2, True, True)
    code, out, _ = run("predict", "m", "-", "--format", "columns", stdin=conll.encode())
    assert (code, out.count("\n\n")) == (0, 60)
    code, out, _ = run("predict", "m", "-", stdin=b"mr w3 runs\nmr w4\n")
    assert (code, out.count("\n\n")) == (0, 2)


def test_texts_are_not_judged(run, tagger, tmp_path):
    (tmp_path / "texts.jsonl").write_text('{"text": "mr w3", "label": "x"}\n' * 3)
    code, _, err = run("evaluate", "m", "texts.jsonl")
    assert (code, "a list of tokens is not found" in err) == (2, True)


def test_sentences_to_tag_next(run, tagger, conll, tmp_path):
    """Those in doubt, with tags to be corrected; what is known, tagged or there twice is passed over."""
    known, doubtful = "mr w3 runs\n", "so the old badge w7 of runs fell\nwho is she\n"
    (tmp_path / "new.txt").write_text(f"{known}{doubtful}{doubtful}")
    code, _, err = run("suggest", "m", "new.txt", "-n", "5", "-o", "next.conll")
    assert code == 0, err
    assert "3 of 5 sentences have tags, are duplicates, empty, or were trained on: left out" in err
    assert "2 sentences to tag are in next.conll: their tags are guesses, to be corrected" in err
    found = (tmp_path / "next.conll").read_text()
    assert {own.partition("\t")[0] for own in found.split("\n")} == {*doubtful.split(), ""}
    assert run("suggest", "m", "new.txt", "-n", "1")[1] in found.split("\n\n")[0] + "\n\n"
    (tmp_path / "more.conll").write_text(conll + "\n" + found)
    code, _, err = run("train", "more.conll", "-o", "m2", *SMALL)
    assert code == 0, err
    code, out, err = run("suggest", "m", "more.conll")
    assert (code, out, "62 of 62 sentences have tags" in err) == (0, "", True)
    code, _, err = run("suggest", "m", "new.txt", "-o", "next.csv")
    assert (code, "[HW605]" in err, ".conll" in err) == (2, True, True)


def test_sentences_without_words_are_not_suggested(run, tagger, tmp_path):
    (tmp_path / "new.jsonl").write_text('{"tokens": []}\n{"tokens": ["who", "is", "she"]}\n')
    code, out, err = run("suggest", "m", "new.jsonl")
    assert (code, out.count("\n\n"), out.startswith("who\t")) == (0, 1, True), err


def test_a_folder_of_brat_is_trained_on_and_predicted(run, tmp_path):
    """Without --task, and without its annotations among the texts."""
    folder = tmp_path / "brat"
    folder.mkdir()
    for n in range(30):
        (folder / f"{n}.txt").write_text(f"mr w{n} runs\n")
        (folder / f"{n}.ann").write_text(f"T1\tPER 3 {3 + len(f'w{n}')}\tw{n}\n")
    code, out, err = run("train", "brat", "-o", "from-brat", "--epochs", "1", "--no-baseline")
    assert code == 0, err
    assert "F1 of spans" in out
    code, _, err = run("predict", "from-brat", "brat", "-o", "found.jsonl")
    assert code == 0, err
    assert len((tmp_path / "found.jsonl").read_text().splitlines()) == 30
