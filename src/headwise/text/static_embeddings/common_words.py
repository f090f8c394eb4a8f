"""The commonest words of some languages, which tell the language of texts."""

from collections.abc import Mapping

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

    Args:
        counts: How often each word as written occurs.
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
