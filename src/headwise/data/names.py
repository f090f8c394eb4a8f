"""Names that people give to the columns of texts and of labels, the surest first."""

from collections.abc import Iterable, Sequence

# fmt: off
TEXT_NAMES = (
    "text", "review", "review_text", "reviewtext", "review_body", "sentence", "message", "content",
    "body", "comment", "comment_text", "tweet", "utterance", "document", "doc", "description",
    "question", "query", "post", "sms", "email", "snippet", "phrase", "abstract", "summary",
    "headline", "title", "narrative", "feedback",
    # German, French, Spanish, Italian, Portuguese, Chinese
    "nachricht", "kommentar", "rezension", "satz", "beschreibung", "inhalt", "texte", "avis", "commentaire",
    "texto", "comentario", "comentário", "mensaje", "mensagem", "reseña", "testo", "recensione",
    "文本", "评论", "内容",
)

LABEL_NAMES = (
    "label", "labels", "gold_label", "class", "category", "intent", "sentiment", "target", "y",
    "rating", "stars", "star_rating", "topic", "genre", "polarity", "emotion", "coarse_label",
    "fine_label", "is_spam", "spam", "score", "verdict", "tag",
    "kategorie", "klasse", "stimmung", "bewertung", "thema", "absicht", "étiquette", "catégorie", "classe",
    "etiqueta", "categoría", "categoria", "clase", "sentimiento", "etichetta", "标签", "类别", "情感",
)
# fmt: on

FLAG_NAMES = ("is_spam", "spam")
"""Names of labels that are labels themselves, as are other columns of yes and no beside them."""

HEADING_NAMES = ("title", "headline", "summary")
"""Those of the names of texts that are also those of what stands above a text."""

PAIR_NAMES = (
    ("premise", "hypothesis"),
    ("sentence1", "sentence2"),
    ("sentence_1", "sentence_2"),
    ("sentence_a", "sentence_b"),
    ("text_a", "text_b"),
    ("text1", "text2"),
    ("text_1", "text_2"),
    ("question1", "question2"),
    ("s1", "s2"),
    ("sent1", "sent2"),
    ("first", "second"),
    ("question", "answer"),
    ("question", "sentence"),
    ("query", "document"),
    ("query", "passage"),
)
"""Names of the columns of both texts, the surest first."""

PAIR_LABEL_NAMES = (
    *("gold_label", "label", "entailment_judgment", "is_duplicate", "relatedness_score", "similarity"),
    *("similarity_score", "relevance", "relation", "score", *LABEL_NAMES),
)


def normal_name(name: str) -> str:
    """A column name for comparison: lower case, words joined by one underscore."""
    return "_".join(name.strip().lower().replace("-", " ").replace("_", " ").split())


def rank(name: str, names: tuple[str, ...]) -> int | None:
    """The place of a column's name in one of the lists above, or None."""
    normal = normal_name(name)
    return names.index(normal) if normal in names else None


def is_like(name: str, names: tuple[str, ...]) -> bool:
    """Whether a column's name is one of the lists above or ends in one, as `airline_sentiment` does."""
    last = normal_name(name).split("_")[-1]
    return rank(name, names) is not None or (len(last) > 1 and last in names)


def surest(given: Iterable[str], names: tuple[str, ...]) -> int | None:
    """Which of some columns, by number, has the surest of the names of one of the lists above."""
    places = [(place, i) for i, name in enumerate(given) if (place := rank(name, names)) is not None]
    return min(places)[1] if places else None


def names_pairs(first_row: Sequence[str]) -> bool:
    """Whether the cells of a row are usual names of the columns of pairs."""
    names = {normal_name(cell) for cell in first_row}
    return any(names.issuperset(pair) for pair in PAIR_NAMES)
