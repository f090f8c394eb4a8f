import random

import pytest

from headwise.data.columns.text_columns import Columns
from headwise.data.doctor.check_registry import CHECKS
from headwise.data.doctor.diagnose import examine
from headwise.data.doctor.examined_file import CheckedFile
from headwise.data.findings import count, places
from headwise.data.items.dataset import Dataset
from headwise.data.items.examples import Example
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK


def findings(*pairs, role="train"):
    examples = [Example(text, label, line) for line, (text, label) in enumerate(pairs, start=1)]
    data = Dataset(examples, "f", "csv", Columns("text", "label"))
    kind = ITEM_TYPES_BY_TASK["classify"]
    return {
        finding.code: finding for finding in examine(kind, {role: CheckedFile(role, data, kind)}).findings
    }


CLEAN = [(f"a good film number {i}", "ab"[i % 2]) for i in range(20)]


def test_nothing_is_found_in_clean_data():
    assert findings(*CLEAN) == {}
    assert findings() == {}


@pytest.mark.parametrize(
    ("code", "severity", "text", "label"),
    [
        ("HW150", "warning", " \t", "a"),
        ("HW151", "info", "good", "a"),
        ("HW152", "info", "good " * 600, "a"),
        ("HW153", "info", "A good film  number 2", "a"),
        ("HW154", "warning", "a good film number 2", "b"),
        ("HW155", "warning", "another bad film then", "c"),
        ("HW156", "warning", "another bad film then", "A"),
        ("HW157", "info", "a\x85 b c d e", "a"),
        ("HW157", "info", "a b\rc d e", "a"),
        ("HW158", "info", "well<br />no &amp; a b", "a"),
        ("HW158", "info", "eine gro&szlig;e Tür", "a"),
        ("HW158", "info", "['a', 'good', \"film's\"]", "a"),
        ("HW158", "info", "['a' 'good'\n 'film']", "a"),
        ("HW176", "info", "you are an i\u200bd\u200bi\u200bot", "a"),
        ("HW158", "info", "It is late.\\nWrite soon", "a"),
        ("HW159", "warning", "b'it is bytes'", "a"),
        ("HW159", "warning", "die Gr+APYA3w-e f+APw-r T+APw-ren", "a"),
        ("HW159", "warning", "a +BB8EQAQ4BDIENQRC 1", "a"),
        ("HW159", "warning", '~{7"F1=p6n2;U}H7GkMK?n~} 1', "a"),
        ("HW184", "warning", "From: a@b.org\nTo: c@d.org\nSubject: so\n\nhello there", "a"),
        ("HW184", "warning", "From x Mon Jan 01 2001\nX-Y: 1\n 2\nDate: now\nLines: 3\n\na b c", "a"),
        ("HW185", "warning", "so " * 10922 + "s", "a"),
        ("HW159", "warning", "die T\\xfcr ist zu", "a"),
        ("HW159", "warning", "die T\\u00fcr ist zu", "a"),
        ("HW159", "warning", "die T=C3=BCr ist zu", "a"),
        ("HW159", "warning", "the%20door%20is%20shut", "a"),
        ("HW159", "warning", "it\u00e2\u20ac\u2122s a caf\u00c3\u00a9 b", "a"),
    ],
)
def test_one_bad_text_is_found_at_its_line(code, severity, text, label):
    finding = findings(*CLEAN, (text, label))[code]
    assert finding.severity == severity
    assert finding.fix
    expected = {"HW154": f"f:3 (a), 21 (b): {text!r}"}.get(code, "f:21")
    assert finding.where == (expected,)


def test_good_text_is_not_suspected():
    fine = [
        "a < b > c",
        "AT&T; R&D",
        "<unk> was here",
        "café naïve",
        "Ã",
        "tab\there",
        "👍🏽 é 👩\u200d👩\u200d👧",
        "សួស្តី\u200bពិភពលោក",  # Khmer, whose words have nothing else between them
        "two\r\nlines",
        "see https://example.org/a%20b and https://example.org/?q=%C3%BC",
        r"C:\new\docs and D:\unit\x86 1=20",
    ]
    assert findings(*CLEAN, *((text + " a b c d", "a") for text in fine)) == {}


