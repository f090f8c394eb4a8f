import json
import random

import pytest

from headwise.core.errors import ConfigError
from headwise.data.columns.file_source import DataSource, Record
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.columns.text_columns import Columns, choose_columns
from headwise.data.errors import DataError
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task

AMAZON = "reviewText", "overall"
LONG = ["what a good film this is", "bad", "never saw a worse one than this", "so so"]


def choose(columns, *, labelled=True, **options):
    names, rows = list(columns), zip(*columns.values(), strict=True)
    sample = [Record(i, dict(zip(names, row, strict=True))) for i, row in enumerate(rows, 1)]
    source = DataSource("a.csv", ReadOptions(**options))
    return choose_columns(sample, source, labelled=labelled), source.notes


@pytest.mark.parametrize(
    ("columns", "text", "label"),
    [
        ({"text": LONG, "label": list("aabb")}, "text", "label"),
        (
            {"comment": ["", "see below", " ", ""], "description": LONG, "label": list("aabb")},
            "description",
            "label",
        ),
        ({"Class": list("abcd"), "Review": list("efgh")}, "Review", "Class"),
        ({"title": LONG, "body": list("efgh"), "y": list("abcd")}, "body", "y"),
        ({"1": list("0123"), "2": ["9", "9", "1", "9"], "3": LONG}, "3", "2"),
        ({"k": list("aabb"), "w": ["ab", "cd", "ef", "gh"]}, "w", "k"),
        ({"w": ["ab", "cd", "ef", "gh"], "k": list("aabb"), "source": ["x"] * 4}, "w", "k"),
        ({"t": LONG, "k": list("aabb"), "n": ["0.5", "1.5", "0.5", "0.5"]}, "t", "k"),
        ({"t": LONG, "k": ["a"] * 4}, "t", "k"),
        ({"text": LONG, "k": [1, 1, 0, 0]}, "text", "k"),
        (
            {"airline": list("abab"), "Airline Sentiment": list("aabb"), "text": LONG},
            "text",
            "Airline Sentiment",
        ),
        (
            {"text": LONG, "team": list("abab"), "Category (final)": list("aabb")},
            "text",
            "Category (final)",
        ),
        ({"text": [1, "b", "c", "d"], "label": [True, False, True, False]}, "text", "label"),
        ({"reviewText": LONG, "asin": ["B0001Z"] * 2 + ["B0002Z"] * 2, "overall": [5, 1, 5, 1]}, *AMAZON),
        ({"text": LONG, "part": ["B000000A1Z"] * 2 + ["B000000B2Z"] * 2, "n": list("abab")}, "text", "n"),
        ({"text": LONG, "zip": ["10115", "10115", "20095", "20095"], "dept": list("abab")}, "text", "dept"),
        ({"label_id": [0, 1, 0, 1], "label_name": list("abab"), "text": LONG}, "text", "label_name"),
        ({"text": LONG, "label": [0, 1, 0, 1], "label_text": list("abab")}, "text", "label_text"),
        ({"text": LONG, "label": [0, 1, 1, 1], "label_text": list("abab")}, "text", "label"),
        ({"text": LONG, "label": [0, 1, 0, 1], "region": list("abab")}, "text", "label"),
        ({"text": LONG, "llm_label": list("abba"), "human_label": list("abab")}, "text", "human_label"),
        ({"label": list("abab"), "label_num": [0, 1, 0, 1], "text": LONG}, "text", "label"),
        ({"text": LONG, "label": [[{"start": 0}], [], [], []], "topic": list("aabb")}, "text", "topic"),
    ],
)
def test_guesses(columns, text, label):
    chosen, notes = choose(columns)
    assert chosen == Columns(text, label)
    assert notes[0].startswith(f"columns guessed: text={text!r}, label={label!r} - override")


@pytest.mark.parametrize(
    "columns",
    [
        {"sentence_A": LONG, "sentence_B": LONG[::-1], "label": list("aabb")},
        {"t": LONG, "k": list("aabb"), "m": list("abab")},
        {"t": LONG, "main_topic": list("aabb"), "other_topic": list("abab")},
        {"t": LONG, "id": list("abcd")},
        {"n": [1, 2, 3, 4], "label": list("aabb")},
    ],
)
def test_doubt_lists_the_columns(columns):
    with pytest.raises(Exception, match="HW131") as caught:
        choose(columns)
    for number, name in enumerate(columns, start=1):
        assert f"\n  {number} {name!r}: " in str(caught.value)


