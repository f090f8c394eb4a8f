"""Usual names of the columns of texts and labels, the most certain first.

Texts joined from several columns, such as a subject and a body, which are named `subject+body`.

A model reads one text, with a part in each line.
"""

from collections.abc import Iterable, Sequence

from headwise.core.lazy_pattern import lazy_pattern
from headwise.core.text_normalization import without_invisible

# fmt: off
TEXT_NAMES = (
    "text", "textoriginal", "review", "review_text", "reviewtext", "review_body", "sentence", "message",
    "content", "body", "comment", "comment_text", "tweet", "utterance", "document", "doc", "description",
    "question", "query", "post", "sms", "email", "utt", "snippet", "phrase", "abstract", "summary",
    "headline", "title", "narrative", "feedback",
    # German, French, Spanish, Italian, Portuguese, Chinese
    "nachricht", "kommentar", "rezension", "satz", "beschreibung", "inhalt", "texte", "avis", "commentaire",
    "texto", "comentario", "comentário", "mensaje", "mensagem", "reseña", "testo", "recensione",
    "文本", "评论", "内容",
)

LABEL_NAMES = (
    "label", "labels", "gold_label", "gold", "annotation", "class", "category", "intent", "sentiment",
    "stance", "target", "y", "rating", "stars", "star_rating", "overall", "topic", "genre", "polarity",
    "emotion", "coarse_label", "fine_label", "is_spam", "spam", "score", "verdict", "tag",
    "kategorie", "klasse", "stimmung", "bewertung", "thema", "absicht", "étiquette", "catégorie", "classe",
    "etiqueta", "categoría", "categoria", "clase", "sentimiento", "etichetta", "标签", "类别", "情感",
)
# fmt: on
SET_NAMES = ("labels", "tags", "topics", "genres", "categories", "classes", "keywords", "emotions")
"""Names in the plural, of columns of label sets."""
LABEL_SET_NAMES = (*SET_NAMES, *LABEL_NAMES)
"""Usual names of the column of label sets, the most reliable first."""
CLEAR_LABEL_NAMES = frozenset(
    {"label", "labels", "gold_label", "gold", "annotation", "class", "category", "target", "y"}
)
"""Names of columns that leave no doubt that it is the label."""

NEVER_LABEL_NAMES = frozenset(
    {
        *("status", "annotation_status", "review_status", "record_status", "reviewed", "validated"),
        *("annotators", "annotated_by", "annotation_agent", "prediction_agent", "multi_label", "trusted"),
        *("worker_trust", "set", "is_train", "is_test", "is_training", "train_test", "lang", "locale"),
        *("date", "time", "datetime", "created", "updated", "edited", "year", "month", "day", "weekday"),
        *("hour", "week", "url", "link", "uri", "permalink", "index", "idx", "row", "line", "version"),
        *("revision", "batch", "file", "filename", "filepath", "path"),
        *("votes", "vote", "upvotes", "downvotes", "likes", "dislikes", "shares", "retweets", "replies"),
        *("helpful", "useful", "funny", "cool", "reactions", "verified", "verified_purchase", "processed"),
        "deleted",
        *("archived", "exported", "checked", "truncated", "retweeted", "favorited", "is_retweet"),
        *("tokens", "words", "lemmas", "ngrams", "hashtags", "mentions", "user_mentions", "urls", "links"),
        *("is_gold", "golden"),
        *("is_annotated", "is_reviewed", "is_validated", "is_processed", "is_deleted", "is_edited"),
        *("spans", "offsets", "positions", "start_position", "end_position", "answer_start"),
        *("id_str", "geo", "coordinates", "embedding", "embeddings", "vector"),
        *("zip", "zipcode", "zip_code", "postcode", "postal_code", "plz"),
    }
)
"""Names of columns about the annotation, the record, its readers or its words, which are no labels."""

_NEVER_LABEL_ENDS = frozenset(
    {
        *("id", "ids", "uuid", "guid", "url", "uri", "link", "href", "email", "ip", "hash", "md5", "sha1"),
        *("checksum", "timestamp", "datetime", "date", "ts", "status", "split", "subset", "fold"),
        *("partition", "annotator", "reviewer", "worker", "rater", "moderator", "filename", "filepath"),
        *("asin", "isbn", "ean", "sku"),
        *("user", "username"),
    }
)
"""The last words of such names (`cv_fold`, `parentId`), unless a usual name of labels is before them."""

