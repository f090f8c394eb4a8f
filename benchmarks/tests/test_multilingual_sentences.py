"""Sentences of programs: catalogues in wheels, without markup, names of variables and short labels."""

import json
import zipfile

import pytest

GERMAN = """
msgid ""
msgstr "Content-Type: text/plain; charset=utf-8"

msgid "save"
msgstr "Speichern"

msgid "Do you want to save %(name)s?"
msgstr "Möchten Sie <b>%(name)s</b> jetzt speichern?"

#, fuzzy
msgid "Not sure about this one"
msgstr "Das ist nicht sicher richtig"

msgid "not translated at all"
msgstr ""

msgid "One file was removed"
msgid_plural "Many files were removed"
msgstr[0] "Eine Datei wurde gelöscht"
msgstr[1] "Viele Dateien wurden gelöscht"
"""


@pytest.fixture
def wheels(tmp_path):
    """A folder with a wheel that has catalogues in German, Chinese and Danish."""
    with zipfile.ZipFile(tmp_path / "a-1-py3-none-any.whl", "w") as archive:
        archive.writestr("a/locale/de_DE/LC_MESSAGES/django.po", GERMAN)
        archive.writestr("a/locale/da/LC_MESSAGES/django.po", GERMAN)
        archive.writestr(
            "a/locale/zh-CN/a.json", json.dumps({"x": ["请 选择一个文件夹", {"y": "删除"}], "n": 1})
        )
        archive.writestr("a/locale/fr/broken.json", "{")
        archive.writestr("a/data/de/rows.json", json.dumps(["das ist kein Text eines Programms"]))
    return tmp_path


def test_translated_sentences_are_read(wheels, capsys):
    pytest.importorskip("babel")
    from benchmarks.defaults.multilingual_sentences import program_sentences

    sentences = program_sentences(wheels)
    assert sorted(sentences["de"]) == [
        "Eine Datei wurde gelöscht",
        "Möchten Sie jetzt speichern?",
        "Viele Dateien wurden gelöscht",
    ]
    assert sentences["zh"] == ["请 选择一个文件夹"]
    assert sentences["fr"] == []
    assert "da" not in sentences
    assert "broken.json: not read" in capsys.readouterr().out


def test_a_folder_without_wheels_is_named(tmp_path):
    from benchmarks.defaults.multilingual_sentences import program_sentences

    with pytest.raises(SystemExit, match=r"no wheels in .*missing"):
        program_sentences(tmp_path / "missing")