def test_of_many_columns_those_are_listed_first_that_can_be_the_label():
    ids = {f"id {n}": [f"{n}{m}" for m in range(20)] for n in range(9)}
    fixed = {f"fixed {n}": ["x"] * 20 for n in range(9)}
    columns = {"t": LONG * 5, **ids, **fixed, "team": list("abcd") * 5, "kind": list("aabb") * 5}
    with pytest.raises(DataError, match="HW131") as caught:
        choose(columns)
    assert "\n  20 'team': 'a', 'b', 'c'\n  21 'kind': 'a', 'b'\n" in str(caught.value)


@pytest.mark.parametrize("name", ["texts/{}.txt", "s3://texts/{}", "gs://texts/{}.txt"])
def test_texts_in_other_files_are_told(name):
    columns = {"location": [name.format(n) for n in range(4)], "label": list("aabb")}
    with pytest.raises(DataError, match="'location' names files: write their texts into a column; or give"):
        choose(columns)


@pytest.mark.parametrize("name", ["label2", "label_2", "Main Topic 2"])
def test_a_second_label_is_told(name):
    columns = {"text": LONG * 5, "label": list("aabb") * 5, name: ["x", "", "y", "x"] * 5}
    note = f"other columns that may be the label: {name!r} - choose with --label-column"
    assert note in choose(columns)[1]


def test_a_text_for_each_text_is_no_label():
    columns = {name: [f"{name}: it is the text {n}" for n in range(30)] for name in ("source", "target")}
    with pytest.raises(DataError, match="HW131"):
        choose(columns)
    assert choose(columns, label_column="target")[0] == Columns("source", "target")


def test_without_labels_doubt_about_them_does_not_matter():
    assert choose({"t": LONG, "id": list("abcd")}, labelled=False)[0] == Columns("t")
    assert choose({"t": LONG}, labelled=False, label_column="y")[0] == Columns("t")


def test_what_is_asked_for_wins():
    columns = {"text": LONG, "label": list("aabb"), "Star Rating": list("abab"), "7": LONG}
    chosen, notes = choose(columns, text_column="7", label_column="star-rating")
    assert chosen == Columns("7", "Star Rating")
    assert notes == ["columns of text that are not used: 'text'"]
    assert choose(columns, text_column="4", label_column="3")[0] == Columns("7", "Star Rating")


@pytest.mark.parametrize("name", ["labl", "0", "3", "²"])
def test_a_column_that_is_not_there(name):
    with pytest.raises(Exception, match=r"HW111.*one of 'text', 'label'"):
        choose({"text": LONG, "label": list("aabb")}, label_column=name)


def test_several_columns_with_commas_are_told_how_to_be_one():
    columns = {"subject": list("aabb"), "body": LONG, "label": list("aabb")}
    with pytest.raises(Exception, match=r"give --text-column 'subject\+Body' to read several as one text"):
        choose(columns, text_column="subject, Body")
    with pytest.raises(Exception, match="--label-column names one column"):
        choose(columns, label_column="subject,label")
    with pytest.raises(Exception, match="did you mean --text-column 'body'"):
        choose(columns, text_column="bodi,")


def test_texts_are_not_their_own_labels():
    with pytest.raises(ConfigError, match="--text-column and --label-column name the same column"):
        choose({"a": LONG, "b": list("xyxy")}, text_column="a", label_column="1")
    assert choose({"a": LONG, "b": list("xyxy")}, labelled=False, text_column="a", label_column="a")


def test_what_many_records_share_is_not_their_text():
    quotes = [f"well, that is number {n} of them" for n in range(40)]
    titles = ["The one where it begins"] * 20 + ["The one that goes on"] * 20
    shared = {"title": titles, "author": list("abcd") * 10}
    assert choose({**shared, "quote": quotes})[0] == Columns("quote", "author")
    # Where nothing else is a text, it is.
    numbers = [str(n) for n in range(40)]
    assert choose({**shared, "number": numbers})[0] == Columns("title", "author")


