"""Explanations as pages: text stays text."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from markupsafe import Markup

from headwise.core.html import escape_html, notebook_html, render
from headwise.models.explanation import ColumnAttribution, Explanation, SurfaceAttribution, WordAttribution

TEXT = '<script>alert("1")</script> & fine\x00\x1b[31m'


def explanation() -> Explanation:
    words = tuple(
        WordAttribution(TEXT[start:end], start, end, share, {})
        for start, end, share in ((0, 8, 1.0), (28, 29, -0.5), (30, 34, 0.01))
    )
    return Explanation(0, (TEXT,), "<b>", 0.75, 1.0, 0.49, words)


def test_markup_stays_text():
    html = explanation().to_html()
    assert "<script" not in html
    assert "<b>" not in html
    assert '<mark class="hw-for" style="--s:1.00" title="+1.00">&lt;script&gt;</mark>' in html
    assert '<mark class="hw-against" style="--s:0.50" title="-0.50">&amp;</mark> fine[31m' in html


def test_a_word_that_nobody_sees_is_spelt_out():
    html = replace(explanation(), removed_words=("\u200b", "a\u200bb"), value_after_removal=0.041).to_html()
    assert '"<bdi>\\u200b</bdi>", "<bdi>a\u200bb</bdi>": 4.1 %' in html


@pytest.mark.parametrize(
    ("prediction", "value", "shown"),
    [("3.25", 2.716, "2.72"), ("1.23457e-14", 9.8765432e-15, "9.87654e-15")],
)
def test_a_number_without_words_has_the_digits_of_the_prediction(prediction, value, shown):
    of_number = replace(explanation(), prediction=prediction, probability=None, value_after_removal=value)
    assert of_number.remaining == shown


def test_of_a_long_text_is_shown_what_is_around_what_is_explained():
    """Notes of a ward have sixty sentences a line and as many doses: a page had all of them for each."""
    text = " ".join(f"w{n:03}" for n in range(200))
    words = tuple(WordAttribution(f"w{n:03}", 5 * n, 5 * n + 4, float(n == 100), {}) for n in range(200))
    for about, shown in (
        ((500, 509), f"… {text[375:634]} …"),  # two words in the middle
        ((0, 4), f"{text[:129]} …"),
        ((995, 999), f"… {text[870:]}"),
        (None, text),
    ):
        explained = Explanation(0, (text,), "DOSE", 0.75, 1.0, 0.49, words, about)
        [rows] = explained.pieces()
        assert "".join(before + (word.word if word else "") for before, word, _ in rows) == shown
        assert ("w199" in explained.to_html(), len(explained.to_json()["words"])) == ("w199" in shown, 200)


def test_words_that_run_from_right_to_left_do_not_turn_what_stands_beside_them():
    word = "\u05d0\u05d1\u05d2"
    changed = replace(explanation(), prediction=word, removed_words=(word, "b"), value_after_removal=0.041)
    html = changed.to_html()
    assert f"<h3><bdi>{word}</bdi> 75.0 %</h3>" in html
    assert f'<bdi>{word}</bdi> without "<bdi>{word}</bdi>", "<bdi>b</bdi>": 4.1 %</p>' in html
    assert "<bdi>&lt;b&gt;</bdi>" in explanation().to_html()
    assert changed.tail == f'{word} without "{word}", "b": 4.1 %'
    assert "unicode-bidi: plaintext" in notebook_html(html)


def test_words_are_ranked_with_all_their_places():
    words = tuple(
        WordAttribution(word, n, n + 1, share, {})
        for n, (word, share) in enumerate([("a", 0.4), ("b", 0.5), ("a", 0.3), ("c", -1.0)])
    )
    explained = Explanation(0, ("abac",), "x", None, 1.0, 0.8, words)
    assert [word for word, _ in explained.first()] == ["a", "b"]
    assert explained.strongest_against() == [("c", -1.0)]
    assert explained.head == "x"


def test_the_form_has_a_share_and_a_name():
    shares = np.array([0.5, -0.2, -3.0, 0.1, 0, 0, 0, -1.0, 0, 0])
    form = SurfaceAttribution.of(shares)
    assert (form.strongest, form.attribution) == ("capitals", pytest.approx(-3.6))
    assert SurfaceAttribution.of(-shares).strongest == "capitals"
    shares[7] = 9.0  # the other way, and stronger
    assert SurfaceAttribution.of(shares).summary == "surface features: line ends +6.40"
    changed = replace(explanation(), surface_features=form)
    assert '<p class="hw-note">surface features: capitals -3.60</p>' in changed.to_html()
    expected = {"strongest": "capitals", "attribution": form.attribution}
    assert changed.to_json()["surface_features"] == expected
    assert "surface_features" not in explanation().to_json()


def test_a_page_is_whole_by_itself():
    html = render("page.html.jinja", title="<title>", body=Markup(explanation().to_html()))
    assert "<title>&lt;title&gt;</title>" in html
    assert "http" not in html
    assert "src=" not in html
    assert explanation()._repr_html_().startswith('<div class="hw"><style>')


def test_what_no_page_can_hold_is_left_out():
    assert escape_html("a\x00\ud800\ufffeb") == "ab"


def test_the_old_name_of_an_attribution_works_for_one_more_release():
    with pytest.warns(DeprecationWarning, match="attribution"):
        old = ColumnAttribution("price", "12", share=0.5)
    assert old == ColumnAttribution("price", "12", 0.5)
    assert old.share == old.attribution == 0.5
    assert asdict(old) == {"name": "price", "value": "12", "attribution": 0.5}
