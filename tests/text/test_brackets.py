import pytest

from headwise.text.parse_files import constituency_heads, read_parses
from headwise.text.syntax import ParseError


@pytest.mark.parametrize(
    ("tree", "words", "heads"),
    [
        ("", "", []),
        ("(2 It)", "It", [0]),
        ("(3 (2 It) (4 works))", "It works", [0, 1]),
        ("(0 (1 (2 a) (3 b)) (4 c))", "a b c", [0, 3, 1]),
        ("(0 (1 a) (2 (3 b) (4 c)))", "a b c", [0, 1, 2]),
        ("(S a b c)", "a b c", [0, 1, 2]),
        ("( (S (NP (DT a) (NN b)) (VP c)) )", "a b c", [0, 3, 1]),
        ("(0 (0 a b) (0 c d))", "a b c d", [0, 3, 1, 3]),
        ("(0 (0 a b) (0 c d) (0 e f))", "a b c d e f", [0, 3, 1, 5, 3, 5]),
    ],
)
def test_heads(tree, words, heads):
    actual, numbers = constituency_heads(tree)
    assert (" ".join(actual), numbers.tolist()) == (words, heads)


@pytest.mark.parametrize("tree", ["(a b", "a", "(a b))", "(a ())", "(a b) (c d)", ")"])
def test_brackets_that_do_not_fit(tree):
    with pytest.raises(ParseError, match=r"f:3: .*expected one tree"):
        constituency_heads(tree, "f:3")


def test_files(tmp_path):
    path = tmp_path / "a.brackets"
    path.write_text("(3 (2 It) (4 works))\n(2 Yes)\n")
    assert [parse.tolist() for parse in read_parses(str(path), [["It", "works"], ["Yes"]])] == [[0, 1], [0]]
    path = path.rename(tmp_path / "a.txt")
    assert [parse.tolist() for parse in read_parses(str(path))] == [[0, 1], [0]]
    with pytest.raises(ParseError, match="word 1 of the parse is 'Yes', of the text 'No'"):
        read_parses(str(path), [["It", "works"], ["No"]])
    with pytest.raises(ParseError, match="2 lines for 3 texts"):
        read_parses(str(path), [["It", "works"], ["Yes"], ["No"]])
