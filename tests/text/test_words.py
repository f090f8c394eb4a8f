"""From texts to what a model reads of them, parses included."""

import numpy as np
import pytest

from headwise.core.errors import ConfigError
from headwise.data.items.examples import Example
from headwise.text.syntax import ParseError
from headwise.text.text_features import TextFeatures
from headwise.text.vocabulary import Vocabulary

WORDS = Vocabulary.build([["a", "b", "c"]])


def features(**settings) -> TextFeatures:
    return TextFeatures("whitespace", WORDS, **settings)


def heads_of(encoded) -> list:
    return [None if text.parse is None else text.parse.tolist() for text in encoded]


def test_strings_and_examples_are_texts():
    encoded = features().encode(["a z", Example("a z", "label", 7)])
    assert [text.words.tolist() for text in encoded] == [[WORDS.encode(["a"])[0], 0]] * 2
    assert encoded[0].spelling is None


@pytest.mark.parametrize("text", [None, float("nan"), 3, b"a", ["a", "z"]])
def test_what_is_no_text(text):
    with pytest.raises(ConfigError, match="expected a text, got"):
        features().encode(["a z", text])


def test_the_spelling_is_kept_on_request():
    def character_encoder(texts):
        return [[word.upper() for word in words] for words in texts]

    assert [
        text.spelling for text in features(character_encoder=character_encoder).encode(["a Z", ""])
    ] == [["A", "Z"], []]


def test_parses_that_nothing_reads_are_passed_over():
    assert heads_of(features().encode([Example("a b", parse=[9])])) == [None]


def test_a_parse_comes_with_the_text():
    examples = [Example("a b", parse=[2, 0]), Example("", parse=[])]
    assert heads_of(features(trees="error").encode(examples)) == [[2, 0], []]


def test_a_text_without_a_parse_is_an_error_that_says_what_to_do():
    with pytest.raises(
        ParseError,
        match=r"line 3: no parse.*--parses.*--syntax.pipeline.* --pipeline.*word.*{'tree_fallback': ",
    ) as error:
        features(trees="error").encode([Example("a b", line=2, parse=[2, 0]), Example("a", line=3)])
    assert error.value.code == "HW235"


def test_on_request_it_gets_a_chain():
    examples = [Example("a b c"), Example("a b", parse=[2, 0]), Example("")]
    assert heads_of(features(trees="word").encode(examples)) == [[0, 1, 2], [2, 0], []]


def test_a_parser_sees_only_the_texts_without_a_parse():
    seen = []

    def parser(texts):
        seen.extend(texts)
        return [np.zeros(len(words), dtype=np.int64) for words in texts]

    examples = [Example("a b"), Example("a b", parse=[2, 0]), Example("c")]
    assert heads_of(features(trees="error", parser=parser).encode(examples)) == [[0, 0], [2, 0], [0]]
    assert seen == [["a", "b"], ["c"]]


@pytest.mark.parametrize("heads", [[0], [2, 0, 1], [2, 1]])
def test_a_parse_that_does_not_fit_is_located(heads):
    with pytest.raises(ParseError, match="line 5: "):
        features(trees="error").encode([Example("a b", line=5, parse=heads)])
