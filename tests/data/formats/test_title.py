import pytest

from headwise.data.columns.file_source import DataSource
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.formats.table_header import title_rows
from headwise.data.formats.table_rows import records_from_rows
from headwise.data.readers.labelled_files import read_examples

NAMES, ROW = ["Date", "Review", "Sentiment"], ["2024-01-01", "it came late", "bad"]
TITLE, BLANK = ["Reviews of spring", "", ""], ["", "", ""]


@pytest.mark.parametrize(
    ("rows", "title_count"),
    [
        ([TITLE, NAMES, ROW], 1),
        ([["Reviews of spring"], NAMES, ROW], 1),
        ([TITLE, BLANK, NAMES, ROW], 2),
        ([NAMES, ROW], 0),
        ([TITLE, ["Date", "", "Sentiment"], ROW], 0),
        ([TITLE, ["Date", "Review", "Review"], ROW], 0),
        ([["", "Reviews of spring", ""], NAMES, ROW], 1),
        ([["Report", "", ""], ["Created", "2024-01-02", ""], NAMES, ROW], 2),
        ([["Ticket", "", "Answer"], NAMES, ROW], 1),
        ([["Ticket", "", "label"], ["1", "a text", "good"], ROW], 0),
        ([["a text", ""], ["another text", "good"], ["a third text", "bad"]], 0),
        ([["text"], ["one"], ["two"]], 0),
        ([*[BLANK] * 11, NAMES, ROW], 0),
    ],
)
def test_rows_above_the_names(rows, title_count):
    assert title_rows(rows, ReadOptions()) == title_count


@pytest.mark.parametrize("comment", [["# made by me"], ["# made by me", " it seems"], ["# a", "b", "c"]])
def test_comments_above_the_names(comment):
    rows = [["text", "label"], *[[f"the door is shut {n}", "xy"[n % 2]] for n in range(9)]]
    assert title_rows([comment, comment, *rows], ReadOptions()) == 2
    assert title_rows([["# of text", "label"], *rows[1:]], ReadOptions()) == 0
    assert title_rows([comment, *rows[1:]], ReadOptions()) == 0


def test_a_title_above_a_table_with_an_empty_last_column():
    rows = [[f"the door is shut {n}", "xy"[n % 2], ""] for n in range(9)]
    assert title_rows([["Export", "", ""], ["text", "label", ""], *rows], ReadOptions()) == 1


@pytest.mark.parametrize(
    ("options", "title_count"),
    [
        (ReadOptions(header=False), 0),
        (ReadOptions(header=True), 0),
        (ReadOptions(text_column="b"), 1),
        (ReadOptions(text_column="a"), 0),
    ],
)
def test_what_is_asked_for_counts(options, title_count):
    assert title_rows([["a", ""], ["b", "c"], ["d", "e"]], options) == title_count


def test_they_are_no_data_and_are_told():
    source = DataSource("a.csv", ReadOptions())
    records = list(records_from_rows(iter(list(enumerate([TITLE, BLANK, NAMES, ROW], start=1))), source))
    assert [(record.line, record.fields["Review"]) for record in records] == [(4, "it came late")]
    assert source.notes == [
        "lines 1 and 2 are no data: a title above the table",
        "line 3 is a header - override with --no-header",
    ]


def test_padding_around_cells_of_a_ruled_table_is_no_text(write):
    text = "| text    | label |\n|---------|-------|\n| it runs | good  |\n| no      | bad   |\n"
    data = read_examples(write("a.md", text))
    assert [(item.text, item.label) for item in data.items] == [("it runs", "good"), ("no", "bad")]


SURVEY = (
    "Respondent ID,Start Date,What went wrong?,Which team?\n"
    ",,Open-Ended Response,Response\n"
    "101,2024-03-01,it came late,delivery\n"
    "102,2024-03-02,it was never paid back,billing\n"
)
QUALTRICS = (
    "StartDate,Progress,Q1,Q2\n"
    "Start Date,Progress,What went wrong?,Which team?\n"
    '"{""ImportId"":""startDate""}","{""ImportId"":""progress""}","{""ImportId"":""QID1""}","{""ImportId"":""QID2""}"\n'
    "2024-03-01,100,it came late,delivery\n"
    "2024-03-02,100,it was never paid back,billing\n"
)


@pytest.mark.parametrize(("text", "lines"), [(SURVEY, "line 2 is"), (QUALTRICS, "lines 2 and 3 are")])
@pytest.mark.parametrize("name", ["a.csv", "a"])
def test_the_questions_of_a_survey_are_no_answers(write, text, lines, name):
    data = read_examples(write(name, text), ReadOptions(text_column="3", label_column="4"))
    assert [example.label for example in data.items] == ["delivery", "billing"]
    assert any(note.startswith(f"{lines} no data: a survey's questions") for note in data.notes)


@pytest.mark.parametrize(
    "kinds",
    [
        ",,Antworten mit offenem Ende,Antwort",
        ",,Réponse ouverte,Réponse",
        ",,Respuesta abierta,Respuesta",
        ",,自由回答,回答",
    ],
)
def test_the_questions_of_a_survey_in_another_language(write, kinds):
    rows = [f"1180000{n},2024-03-0{n % 9 + 1},it came late {n},{'ab'[n % 2]}\n" for n in range(10, 30)]
    survey = "".join(["ID,Datum,Was ging schief?,Team?\n", kinds + "\n", *rows])
    data = read_examples(write("a.csv", survey), ReadOptions(text_column="3", label_column="4"))
    assert [example.label for example in data.items] == ["a", "b"] * 10
    assert any(note.startswith("line 2 is no data: a survey's questions") for note in data.notes)


def test_the_boxes_of_a_survey_are_named_below_the_header(write):
    rows = [
        f"1180000{n},2024-03-0{n % 9 + 1},it came {n},{'ab'[n % 2]},{['App', ''][n % 2]}\n"
        for n in range(10, 30)
    ]
    survey = "".join(["ID,Datum,Was ging schief?,Team?,Womit?\n", ",,Offene Antwort,Antwort,App\n", *rows])
    data = read_examples(write("a.csv", survey), ReadOptions(text_column="3", label_column="4"))
    assert len(data.items) == 20


@pytest.mark.parametrize(
    "row", [",,it came late 99,a", ",2024-03-01,it came late 99,c", "11800009,,it came late 99,c"]
)
def test_a_row_without_an_id_or_with_a_date_is_data(write, row):
    rows = [f"1180000{n},2024-03-0{n % 9 + 1},it came late {n},{'ab'[n % 2]}\n" for n in range(10, 30)]
    text = "".join(["ID,Datum,Was ging schief?,Team?\n", row + "\n", *rows])
    data = read_examples(write("a.csv", text), ReadOptions(text_column="3", label_column="4"))
    assert len(data.items) == 21


def test_of_two_rows_of_names_the_second_is_the_header(write):
    rows = "".join(f"s {n},it came late {n},{'ab'[n % 2]}\n" for n in range(20))
    data = read_examples(write("a.csv", "Ticket,,Rating\nSubject,Text,Label\n" + rows))
    assert [example.label for example in data.items] == ["a", "b"] * 10
    assert (data.columns.text, data.columns.label) == ("Text", "Label")


def test_an_answer_without_an_id_is_no_question(write):
    unlike = SURVEY.replace("Open-Ended Response,Response", "it is broken,delivery")
    columns = ReadOptions(text_column="3", label_column="4")
    assert len(read_examples(write("a.csv", unlike), columns).items) == 3
    numbered = SURVEY.replace(",,Open", "100,,Open")
    assert len(read_examples(write("b.csv", numbered), columns).items) == 3
