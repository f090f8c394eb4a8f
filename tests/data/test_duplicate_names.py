"""Label sets in several columns of one name."""

import pytest

from headwise.data.columns.reading_options import MultiLabelOptions, ReadOptions
from headwise.data.errors import DataError
from headwise.data.readers.labelled_files import read_examples, read_rows

JIRA = "Summary,Labels,Labels,Labels\n" + "".join(
    f"the printer of room {n} is out of order,{('hard', 'soft')[n % 2]},{'vip' * (n % 3 == 0)},\n"
    for n in range(12)
)


@pytest.fixture
def jira(tmp_path):
    (tmp_path / "jira.csv").write_text(JIRA)
    return tmp_path / "jira.csv"


@pytest.mark.parametrize("column", [None, "Labels", "labels"])
def test_all_columns_of_the_name_are_read(jira, column):
    data = read_examples(jira, MultiLabelOptions(label_column=column))
    labels = [item.labels for item in data.items[:4]]
    assert labels == [("hard", "vip"), ("soft",), ("hard",), ("soft", "vip")]
    assert "the labels of a text are those in the 3 columns 'Labels'" in data.notes


def test_a_number_names_one_of_them(jira):
    data = read_examples(jira, MultiLabelOptions(label_column="2"))
    assert data.items[0].labels == ("hard",)


def test_texts_with_no_label_in_any_of_them(jira):
    jira.write_text(JIRA + "the printer is fine,,,\n")
    options = {"label_column": "Labels"}
    assert len(read_examples(jira, MultiLabelOptions(**options)).items) == 13
    assert len(read_examples(jira, MultiLabelOptions(**options, empty_labels="skip")).items) == 12


def test_one_label_is_asked_for(jira):
    with pytest.raises(DataError, match=r"3 columns named 'Labels'.*--task multi-label reads all") as error:
        read_examples(jira, ReadOptions())
    assert error.value.code == "HW112"


def test_texts_to_predict(jira):
    assert len([*read_rows(jira, MultiLabelOptions(text_column="Summary"))]) == 12
