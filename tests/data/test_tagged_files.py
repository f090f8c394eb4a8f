import gzip
import io
import re
import subprocess
import sys
import zipfile

import pytest

from headwise.core.errors import ConfigError
from headwise.data.columns.item_options import TagOptions
from headwise.data.readers.tagged_files import TagColumns, read_tagged

NER = "Tom\tB-PER\nran\tO\n\nHe\tO\nmet\tO\nAl\tB-PER\nB\tI-PER\n"
BLOCK = NER + "\n"


def test_a_file_in_memory(write):
    data = read_tagged(write("a.txt", NER))
    assert [(s.tokens, s.tags, s.line) for s in data.items] == [
        (("Tom", "ran"), ("B-PER", "O"), 1),
        (("He", "met", "Al", "B"), ("O", "O", "B-PER", "I-PER"), 4),
    ]
    assert (data.format, data.columns) == ("columns", TagColumns("word", "tag"))
    assert (data.tokens, data.entities) == (6, {"PER": 2})
    assert data.tags == {"O": 3, "B-PER": 2, "I-PER": 1}
    assert (data.documents, data.findings, data.skipped) == ((), (), 0)
    assert data.where(1, 3) == f"{data.path}:7"
    assert data.notes == (
        "format columns guessed from the first lines: in column 2 of 2 O, B-PER, I-PER "
        "- override with --format",
        "2 columns, separated by tabs: token='word', tag='tag' - override with --token-column/--tag-column",
    )


def test_nothing_given_is_guessed(write):
    options = TagOptions("columns", tag_column="2", token_column="1")
    assert read_tagged(write("a.txt", NER), options).notes == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("\t", "\t ").replace("\n", "  \n"),
        lambda text: "\n\n" + text + "\n\n\n",
    ],
)
def test_line_ends_marks_and_spaces(write, change):
    expected = read_tagged(write("a", NER)).items
    sentences = read_tagged(write("b", change(NER))).items
    assert [(s.tokens, s.tags) for s in sentences] == [(s.tokens, s.tags) for s in expected]


def test_compressed_files_and_standard_input(write, monkeypatch):
    expected = read_tagged(write("a", NER)).items
    assert read_tagged(write("a.gz", gzip.compress(NER.encode()))).items == expected
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(NER.encode()))))
    assert read_tagged("-").items == expected


def test_empty_files(write, fails):
    def read(path):
        return read_tagged(path).items

    assert fails(read, write("a", ""))[0] == "HW103"
    assert fails(read, write("b", "\n \n"))[0] == "HW259"
    assert fails(read, write("c", b"Tom\tO\xe9\n"))[:2] == ("HW105", 1)


