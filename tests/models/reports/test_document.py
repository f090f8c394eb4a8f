"""The report of a model as a page, and what a browser makes of it."""

import re
import shutil
import subprocess
from html import unescape

import numpy as np
import pytest

from headwise.core.html import Series, plot, ticks
from headwise.models.mistakes import Mistake
from headwise.models.report_page import ReportContents, report_page, scores_fragment
from headwise.models.report_parts import ComparisonSystem
from headwise.models.tasks import find_task

EVIL = '</script><img src=x onerror="document.title=1"><b>&amp;'
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def material(mistakes: int = 3, **changes) -> ReportContents:
    chance = np.random.default_rng(0)
    labels = [
        {"label": name, "texts": 50, "precision": 0.8, "recall": 0.7, "f1": 0.75} for name in ("a", EVIL)
    ]
    scores = {
        "accuracy": 0.7,
        "accuracy_interval": [0.6, 0.8],
        "macro_f1": 0.69,
        "texts": 100,
        "labels": labels,
        "confusion": [[40, 10], [20, 30]],
    }
    baseline = {"accuracy": 0.65, "accuracy_interval": [0.55, 0.75]}
    difference = {"accuracy": 0.05, "interval": [-0.01, 0.11], "p_value": 0.1}
    contents = ReportContents(
        title=EVIL,
        on="100 test texts",
        metric_table=find_task("classify").metric_table(scores),
        scores=scores,
        systems=[ComparisonSystem("TF-IDF", baseline, difference)],
        history=[
            {"train_loss": 1.0, "loss": 0.9, "accuracy": 0.5},
            {"train_loss": 0.5, "loss": 0.7, "accuracy": 0.6},
        ],
        confidences=chance.random(100),
        right=chance.random(100) < 0.7,
        mistakes=[
            Mistake(f"f:{n}", f"a predicted as {EVIL}", f"{EVIL} {n}", ("a", EVIL)[n % 2], "b")
            for n in range(mistakes)
        ],
        wrong=mistakes,
        words={EVIL: [(EVIL, 1.0), ("x", -0.5)]},
        data={"train": {"texts": 5, "labels": {EVIL: 5}}, "file": {}},
        facts=[("size", EVIL)],
        made={"settings": {"a": EVIL}},
    )
    return ReportContents(**{**vars(contents), **changes})


def test_all_sections_and_no_markup_of_the_data():
    page = report_page(material())
    headings = re.findall(r"<h2>(.*?)</h2>", page)
    assert headings == [
        "Scores",
        "Labels",
        "Confusions",
        "Probabilities",
        "Errors",
        "Words",
        "Training",
        "Data",
        "How it was made",
    ]
    assert "<img" not in page
    assert "<b>" not in page
    assert page.count("</script>") == 1
    assert "+5.0 points" in page
    assert "-1.0 to +11.0" in page
    assert not re.search(r'(src|href)="(?!#)', page)  # nothing comes from elsewhere


def test_the_headline_is_the_score_on_new_texts_where_there_were_others():
    new = ComparisonSystem("not in training (20)", {"accuracy": 0.6, "accuracy_interval": [0.4, 0.8]})
    page = str(report_page(material(unseen=new, systems=[new])))
    assert (
        "<p>Accuracy 60.0 % (95 % interval 40.0 – 80.0 %) on texts not in training (20); "
        "accuracy 70.0 % (95 % interval 60.0 – 80.0 %) on 100 test texts.</p>"
    ) in page


def test_the_table_of_the_data_has_a_column_for_each_part():
    data = {"train": {"texts": 5, "labels": {"a": 5}}, "file": {"texts": 5}, "files": {"train": ["a.csv"]}}
    page = str(report_page(material(data=data))).split('id="data"')[1]
    assert re.findall(r"<th[^>]*>(.*?)</th>", page.split("</tr>")[0]) == ["", "train"]


def test_what_is_not_known_is_left_out():
    metric_table = find_task("classify").metric_table({})
    page = report_page(ReportContents("a model", "the dev texts", metric_table, {"accuracy": 0.5}))
    assert re.findall(r"<h2>(.*?)</h2>", page) == ["Scores", "Probabilities"][:1]
    assert "Accuracy 50.0 % on the dev texts." in page


def test_cells_of_a_confusion_matrix_have_one_width():
    labels = [
        {"label": name, "texts": 5, "precision": 0.5, "recall": 0.5, "f1": 0.5}
        for name in ("x", "a label with a long name")
    ]
    page = report_page(material(scores={"accuracy": 0.5, "labels": labels, "confusion": [[4, 1], [1, 4]]}))
    confusions = page.partition("<h2>Confusions</h2>")[2].partition("</table>")[0]
    assert '<table class="hw-equal" style="--wide:12ch">' in confusions
    assert "hw-equal" not in page.partition("<h2>Confusions</h2>")[0].partition("</style>")[2]


