"""Names that people give to the columns of texts and of labels, the surest first."""

# fmt: off
TEXT_NAMES = (
    "text", "review", "review_text", "reviewtext", "review_body", "sentence", "message", "content",
    "body", "comment", "comment_text", "tweet", "utterance", "document", "doc", "description",
    "question", "query", "post", "sms", "email", "snippet", "phrase", "abstract", "summary",
    "headline", "title",
)

LABEL_NAMES = (
    "label", "labels", "gold_label", "class", "category", "intent", "sentiment", "target", "y",
    "rating", "stars", "star_rating", "topic", "genre", "polarity", "emotion", "coarse_label",
    "fine_label", "is_spam", "spam", "score", "verdict", "tag",
)
# fmt: on


def normal_name(name: str) -> str:
    """A column name for comparison: lower case, words joined by one underscore."""
    return "_".join(name.strip().lower().replace("-", " ").replace("_", " ").split())


def rank(name: str, names: tuple[str, ...]) -> int | None:
    """The place of a column's name in one of the lists above, or None."""
    normal = normal_name(name)
    return names.index(normal) if normal in names else None