def test_single_words_that_many_records_share_are_never_the_text():
    columns = {"cuisine": ["greek", "thai", "cajun"] * 20, "ingredients": [["salt", "oil"]] * 60}
    with pytest.raises(DataError, match="HW131"):
        choose(columns, labelled=False)
    assert choose({"text": ["greek", "thai", "cajun"] * 20}, labelled=False)[0] == Columns("text")


def test_a_title_is_not_the_text_where_a_longer_one_stands_beside_it():
    """Nothing is called as texts are but the title, and there is more to read in another column."""
    titles = [f"The one with number {n}" for n in range(40)]
    articles = [f"What number {n} is about takes far more words than its title has" for n in range(40)]
    rest = {"author": list("abcd") * 10}
    for name in ("title", "Headline", "summary"):
        assert choose({name: titles, "article": articles, **rest})[0] == Columns("article", "author")
    assert choose({"title": articles, "article": titles, **rest})[0] == Columns("title", "author")
    assert choose({"title": titles, "note": titles[::-1], **rest})[0] == Columns("title", "author")
    assert choose({"text": titles, "article": articles, **rest})[0] == Columns("text", "author")


def test_dates_and_constants_of_several_words_are_not_told_as_texts():
    dates = [f"Mon Apr {n + 1:02} 22:19:45 PDT 2009" for n in range(20)]
    zones = ["Eastern Time (US & Canada)"] * 20
    _, notes = choose({"text": LONG * 5, "when": dates, "zone": zones, "label": list("aabb") * 5})
    assert not any("not used" in note for note in notes)


def test_a_short_column_of_words_that_is_not_used_is_told():
    letters = "abcdefghijklmnopqrstuvwxyz"
    texts, labels = [f"what it is {n}" for n in range(26)], ["ab"[n % 2] for n in range(26)]
    words = [letter + "xyz" for letter in letters]
    columns, notes = choose({"word": words, "definition": texts, "label": labels})
    assert columns == Columns("definition", "label")
    assert "not used: 'word'" in notes[1]
    assert "--task pair --first-column 'word' --second-column 'definition'" in notes[1]
    assert len(choose({"side": labels, "definition": texts, "label": labels})[1]) == 1


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("moderation_status", ["new", "done"]),
        ("cv_fold", ["1", "2"]),
        ("_golden", ["TRUE", "FALSE"]),
        ("parentId", ["a", "b"]),
        ("lang", ["en", "de"]),
        ("language_code", ["en", "pt-BR"]),
        ("set", ["train", "test"]),
        ("favorites", ["1", "3"]),
        ("upvote_ratio", ["0.5", "0.25"]),
        ("model_score", ["0.5", "0.25"]),
        ("when", ["1700000000", "1700000060"]),
        ("host", ["a.example.com", "b.example.org"]),
        ("from", ["10.0.0.1", "10.0.0.2"]),
        ("attachment", ["a b.pdf", "c.txt"]),
        ("key", ["d41d8cd98f00b204e9800998ecf8427e", "0cc175b9c0f1b6a831c399e269772661"]),
        ("cost", ["$0.99", "$12.50"]),
        ("position", ["[0.5, 10.2]", "[1.5, 10.2]"]),
        ("hashtags", ['["a", "b"]', '["a"]']),
        ("marks", ['["O", "B-PER"]', '["O", "O"]']),
    ],
)
@pytest.mark.parametrize("task", ["classify", "multi-label", "regress"])
def test_what_says_nothing_of_the_text_is_never_its_label(name, values, task, write):
    rows = [(f"{text} no {n}", values[n % 2]) for n, text in enumerate(LONG * 6)]
    lines = [json.dumps({"text": text, name: value}) for text, value in rows]
    path = write("tweets.jsonl", "\n".join(lines))
    assert infer_task(path, {})[0] == "classify"
    with pytest.raises(DataError) as error:
        ITEM_TYPES_BY_TASK[task].read(path)
    assert error.value.code == "HW131"


def test_a_score_of_votes_is_no_label(write):
    rows = [{"body": f"{LONG[n % 2]} no {n}", "score": n % 5 - 1, "num_comments": n % 3} for n in range(20)]
    path = write("posts.jsonl", "\n".join(map(json.dumps, rows)))
    with pytest.raises(DataError, match="HW131"):
        ITEM_TYPES_BY_TASK["classify"].read(path)
    for row in rows:
        del row["num_comments"]
    path = write("reviews.jsonl", "\n".join(map(json.dumps, rows)))
    assert len(ITEM_TYPES_BY_TASK["classify"].read(path).labels) == 5


