"""Words of texts, cached within a training run."""

from headwise.core.tokenizer import TOKENIZERS, NormalizingTokenizer, WhitespaceTokenizer, remembered_words


class CountingTokenizer(WhitespaceTokenizer):
    """A tokenizer that counts its calls."""

    def __init__(self):
        self.calls = 0

    def words(self, text: str) -> list[str]:
        self.calls += 1
        return super().words(text)


def test_a_text_is_cut_once_up_to_the_limit():
    counting = CountingTokenizer()
    tokenizer = NormalizingTokenizer(counting)
    with tokenizer.caching(most=5), tokenizer.caching():
        for _ in range(3):
            assert tokenizer.words("one two three") == ["one", "two", "three"]
            assert tokenizer.words("four five six") == ["four", "five", "six"]  # beyond the limit
        assert counting.calls == 1 + 3
    tokenizer.words("one two three")
    assert counting.calls == 5


def test_a_changed_list_changes_no_other():
    with remembered_words():
        for _ in range(3):
            words = TOKENIZERS["penn"].words("don't stop")
            assert words == ["do", "n't", "stop"]
            words.clear()
