import numpy as np
import pytest

from headwise.text.vocabulary import Coverage, VectorsError, Vocabulary, WordVectors, coverage, matrix_for


def test_lookup_falls_back_from_exact_to_lower_to_plain():
    words = ["The", "the", "paris", "(", '"', "isn't"]
    vectors = WordVectors(words, np.arange(6, dtype=np.float32)[:, None])
    matched = {word: vectors.row(word) for word in ["The", "THE", "Paris", "-LRB-", "``", "Isn’t", "x"]}
    assert matched == {"The": 0, "THE": 1, "Paris": 2, "-LRB-": 3, "``": 4, "Isn’t": 5, "x": None}
    assert "-LRB-" in vectors
    assert "x" not in vectors
    assert (len(vectors), vectors.size) == (6, 1)


def test_lookup_falls_back_to_what_is_spelled_alike_but_for_case():
    vectors = WordVectors(["Paris", "``", "PARIS", "NATO"], np.arange(4, dtype=np.float32)[:, None])
    matched = {word: vectors.row(word) for word in ["paris", "PARIS", "Nato", '"', "rome"]}
    assert matched == {"paris": 0, "PARIS": 2, "Nato": 3, '"': 1, "rome": None}
    vocabulary = Vocabulary.build([["paris"]], extra_words=vectors.words)
    assert vocabulary.words == ("<unk>", "paris", '"', "nato")
    matrix, has_vector = matrix_for(vocabulary, vectors, seed=0)
    assert has_vector.tolist() == [False, True, True, True]
    assert matrix[1:, 0].tolist() == [0, 1, 3]


def test_words_must_fit_the_matrix():
    with pytest.raises(VectorsError, match="one row a word"):
        WordVectors(["a"], np.zeros((2, 1), dtype=np.float32))


def test_coverage_counts_types_and_tokens():
    vectors = WordVectors(["a", "b"], np.zeros((2, 1), dtype=np.float32))
    result = coverage(vectors, {"a": 5, "B": 1, "c": 2})
    assert result == Coverage(types_found=2, types=3, tokens_found=6, tokens=8)
    assert str(result) == "tokens 75.0 % (6 of 8), types 66.7 % (2 of 3)"
    assert str(coverage(vectors, {})) == "tokens 0.0 % (0 of 0), types 0.0 % (0 of 0)"


def test_matrix_for_a_vocabulary():
    rng = np.random.default_rng(1)
    vectors = WordVectors([f"w{i}" for i in range(300)], rng.normal(3, 2, (300, 50)).astype(np.float32))
    texts = [[f"w{i}" for i in range(0, 300, 2)] + [f"new{i}" for i in range(200)]]
    vocabulary = Vocabulary.build(texts)
    matrix, matched = matrix_for(vocabulary, vectors, seed=4, scale=0.5)
    assert matrix.shape == (351, 50)
    assert matrix.dtype == np.float32
    for word, row, has_vector in zip(vocabulary.words, matrix, matched, strict=True):
        assert has_vector == (word in vectors)
        if has_vector:
            np.testing.assert_array_equal(row, vectors.matrix[vectors.row(word)])
    np.testing.assert_allclose(matrix[0], matrix[matched].mean(axis=0), rtol=1e-5)
    drawn = matrix[1:][~matched[1:]]
    assert abs(drawn.mean()) < 0.05
    assert drawn.std() == pytest.approx(0.5 * matrix[matched].std(), rel=0.03)
    np.testing.assert_array_equal(matrix, matrix_for(vocabulary, vectors, seed=4, scale=0.5)[0])
    assert (matrix != matrix_for(vocabulary, vectors, seed=5, scale=0.5)[0]).any()


def test_matrix_for_words_of_which_none_is_found():
    vectors = WordVectors(["a", "<unk>"], np.array([[1.0, 3.0], [5.0, 7.0]], dtype=np.float32))
    matrix, matched = matrix_for(Vocabulary.build([["x"]]), vectors, seed=0)
    assert matched.tolist() == [True, False]
    assert matrix[0].tolist() == [5.0, 7.0]
    vectors = WordVectors(["a"], np.array([[1.0, 3.0]], dtype=np.float32))
    matrix, matched = matrix_for(Vocabulary.build([["x"] * 3]), vectors, seed=0)
    assert not matched.any()
    assert matrix[0].tolist() == [0.0, 0.0]
    assert np.isfinite(matrix).all()
    assert (matrix[1] != 0).all()
    nothing = WordVectors([], np.empty((0, 400), dtype=np.float32))
    matrix, matched = matrix_for(Vocabulary.build([["x"]]), nothing, seed=0, scale=0.1)
    assert matrix[1].std() == pytest.approx(0.1, rel=0.15)