@pytest.mark.parametrize(
    ("text", "written", "read"),
    [
        ("Der Drücker fällt ständig aus", "mac_roman", "cp1252"),
        ("Größere Schäden an der Tür", "cp850", "latin-1"),
        ("очень плохое обслуживание", "cp1251", "cp1252"),
        ("Очень плохое обслуживание", "koi8-r", "cp1251"),
        ("очень плохое обслуживание", "koi8-r", "cp1252"),
        ("Πολύ κακή εξυπηρέτηση", "cp1253", "cp1252"),
        ("żałuję, że źle działa", "cp1250", "cp1252"),
        ("Świetna jakość, myśl wyżej", "iso8859-2", "cp1252"),
        ("这个产品的质量非常好", "gb18030", "cp1252"),
        ("الخدمة سيئة جدا", "cp1256", "cp1252"),
    ],
)
def test_the_wrong_encoding_is_seen(text, written, read):
    garbled = [(text.encode(written).decode(read, "replace"), "a")] * 3
    assert "HW159" in findings(*CLEAN, *garbled)


def test_other_languages_are_rightly_decoded():
    texts = [
        "Größe 5 m², 20°C, ±3 µm, §5 und ½ Liter für 3£ – ¿qué? ¡ya! «oui» l·l 1ª nº 5",
        "Où êtes-vous ? Ça va, cœur, L'HAŸ-LES-ROSES, Œuvre, ŸNCA, naïveté, à être",
        "Þórður fór út í sjó með Ægi, hjá ömmu þá; við öll. Äö åå ØÆÅ",
        "НАТО и ООН, iPhone, мГц, кВт, ВКонтакте, ёЖИК",
        "eBay, McDonald, Coca-Cola®, Word™text, it´s, a°b, foo¦bar",
    ]
    assert "HW159" not in findings(*CLEAN, *((text, "a") for text in texts))


def test_one_word_is_not_short_among_short_texts():
    assert "HW151" not in findings(*((f"w{i}", "ab"[i % 2]) for i in range(20)))


def test_classes_are_only_judged_where_they_are_learned():
    pair = [("one film", "a"), ("two films", "a")]
    assert findings(*pair)["HW162"].severity == "error"
    assert "HW155" in findings(*pair)
    assert findings(*pair, role="test") == {}
    assert set(findings(("one", None), ("two", None))) == {"HW163"}


def test_spellings_of_a_label():
    pairs = [(f"text {i}", label) for i, label in enumerate(["Not Ok"] * 9 + ["notok", "yes"])]
    finding = findings(*pairs)["HW156"]
    assert finding.message.endswith("'Not Ok' (9), 'notok' (1)")
    assert finding.where == ("f:10",)


def test_spellings_of_several_labels_are_one_finding():
    labels = [*["Ham"] * 9, "ham", *["Spam"] * 9, "SPAM"]
    finding = findings(*[(f"text {i}", label) for i, label in enumerate(labels)])["HW156"]
    assert finding.message.endswith("'Ham' (9), 'ham' (1); 'Spam' (9), 'SPAM' (1)")
    assert "write one spelling of each throughout" in finding.fix
    assert finding.where == ("f:10", "f:20")


def test_labels_that_look_alike():
    pairs = [(f"text {i}", label) for i, label in enumerate(["übel"] * 9 + ["u\u0308bel", "yes"])]
    finding = findings(*pairs)["HW156"]
    assert finding.message.endswith("'übel' (9), 'u\\u0308bel' (1)")
    assert "write 'übel' throughout" in finding.fix
    assert finding.where == ("f:10",)


def test_labels_with_letters_of_two_scripts():
    pairs = [(f"text {i}", label) for i, label in enumerate(["garden"] * 9 + ["gard\u0435n", "x"])]
    finding = findings(*pairs)["HW156"]
    assert finding.message.endswith("'garden' (9), 'gard\\u0435n' (1)")
    russian = [(f"text {i}", label) for i, label in enumerate(["\u0441\u043e\u0440"] * 9 + ["cop"])]
    assert "HW156" not in findings(*russian)


@pytest.mark.parametrize("variant", ["'spam'", '"spam"', "SPAM", "s pam", "spam.", "Spam,"])
def test_labels_in_quotation_marks_are_variants(variant):
    pairs = [(f"text {i}", label) for i, label in enumerate(["spam"] * 9 + [variant, "other"])]
    assert "'spam' (9)" in findings(*pairs)["HW156"].message


