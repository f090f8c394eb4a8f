"""The words of each language that its base lists, with their frequencies.

They are those of wordfreq, cut as headwise cuts texts."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache

import numpy as np

from headwise.core.tokenizer import get_tokenizer
from headwise.training.pretraining.corpus import normalize_word

LANGUAGES = {
    "en": "english-shared",
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "pt": "portuguese",
    "it": "italian",
    "nl": "dutch",
    "pl": "polish",
    "ru": "russian",
    "uk": "ukrainian",
    "tr": "turkish",
    "ar": "arabic",
    "hi": "hindi",
    "vi": "vietnamese",
    "id": "indonesian",
    "zh": "chinese",
    "ja": "japanese",
}
"""The name of the base of each language, by its code in wordfreq."""
_MARKS = [
    ".",
    ",",
    "!",
    "?",
    ":",
    ";",
    "(",
    ")",
    "[",
    "]",
    "-",
    "--",
    "...",
    '"',
    "'",
    "/",
    "&",
    "%",
    "$",
    "*",
    "+",
    "=",
    "@",
    "#",
    "_",
    "~",
    "…",
    "¿",
    "¡",
    "«",
    "»",
    "„",
    "“",
    "”",
    "‘",
    "’",
    "–",
    "€",
    "£",
    "°",
]
_EASTERN_MARKS = [
    "。",
    "，",
    "、",
    "！",
    "？",
    "：",
    "；",
    "（",
    "）",
    "「",
    "」",
    "『",
    "』",
    "《",
    "》",
    "【",
    "】",
    "～",
    "・",
]
_MARK_SHARE = 3e-3
_NUMBER_SHARE = 1e-4
_CANDIDATES = 200_000  # of wordfreq's entries
_SPACELESS = ("zh", "ja")
_ENTRIES = 40_000  # words of languages whose tokens are characters


def word_shares(language: str, most: int) -> dict[str, float]:
    """The most frequent tokens of a language and their share of its text, by falling share.

    An entry of wordfreq that the tokenizer cuts counts for each of its tokens; of Chinese and Japanese, the
    characters are tokens. Marks and small numbers, which wordfreq leaves out, have a typical share.

    Args:
        language: Code of the language in wordfreq.
        most: Number of tokens.
    """
    from wordfreq import get_frequency_dict, top_n_list

    frequencies = get_frequency_dict(language, "best")
    cut = get_tokenizer("penn").words
    shares: defaultdict[str, float] = defaultdict(float)
    for entry in top_n_list(language, _CANDIDATES, wordlist="best"):
        if any(letter.isnumeric() for letter in entry):
            continue
        for token in cut(entry):
            shares[normalize_word(token)] += frequencies[entry]
    if language == "zh":
        for simple, forms in _traditional_forms().items():
            for form in forms if simple in shares else ():
                shares[form] += shares[simple] / 10
    marks = [*_MARKS, *(_EASTERN_MARKS if language in _SPACELESS else ())]
    for place, mark in enumerate(marks):
        shares[normalize_word(mark)] += 10 * _MARK_SHARE / (10 + place * place)
    for number in range(101):
        shares[str(number)] += _NUMBER_SHARE
    ranked = sorted(shares, key=lambda token: (-shares[token], token))
    return {token: shares[token] for token in ranked[:most]}


@cache
def _traditional_forms() -> dict[str, list[str]]:
    """The traditional Chinese characters of each simplified one."""
    from wordfreq.chinese import SIMPLIFIED_MAP, simplify_chinese

    simplify_chinese("")  # fills the table
    forms: dict[str, list[str]] = {}
    for traditional, simple in (SIMPLIFIED_MAP or {}).items():
        if isinstance(simple, str) and len(simple) == 1:
            forms.setdefault(simple, []).append(chr(traditional))
    return forms


def word_sequences(language: str, shares: Mapping[str, float], count: int) -> list[str]:
    """Random sequences of words, drawn by the square root of their frequencies.

    Args:
        language: Code of the language.
        shares: The tokens of the language and their shares.
        count: Number of sequences.
    """
    joint, fewest, most = " ", 2, 6
    if language in _SPACELESS:
        shares, joint, fewest, most = _entry_shares(language), "", 1, 4
    words, chances = np.array(list(shares)), np.sqrt(np.fromiter(shares.values(), np.float64))
    chances /= chances.sum()
    random = np.random.default_rng(0)
    return [
        joint.join(words[random.choice(len(words), int(random.integers(fewest, most + 1)), p=chances)])
        for _ in range(count)
    ]


def _entry_shares(language: str) -> dict[str, float]:
    """The words of a language whose tokens are characters, and their frequencies."""
    from wordfreq import get_frequency_dict, top_n_list

    frequencies = get_frequency_dict(language, "best")
    return {
        word: frequencies[word]
        for word in top_n_list(language, _ENTRIES, wordlist="best")
        if not any(letter.isnumeric() and letter.isascii() for letter in word)
    }
