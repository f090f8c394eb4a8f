"""Split a text into words whose character offsets always index the original text.

`penn` writes English as the Penn Treebank does (`do n't`, `it 's`, `$ 5`, `Mr.`), which is what
most published word vectors expect, and also reads the informal text that reviews and messages
are made of: links, addresses, mentions, tags, emoji and emoticons are one token each.
`whitespace` is for text that is tokenised already.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Protocol
from unicodedata import normalize as unicode_normalize

from headwise.core.errors import ConfigError, close_names
from headwise.core.folder_layout import UNNORMALIZED
from headwise.core.lazy_pattern import lazy_regex
from headwise.core.text_normalization import normalize_text, original_spans


class Tokenizer(Protocol):
    """Cuts a text into words.

    `spans` are (start, end) character offsets into the text as given: sorted, not overlapping,
    never empty and never only whitespace; every character that is neither whitespace nor invisible
    is in one.
    """

    @property
    def name(self) -> str: ...

    def spans(self, text: str) -> list[tuple[int, int]]:
        """The offsets of the words of `text`."""
        ...

    def words(self, text: str) -> list[str]:
        """The words of `text`: `[normalize(text[start:end]) for start, end in spans(text)]`."""
        ...

    def normalize(self, text: str) -> str:
        """The spelling in which `text` is read; the text itself where it is read as written."""
        ...

    @property
    def looks_ahead(self) -> bool:
        """Whether the words of a piece between white space may depend on the text after it, where it ends
        with an initial (`J. Rowling`) or within an HTML tag."""
        ...


# U+001C..U+001F are whitespace to str.split and str.isspace, though not to Unicode.
_SPACE = r"\s\x1C-\x1F"
# Chinese and Japanese are written without spaces: one character is one token.
_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}"
# So are Thai, Lao, Khmer, Burmese and the Tai scripts: one orthographic cluster is one token.
_CLUSTER_LETTER = (
    r"[[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tai_Le}\p{New_Tai_Lue}\p{Tai_Tham}\p{Tai_Viet}]&&\p{L}]"
)
_VOWEL_BEFORE = r"[\u0E40-\u0E44\u0EC0-\u0EC4\u19B5-\u19B7\u19BA\uAAB5\uAAB6\uAAB9\uAABB\uAABC]"
_VOWEL_AFTER = r"\u0E30\u0E32\u0E33\u0E45\u0EB0\u0EB2\u0EB3\u0EBD"
_STACKER = r"[\u17D2\u1039\u1A60]"  # puts the next consonant below the last one
_UNSPACED = _CJK + _CLUSTER_LETTER
# Inside a word: marks (accents, Indic vowels), (non-)joiners, soft hyphen, word joiner.
_INNER = r"\p{M}\u200C\u200D\u00AD\u2060"
_START = rf"[[\p{{L}}\p{{N}}]--[{_UNSPACED}]]"
_PART = rf"{_START}[[\p{{L}}\p{{N}}{_INNER}]--[{_UNSPACED}]]*+"
_CLUSTER = (
    rf"{_VOWEL_BEFORE}{{0,2}}{_CLUSTER_LETTER}(?:{_STACKER}{_CLUSTER_LETTER}|[{_INNER}{_VOWEL_AFTER}])*+"
)
_NO_LETTER = r"(?![\p{L}\p{M}\p{N}])"
_CLITIC = rf"(?:[sSmMdD]|ll|LL|re|RE|ve|VE){_NO_LETTER}"
_JOIN = (
    rf"(?:[-/_·״׳\u2010\u2011](?={_START})"  # well-made, and/or, snake_case
    rf"|['’](?!{_CLITIC})(?={_START})"  # o'clock, rock'n'roll, but it 's
    r"|(?<=\p{Nd})[.,:](?=\p{Nd}))"  # 1,234.5   3.14   10:30
)
_DOMAIN = r"(?:[\p{L}\p{N}_\-]{1,63}+\.){1,8}"
_TLD = rf"(?:com|org|net|edu|gov|info|biz|co(?=\.\p{{L}}{{2}}))(?:\.\p{{L}}{{2}})?{_NO_LETTER}"
# The last character of a link is not punctuation: the comma after it belongs to the sentence.
_LINK = rf"[^{_SPACE}<>\"]*[^{_SPACE}<>\"'’”.,;:!?)\]}}]"
_ATTRIBUTE = r"\s++[\p{L}_:][\w:.\-]*+\s*+=\s*+(?:\"[^\"<>]*+\"|'[^'<>]*+'|[^\s\"'<>=]++)"
_EMOJI_TAIL = r"[\p{M}\p{Emoji_Modifier}\U000E0020-\U000E007F]*+"
_ABBREVIATIONS = (
    "mrs?|ms|dr|prof|jr|sr|st|vs|etc|inc|ltd|corp|gen|col|sgt|capt|lt|rev|hon|gov|sen|mt|ave"
    "|blvd|dept|approx|jan|feb|aug|sept|oct|nov|dec"
)

# Tried from top to bottom. Every repetition is possessive, bounded, or ends in a match that
# consumes what it read: time grows linearly with the text, whatever the text.
_PENN = [
    r"[A-Za-z]++(?=[ ,!?;)\"\n])",  # the common word, cheaply
    rf"[nN]['’][tT]{_NO_LETTER}",  # n't
    # the do of don't
    rf"[\p{{L}}--[{_UNSPACED}]][[\p{{L}}\p{{M}}]--[{_UNSPACED}]]*(?=[nN]['’][tT]{_NO_LETTER})",
    rf"{_PART}(?![-/_·״׳\u2010\u2011'’.,:@+#])",  # any other plain word
    rf"(?!\p{{L}}\.\p{{L}}\.){_CLUSTER}",  # but พ.ศ. is an abbreviation
    rf"(?i:https?://|ftp://|www\.){_LINK}",
    rf"[\p{{L}}\p{{N}}][\p{{L}}\p{{N}}_.+\-]{{0,63}}+@{_DOMAIN}\p{{L}}{{2,24}}+",  # e-mail
    rf"{_DOMAIN}(?i:{_TLD})(?:/(?:{_LINK})?)?",  # amazon.com
    rf"\p{{L}}(?:\.\p{{L}}{_NO_LETTER})+\.?(?!\.)",  # U.S.   e.g.   i.e
    rf"(?i:(?:{_ABBREVIATIONS}|ph\.d)\.)(?!\.)",
    r"[A-HJ-Z]\.(?=[ ]?[A-Z][\p{L}.])",  # J. K. Rowling
    r"[cC](?:\+\+|#)(?!\w)|[wW]/(?!\w)",  # C++, w/
    rf"{_PART}(?:{_JOIN}{_PART})*+",
    r"``|''",
    rf"['’](?:{_CLITIC}|(?i:em|cause|til|n|bout){_NO_LETTER}|\p{{Nd}}{{2}}s?{_NO_LETTER})",
    r"\.{2,}+",
    r"(?<![\p{L}\p{N}])\.\p{Nd}++",  # .5
    r"(?i:-[lr][rsc]b-)",  # -LRB-
    r"</?\p{L}[\w:\-]*+(?:" + _ATTRIBUTE + r")*+\s*+/?>|<!--+|-->",  # <br />
    r"</?3(?!\w)",
    r">?[:;=]['’]?[\-o^]?[)\]}]++|[:;=]['’]?[\-o^]?[(\[{]++(?!\w)",  # :-)   ;)   :'(
    r"(?<!\w)[:;=][\-o^]?[DPp/\\|](?!\w)|\^_*+\^|-_+-",  # :D   :-/   ^_^
    r"&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});",  # &amp;
    r"[@\#][\p{L}_][\p{L}\p{M}\p{N}_]*+",  # @mention, #hashtag
    r"\p{Regional_Indicator}{2}",  # flags
    rf"\p{{Extended_Pictographic}}{_EMOJI_TAIL}"
    rf"(?:\u200D\p{{Extended_Pictographic}}{_EMOJI_TAIL})*+",
    r"\*++|-{2,}+|=++|_++|~++|\+++|\#++|\$++",  # rules and emphasis: ****, ----
    rf"[^{_SPACE}][\p{{M}}\u200C\u200D]*+",  # one character, with its marks
]
_PLAINLY_PATTERN = lazy_regex(rf"[{_CJK}]|{_CLUSTER}|[^{_SPACE}{_UNSPACED}]++", version1=True)
_WHITESPACE_PATTERN = lazy_regex(rf"[^{_SPACE}]++")
_PENN_PATTERN = lazy_regex(rf"(?![{_SPACE}])(?:" + "|".join(_PENN) + ")", version1=True)
TOKEN_PATTERNS = {"penn": _PENN_PATTERN.pattern, "whitespace": _WHITESPACE_PATTERN.pattern}
"""The pattern of a word of each tokenizer."""
_INITIALS = frozenset("ABCDEFGHJKLMNOPQRSTUVWXYZ")
_CLITICS = frozenset(("s", "S", "m", "M", "d", "D", "ll", "LL", "re", "RE", "ve", "VE"))
_MARKS = frozenset(',!?;:)".')
_ABBREVIATED = frozenset(("mr", "mrs", *_ABBREVIATIONS.split("|")))
_CACHED, _LONGEST_CACHED = 1 << 15, 32


class _Chunks(dict[str, tuple[str, ...]]):
    """Cache from a chunk between whitespace to its words. Only initials (`J. Rowling`) and HTML tags depend
    on the text after whitespace: the former raise KeyError, the latter must not be looked up."""

    def __reduce__(self) -> tuple[type["_Chunks"], tuple[()]]:
        return _Chunks, ()  # copies and other processes begin without cached chunks

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        if ends_with_initial(chunk):
            raise KeyError(chunk)
        words = plain_words(chunk) or tuple(_PENN_PATTERN.findall(chunk))
        if len(self) < _CACHED and len(chunk) <= _LONGEST_CACHED:
            self[chunk] = words
        return words


class PennTokenizer:
    """English as the Penn Treebank writes it, with the tokens of informal text kept whole.

    Where the Treebank and the habits of published word vectors differ, the vectors win:
    - `cannot`, `gonna`, `wanna` stay whole; clitics split (`ca n't`, `it 's`, `we 'll`);
    - each of `!!!` is a token, a run of dots, dashes or asterisks is one token;
    - hyphens and slashes inside a word stay (`well-made`, `and/or`), `&`, `%`, `$` split off;
    - `Mr.`, `etc.`, `U.S.` and initials keep their full stop, also at the end of a sentence;
    - a full stop between words splits (`it.The` is three tokens), a web address does not;
    - an HTML tag such as `<br />` is one token, the only kind that can hold whitespace;
    - each Chinese or Japanese character is a token;
    - in Thai, Lao, Khmer, Burmese and the Tai scripts each cluster is a token: a letter with the vowels
      written before and after it, its marks, and the consonants stacked below it (`เมื่อ` is `เมื่` and
      `อ`). Words would need a dictionary;
    Text that is tokenised already comes out nearly unchanged. Time is linear in the text.
    """

    name = "penn"
    looks_ahead = True

    def __init__(self) -> None:
        self._chunks = _Chunks()

    def spans(self, text: str) -> list[tuple[int, int]]:
        """The (start, end) character offsets of the words of `text`."""
        spans, end = [], 0
        for word in self.words(text):  # between words is nothing but whitespace, with which none begins
            start = text.index(word, end)
            end = start + len(word)
            spans.append((start, end))
        return spans

    def words(self, text: str) -> list[str]:
        """The words of `text`."""
        if "<" not in text:
            try:
                return list(chain.from_iterable(map(self._chunks.__getitem__, text.split())))
            except KeyError:
                pass
        return _PENN_PATTERN.findall(text)

    def normalize(self, text: str) -> str:
        """The text itself."""
        return text


class WhitespaceTokenizer:
    """The pieces between whitespace, as `str.split` gives them."""

    name = "whitespace"
    looks_ahead = False

    def spans(self, text: str) -> list[tuple[int, int]]:
        """The (start, end) character offsets of the words of `text`."""
        return [match.span() for match in _WHITESPACE_PATTERN.finditer(text)]

    def words(self, text: str) -> list[str]:
        """The words of `text`."""
        return text.split()

    def normalize(self, text: str) -> str:
        """The text itself."""
        return text


class NormalizingTokenizer:
    """A tokenizer of texts in their normal spelling (`headwise.core.text_normalization`); its spans index
    the text as written.

    Args:
        tokenizer: Cuts the normal spelling of a text into words.
    """

    def __init__(self, tokenizer: Tokenizer):
        self._tokenizer, self.name = tokenizer, tokenizer.name
        self.looks_ahead = tokenizer.looks_ahead
        self._memo: dict[str, list[str]] | None = None
        self._free_words = 0

    def spans(self, text: str) -> list[tuple[int, int]]:
        """The (start, end) character offsets of the words of `text`."""
        normal = normalize_text(text)
        spans = self._tokenizer.spans(normal)
        return spans if normal == text else original_spans(text, spans)

    def words(self, text: str) -> list[str]:
        """The words of `text` in their normal spelling."""
        memo = self._memo
        if memo is not None and (words := memo.get(text)) is not None:
            return words.copy()
        words = self._tokenizer.words(normalize_text(text))
        if memo is not None and self._free_words >= len(words):
            memo[text] = words.copy()
            self._free_words -= len(words)
        return words

    @contextmanager
    def caching(self, most: int = 8_000_000) -> Generator[None]:
        """Cache the words of texts within this context, up to `most` words (8 bytes each): a training run
        cuts each text several times."""
        if self._memo is not None:
            yield
            return
        self._memo, self._free_words = {}, most
        try:
            yield
        finally:
            self._memo = None

    def normalize(self, text: str) -> str:
        """The normal spelling of `text`."""
        return normalize_text(text)


_TOKENIZERS = PennTokenizer(), WhitespaceTokenizer()
_NORMALIZING = [NormalizingTokenizer(tokenizer) for tokenizer in _TOKENIZERS]
TOKENIZERS: dict[str, Tokenizer] = {
    **{tokenizer.name: tokenizer for tokenizer in _NORMALIZING},
    **{tokenizer.name + UNNORMALIZED: tokenizer for tokenizer in _TOKENIZERS},
}


@contextmanager
def remembered_words() -> Generator[None]:
    """Keep the words of texts within this context (see `NormalizingTokenizer.caching`)."""
    penn, whitespace = _NORMALIZING
    with penn.caching(), whitespace.caching():
        yield


def ends_with_initial(piece: str) -> bool:
    """Whether a piece of text ends with an initial, `J.`, whose full stop may depend on what follows."""
    return piece.endswith(".") and piece[-2:-1] in _INITIALS


def plain_words(chunk: str) -> tuple[str, ...]:
    """The words that `PennTokenizer` finds in a chunk of ASCII letters and digits that may have hyphens, a
    clitic and a mark at its end; empty for other chunks. A text of such chunks needs no pattern, whose
    compilation takes as long as predicting it."""
    if not chunk.isascii():
        return ()
    mark = chunk[-1:] if chunk[-1:] in _MARKS else ""
    body, marks = chunk.removesuffix(mark), (mark,) if mark else ()
    if mark == "." and (len(body) < 2 or body.lower() in _ABBREVIATED):
        return ()
    if body.isalnum():
        return (body, *marks)
    stem, apostrophe, clitic = body.partition("'")
    if not apostrophe:
        return (body, *marks) if all(map(str.isalnum, body.split("-"))) else ()
    if stem.isalnum() and clitic in _CLITICS:
        return (stem, f"'{clitic}", *marks)
    if stem.isalpha() and len(stem) > 1 and stem[-1] in "nN" and clitic in ("t", "T"):
        return (stem[:-1], body[len(stem) - 1 :], *marks)
    return ()


def normalize_tokens(tokenizer: Tokenizer, tokens: Sequence[str]) -> Sequence[str]:
    """The tokens of a file, spelled as the tokenizer spells texts. A token of invisible characters alone is
    unchanged."""
    return [tokenizer.normalize(token) or token for token in tokens]


def get_tokenizer(name: str) -> Tokenizer:
    """The tokenizer called `name`.

    Raises:
        ConfigError: There is none of that name; the message names the nearest.
    """
    if name in TOKENIZERS:
        return TOKENIZERS[name]
    close = close_names(name.lower(), TOKENIZERS, cutoff=0.5)
    hint = f"Did you mean {close[0]!r}?" if close else f"Choose from: {', '.join(TOKENIZERS)}."
    raise ConfigError(f"There is no tokenizer called {name!r}. {hint}")


PLAIN_SPELLING = {
    "``": '"',
    "''": '"',
    "-lrb-": "(",
    "-rrb-": ")",
    "-lsb-": "[",
    "-rsb-": "]",
    "-lcb-": "{",
    "-rcb-": "}",
}
PLAIN_SPELLING |= {penn.upper(): plain for penn, plain in PLAIN_SPELLING.items()}
"""The plain spelling of quotes and brackets of the Penn Treebank."""
ASCII_SPELLING = {"’": "'", "‘": "'", "“": '"', "”": '"', "…": "...", "—": "--", "\u00ad": ""}
"""What `normalize_spelling` writes for characters."""
_TO_ASCII = str.maketrans(ASCII_SPELLING)


LONGEST_COMPOSED = 1_000
"""Longest word whose accents are composed: the time grows with the square of a run of them."""


def normalize_spelling(word: str) -> str:
    """The spelling of a word under which word vectors and vocabularies list it.

    The Treebank's quotes and brackets (`` -LRB-) become plain ones, curly quotes straight, the
    long dash `--`, four and more dots `...`; soft hyphens go; accents are composed (NFC).
    """
    if word.isascii() and word.isalnum():
        return word
    spelling = word.translate(_TO_ASCII)
    if len(spelling) <= LONGEST_COMPOSED:
        spelling = unicode_normalize("NFC", spelling)
    if spelling.startswith("....") and not spelling.strip("."):
        return "..."
    return PLAIN_SPELLING.get(spelling, spelling) or word


def split_approximately(text: str) -> list[str]:
    """Fast approximate tokenisation: splits at whitespace, and around each character or cluster of
    scripts without spaces."""
    return text.split() if text.isascii() else _PLAINLY_PATTERN.findall(text)


def count_words(text: str) -> int:
    """Number of words of a text by `split_approximately`."""
    return len(split_approximately(text))


def first_words(text: str, count: int, tokenizer: Tokenizer) -> str:
    """The text up to the end of its first `count` words, without reading much more of it."""
    size = 16 * (count + 1)  # characters that hold so many words, most likely
    while True:
        beginning = text[:size]
        spans = tokenizer.spans(beginning)
        if len(spans) > count:
            return text[: spans[count - 1][1]]
        if len(beginning) == len(text):
            return text
        size *= 4