def test_dashes_of_labels_are_variants():
    pairs = [(f"text {i}", label) for i, label in enumerate(["non-food"] * 9 + ["non\u2011food", "x"])]
    assert "'non-food' (9)" in findings(*pairs)["HW156"].message


@pytest.mark.parametrize("variant", ["non food", "non_food", "Nonfood"])
def test_words_joined_in_another_way_are_variants(variant):
    pairs = [(f"text {i}", label) for i, label in enumerate(["non-food"] * 9 + [variant, "x"])]
    assert "'non-food' (9)" in findings(*pairs)["HW156"].message


@pytest.mark.parametrize("label", ["1 2", "12", "A", "A-", "C++", "C", "a-b."])
def test_digits_grades_and_signs_are_no_variants(label):
    pairs = [(f"text {i}", label) for i, label in enumerate(["1-2", "A+", "C#", "A--"] * 5 + [label] * 5)]
    assert "HW156" not in findings(*pairs)


@pytest.mark.parametrize(
    "labels", [("Yes", "no", "y", "n"), ("True", "False", "0", "1"), ("ja", "nein", "1", "N/A")]
)
def test_truth_values_in_two_spellings_are_variants(labels):
    pairs = [(f"text {i}", labels[i % 4]) for i in range(40)]
    assert "HW156" in findings(*pairs)


def test_other_labels_beside_truth_values_are_no_variants():
    pairs = [(f"text {i}", "ynts"[i % 4]) for i in range(40)]
    assert "HW156" not in findings(*pairs)
    assert "HW156" not in findings(*((f"text {i}", ["yes", "no", "maybe"][i % 3]) for i in range(30)))


def test_numbers_that_are_equal():
    pairs = [(f"text {i}", label) for i, label in enumerate(["1"] * 9 + ["1.0", "0.5"])]
    assert findings(*pairs)["HW156"].message.endswith("'1' (9), '1.0' (1)")
    long = [("a", "12345678901234567890"), ("b", "12345678901234567891")]
    assert "HW156" not in findings(*long)


def test_only_some_places_are_shown():
    assert places("f", range(1, 6)) == ("f:1", "f:2", "f:3", "f:4", "f:5")
    assert places("f", range(1, 2001))[5:] == ("and 1,995 more",)


def test_counts_are_english():
    assert [count(n, "text") for n in (0, 1, 2000)] == ["0 texts", "1 text", "2,000 texts"]
    assert count(2, "class") == "2 classes"


def test_of_a_text_that_stands_often_each_answer_is_told_once():
    finding = findings(*(("a good one", "ab"[n % 2]) for n in range(40)))["HW154"]
    assert finding.where == ("f:1 (a), 2 (b), and 38 more: 'a good one'",)
    long = findings(("a long text\n" * 9, "a"), ("a long text " * 9, "b"), ("a", "b"))["HW154"]
    assert long.where == (f"f:1 (a), 2 (b): '{('a long text ' * 9)[:59]}…'",)


def test_what_programs_write_for_no_label():
    finding = findings(("a film", "good"), ("b film", "nan"), ("c film", "bad"), ("d film", "N/A"))["HW120"]
    assert "'N/A', 'nan', which may stand for none" in finding.message
    assert len(finding.where) == 2
    # R writes NA, and only so: na is a word of its own, and the code of a country.
    finding = findings(("a film", "good"), ("b film", "NA"), ("c film", "bad"), ("d film", "na"))["HW120"]
    assert "1 text with the label 'NA', which may stand for none" in finding.message


@pytest.mark.parametrize("label", ["-", "--", "?", "TBD", "k.A.", "keine Angabe", "unlabelled", "(blank)"])
def test_what_people_write_for_no_label(label):
    finding = findings(*CLEAN, *((f"another {i}", label) for i in range(5)))["HW120"]
    assert finding.message == f"5 texts with the label {label!r}, which may stand for none"


