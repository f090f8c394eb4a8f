"""choose_base: the base that a training run starts from, chosen by the words of its texts."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np

from headwise.core.errors import ConfigError
from headwise.core.tokenizer import normalize_spelling
from headwise.data.items.dataset import chunks_by_length
from headwise.text.static_embeddings.base_folder import read_word_list
from headwise.text.static_embeddings.base_vectors import BaseError, StaticEmbeddings
from headwise.text.static_embeddings.installed_bases import (
    AND,
    DEFAULT,
    installed_bases,
    open_base,
    user_folder,
)
from headwise.text.static_embeddings.word_groups import WordClusters, compound_parts, find_spelling_variant
from headwise.text.text_reader import text_reader

ENGLISH = "english"
_WORDS = {
    ENGLISH: (
        "the of and to a in is it you that i he was for on are with as his they be at this have from "
        "or had by not but what all were we when your can there an which do how if will up about my "
        "me so no just like"
    ),
    "german": (
        "der die das und ist nicht ich du es ein eine einen mit zu auf für von dem den sich auch wir "
        "sie er war wie aber oder so dass nur wenn noch bei aus nach mehr schon hat haben sind mir "
        "mich sehr"
    ),
    "french": (
        "le la les un une des et est pas je tu il elle nous vous que qui dans pour sur avec ce cette "
        "au aux du de ne mais ou plus très son sa ses mon ma fait c'est j'ai en par tout bien"
    ),
    "spanish": (
        "el la los las un una y es no yo que de en por para con se su lo al del más pero como muy mi "
        "me te ya está este esta si todo hay cuando ser son porque"
    ),
    "portuguese": (
        "o a os as um uma e é não eu que de em por para com se seu do da dos das no na mais mas como "
        "muito meu minha me você já está isso este foi ser são tem quando"
    ),
    "italian": (
        "il lo la i gli le un una e è non io che di in per con si su del della dei delle più ma come "
        "molto mio mi ti ho ha sono questo questa anche nel al alla perché"
    ),
    "dutch": (
        "de het een en is niet ik je dat van in op te voor met zijn er aan ook maar om als bij nog "
        "wel naar dan we hij ze dit heeft heb geen wat over zo"
    ),
    "polish": (
        "i w na nie się z do to jest że jak o po co ale za od tak tym już czy dla tylko mi mnie "
        "bardzo był przez ten ja są może jej jego"
    ),
    "russian": (
        "и в не на я что с он а как это по но они мы у за из то так все было очень мне её его или "
        "если для меня вы бы уже только когда нет"
    ),
    "ukrainian": (
        "і в не на я що з він а як це по але вони ми у за та то так все було дуже мені її його або "
        "якщо для мене ви б вже тільки коли немає є до від"
    ),
    "turkish": (
        "ve bir bu da de için çok ne o ben sen ile gibi daha kadar ama var yok mi mı en olarak her "
        "değil sonra bana beni diye oldu olan"
    ),
    "arabic": (
        "في من على أن لا إلى و ما عن هذا مع التي هذه كان أو هو ذلك الذي هي لم كل بعد قد إذا بين أنا "
        "يا غير كما حتى عند"
    ),
    "hindi": ("के है में की से और को का हैं पर भी एक यह नहीं ने कि हो इस तो ही या था मैं जो लिए कर वह बहुत थी"),
    "vietnamese": (
        "là và có của được một các không trong cho người này với đã những để khi đến thì rất tôi bạn "
        "như lại nhưng cũng từ ra đó"
    ),
    "indonesian": (
        "yang dan di ini dari untuk dengan itu bisa aku ada tidak saya akan ke juga pada sudah karena "
        "tapi kamu dia mereka kita lebih apa nya banget"
    ),
    "chinese": ("的 是 在 不 有 了 我 这 你 们 他 就 也 很 都 到 和 说 要 吗"),
    "japanese": ("の い て な に た し で る と は が を か も ま す れ よ ん"),
}
_COMMON = {language: frozenset(words.split()) for language, words in _WORDS.items()}
_LEAST = 0.12  # share of the words of running text that are common words, in every language
_LEAD = 1.3


def language_of(counts: Mapping[str, int]) -> str | None:
    """The language with the most common words in texts; None where no language has many more than the next.

    Lists of names and commands of two words have few common words, and thus no language.
    """
    total = sum(counts.values())
    lowered: dict[str, int] = {}
    for word, count in counts.items():
        lowered[word.lower()] = lowered.get(word.lower(), 0) + count
    shares = {
        language: sum(lowered.get(word, 0) for word in words) / max(1, total)
        for language, words in _COMMON.items()
    }
    first, second = sorted(shares, key=lambda language: -shares[language])[:2]
    return first if shares[first] >= _LEAST and shares[first] > _LEAD * shares[second] else None


AUTO, NONE = "auto", "none"
MIN_COVERAGE = 0.4
"""Least token coverage with which `auto` takes a base. English texts have 0.9 and more, lists of English
names 0.5, German texts 0.3 to 0.5 by the English base, where it neither helps nor harms."""
_MARGIN = 0.1  # of coverage, by which another language must exceed English
_ADDED = 0.15  # coverage that another language adds to mixed texts
_MOST_LANGUAGES = 3
_SHARED = "-shared"
"""End of the name of a base that is merged with those of other languages and never chosen alone."""
_SAMPLED_TEXTS = 2_000  # texts
_READ_AT_ONCE = 1 << 22  # characters


def choose_base(name: str, texts: Iterable[Sequence[str]]) -> tuple[StaticEmbeddings | None, str]:
    """The base for a setting, and a message about the choice.

    Args:
        name: `auto`, `none`, or a name or path for `open_base`.
        texts: The tokenised training texts.

    Raises:
        BaseError: There is no such base, or it is damaged.
    """
    if name == NONE:
        return None, ""
    counts = Counter(
        word for words in islice(texts, _SAMPLED_TEXTS) for word in words if any(map(str.isalpha, word))
    )
    if name != AUTO:
        base = open_base(name)
        return base, f"base {base.name}: it covers {100 * base.token_coverage(counts):.0f} % of the words"
    coverage = _coverages(counts)
    if not coverage:
        return None, ""
    chosen = _chosen(coverage, counts)
    if not chosen:
        return None, _no_base(coverage, counts)
    names = AND.join(chosen)
    share = 100 * _share(set().union(*(coverage[part] for part in chosen)), counts)
    note = f"starts from the base {names}, which covers {share:.0f} % of the words (--base none: without)"
    return open_base(names), note


def _share(words: Iterable[str], counts: Counter[str]) -> float:
    """The share of these words among all that were counted."""
    return sum(counts[word] for word in words) / max(1, counts.total())


def _coverages(counts: Counter[str]) -> dict[str, set[str]]:
    """The words that each installed base lists. Where English leaves too few words for another base to be
    chosen (see `_chosen`), only those of English."""
    coverage: dict[str, set[str]] = {}
    bases = installed_bases()
    for name, folder in sorted(bases.items(), key=lambda base: base[0] != DEFAULT):
        try:
            listing = _listing(folder, (folder / "words.json").stat().st_mtime_ns)
        except (BaseError, OSError):
            if name == DEFAULT:
                raise
            continue  # a damaged base of another language is an error only where it is asked for
        coverage[name] = {word for word in counts if _is_listed(word, listing)}
        is_english = name == DEFAULT and language_of(counts) in (ENGLISH, None)
        if is_english and _share(coverage[name], counts) + min(_MARGIN, _ADDED) >= 1:
            return coverage
    return {name: coverage[name] for name in bases if name in coverage}


@lru_cache(maxsize=64)
def _listing(folder: Path, _changed: int) -> dict[str, int]:
    return {word: number for number, word in enumerate(read_word_list(folder))}


def _is_listed(word: str, listing: Mapping[str, int]) -> bool:
    plain = normalize_spelling(word.lower())
    return (
        plain in listing
        or find_spelling_variant(plain, listing) is not None
        or bool(compound_parts(plain, listing))
    )


def _chosen(coverage: Mapping[str, set[str]], counts: Counter[str]) -> list[str]:
    """The bases to begin with: English, the base of another language, or several for mixed texts."""
    shares = {name: _share(words, counts) for name, words in coverage.items()}
    candidates = [name for name in coverage if name != DEFAULT and not name.endswith(_SHARED)]
    best = max(candidates, key=lambda name: shares[name], default=None)
    english = shares.get(DEFAULT, 0.0)
    if best is None or shares[best] <= english + _MARGIN:
        is_english = language_of(counts) in (ENGLISH, None)
        if english < MIN_COVERAGE or not is_english:
            return []
        chosen, words = [DEFAULT], coverage[DEFAULT]
    elif shares[best] < MIN_COVERAGE:
        return []
    else:
        chosen, words = [best], coverage[best]
    shared = DEFAULT + _SHARED
    partners = [
        name for name in (*candidates, *([shared] if shared in coverage else [])) if name not in chosen
    ]
    while partners and len(chosen) < _MOST_LANGUAGES:
        added = max(partners, key=lambda name: _share(coverage[name] - words, counts))
        too_few = _share(coverage[added] - words, counts) < _ADDED
        if too_few or (chosen == [DEFAULT] and shared not in coverage):
            break
        chosen = [shared if name == DEFAULT else name for name in chosen] + [added]
        words = words | coverage[added]
        partners = [name for name in partners if name not in chosen]
    return chosen


def _no_base(coverage: Mapping[str, set[str]], counts: Counter[str]) -> str:
    """The message where no base fits."""
    language = language_of(counts)
    if language is not None and language != ENGLISH and language not in coverage:
        return (
            f"no base: the texts look {language.title()}, and no base {language!r} is installed (copy it "
            f"from the folder bases of headwise's source into {user_folder()}, or let headwise pretrain "
            "make one from texts of your own)"
        )
    shares = {name: _share(words, counts) for name, words in coverage.items()}
    name = max(coverage, key=lambda name: shares[name])
    return (
        f"no base: {name} covers only {100 * shares[name]:.0f} % of the words "
        f"(--base {name} takes it even so; headwise pretrain makes one from texts of your own)"
    )


def vectors_of_texts(texts: Iterable[str], base: str) -> tuple[np.ndarray | None, str]:
    """The vectors of texts, `[texts, size]`, by static embeddings that `choose_base` chooses, and its
    message; None without static embeddings."""
    texts, reader = list(texts), text_reader("penn")
    chosen, note = choose_base(base, reader.read(texts[:_SAMPLED_TEXTS]))
    if chosen is None:
        return None, note
    parts = [chosen.texts(reader.read(part)) for part in chunks_by_length(texts, _READ_AT_ONCE)]
    return np.concatenate([np.zeros((0, chosen.size), dtype=np.float32), *parts]), note


def choose_word_groups(sentences: Iterable[Sequence[str]], base: str) -> tuple[WordClusters | None, str]:
    """The word clusters of the static embeddings that `choose_base` chooses for sentences, and its message;
    None where there are none."""
    chosen, note = choose_base(base, sentences)
    return None if chosen is None else chosen.groups, note


def check_single_vector_source(*sources: str | None) -> None:
    """Check that no other source of word vectors is requested together with a base.

    Raises:
        ConfigError: One of the sources is given.
    """
    for source in sources:
        if source:
            raise ConfigError(f"a base and {source} exclude each other; give one of them")
