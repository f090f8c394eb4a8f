import json

import pytest

from headwise.data.doctor.diagnose import diagnose
from headwise.data.errors import DataError
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK


@pytest.fixture
def write(tmp_path):
    def write(name, *sentences):
        path = tmp_path / name
        path.write_text("\n\n".join(s.replace(" ", "\n").replace("/", "\t") for s in sentences) + "\n")
        return str(path)

    return write


def codes(diagnosis, severity):
    return [finding.code for finding in diagnosis.findings if finding.severity == severity]


GOOD = [f"mr/O w{n}/B-PER and/O port/B-LOC w{n}/I-LOC" for n in range(12)]


def test_a_sound_file(write):
    diagnosis = diagnose(ITEM_TYPES_BY_TASK["tag"], [write("train.conll", *GOOD)])
    assert not codes(diagnosis, "error")
    assert not codes(diagnosis, "warning")
    (file,) = diagnosis.files
    assert (file.texts, file.distinct, file.words.mean) == (12, 12, 5.0)
    assert file.classes == (("LOC", 12, 0.5), ("PER", 12, 0.5))


def test_the_same_sentence_with_other_tags(write):
    torn = ["mr/O w1/O and/O port/B-LOC w1/I-LOC"]
    path = write("train.conll", *GOOD, *torn)
    conflicts = [f for f in diagnose(ITEM_TYPES_BY_TASK["tag"], [path]).findings if f.code == "HW154"]
    assert [f.where for f in conflicts] == [(f"{path}:7", f"{path}:73")]
    assert conflicts[0].message == "1 sentence tagged in more than one way, first 'mr w1 and port w1'"


def test_leaks_and_types_that_training_lacks(write):
    train = write("train.conll", *GOOD)
    test = write("test.conll", GOOD[3], "in/O peace/B-TIME")
    warnings = {
        f.code: f
        for f in diagnose(ITEM_TYPES_BY_TASK["tag"], [train, test]).findings
        if f.severity == "warning"
    }
    assert set(warnings) == {"HW160", "HW161"}
    assert "'TIME'" in warnings["HW161"].message
    assert warnings["HW160"].where == (f"{test}:1",)


def test_schemes_that_differ(write):
    train = write("train.conll", *GOOD)
    dev = write("dev.conll", *(s.replace("B-PER", "S-PER").replace("I-LOC", "E-LOC") for s in GOOD))
    messages = [f.message for f in diagnose(ITEM_TYPES_BY_TASK["tag"], [train, dev]).findings]
    assert any("of dev are in the scheme bioes, those of train in iob2" in m for m in messages)


def test_tags_that_break_their_scheme(write):
    broken = "port/B-LOC w1/I-LOC ends/O here/O so/O"
    bioes = [s.replace("B-PER", "S-PER").replace("I-LOC", "E-LOC") for s in GOOD]
    path = write("train.conll", *bioes, broken)
    warnings = [f for f in diagnose(ITEM_TYPES_BY_TASK["tag"], [path]).findings if f.severity == "warning"]
    assert [f.code for f in warnings] == ["HW253"]
    assert "I-LOC" in warnings[0].message or "O after I-LOC" in warnings[0].message


def test_letters_of_another_scheme_are_mistakes_where_few(write):
    path = write("train.conll", *GOOD, "w1/E-PER here/O")
    scheme_findings = [f for f in diagnose(ITEM_TYPES_BY_TASK["tag"], [path]).findings if f.code == "HW253"]
    messages = {finding.severity: finding.message for finding in scheme_findings}
    assert messages["info"].startswith("tag scheme iob2: 1 words have E-")
    assert messages["warning"] == "1 tag that iob2 does not allow, first 'E-PER' is no iob2 tag"


def test_types_with_few_spans_and_long_sentences(write):
    path = write("train.conll", *GOOD, "war/B-EVENT", " ".join(["a/O"] * 600))
    findings = {f.code: f for f in diagnose(ITEM_TYPES_BY_TASK["tag"], [path]).findings}
    assert "EVENT (1)" in findings["HW155"].message
    assert findings["HW152"].message.startswith("1 sentence of more than 512 words")


def test_types_that_differ_only_in_spelling(write):
    """Two annotators wrote them; the lines are those of the rarer spelling."""
    path = write("train.conll", *(f"{n}/B-{'LOC' if n < 4 else 'Loc'} ran/O" for n in range(7)))
    finding = {f.code: f for f in diagnose(ITEM_TYPES_BY_TASK["tag"], [path]).findings}["HW156"]
    assert finding.message == "types that differ only in spelling: 'LOC' (4), 'Loc' (3)"
    assert finding.fix == "they are treated as different types; write 'LOC' throughout"
    assert finding.where[0].endswith("train.conll:13")


def test_long_texts_with_spans_are_to_be_cut_with_their_spans(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [{"text": f"{n} " * 600, "spans": [[0, 1, "N"]]} for n in range(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    finding = {f.code: f for f in diagnose(ITEM_TYPES_BY_TASK["tag"], [str(path)]).findings}["HW152"]
    assert finding.fix.startswith("cut the texts into sentences or paragraphs, each with its spans")


def test_what_cannot_be_read_is_a_finding(write, tmp_path):
    path = tmp_path / "train.conll"
    path.write_text("a\tO\nb\tO\nc\n\nd\tB-PER\n" * 3)
    diagnosis = diagnose(ITEM_TYPES_BY_TASK["tag"], [str(path), str(tmp_path / "none.conll")])
    assert "HW101" in codes(diagnosis, "error")
    assert diagnosis.errors >= 3


def test_one_tag_only(write):
    path = write("train.conll", "a/O b/O", "c/O")
    assert "HW162" in codes(diagnose(ITEM_TYPES_BY_TASK["tag"], [path]), "error")


def test_missing_blank_lines_are_told(write, tmp_path):
    path = tmp_path / "train.conll"
    path.write_text("".join(f"to\tO\nport{n}\tB-LOC\n" for n in range(600)))
    findings = {f.code: f for f in diagnose(ITEM_TYPES_BY_TASK["tag"], [str(path)]).findings}
    assert findings["HW152"].severity == "warning"
    assert "1 sentence of more than 100 words, the longest of 1,200" in findings["HW152"].message
    items = ITEM_TYPES_BY_TASK["tag"].read(str(path)).items
    with pytest.raises(DataError, match=r"one sentence of 1,200 words.*blank line after each sentence"):
        ITEM_TYPES_BY_TASK["tag"].split(items, 0.1)


def test_a_file_whose_tags_mark_no_spans_is_an_error(write):
    train = write("train.conll", *GOOD)
    dev = write("dev.conll", *(s.replace("B-", "").replace("I-", "") for s in GOOD))
    for files in ([train, dev], [dev, train]):
        findings = diagnose(ITEM_TYPES_BY_TASK["tag"], files).findings
        assert any((f.code, f.severity) == ("HW161", "error") for f in findings)
