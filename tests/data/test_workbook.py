"""Excel workbooks: their sheets as rows, and what is wrong with them."""

import io
import re
import zipfile
from datetime import date, datetime
from pathlib import Path

import openpyxl
import pytest

from headwise.data import read_examples, read_rows
from headwise.data.errors import DataError
from headwise.data.files.tables import row_line
from headwise.data.files.workbook import workbook_rows

HEADER = ["Date", "Review", "Sentiment"]
ROWS = [[date(2024, 1, 1), "it came late", "bad"], [date(2024, 1, 2), 'so "good"\nand new', "good"]]
TABLE = [HEADER, *ROWS]
SHARED, SPACE = "xl/sharedStrings.xml", b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"


@pytest.fixture
def book(tmp_path):
    """Write a workbook of sheets of rows (a name that begins with "-" is a hidden one), perhaps with other
    members, and return its path."""

    def book(name: str = "book.xlsx", /, change=None, **sheets) -> str:
        made = openpyxl.Workbook()
        made.remove(made["Sheet"])
        for title, rows in sheets.items():
            sheet = made.create_sheet(title.removeprefix("_"))
            sheet.sheet_state = "hidden" if title.startswith("_") else "visible"
            for row in rows:
                sheet.append(row)
        if all(sheet.sheet_state == "hidden" for sheet in made):
            made.create_sheet("Empty")
        path = tmp_path / name
        made.save(path)
        if change:
            change_members(path, change)
        return str(path)

    return book


def change_members(path, change) -> None:
    """Write a zip anew, every member as `change` of its name and content gives it."""
    content = io.BytesIO(path.read_bytes())
    with zipfile.ZipFile(content) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))


def share_strings(path) -> None:
    """Put the texts of a workbook into a part of their own, as Excel does, in runs of letters."""
    shared_strings: list[bytes] = []

    def moved(match: re.Match[bytes]) -> bytes:
        text = match[2]
        shared_strings.append(b"<r><t>%b</t></r><r><t>%b</t></r>" % (text[:1], text[1:]))
        return b'<c %bt="s"><v>%d</v></c>' % (match[1], len(shared_strings) - 1)

    def change(name: str, xml: bytes) -> bytes:
        if name.startswith("xl/worksheets/"):
            return re.sub(rb'<c ([^>]*)t="inlineStr"><is><t[^>]*>([^<]*)</t></is></c>', moved, xml)
        kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
        part = b'<Override PartName="/%b" ContentType="%b"/></Types>' % (SHARED.encode(), kind)
        return xml.replace(b"</Types>", part) if name == "[Content_Types].xml" else xml

    change_members(path, change)
    with zipfile.ZipFile(path, "a") as archive:
        items = b"".join(b"<si>%b</si>" % string for string in shared_strings)
        archive.writestr(SHARED, b'<sst xmlns="%b">%b</sst>' % (SPACE, items))


def in_sheet(change):
    """A change of the XML of sheets."""
    return lambda name, xml: change(xml) if name.startswith("xl/worksheets/") else xml


def lines(path: str, sheet: str | None = None) -> list[tuple[int, str]]:
    return [row_line(row) for row in workbook_rows(path, sheet, [])]


def refused(path: str, sheet: str | None = None) -> DataError:
    with pytest.raises(DataError) as error:
        lines(path, sheet)
    return error.value


def test_rows_become_lines_of_csv(book):
    rows = [["a", 'b "c"\nd'], [1, 2.5], [True, datetime(2024, 3, 1, 9, 30)], [None, "x"]]
    assert lines(book(Data=rows)) == [
        (1, '"a","b ""c""\nd"'),
        (2, '"1","2.5"'),
        (3, '"TRUE","2024-03-01 09:30:00"'),
        (4, '"","x"'),
    ]