@pytest.mark.parametrize(
    ("rows", "swapped"),
    [
        ([("a", f"another good film {n}") for n in range(5)], True),  # the columns are swapped
        ([("a", "10"), ("b", "11"), (" B ", "12")], True),  # a summary
        ([("a", "10"), ("b", "11")], False),
        ([("a", "a"), ("b", "b")] * 3, False),
        ([("a", "b"), ("b", "a")] * 3, False),
        ([("a", "c"), ("b", "c")] * 3, False),
        ([("that", f"another good film {n}") for n in range(5)], False),
    ],
)
def test_texts_that_are_labels(rows, swapped):
    finding = findings(*CLEAN, *rows).get("HW178")
    assert bool(finding) == swapped
    if finding:
        assert finding.where[0] == "f:21"


@pytest.mark.parametrize(
    "label", ["2024-02-01", "2024-02-01 00:00:00", "2-Feb", "01. Feb", "Mrz 02", "Feb-02"]
)
def test_labels_that_a_spreadsheet_made_dates(label):
    rows = [(f"another {i}", ["1-2", "3-4", label][i % 3]) for i in range(30)]
    finding = findings(*rows)["HW179"]
    assert finding.message == f"1 label that is a date, beside others that are none: {label!r}"
    assert finding.where[0] == "f:3"


def test_labels_that_are_all_dates_or_none():
    assert "HW179" not in findings(*((f"a film {i}", f"2024-02-0{i % 2 + 1}") for i in range(20)))
    words = ["May", "Mar", "1-2", "deco 70", "10:30"]
    assert "HW179" not in findings(*((f"a film {i}", words[i % 5]) for i in range(50)))


def test_a_minus_beside_a_plus_is_a_label():
    assert "HW120" not in findings(*((f"a film {i}", "+-"[i % 2]) for i in range(20)))


def test_what_programs_write_for_no_text():
    nothing = [(text, "ab"[n % 2]) for n, text in enumerate(["NA", "nan", " NaN", "#NAME?"])]
    finding = findings(*CLEAN, *nothing, ("na", "a"))["HW150"]
    assert finding.message == "4 texts such as 'NA', which may stand for none"
    assert finding.where == ("f:21", "f:22", "f:23", "f:24")


def drawn(count: int) -> list[str]:
    chance = random.Random(5)
    return [" ".join(chance.choices([f"w{n}" for n in range(300)], k=12)) for _ in range(count)]


def test_many_texts_that_are_nearly_others_are_told():
    texts = drawn(40)
    changed = [f"{text[: text.rindex(' ')]} other" for text in texts[:3]]
    marked = [texts[9].replace(" ", ", ")]
    pairs = [(text, "ab"[n % 2]) for n, text in enumerate([*texts, *changed, *marked])]
    finding = findings(*pairs)["HW173"]
    assert finding.severity == "info"
    assert "keeps texts alike on one side" in finding.fix
    assert finding.message.startswith("8 texts are nearly another one")
    assert "(18.2% of the different ones)" in finding.message
    assert [*finding.where] == ["f:1", "f:2", "f:3", "f:10", "f:41", "and 3 more"]
    assert "HW173" not in findings(*pairs, role="test")
    assert "HW173" not in findings(*pairs[:40], (marked[0], "a"))  # 2 of 41


def test_texts_made_of_a_template_are_parted_by_a_split():
    texts = drawn(40)
    words = texts[0].split()
    made = [" ".join([*words[:n], "other", *words[n + 1 :]]) for n in range(9)]
    finding = findings(*((text, "ab"[n % 2]) for n, text in enumerate([*texts, *made])))["HW173"]
    assert finding.severity == "warning"
    assert finding.fix.startswith("10 of them are as if made of templates: a split by headwise parts these")


def test_equal_texts_are_no_near_ones():
    twice = [*drawn(40), *drawn(40)]
    assert "HW173" not in findings(*((text, "ab"[n % 2]) for n, text in enumerate(twice)))


@pytest.mark.parametrize(
    "texts",
    [
        ["aXQgaXMgbGF0ZSBhbmQgZGFyaw==", "d3JpdGUgc29vbiBvciBjYWxsIG1l"],
        ["it+is+late+and+dark", "write+soon+or+call+me+now"],
        ["it%20is%20late%20and%20dark", "write%20soon%20or%20call"],
    ],
)
def test_texts_without_blanks_are_told(texts):
    assert findings(*((f"{text}{n}", "ab"[n % 2]) for n, text in enumerate(texts * 5)))[
        "HW151"
    ].severity == ("warning")