@pytest.mark.parametrize(
    ("name", "values"),
    [("language", ["German", "Welsh"]), ("topic_id", ["a", "b"]), ("author", ["Ann", "Bob"])],
)
def test_a_language_an_author_and_the_id_of_a_topic_may_be_labels(name, values):
    assert choose({"text": LONG, name: values * 2})[0].label == name


def test_a_few_phrases_of_many_records_may_be_labels_before_the_people_who_dealt_with_them():
    teams = ["Balance not updated after a transfer", "Card about to expire", "Refund not showing up"]
    tickets = {"message": TALK, "team": (teams * 14)[:40]}
    assert choose({**tickets, "agent": ["Ann", "Bo"] * 20})[0] == Columns("message", "team")
    with pytest.raises(DataError, match=r"(?s)'team'.*'product'"):
        choose({**tickets, "product": ["loan", "card"] * 20})


@pytest.mark.parametrize(
    "values",
    [
        ["+1 555 0199", "(030) 1234", "0151-77", "911"],
        ["[0.1, 2.5]", "[3, 4]", "[]", "[1]"],
        ['{"a": "one two three"}', '{"a": "four five"}', '{"a": "b"}', '{"b": "c d e"}'],
        ["0.5, 10.2", "1.5, 10.2", "2.5, 3", "4, 4"],
        ["C:\\new docs\\a.txt", "b c.pdf", "/tmp/x.txt", "d.docx"],
    ],
)
def test_numbers_structures_and_files_are_never_the_text(values):
    with pytest.raises(DataError) as error:
        choose({"column": values, "label": list("aabb")})
    assert error.value.code == "HW131"


TALK = [f"what number {n} says is long" for n in range(40)]


def test_a_score_beside_counts_of_reactions_counts_votes():
    posts = {"body": TALK, "comms_num": list(range(40)), "flair": list("abcd") * 10}
    assert choose({**posts, "score": [n * 3 for n in range(40)]})[0] == Columns("body", "flair")
    assert choose({**posts, "score": [n % 5 for n in range(40)]})[0] == Columns("body", "score")
    essays = {"essay": TALK, "num_words": list(range(40)), "score": [n * 3 for n in range(40)]}
    assert choose(essays)[0] == Columns("essay", "score")


def test_a_column_of_one_value_and_empty_cells_is_not_the_label():
    columns = {"t": TALK, "mark": ["", "*"] * 20, "ok": ["0", "1"] * 20}
    assert choose(columns)[0] == Columns("t", "ok")


def test_parts_of_the_data_are_no_labels_and_are_told():
    columns = {"1": ["TRAIN", "TEST"] * 20, "2": TALK, "3": list("abcd") * 10}
    chosen, notes = choose(columns)
    assert chosen == Columns("2", "3")
    assert notes[-1] == "all rows are read, whatever part of the data '1' names (TRAIN, TEST)"
    assert choose({"t": TALK, "by": ["train", "bus"] * 20})[0] == Columns("t", "by")


def test_other_columns_named_like_labels_are_told():
    columns = {"text": TALK, "topic": list("abcd") * 10, "sentiment": list("xy") * 20}
    chosen, notes = choose(columns)
    assert chosen == Columns("text", "sentiment")
    assert notes[1] == "other columns that may be the label: 'topic' - choose with --label-column"
    assert len(choose(columns, label_column="topic")[1]) == 1


def test_names_that_recur_beside_a_label_of_a_vague_name_are_told():
    columns = {
        "Description": TALK,
        "Group": list("abcd") * 10,
        "Language": ["en", "de"] * 20,
        "Part": ["train", "test"] * 20,
        "Satisfaction Score": list("xy") * 20,
        "Visits": list("1234") * 10,
        "model": list("pq") * 20,
    }
    chosen, notes = choose(columns)
    assert chosen == Columns("Description", "Satisfaction Score")
    assert notes[1] == "other columns that may be the label: 'Group' - choose with --label-column"
    clear = {**columns, "Label": list("uv") * 20}
    chosen, notes = choose(clear)
    assert chosen == Columns("Description", "Label")
    note = "other columns that may be the label: 'Satisfaction Score' - choose with --label-column"
    assert notes[1] == note