def test_a_sheet_is_read_as_its_csv_would_be(book):
    data = read_examples(book(Data=TABLE))
    assert (data.format, data.columns.text, data.columns.label) == ("xlsx", "Review", "Sentiment")
    assert [(item.text, item.label, item.line) for item in data.items] == [
        ("it came late", "bad", 2),
        ('so "good"\nand new', "good", 3),
    ]
    assert [row.fields["Date"] for row in read_rows(book(Data=TABLE))] == ["2024-01-01", "2024-01-02"]


def test_what_is_around_the_table_is_passed_over(book):
    rows = [[], [None, "text", "label"], [None, "a b c", "x"], [], [None, "d e f", "y"], [None, " "], []]
    path = book(Data=rows)
    assert lines(path) == [(2, '"text","label"'), (3, '"a b c","x"'), (4, '"",""'), (5, '"d e f","y"')]
    data = read_examples(path)
    assert [item.line for item in data.items] == [3, 5]
    assert "blank lines passed over: 1" in data.notes
    assert len(list(read_rows(path))) == 3  # to predict, each row keeps its place


@pytest.mark.parametrize("stray", [["a", "x", "note"], ["note"]])
def test_what_stands_beside_the_table_further_down_is_told(book, stray):
    rows = [[None, *row] for row in [["text", "label"], *[["a b c", "x"]] * 1000]]
    path = book(Data=[*rows, [None, *stray] if len(stray) > 1 else stray])
    with pytest.raises(DataError, match=r"book.xlsx:1002: .*empty the cells beside the table") as error:
        read_examples(path)
    assert error.value.code == "HW110"


def test_an_error_says_which_sheet_is_read(book):
    path = book(Manual=[["How to use it"], ["Fill in the second sheet, a text in each row"]], Data=TABLE)
    message = "the sheet 'Manual' is read, not 'Data' - name another as 'book.xlsx!Data'"
    with pytest.raises(DataError, match=f"label column cannot be guessed; {message}; or give"):
        read_examples(path)


def test_the_first_sheet_with_rows_is_read_and_told(book):
    path = book(_Old=TABLE, Notes=[], Data=TABLE, More=TABLE)
    notes: list[str] = []
    assert len(list(workbook_rows(path, None, notes))) == 3
    assert notes == ["the sheet 'Data' is read, not 'Old', 'More' - name another as 'book.xlsx!Old'"]
    assert read_examples(path).notes[0] == notes[0]
    assert read_examples(f"{path}!Old").notes == read_examples(book("one.xlsx", Data=TABLE)).notes


def test_sheets_that_cannot_be_read(book):
    path = book(_Old=TABLE, Data=[])
    assert "did you mean" in str(refused(path, "Dat"))
    assert (refused(path, "Dat").code, refused(path, "").code) == ("HW101", "HW101")
    assert refused(path, "Data").code == "HW103"
    assert refused(path).code == "HW103"
    assert "book.xlsx!Old" in refused(path).advice


@pytest.mark.parametrize("last", ["C", "Z"])
def test_hidden_rows_and_columns_are_read_and_told(book, last):
    path = book(A=[["text", "label", "old"], *([f"text {n}", "ab"[n % 2], "x"] for n in range(9))])
    made = openpyxl.load_workbook(path)
    for row in (4, 5, 9, 20):  # there is no row 20
        made["A"].row_dimensions[row].hidden = True
    for column in "C" if last == "C" else "CZ":
        made["A"].column_dimensions[column].hidden = True
    made.save(path)
    notes = read_examples(path).notes
    assert [note for note in notes if "hidden" in note] == [
        "rows that are hidden or filtered out are read, too: 3, first 4",
        "columns that are hidden are read, too: C",
    ]
    assert len(read_examples(path).items) == 9


def test_dimensions_that_are_wrong_cut_nothing(book):
    wrong = in_sheet(lambda xml: re.sub(rb'<dimension ref="[^"]*"', b'<dimension ref="A1"', xml))
    assert len(read_examples(book(change=wrong, Data=TABLE)).items) == 2