def test_plots_have_a_legend_and_axes_in_per_cent():
    history = [
        {"train_loss": 1.0, "loss": 0.9, "accuracy": 0.925, "macro_f1": 0.925},
        {"train_loss": 0.5, "loss": 0.7, "accuracy": 0.925, "macro_f1": 0.925},
    ]
    page = report_page(material(history=history)).partition("<h2>Training</h2>")[2]
    losses, scores = re.findall(r"<figure>.*?</figure>", page, re.DOTALL)
    names = r'<span class="hw-key s(\d)"></span>([\w ]*\w)'
    assert re.findall(names, losses) == [("0", "Training loss"), ("1", "Dev loss")]
    assert re.findall(names, scores) == [("0", "Accuracy"), ("1", "Macro F1")]
    ticks = re.findall(r'text-anchor="end">(.*?)</text>', scores)
    assert len(ticks) > 1  # although all values are equal
    assert all(re.fullmatch(r"9[23](\.\d)? %", tick) for tick in ticks), ticks
    assert not any("%" in tick for tick in re.findall(r'text-anchor="end">(.*?)</text>', losses))


def test_errors_are_counted_where_there_are_no_texts_to_list():
    page = report_page(material(mistakes=0, where_errors="List them so."))
    assert "<p>30 of 100 predictions are wrong. List them so.</p>" in page
    assert "List them so." not in report_page(material(where_errors="List them so."))


def test_what_can_be_left_to_people():
    """Of ten texts the eight surest are right: 100 % of 80 % are."""
    confidences, right = np.append(np.linspace(1.0, 0.99, 8), [0.2, 0.1]), np.arange(10) < 8
    page = report_page(material(confidences=confidences, right=right))
    row = re.search(r'<th scope="row">99.0 %</th><td>(.*?)</td><td>(.*?)</td>', page)
    assert row
    assert row.groups() == ("80.0 %", "99.0 %")


def label_rows(*counts_and_scores):
    return [
        {"label": f"l{n}", "texts": texts, "precision": f1, "recall": f1, "f1": f1}
        for n, (texts, f1) in enumerate(counts_and_scores)
    ]


def row_headers(page, section):
    return re.findall(r'<th scope="row"[^>]*>(.*?)</th>', page.partition(f"<h2>{section}</h2>")[2])


def test_the_labels_with_the_lowest_f1_come_first_and_those_that_do_not_occur_last():
    scores = {"accuracy": 0.5, "labels": label_rows((5, 0.9), (0, 0.0), (7, 0.2))}
    page = report_page(material(scores=scores))
    assert row_headers(page, "Labels")[:3] == ["l2", "l0", "l1"]
    assert "<caption>The lowest F1 first.</caption>" in page


def test_the_rows_of_the_scores_are_explained():
    scores = report_page(material()).partition("<h2>Labels</h2>")[0]
    assert "<summary>What the rows mean</summary>" in scores
    assert "macro F1: mean of the F1 of all labels" in scores
    assert "log loss:" not in scores  # which the scores do not have


def test_the_interval_of_a_nested_score_is_shown():
    scores = {"entities": {"f1": 0.7, "f1_interval": [0.6, 0.8]}}
    baseline = ComparisonSystem("CRF", {"entities": {"f1": 0.5, "f1_interval": [0.4, 0.6]}}, {})
    page = report_page(
        ReportContents("t", "test", find_task("tag").metric_table(scores), scores, systems=[baseline])
    )
    cells = re.findall(r"<td>([^<]*)</td></tr>", page)
    assert "60.0 – 80.0 %" in cells
    assert "40.0 – 60.0 %" in cells


@pytest.mark.parametrize(("name", "titles"), [("a" * 9, ["a" * 9, "b"]), ("a" * 90, ["1", "2"])])
def test_long_labels_are_numbers_above_the_columns_of_confusions(name, titles):
    labels = [
        {**row, "label": label}
        for row, label in zip(label_rows((5, 0.9), (5, 0.9)), (name, "b"), strict=True)
    ]
    page = report_page(material(scores={"accuracy": 0.9, "labels": labels, "confusion": [[4, 1], [0, 5]]}))
    matrix = page.partition("<h2>Confusions</h2>")[2].partition("</table>")[0]
    assert re.findall(r'<th scope="col">([^<]*)</th>', matrix)[1:] == titles
    assert (f"1 {name}" in matrix) == (titles[0] == "1")