RARELY_LABEL_NAMES = frozenset(
    {
        *("language", "source", "author", "state", "country", "city", "region"),
        *("location", "platform", "device", "origin", "channel"),
        *("agent", "assignee", "assigned_to", "owner"),
    }
)
"""Names of columns that are labels only where no other column can be one."""

_REACTIONS = {
    *("votes", "vote", "likes", "upvotes", "downvotes", "retweets", "favorites", "favourites", "favorite"),
    *("comments", "comms", "replies", "views", "followers", "friends"),
}
_COUNT_WORDS = _REACTIONS | {"count", "counts", "num", "length"}
VOTED_NAMES = {
    *("subreddit", "permalink", "ups", "downs", "upvotes", "upvote_ratio", "num_comments", "descendants"),
    *("view_count", "answer_count", "comment_count"),
}
"""Names of columns of posts that readers vote on: a column `score` beside them counts votes."""

_MEASURE_ENDS = {
    *("confidence", "certainty", "probability", "prob", "proba", "weight", "ratio", "percent"),
    *("percentage", "latitude", "longitude", "lat", "lon", "lng", "duration", "elapsed", "year", "month"),
    *("day", "hour", "week", "time", "seconds", "minutes", "ms", "trust"),
}
_MACHINE_WORDS = {
    *("model", "prediction", "predicted", "pred", "classifier", "llm", "gpt", "gpt3", "gpt4", "chatgpt"),
}
"""What gives scores and labels that are not those of people."""
_PEOPLE = {"annotator", "worker", "reviewer", "rater", "moderator"}  # `annotator_name`
_PERSON = lazy_pattern(
    r"(ann(o|ot|otator)?|coder|rater|grader|judge|assessor|worker|reviewer|expert|labell?er)_?(\d+|[a-z])"
)
_REMARK = lazy_pattern(r"(?<=\S)\s*\([^()]*\)\s*$")  # `Category (final)`
_CAMEL = lazy_pattern(r"(?<=[a-z])(?=[A-Z])")

FLAG_NAMES = ("is_spam", "spam")
"""Label column names that are themselves a label, each a yes/no column (multi-hot encoding)."""

HEADING_NAMES = ("title", "headline", "summary")
"""The names in `TEXT_NAMES` that may also name the heading of a text."""

QUESTION_NAMES = ("question", "query", "instruction", "prompt")
"""Names of texts that another one may answer."""

# fmt: off
PAIR_NAMES = (
    ("premise", "hypothesis"), ("premise", "hypo"), ("sentence1", "sentence2"),
    ("sentence_1", "sentence_2"), ("sentence_a", "sentence_b"), ("text_a", "text_b"), ("text1", "text2"),
    ("text_1", "text_2"), ("#1_string", "#2_string"), ("question1", "question2"), ("s1", "s2"),
    ("sent1", "sent2"), ("first", "second"), ("question", "answer"), ("question", "sentence"),
    ("question", "passage"),
    ("query", "document"), ("query", "passage"), ("query", "doc"), ("claim", "evidence"), ("q1", "q2"),
    ("anchor", "target"),
)
# fmt: on
"""Usual names of the two text columns of pairs, the most certain first."""

PARALLEL_NAMES = {"source": "target", "src": "tgt"}
"""Names of the two text columns of pairs where both hold texts; else they name an origin and a label."""

_NUMBERS = {"1": "2", "a": "b"}
"""The ends of the names of two columns that hold texts of one kind: `Satz A` and `Satz B`."""

PAIR_LABEL_NAMES = (
    *("gold_label", "label", "entailment_judgment", "is_duplicate", "relatedness_score", "similarity"),
    *("similarity_score", "relevance", "relation", "quality", "score", *LABEL_NAMES),
)


def clean_name(name: str) -> str:
    """A column name without invisible characters and white space at its ends."""
    return without_invisible(name)