def test_training_warns_of_texts_in_a_wrong_encoding_where_they_are_many():
    kind = ITEM_TYPES_BY_TASK["classify"]
    for bad, expected in ((1, []), (20, ["HW159"])):
        rows = [Example(f"ordinary text {n}", "ab"[n % 2], n) for n in range(200)]
        rows += [Example("sch\u00c3\u00b6n", "a", 200 + n) for n in range(bad)]
        file = CheckedFile("train", Dataset(rows, "f", "csv", Columns("text", "label")), kind)
        assert [
            finding.code for check in CHECKS[type(kind)].in_training for finding in check(file)
        ] == expected


def test_a_table_in_long_form_is_told():
    pairs = [("it is late", "text"), ("spam", "label")]
    assert "a row for each value" in findings(*pairs)["HW178"].fix
    assert "HW178" not in findings(("it is late", "text"), ("A table", "table"), ("On time", "title"))


@pytest.mark.parametrize(
    "text",
    ["call +49 1234 5678 or +14155550100", "C++ and C+API- and salt+pepper-free", "a+b", "(~{~a~^, ~})"],
)
def test_signs_that_are_no_escapes(text):
    assert "HW159" not in findings(*CLEAN, (text, "a"))


def test_texts_that_begin_like_mails():
    assert "HW184" not in findings(*CLEAN, ("From: me\nit is a short letter about a film", "a"))
    assert "HW184" not in findings(*CLEAN, ("Note: a\nMore: b\nLast: c\nand so on", "a"))


def test_texts_that_were_cut():
    words = ["breakfast", "seldom", "tasted", "anything", "although", "yesterday", "nobody", "answered"]
    orders = [random.Random(n).sample(words, len(words)) for n in range(60)]
    full_texts = [(" ".join(order), "ab"[n % 2]) for n, order in enumerate(orders)]
    assert "HW185" not in findings(*full_texts)  # they are equally long
    assert "HW185" not in findings(
        *full_texts[:40], *((text[:60], label) for text, label in full_texts[40:])
    )
    short = [(f"{' '.join(order[:3])} {n}", "ab"[n % 2]) for n, order in enumerate(orders)]
    cut = findings(*short, *((text[:60], label) for text, label in full_texts))["HW185"]
    assert cut.message == "60 texts of exactly 60 characters, which none exceeds"
    assert "HW185" not in findings(*short, *((text[:57] + " it.", label) for text, label in full_texts))
    chinese = [("".join(chr(0x4E00 + 37 * n * k % 999) for k in range(60)), "ab"[n % 2]) for n in range(20)]
    assert "HW185" not in findings(*short, *chinese)
    marked = findings(*((text[:57] + "...", label) for text, label in full_texts))["HW185"]
    assert marked.message == "60 texts of exactly 60 characters, which none exceeds"


def test_labels_that_are_several_others():
    rows = [
        (f"a good film number {n}", ("plot", "cast", "plot and cast", "Cast/plot")[n % 4])
        for n in range(40)
    ]
    finding = findings(*rows)["HW186"]
    assert (
        finding.message == "labels that are several others joined: 'Cast/plot' (10), 'plot and cast' (10)"
    )
    for label in ("plot and more", "plot plot", "plot"):
        assert "HW186" not in findings(
            *((text, {"Cast/plot": label}.get(name, name)) for text, name in rows[:2])
        )
    assert "HW186" not in findings(*((f"a film {n}", ("1", "2", "1 2")[n % 3]) for n in range(30)))
    assert "write | between them" in finding.fix
    finding = findings(*((f"a film {n}", ("in,late", "in, lost")[n % 2]) for n in range(30)))["HW186"]
    assert "give --task multi-label --label-separator ','; else" in finding.fix
    assert "HW186" not in findings(*((f"a film {n}", ("in, late", "of, lost")[n % 2]) for n in range(30)))
    assert "HW186" not in findings(*((f"a film {n}", ("in,late", "in")[n % 2]) for n in range(30)))


def test_people_who_label_the_same_texts():
    rows = [(f"a good film number {n // 3}", "ab"[n % 7 == 0]) for n in range(60)]
    assert "several people labelled each text" in findings(*rows)["HW154"].fix
    fix = findings(*CLEAN, ("a good film number 2", "b"))["HW154"].fix
    assert fix.startswith("keep one label for each (")
