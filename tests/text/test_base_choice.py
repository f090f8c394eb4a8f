"""The choice of a base by the language of texts, and bases of several languages."""

import json

import numpy as np
import pytest

from headwise.core.tokenizer import get_tokenizer
from headwise.text.static_embeddings import base_choice
from headwise.text.static_embeddings.base_choice import choose_base, language_of, vectors_of_texts
from headwise.text.static_embeddings.base_folder import save_base
from headwise.text.static_embeddings.base_vectors import BaseError, QuantizedMatrix, StaticEmbeddings
from headwise.text.static_embeddings.installed_bases import find_base, open_base

ENGLISH = ["the", "film", "was", "not", "good", "and", "i", "did", "not", "like", "it"]
GERMAN = ["der", "film", "war", "nicht", "gut", "und", "ich", "mag", "ihn", "nicht"]
FRENCH = ["le", "film", "est", "pas", "bon", "et", "je", "ne", "aime", "pas"]
WORDS = {"english": ENGLISH, "german": GERMAN, "french": FRENCH}


def write_base(folder, name, words, *, size=4, space="one"):
    words = tuple(dict.fromkeys(words))
    rows = np.random.default_rng(len(words)).normal(size=(len(words), size)).astype(np.float32)
    runs = QuantizedMatrix.of(rows[:2])
    weights = np.arange(1, len(words) + 2, dtype=np.float32)
    base = StaticEmbeddings(name, words, QuantizedMatrix.of(rows), runs, weights, {"space": space})
    save_base(base, folder / name, "#\n")


@pytest.fixture
def bases(tmp_path, monkeypatch):
    """A folder of bases that HEADWISE_BASES names; there are no others."""
    place = "headwise.text.static_embeddings.installed_bases."
    monkeypatch.setattr(place + "bundled_bases", dict)
    monkeypatch.setattr(place + "_places", lambda: [tmp_path / "bases"])
    for name, words in WORDS.items():
        write_base(tmp_path / "bases", name, words)
    return tmp_path / "bases"


@pytest.mark.parametrize("name", WORDS)
def test_texts_begin_with_the_base_of_their_language(bases, name):
    base, note = choose_base("auto", [WORDS[name]] * 3)
    assert base is not None
    assert base.name == name
    assert f"the base {name}, which covers 100 %" in note


@pytest.mark.parametrize(("texts", "read"), [([ENGLISH] * 2, 1), ([ENGLISH, GERMAN], 3)])
def test_bases_that_cannot_be_chosen_are_not_read(bases, monkeypatch, texts, read):
    folders = []
    read_words = base_choice.read_word_list
    monkeypatch.setattr(
        base_choice, "read_word_list", lambda folder: folders.append(folder) or read_words(folder)
    )
    choose_base("auto", texts)
    assert len(folders) == read


def test_a_quarter_in_another_language_brings_its_base_too(bases):
    base, note = choose_base("auto", [GERMAN, GERMAN, GERMAN, FRENCH])
    assert base is not None
    assert base.name == "german+french"
    assert "100 %" in note
    assert {"nicht", "bon"} <= set(base.words)


def test_english_in_mixed_texts_needs_its_base_in_the_common_space(bases):
    texts = [ENGLISH, ENGLISH, ENGLISH, GERMAN]
    base, _ = choose_base("auto", texts)
    assert base is not None
    assert base.name == "english"
    write_base(bases, "english-shared", ENGLISH)
    base, _ = choose_base("auto", texts)
    assert base is not None
    assert base.name == "english-shared+german"
    base, _ = choose_base("auto", [ENGLISH])
    assert base is not None
    assert base.name == "english"


def test_another_language_does_not_begin_with_the_english_base(tmp_path, monkeypatch):
    place = "headwise.text.static_embeddings.installed_bases."
    monkeypatch.setattr(place + "bundled_bases", lambda: {"english": tmp_path / "english"})
    monkeypatch.setattr(place + "_places", list)
    write_base(tmp_path, "english", [*ENGLISH, "le", "je", "pas", "film", "et"])
    base, note = choose_base("auto", [FRENCH])
    assert base is None
    assert "the texts look French, and no base 'french' is installed (copy it" in note
    names = [["film", "le", "london", "it"]] * 3
    assert choose_base("auto", names)[0] is not None