def normal_name(name: str) -> str:
    """A column name for comparison: lower case, words joined by one underscore."""
    return "_".join(clean_name(name).lower().replace("-", " ").replace("_", " ").split())


def name_rank(name: str, names: tuple[str, ...]) -> int | None:
    """The index of a column's name in `names` (one of the tuples above), or None. A remark in brackets at
    its end, as in `Category (final)`, does not count."""
    normal = normal_name(_REMARK.sub("", name))
    return names.index(normal) if normal in names else None


def has_usual_name(name: str, names: tuple[str, ...]) -> bool:
    """Whether a column's name is in `names` or ends with one of them, as `airline_sentiment` does."""
    last = normal_name(_REMARK.sub("", name)).rstrip("_0123456789").split("_")[-1]  # `label_2`, too
    return name_rank(name, names) is not None or (len(last) > 1 and last in names)


def most_usual_column(columns: Iterable[str], names: tuple[str, ...]) -> int | None:
    """The index of the column whose name comes first in `names`; None if no column name is in `names`."""
    places = [(place, i) for i, name in enumerate(columns) if (place := name_rank(name, names)) is not None]
    return min(places)[1] if places else None


def _parts_of(name: str) -> list[str]:
    """The words that a column's name is made of: `predicted`, `label` for `predictedLabel`."""
    return normal_name(_CAMEL.sub("_", name)).split("_")


def is_never_label(name: str, *, numbers: bool = False) -> bool:
    """Whether a column's name says that it is no label; of `numbers` also that it counts or measures
    something else."""
    words = _parts_of(name)
    before, last = words[:-1], words[-1]
    if "_".join(words) in NEVER_LABEL_NAMES or (last == "at" and before):
        return True
    if last in _NEVER_LABEL_ENDS and not {*before} & {*LABEL_NAMES}:
        return True
    if before and words[0] in _PEOPLE and last == "name":
        return True
    if not numbers:
        return False
    scored = last == "score" and not _MACHINE_WORDS.isdisjoint(before)
    return scored or last in _MEASURE_ENDS or not _COUNT_WORDS.isdisjoint(words)


def names_person(name: str) -> bool:
    """Whether a column's name is that of one of several people who labelled the texts, as `rater_2` is."""
    return _PERSON.fullmatch(normal_name(name)) is not None


def is_prediction(name: str) -> bool:
    """Whether a column's name says that a model wrote it, as `predicted_label` and `model` do."""
    return not _MACHINE_WORDS.isdisjoint(_parts_of(name))


def is_voted_name(name: str) -> bool:
    """Whether a column's name is one of posts that readers vote on (`num_comments`, `ViewCount`)."""
    return "_".join(_parts_of(name)) in VOTED_NAMES


def counts_reactions(name: str) -> bool:
    """Whether a column's name says that it counts what readers did with a post."""
    return not _REACTIONS.isdisjoint(_parts_of(name))


def is_pair_header(first_row: Sequence[str]) -> bool:
    """Whether a header row contains usual names of both text columns of pairs."""
    names = {normal_name(cell) for cell in first_row}
    return any(names.issuperset(pair) for pair in PAIR_NAMES)


def parallel_name(first: str) -> str | None:
    """The normal name of the second column of pairs whose first column is named so, where both hold texts:
    `target` for `source`, and names that only a number or letter at their ends distinguishes."""
    first = normal_name(first)
    start, end = first[:-1], first[-1:]
    return start + _NUMBERS[end] if start and end in _NUMBERS else PARALLEL_NAMES.get(first)


def name_parallel_texts(first: str, second: str) -> bool:
    """Whether the names of two columns are those of pairs, see `parallel_name`."""
    return parallel_name(first) == normal_name(second)


COLUMN_JOINER = "+"


def joined_column_names(name: str, names: Sequence[str] = ()) -> list[str]:
    """The columns that a name stands for: `subject+body` is two, unless one of `names` is spelt so."""
    if COLUMN_JOINER not in name or normal_name(name) in map(normal_name, names):
        return [name]
    return [part.strip() for part in name.split(COLUMN_JOINER)]


def join_text_parts(parts: Iterable[str]) -> str:
    """The parts as one text, each on a line of its own; empty parts are left out."""
    return "\n".join(part for part in parts if part.strip())