@pytest.mark.parametrize("name", ["question", "query"])
def test_a_question_beside_a_text_that_may_answer_it(name):
    columns = {name: TALK, "reply": TALK[::-1], "label": list("aabb") * 10}
    with pytest.raises(DataError, match="HW131"):
        choose(columns)
    assert choose({name: TALK, "label": list("aabb") * 10})[0] == Columns(name, "label")


@pytest.mark.parametrize(
    "names", [("start", "end"), ("from", "to"), ("offset", "length"), ("start_token", "end_token")]
)
def test_the_label_of_a_part_of_a_text_is_asked_for(names):
    offsets = dict(zip(names, ([0, 5] * 20, [4, 11] * 20), strict=True))
    columns = {"text": TALK, **offsets, "label": list("aabb") * 10}
    with pytest.raises(DataError, match=r"HW131.*cut a part out of each text, to which 'label' may belong"):
        choose(columns)
    assert choose(columns, label_column="label")[0] == Columns("text", "label")
    pandas = {**columns, names[0]: [0.0, 5.0] * 20}
    with pytest.raises(DataError, match=r"HW131.*cut a part out of each text"):
        choose(pandas)
    later = {**columns, names[1]: [99] * 40}
    assert choose(later)[0] == Columns("text", "label")


def test_numbers_of_sentences_are_not_the_text():
    columns = {"sentence": [str(n // 3) for n in range(40)], "token": [f"w{n}a" for n in range(40)]}
    with pytest.raises(DataError, match="HW131"):
        choose({**columns, "note": TALK, "mind": TALK[::-1], "label": list("aabb") * 10})


def test_the_advice_leads_into_lists_of_objects():
    messages = [
        [{"role": "user", "content": text}, {"role": "assistant", "content": "yes"}] for text in TALK
    ]
    with pytest.raises(DataError, match=r"messages\.1\.content: 'yes'"):
        choose({"messages": messages})


def test_addresses_are_no_texts_whatever_they_are_called():
    columns = {"email": [f"ann{n}@x.org" for n in range(40)], "label": list("aabb") * 10}
    with pytest.raises(DataError, match="HW131"):
        choose(columns)


def test_an_answer_that_is_longer_than_its_question_is_not_the_text():
    columns = {
        "instruction": TALK,
        "response": [f"{text}, {text}" for text in TALK],
        "intent": list("ab") * 20,
    }
    with pytest.raises(DataError, match="HW131"):
        choose(columns)


def test_the_stance_is_the_label_and_not_its_target():
    columns = {"Target": ["peace", "war"] * 20, "Tweet": TALK, "Stance": list("abcd") * 10}
    chosen, notes = choose(columns)
    assert chosen == Columns("Tweet", "Stance")
    assert "'Target'" in notes[1]


def test_votes_are_not_told_as_a_label():
    columns = {"body": TALK, "subreddit": list("ab") * 20, "score": list(range(4)) * 10}
    assert not any("may be the label" in note for note in choose(columns)[1])


def test_a_column_of_one_value_is_not_the_label_where_numbers_stand_beside_it(write):
    rows = "".join(f"{n}\tthe {n}. day was long\tvalence\t{n / 30:.3f}\n" for n in range(20))
    path = write("a.txt", "ID\tTweet\tAffect Dimension\tIntensity Score\n" + rows)
    assert infer_task(path, {})[0] == "regress"
    assert choose({"t": LONG, "k": ["a"] * 4, "n": ["0.5", "1.5", "2.5", "0.1"]})[0] == Columns("t", "n")


def test_an_empty_column_is_not_the_label_where_another_is_filled():
    columns = {"summary": LONG, "kind": list("aabb"), "labels": [""] * 4}
    assert choose(columns)[0] == Columns("summary", "kind")
    assert choose({"summary": LONG, "labels": [""] * 4})[0] == Columns("summary", "labels")


def test_a_label_of_many_words_is_the_label_by_the_end_of_its_name():
    names = ["Direct debit payment not recognised", "Wrong amount of cash received"]
    texts = [f"message number {n} about my account" for n in range(40)]
    columns = {
        "text": texts,
        "office": ["north", "south"] * 20,
        "Ticket Category": [*names[:1], *names] * 13 + names[:1],
    }
    assert choose(columns)[0] == Columns("text", "Ticket Category")


@pytest.mark.parametrize(
    "characters",
    [
        "的一是不了人我在有他这为之大来以",
        "あいうえおかきくけこさしすせ",
        "กขคงจฉชซญดตถทธนะาิ",
        "ကခဂငစဆဇညတထာိ",
    ],
)
def test_a_title_beside_a_text_without_spaces_is_not_the_text(characters):
    drawn = random.Random(5)
    columns = {
        "a": ["".join(drawn.choices(characters, k=6)) for _ in range(40)],
        "b": ["".join(drawn.choices(characters, k=15 + n % 20)) for n in range(40)],
        "c": [characters[:3], characters[1:3]] * 20,
    }
    assert choose(columns)[0] == Columns("b", "c")


def test_columns_of_annotators_are_named():
    labels = [["bill", "bill", "late", "late"] * 5, ["late", "bill"] * 10, ["bill", "late"] * 10]
    columns = {
        "text": [f"a text of words {n}" for n in range(20)],
        "team": ["north", "south"] * 10,
        **dict(zip(("ann", "bob", "cy"), labels, strict=True)),
    }
    with pytest.raises(DataError, match=r"'ann', 'bob', 'cy' hold the same labels: .* most of them"):
        choose(columns)


def test_columns_of_several_labels_are_told_how_to_be_one():
    labels = ["bill", "late", "mail", "lost"] * 5
    columns = {
        "text": [f"a text of words {n}" for n in range(20)],
        "label_1": labels,
        "label_2": [labels[n + 1] if n % 2 else "" for n in range(19)] + ["bill"],
        "label_3": [labels[n + 2] if n % 4 == 1 else "" for n in range(18)] + [""] * 2,
    }
    message = r"'label_1', 'label_2', 'label_3' may be several labels of a text: .*--task multi-label"
    with pytest.raises(DataError, match=message):
        choose(columns)
    answers = {**columns, "label_2": ["yes", "no"] * 10, "label_3": [*labels[1:], "bill"]}
    with pytest.raises(DataError, match="'label_1', 'label_3' hold the same labels") as raised:
        choose(answers)
    assert "several labels" not in str(raised.value)


def test_what_people_agreed_on_is_the_label():
    labels = [["a", "b", "c", "a"] * 5, ["a", "b", "c", "b"] * 5, ["a", "b", "c", "c"] * 5]
    answers = dict(zip(("rater_1", "rater_2", "majority"), labels, strict=True))
    columns = {"text": [f"a text of words {n}" for n in range(20)], **answers}
    assert choose(columns)[0].label == "majority"
    with pytest.raises(DataError, match="HW131"):
        choose({**columns, "majority": ["north", "south"] * 10})


@pytest.mark.parametrize("name", ["predicted_label", "model_prediction", "gpt4_label"])
def test_labels_of_a_model_are_told(name):
    columns = {"text": LONG, name: list("abab")}
    note = f"{name!r} is named like the labels that a model gave, not people - override with --label-column"
    chosen, notes = choose(columns)
    assert (chosen.label, note in notes) == (name, True)
    assert note not in choose(columns, label_column=name)[1]
    assert note not in choose({**columns, "label": list("aabb")})[1]


def test_the_score_of_a_post_is_no_label():
    columns = {"body": TALK, "Score": [n % 9 for n in range(40)], "kind": list("aabb") * 10}
    assert choose(columns)[0].label == "Score"
    assert choose({**columns, "ViewCount": [*range(40)]})[0].label == "kind"
    post = {"Title": [f"one of {n}" for n in range(40)], "Tags": ["<a><b>", "<c>"] * 20}
    with pytest.raises(DataError, match="HW131"):
        choose({**columns, **post})


def test_names_of_files_are_no_texts_whatever_the_column_is_called():
    columns = {"text": [f"data/{n}.txt" for n in range(40)], "label": list("aabb") * 10}
    with pytest.raises(DataError, match=r"HW131.*'text' names files"):
        choose(columns)