def test_unlisted_words_of_no_language_have_no_base(bases):
    base, note = choose_base("auto", [["qwx", "zzk", "good"]])
    assert base is None
    assert "english covers only 33 % of the words" in note


def test_merged_bases_keep_the_vectors_and_weights_of_each(bases):
    merged, german, french = open_base("german+french"), open_base("german"), open_base("french")
    assert merged.words[: len(german.words)] == german.words
    assert merged.words.count("film") == 1
    for word, base in (("film", german), ("gut", german), ("bon", french)):
        for actual, expected in zip(merged.vectors([word]), base.vectors([word]), strict=True):
            assert np.array_equal(actual, expected)
    assert np.array_equal(merged.vectors(["xyz"])[0], german.vectors(["xyz"])[0])


def test_bases_of_different_spaces_are_not_merged(bases):
    write_base(bases, "dutch", ["niet"], space="another")
    with pytest.raises(BaseError, match="different vector spaces") as error:
        open_base("german+dutch")
    assert error.value.code == "HW803"


def test_a_missing_base_of_several_is_named(bases):
    with pytest.raises(BaseError, match=r"'klingon'.*german") as error:
        open_base("german+klingon")
    assert error.value.code == "HW801"


def test_a_damaged_base_is_an_error_only_where_it_is_chosen(bases):
    path = bases / "french" / "words.json"
    path.write_text(json.dumps([word.upper() for word in json.loads(path.read_text())]))
    base, _ = choose_base("auto", [GERMAN])
    assert base is not None
    with pytest.raises(BaseError, match="damaged") as error:
        choose_base("french", [FRENCH])
    assert error.value.code == "HW802"


def test_bases_are_found_by_the_variable_before_the_users_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "data"))
    monkeypatch.delenv("HEADWISE_BASES", raising=False)
    users = tmp_path / "data" / "headwise" / "bases"
    write_base(users, "elvish", ["mellon"])
    assert find_base("elvish") == users / "elvish"
    write_base(tmp_path / "bases", "elvish", ["mellon"])
    monkeypatch.setenv("HEADWISE_BASES", str(tmp_path / "bases"))
    assert find_base("elvish") == tmp_path / "bases" / "elvish"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("english", "I do not know what it is but we like it"),
        ("german", "Ich weiß nicht, ob das der richtige Weg für uns ist"),
        ("french", "Je ne sais pas si c'est bien, mais nous sommes dans la ville"),
        ("spanish", "No sé si está bien, pero la casa es muy grande y me gusta"),
        ("portuguese", "Eu não sei se está bem, mas a casa é muito grande"),
        ("italian", "Non so se va bene, ma la casa è molto grande e mi piace"),
        ("russian", "Я не знаю, что это, но мне очень нравится"),
        ("ukrainian", "Я не знаю, що це, але мені дуже подобається"),
        ("turkish", "Bu çok güzel bir film ama sonu bana göre değil"),
    ],
)
def test_the_language_of_a_sentence(language, text):
    words = text.replace(",", " ,").split()
    assert language_of({word: words.count(word) for word in words}) == language


def test_names_have_no_language():
    assert language_of({"Berlin": 3, "Paris": 2, "Tokyo": 1}) is None
    assert language_of({}) is None


def test_vectors_of_texts_are_those_of_each_text_alone(bases, monkeypatch):
    monkeypatch.setattr(base_choice, "_READ_AT_ONCE", 60)  # characters
    texts = ["The film was not good.", "", "I did unlistedly like it", "?!", "the the good"] * 4
    vectors, _ = vectors_of_texts(texts, "english")
    base = open_base("english")
    for text, vector in zip(texts, vectors, strict=True):
        words, weights = base.vectors(get_tokenizer("penn").words(text))
        total = (words * weights[:, None]).sum(axis=0) if len(words) else np.zeros(4)
        np.testing.assert_allclose(vector, total / max(np.linalg.norm(total), 1e-12), atol=1e-6)
    assert vectors_of_texts([], "english")[0].shape == (0, 4)


def test_the_vector_of_a_word_is_the_mean_of_its_rows(bases):
    base = open_base("english")
    words = ["film", "unlistedly", "good"]
    tables = [table.values * table.scales[:, None] for table in (base.table, base.subwords)]
    rows = np.concatenate(tables)
    means = [rows[base.compositions([word]).rows].mean(axis=0) for word in words]
    np.testing.assert_allclose(base.vectors(words)[0], means, atol=1e-6)