def test_the_words_of_many_labels_are_a_line_each():
    page = report_page(material(words={f"l{n}": [("<b>", 1.5), ("x", -0.5)] for n in range(13)}))
    assert row_headers(page, "Words")[:13] == [f"l{n}" for n in range(13)]
    assert "<bdi>&lt;b&gt;</bdi> +1.50, <bdi>x</bdi> -0.50" in page


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")
def test_a_column_title_sorts_the_labels(tmp_path):
    scores = {"accuracy": 0.5, "labels": label_rows((1_200, 0.9), (30, 0.1), (7, 0.2))}
    probe = """<script>{
      const [table] = document.querySelectorAll('table[data-sortable]'), said = [];
      const press = column => {
        table.rows[0].cells[column].querySelector('button').click();
        said.push(Array.from(table.rows).slice(1).map(row => row.cells[0].textContent).join(''));
      };
      press(1); press(1); press(0);
      document.body.dataset.said = said.join('; ');
    }</script></body>"""
    path = tmp_path / "report.html"
    path.write_text(report_page(material(scores=scores)).replace("</body>", probe))
    flags = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}")
    command = [CHROMIUM, *flags, "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert 'data-said="l2l1l0; l0l1l2; l0l1l2"' in done.stdout, done.stderr


def test_long_words_break_before_their_bars_are_cut_off():
    """A bar that ends at the edge of its half of the page looks like any other that does."""
    page = report_page(material(words={"a": [("someone@somewhere.example.org" * 3, 1.0)]}))
    assert '.hw-two th[scope="row"] { overflow-wrap: anywhere; }' in page
    assert '.hw-wide th[scope="row"] { min-width: 7em; overflow-wrap: anywhere; }' in page  # on phones


def test_points_stand_where_they_belong():
    drawn = plot("t", [Series("l", [(0, 0), (1, 1)])], (0, 1), (0, 1), ("x", "y"))
    points = re.search(r'points="(.*?)"', drawn)
    assert points
    assert points[1] == "52.0,212.0 396.0,10.0"


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")
def test_in_a_browser(tmp_path):
    """10,000 rows are filtered in no time, markup is text, and the console is empty."""
    page = report_page(material(10_000))
    probe = """<script>{
      const began = performance.now(), form = document.querySelector('.hw-filter');
      const said = [form.querySelector('output').textContent];
      form.elements.a.value = 'a'; form.dispatchEvent(new Event('input'));
      said.push(form.querySelector('output').textContent);
      form.elements.a.value = ''; form.elements.q.value = ' 123'; form.dispatchEvent(new Event('input'));
      said.push(form.querySelector('output').textContent);
      const list = document.querySelector('.hw-errors'); list.scrollTop = 1e9;
      const wide = Array.from(document.querySelectorAll('body *'))
        .filter(own => own.getBoundingClientRect().right > innerWidth && !own.closest('.hw-wide'))
        .map(own => own.outerHTML.slice(0, 80));
      said.push(list.scrollHeight > list.clientHeight, wide.length ? wide[0].replaceAll('"', '') : 'fits');
      said.push(performance.now() - began < 6000 ? 'fast' : 'slow');
      document.body.dataset.said = said.join('; ');
    }</script></body>"""
    path = tmp_path / "report.html"
    path.write_text(page.replace("</body>", probe))
    flags = (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
    )
    logs = ("--enable-logging=stderr", f"--user-data-dir={tmp_path / 'profile'}")
    command = [CHROMIUM, *flags, *logs, "--window-size=500,800", "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    match = re.search(r'data-said="(.*?)"', done.stdout)
    assert match
    assert match[1] == "10,000 shown; 5,000 shown; 11 shown; true; fits; fast", done.stderr
    assert "CONSOLE" not in done.stderr
    assert "<title>1</title>" not in done.stdout


def test_what_a_notebook_shows():
    report = report_page(material())
    frame = report._repr_html_()
    assert frame.startswith("<iframe sandbox=")
    assert "<!doctype" not in frame
    assert unescape(frame.split('srcdoc="')[1].removesuffix('"></iframe>')) == report
    shown = scores_fragment(material())
    assert EVIL not in shown
    assert "70.0 %" in shown
    assert "<html" not in shown


def test_ticks_are_round_numbers():
    assert ticks(0, 1) == [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert ticks(1, 5) == [1, 2, 3, 4, 5]
    assert ticks(1, 8) == [2, 4, 6, 8]
    assert ticks(0.0316, 0.539) == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert ticks(0.808, 0.815) == [0.808, 0.81, 0.812, 0.814]
    assert ticks(3, 3) == [3]
    assert ticks(1, 3, 1) == [1, 2, 3]
    assert ticks(-1e308, 1e308) == ticks(0, float("inf")) == ticks(float("nan"), 1) == []


def test_a_history_of_numbers_too_far_apart_is_shown():
    assert "Training loss" in report_page(material(history=[{"train_loss": -1e308}, {"train_loss": 1e308}]))


def test_numbers_are_no_classes():
    data = {"train": {"texts": 2, "labels": {"1.5": 1, "2.25": 1}}}
    text = report_page(
        material(metric_table=find_task("regress").metric_table({}), scores={"mae": 0.5}, data=data)
    )
    assert "largest errors" in text
    assert "are wrong" not in text
    assert "2.25" not in text
