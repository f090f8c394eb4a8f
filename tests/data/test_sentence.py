from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.data.items.examples import align


def test_tokens_are_found_in_their_order():
    assert align(["(", "And", ",", "a", "a"], "(And,  a\u00a0a ") == (
        (0, 1),
        (1, 4),
        (4, 5),
        (7, 8),
        (9, 10),
    )
    assert align([], "  ") == ()


def test_texts_that_are_not_the_tokens():
    assert align(["a", "c"], "a b c") is None
    assert align(["a"], "a b") is None
    assert align(["a", "b"], "a") is None


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1),
            st.sampled_from(["", " ", "\t\n"]),
        )
    )
)
@settings(max_examples=60, deadline=None)
def test_spans_cut_the_tokens_out(parts):
    tokens, text = [token for token, _ in parts], "".join(token + space for token, space in parts)
    spans = align(tokens, text)
    assert spans is not None
    assert [text[a:b] for a, b in spans] == tokens