def test_control_characters_as_excel_writes_them(book):
    assert lines(book(Data=[["a_x000D_\nb", "_x0041__x0000_"]])) == [(1, '"a\r\nb","_x0041__x0000_"')]


def test_shared_strings_as_excel_writes_them(book):
    path = Path(book(Data=TABLE))
    before = lines(str(path))
    share_strings(path)
    assert b"inlineStr" not in zipfile.ZipFile(path).read("xl/worksheets/sheet1.xml")
    assert lines(str(path)) == before


def test_formulas_without_values_are_told(book):
    rows = [["text", "label"], *[[f'=CONCATENATE("a","{n}")', "xy"[n % 2]] for n in range(4)]]
    error = refused(book(Data=rows))
    assert (error.code, error.line) == ("HW128", 2)
    assert "column 1, first '=CONCATENATE" in error.problem
    computed = in_sheet(lambda xml: xml.replace(b"<v></v>", b"<v>7</v>").replace(b"<v />", b"<v>7</v>"))
    assert lines(book(change=computed, Data=rows))[1] == (2, '"7","x"')


def test_an_empty_column_is_no_formula(book):
    assert len(lines(book(Data=[["text", "label", "notes"], ["a b", "x"], ["c d", "y"]]))) == 3


def test_an_extension_that_openpyxl_does_not_know_is_no_matter(book):
    extension = b'<extLst><ext uri="{CCE6A557-97BC-4b89-ADB6-D9C93CAAB3DF}"/></extLst></worksheet>'
    path = book(change=in_sheet(lambda xml: xml.replace(b"</worksheet>", extension)), Data=TABLE)
    assert len(lines(path)) == 3


def test_rows_come_before_the_rest_is_read_and_damage_is_told(book):
    rows = [["text", "label"], *[[f"text {n}", "xy"[n % 2]] for n in range(3000)]]
    path = book(change=in_sheet(lambda xml: xml[: len(xml) * 9 // 10]), Data=rows)
    numbered_lines = map(row_line, workbook_rows(path, None, []))
    assert next(numbered_lines) == (1, '"text","label"')
    with pytest.raises(DataError, match=r"an Excel workbook that cannot be read \(.*save it") as error:
        list(numbered_lines)
    assert error.value.code == "HW102"


PARTS = {"strings": SHARED, "sheet": "xl/worksheets/sheet1.xml", "book": "xl/workbook.xml"}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("content", [b"", b"<", b"no xml", b"<a/>"])
def test_damaged_parts(book, part, content):
    path = Path(book(Data=TABLE))
    share_strings(path)
    change_members(path, lambda name, xml: content if name == PARTS[part] else xml)
    assert refused(str(path)).code in ("HW102", "HW103")


def test_entities_are_not_followed(book, tmp_path):
    (tmp_path / "secret").write_text("secret")
    for entity in ('"aaaaaaaaaa"', f'SYSTEM "{tmp_path}/secret"'):
        head = f"<!DOCTYPE worksheet [<!ENTITY e {entity}>]><worksheet ".encode()
        path = book(
            change=in_sheet(
                lambda xml, head=head: xml.replace(b"<worksheet ", head).replace(b"late", b"&e;")
            ),
            Data=[["text", "label"], ["x", 1]],
        )
        assert refused(path).code == "HW102"


def test_a_part_that_unpacks_to_far_more_is_refused(book):
    path = book(
        change=in_sheet(lambda xml: xml.replace(b"<row", b" " * (1 << 27) + b"<row", 1)), Data=TABLE
    )
    assert refused(path).code == "HW104"
    assert re.search(r"bytes stand for 134,", refused(path).problem)


def test_a_row_that_excel_does_not_have(book):
    path = book(change=in_sheet(lambda xml: xml.replace(b'r="3"', b'r="1000000000"')), Data=TABLE)
    assert "more than 1,048,576 rows" in str(refused(path))
