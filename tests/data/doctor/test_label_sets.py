"""The doctor's findings on texts with any number of labels."""

from headwise.data.doctor.diagnose import diagnose, doctor_files
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK


def find(diagnosis, code):
    return [finding for finding in diagnosis.findings if finding.code == code]


def table(write, name: str, rows: list[tuple[str, str]]) -> str:
    return write(name, "text,labels\n" + "".join(f"{text},{labels}\n" for text, labels in rows))


def test_findings(write):
    rows = [(f"text number {n} of many", "all|x|y" if n % 2 else "all|z") for n in range(20)]
    rows += [("a same text", "all|z"), ("a same text", "z|all"), ("A same  text", "all|rare")]
    rows += [("one more text", "all|all|z"), ("and one more", "all|Z")]
    diagnosis = diagnose(ITEM_TYPES_BY_TASK["multi-label"], [table(write, "train.csv", rows)])
    [together] = find(diagnosis, "HW167")
    assert "'x' and 'y' (10)" in together.message
    assert "z" not in together.message
    [clash] = find(diagnosis, "HW154")
    assert clash.where[0].endswith("22 (all + z), 23 (z + all), 24 (all + rare): 'a same text'")
    [everywhere] = find(diagnosis, "HW162")
    assert (everywhere.severity, "'all'" in everywhere.message) == ("warning", True)
    [rare] = find(diagnosis, "HW155")
    assert "2 labels with fewer than 5 texts: 'Z' (1), 'rare' (1)" in rare.message
    [repeated] = find(diagnosis, "HW169")
    assert repeated.where[0].endswith("train.csv:25")
    assert find(diagnosis, "HW156")
    assert not find(diagnosis, "HW168")
    assert [name for name, _, _ in diagnosis.files[0].classes][:2] == ["all", "z"]


def test_texts_without_labels_are_told(write):
    rows = [(f"text number {n}", "a|b" if n % 3 else "") for n in range(12)]
    [finding] = find(diagnose(ITEM_TYPES_BY_TASK["multi-label"], [table(write, "f.csv", rows)]), "HW168")
    assert (finding.severity, "4 texts without a label (33.3%)" in finding.message) == ("info", True)
    bare = [(f"text number {n}", "") for n in range(5)]
    path = table(write, "g.csv", bare)
    assert find(diagnose(ITEM_TYPES_BY_TASK["multi-label"], [path]), "HW163")


def test_a_label_in_place_of_none(write):
    """Such as `none`: a model may give it beside others."""

    def messages_of(rows):
        diagnosis = diagnose(ITEM_TYPES_BY_TASK["multi-label"], [table(write, "f.csv", rows)])
        return [finding.message for finding in find(diagnosis, "HW175")]

    rows = [(f"text number {n}", "none" if n % 3 else ("a", "b", "a|b")[n % 9 // 3]) for n in range(90)]
    assert messages_of(rows) == [
        "the label 'none' (60) never stands beside another, and all texts have a label"
    ]
    assert not messages_of([*rows, ("one that has it beside another", "a|none")])
    assert not messages_of([*rows, ("one that has none of them", "")])
    few = [(f"text number {n}", "rare" if n < 5 else ("a", "b", "a|b")[n % 3]) for n in range(90)]
    assert not messages_of(few)  # it may be by chance
    assert not messages_of(
        [(text, labels.replace("|", "")) for text, labels in rows]
    )  # never is more than one


def test_between_files_and_damaged_ones(write):
    one = table(write, "train.csv", [(f"text {n}", "a|b") for n in range(6)])
    test_path = table(write, "test.csv", [("text 3", "a"), ("text 9", "a|c"), ("text, with a comma", "a")])
    diagnosis = diagnose(ITEM_TYPES_BY_TASK["multi-label"], [one, test_path])
    assert "with the label 'c', unseen in train" in find(diagnosis, "HW161")[0].message
    assert find(diagnosis, "HW160")
    assert find(diagnosis, "HW110")


def test_columns_of_labels_are_those_of_the_first_file(write):
    flags = "".join(f"text {n} of the first file,{n % 2},{n % 3 // 2}\n" for n in range(12))
    train = write("train.csv", "text,bad,rude\n" + flags)
    test = write("test.csv", "text,bad,rude\nnothing of the kind here,0,0\nbut this one is,1,0\n")
    diagnosis = diagnose(ITEM_TYPES_BY_TASK["multi-label"], [train, test])
    assert not [finding for finding in diagnosis.findings if finding.severity == "error"]
    assert {name: count for name, count, _ in diagnosis.files[0].classes} == {"bad": 6, "rude": 4}
    assert [name for name, _, _ in diagnosis.files[1].classes] == ["bad"]
    assert not find(diagnosis, "HW163")


def test_a_missing_value_beside_lists_is_told(tmp_path):
    rows = ["one text,\"['a', 'b']\"", "two texts,['a']", "three texts,nan", "four texts,['b']"] * 5
    (path := tmp_path / "a.csv").write_text("\n".join(["text,labels", *rows]))
    [finding] = [f for f in doctor_files([str(path)]).findings if f.code == "HW120"]
    assert "the label 'nan', which may stand for none" in finding.message