def test_members_of_a_zip_are_documents(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("b.txt", NER)
        file.writestr("a.txt", "Jo\tO\n\n" + NER)
        file.writestr("README", "no")
    data = read_tagged(f"{path}!*.txt")
    assert [s.tokens[0] for s in data.items] == ["Jo", "Tom", "He", "Tom", "He"]
    assert data.documents == (0, 3)
    assert data.files == ((f"{path}!a.txt", 0), (f"{path}!b.txt", 3))
    assert data.where(4, 1) == f"{path}!b.txt:5"
    assert read_tagged(f"{path}!b.txt").documents == ()


def test_documents(write):
    data = read_tagged(write("a", "a O\nb B-x\n\n-DOCSTART- O\n\n-DOCSTART- O\nc O\n\nd O\n\n-DOCSTART- O"))
    assert [s.tokens for s in data.items] == [("a", "b"), ("c",), ("d",)]
    assert data.documents == (0, 1)


def test_a_zero_for_the_letter(write):
    path = write("a", BLOCK * 4 + "x\tO\ny\t0\nz\t0\n")
    with pytest.raises(
        Exception, match=r"HW252.*:34: the tag '0' of the token 'y'; .* write 'O'"
    ) as caught:
        read_tagged(path)
    assert caught.value.line == 34
    errors = []
    data = read_tagged(path, on_error=errors.append)
    assert (len(data.items), data.skipped, [e.line for e in errors]) == (8, 1, [34])
    assert data.notes[-1] == "sentences left out, as they cannot be used: 1"


def test_a_tag_without_a_prefix(write, fails):
    assert fails(lambda p: read_tagged(p).items, write("a", BLOCK * 4 + "x\tPER\n")) == (
        "HW252",
        33,
        None,
    )


def test_the_first_sentence_of_a_document_may_be_left_out(write):
    text = "-DOCSTART- O\n\nx 0\n\n" + "a O\nb B-x\n\n" * 9 + "-DOCSTART- O\n\nc O\n"
    data = read_tagged(write("a", text), on_error=lambda error: None)
    assert data.documents == (0, 9)


def test_entities_that_go_on_unopened_are_a_finding(write):
    data = read_tagged(write("a", BLOCK * 3 + "x\tO\ny\tI-ORG\n"))
    (finding,) = data.findings
    assert (finding.severity, finding.code) == ("warning", "HW253")
    assert finding.where == (f"{data.path}:26",)
    assert "1 entity goes on where none has begun, first 'I-ORG'" in finding.message
    assert finding.fix == "write 'B-ORG' for the first token of an entity"
    many = read_tagged(write("b", BLOCK * 30 + "x\tO\ny\tI-ORG\n\n" * 8)).findings[0]
    assert (len(many.where), many.where[-1]) == (6, "and 3 more")


def test_iob1_is_none(write):
    assert read_tagged(write("a", NER.replace("B-", "I-"))).findings == ()


def test_without_labels(write):
    data = read_tagged(write("a", "Tom\nran\n\nHe\n"), TagOptions("columns"), labelled=False)
    assert [(s.tokens, s.tags) for s in data.items] == [(("Tom", "ran"), ()), (("He",), ())]
    assert data.columns.tag is None
    assert read_tagged(write("b", NER + "\nx\t0"), labelled=False).tags["0"] == 1


def test_other_formats(write):
    conllu = "1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_\n"
    data = read_tagged(write("a.conllu", conllu))
    assert (data.format, data.tags) == ("conllu", {"INTJ": 1})
    assert data.columns == TagColumns("form", "upos", "head", ("xpos", "feats", "deprel", "lemma"))
    assert "tags are those of the column upos - override with --tag-column" in data.notes
    assert read_tagged(write("a.conllu", conllu), TagOptions(tag_column="deprel")).tags == {"root": 1}
    slash = read_tagged(write("b", "The/DT dog/NN ran/VBD ./.\nA/DT cat/NN"))
    assert (slash.format, slash.tags["DT"], slash.where(1, 1)) == ("slash", 2, f"{slash.path}:2")
    trees = read_tagged(write("c.mrg", "(S (DT The)\n (NN dog))"))
    assert (trees.format, trees.tags, trees.entities) == ("trees", {"DT": 1, "NN": 1}, {})
    with pytest.raises(ConfigError, match="no tag column to choose in trees"):
        read_tagged(write("c.mrg", "(S (DT The))"), TagOptions(tag_column="2"))
    with pytest.raises(ConfigError, match="no head column to choose in conllu"):
        read_tagged(write("a.conllu", conllu), TagOptions(head_column="7"))


def test_readers_of_all_tasks_do_without_torch():
    modules = ", ".join(
        f"headwise.data.readers.{name}" for name in ("bags", "pair_files", "streams", "tagged_files")
    )
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_encoding(write):
    path = write("a", "café\tO\nTom\tB-PER\n".encode("latin-1"))
    assert read_tagged(path, TagOptions(encoding="latin-1")).items[0].tokens[0] == "café"
    assert read_tagged(path, TagOptions(encoding_errors="replace")).items[0].tokens[0] == "caf\ufffd"


def test_the_scheme_of_much_chinese_is_read_as_bioes(write):
    path = write("a.conll", "高\tB-NAME\n大\tM-NAME\n山\tE-NAME\n是\tO\n\n他\tS-NAME\n在\tO\n\n")
    data = read_tagged(path)
    assert [sentence.tags for sentence in data.items] == [
        ("B-NAME", "I-NAME", "E-NAME", "O"),
        ("S-NAME", "O"),
    ]
    assert "tags of the scheme BMES, read as BIOES: I for M (and S for W)" in data.notes
    assert data.entities == {"NAME": 2}


@pytest.mark.parametrize(
    ("tags", "message", "fix"),
    [
        ("O O O O B_x I_x", "tags such as 'B_x' mark no spans", "write 'B-x' for 'B_x' to have spans"),
        (
            "O O O O O x",
            "'x', without B- or I-, mark no spans.*the 83% of the words",
            "write 'I-x' for 'x'",
        ),
        ("O NN NN VB DT x", None, None),
    ],
)
def test_tags_that_are_meant_to_mark_spans_but_do_not_are_told(write, tags, message, fix):
    """What is learnt is words one by one, and an accuracy that most of all O has."""
    path = write("a.conll", "".join(f"w{n}\t{tag}\n" for n, tag in enumerate(tags.split())) * 2)
    scheme_findings = [
        finding
        for finding in read_tagged(path, TagOptions(format="columns")).findings
        if finding.code == "HW248"
    ]
    assert bool(scheme_findings) == bool(message)
    for finding in scheme_findings:
        assert re.search(message, finding.message)
        assert finding.fix.startswith(fix)


@pytest.mark.parametrize("header", ["", "sentence,token,tag\n"])
def test_equal_tokens_and_tags_are_one_object(write, header):
    """Millions of sentences hold few different words."""
    rows = [f"{number},Paris,B-LOC\n{number},slept,O\n" for number in range(5)]
    text = header + "".join(rows) if header else "Paris\tB-LOC\nslept\tO\n\n" * 5
    sentences = read_tagged(write("a.csv" if header else "a.txt", text)).items
    assert [sentence.tokens for sentence in sentences] == [("Paris", "slept")] * 5
    assert len({id(word) for sentence in sentences for word in (*sentence.tokens, *sentence.tags)}) == 4
