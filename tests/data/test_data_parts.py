"""Data parts of every item type: stable splits, notes, fingerprints, overlaps."""

import random

import pytest

from headwise.core.errors import ConfigError, HeadwiseError
from headwise.data.doctor.diagnose import doctor_files
from headwise.data.errors import DataError
from headwise.data.items.examples import Example, MultiLabelExample, Pair, TaggedSentence
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task
from headwise.data.items.parses import ParseFiles, ParseReader
from headwise.data.items.stream_items import SymbolStreamItems
from headwise.data.splits.data_parts import DataParts, read_parts
from headwise.data.splits.split_config import SplitConfig

SPLIT = SplitConfig()
WORDS = [f"w{n}" for n in range(9)]


def rows(task: str, chance: random.Random, items: int) -> list[str]:
    def text() -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(1, 4)))

    labels = {
        "classify": lambda: chance.choice("aaabbc"),
        "multi-label": lambda: "|".join(chance.sample("abcd", chance.randint(0, 3))),
        "regress": lambda: f"{chance.random():.3f}",
        "pair": lambda: chance.choice(["yes", "no"]),
        "pair-score": lambda: f"{chance.random():.3f}",
    }
    if task in ("classify", "multi-label", "regress"):
        return ["text,labels", *(f"{text()},{labels[task]()}" for _ in range(items))]
    if task in ("pair", "pair-score"):
        firsts = [text() for _ in range(items // 3)]
        pairs = (f"{chance.choice(firsts)},{text()},{labels[task]()}" for _ in range(items))
        return ["premise,hypothesis,label", *pairs]
    if task == "tag":
        words = [f"{chance.choice(WORDS)}\t{chance.choice('OOBI')}" for _ in range(2 * items)]
        return [line for n in range(0, 2 * items, 2) for line in (*words[n : n + 2], "")]
    if task == "bags":
        bags = (f"{'pos' if n % 3 else 'neg'},b{n},{chance.randint(0, 99)}" for n in range(items))
        return ["bag_label,bag_id,f1,f2", *(f"{bag},{n}" for bag in bags for n in range(2))]
    return [text() for _ in range(items)]


@pytest.fixture
def files(tmp_path):
    """Write files of a task, `train`, `dev` and `test`, and return their paths."""

    def files(task: str, **sizes: int) -> dict[str, str]:
        paths = {}
        for seed, (name, items) in enumerate(sizes.items()):
            suffix = {"tag": "conll", "language-model": "txt", "masked-words": "txt"}.get(task, "csv")
            path = tmp_path / f"{name}.{suffix}"
            path.write_text("\n".join(rows(task, random.Random(seed), items)) + "\n")
            paths[name] = str(path)
        return paths

    return files


@pytest.mark.parametrize("task", ITEM_TYPES_BY_TASK)
def test_each_kind_is_read_and_split(task, files):
    kind = ITEM_TYPES_BY_TASK[task]
    parts = read_parts(kind, **files(task, train=120), split=SPLIT)
    sizes = {name: len(part) for name, part in parts.named.items()}
    total = len(parts.files["train"].items)
    assert sum(sizes.values()) == total
    assert all(abs(sizes[name] - 0.15 * total) <= 0.03 * total for name in ("dev", "test"))
    assert parts.overlaps() == ()
    prints = parts.fingerprints()
    assert list(prints) == ["train", "dev", "test"]
    assert len({fingerprint.sha256 for fingerprint in prints.values()}) == 3
    assert all(prints[name].texts == sizes[name] for name in sizes)
    assert not any("train.csv" in note for note in parts.notes)
    assert kind.nouns.many in parts.sizes()


@pytest.mark.parametrize("task", ITEM_TYPES_BY_TASK)
def test_what_is_given_is_not_split_off(task, files):
    parts = read_parts(ITEM_TYPES_BY_TASK[task], **files(task, train=120, dev=30, test=30), split=SPLIT)
    for name, data in parts.files.items():
        assert list(getattr(parts, name).ids if task == "language-model" else getattr(parts, name)) == list(
            data.items.ids if task == "language-model" else data.items
        )
    half = read_parts(ITEM_TYPES_BY_TASK[task], **files(task, train=120, dev=30), split=SplitConfig(test=0))
    assert len(half.test) == 0
    assert list(half.named) == ["train", "dev"]


# Hashes of the parts that headwise has made of these files since its first day; of pairs, since those that
# are the same but for their order stay together.
PINNED = {
    "classify": "c4ef6c17 1164c02f b1620482",
    "multi-label": "6ce9a082 930e449c 71fcc528",
    "tag": "0512f74c edb3572b 0d63065e",
    "pair": "2864b694 41036f01 5b748b4d",
    "pair-score": "dd0c2eee 9b5059a2 880a2a5d",
    "regress": "35cb9cce 8fc735c0 1565fa4b",
    "bags": "bbd92134 b83610ee 57a82bd8",
    "language-model": "a86055be dcffeaad 9121297d",
    "masked-words": "a9a39d12 be1c7012 aaaceaba",
}


@pytest.mark.parametrize("task", ITEM_TYPES_BY_TASK)
def test_splits_and_fingerprints_are_those_of_ever(task, files):
    parts = read_parts(ITEM_TYPES_BY_TASK[task], **files(task, train=120), split=SPLIT)
    assert " ".join(fingerprint.sha256[:8] for fingerprint in parts.fingerprints().values()) == PINNED[task]


@pytest.mark.parametrize(
    "task",
    [task for task in ITEM_TYPES_BY_TASK if task not in ("regress", "language-model", "masked-words")],
)
def test_files_tell_their_task(task, files):
    assert infer_task(files(task, train=120)["train"], {})[0] == task


def test_overlaps_are_counted(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\none,a\ntwo,b\nthree,a\n ,b\n")
    (tmp_path / "b.csv").write_text("text,label\nONE,a\none ,b\nfour,b\n ,b\n")
    (tmp_path / "c.csv").write_text("text,label\nfive,a\nsix,b\n")
    parts = read_parts(ITEM_TYPES_BY_TASK["classify"], *(str(tmp_path / f"{name}.csv") for name in "abc"))
    (overlap,) = parts.overlaps()
    assert overlap.to_json() == {
        "one": "train",
        "other": "dev",
        "distinct": 1,
        "items": 2,
        "near": 0,
        "total": 4,
    }
    assert overlap.share == 0.5


def test_notes_name_the_part_where_there_are_several(files):
    parts = read_parts(ITEM_TYPES_BY_TASK["classify"], **files("classify", train=60, test=20))
    notes = parts.notes
    assert notes[0] == "train: format csv guessed from the suffix .csv - override with --format"
    assert parts.split_note.startswith("train: split into")
    assert not any("split into" in note for note in notes)
    assert any(note.startswith("train: columns guessed") for note in notes)
    assert any(
        note.startswith("test: columns as in training: text='text', label='labels'") for note in notes
    )


def test_many_whole_numbers_as_labels_are_told(tmp_path):
    """They are classes, as intents that are numbered are, or numbers of which each is taken for a class."""
    path = tmp_path / "numbered.csv"
    for classes, has_note in ((20, False), (21, True)):
        path.write_text("text,score\n" + "".join(f"w{n},{n % classes}\n" for n in range(200)))
        notes = read_parts(ITEM_TYPES_BY_TASK["classify"], str(path)).notes
        note = "21 numbers are the labels, each a class of its own (--task regress learns how much)"
        assert (note in notes) is has_note


def test_empty_texts_are_told(tmp_path):
    path, texts = tmp_path / "some.csv", [f"w{n} w" if n % 5 else "" for n in range(50)]
    path.write_text("text,label\n" + "".join(f"{text},{n % 2}\n" for n, text in enumerate(texts)))
    assert "empty texts, which are kept: 10" in read_parts(ITEM_TYPES_BY_TASK["classify"], str(path)).notes


@pytest.mark.parametrize("suffix", ["", ".0"])
def test_whole_numbers_are_labels_as_training_spells_them(tmp_path, suffix):
    dev_suffix, train, dev = ".0" if not suffix else "", tmp_path / "train.csv", tmp_path / "dev.csv"
    train.write_text("text,label\n" + "".join(f"w{n},{n % 2}{suffix}\n" for n in range(60)))
    dev.write_text("text,label\n" + "".join(f"v{n},{n % 2}{dev_suffix}\n" for n in range(9)))
    parts = read_parts(ITEM_TYPES_BY_TASK["classify"], str(train), str(dev))
    assert {item.label for item in parts.dev} == {f"0{suffix}", f"1{suffix}"}
    prefix = "dev: labels that are numbers or truth values are read as training spells them: "
    prefix += f"'0{dev_suffix}' as '0{suffix}'"
    assert any(note.startswith(prefix) for note in parts.notes)
    findings = doctor_files([str(train), str(dev)], "classify").findings
    [spelling] = [finding for finding in findings if finding.code == "HW156"]
    assert spelling.severity == "info"
    assert not any(finding.code == "HW161" for finding in findings)
    train.write_text(train.read_text() + "one more,1\nand one,1.0\n")  # these are no two labels
    parts = read_parts(ITEM_TYPES_BY_TASK["classify"], str(train), str(dev))
    assert {item.label for item in parts.dev} == {f"0{suffix}", f"1{suffix}"}


def test_a_label_that_training_does_not_have(tmp_path, files):
    (tmp_path / "other.csv").write_text("text,labels\nw1,a\nw2,zzz\n")
    for task in ("classify", "multi-label"):
        with pytest.raises(HeadwiseError, match=r"other\.csv:3: the label 'zzz' does not occur") as caught:
            read_parts(
                ITEM_TYPES_BY_TASK[task], files(task, train=60)["train"], str(tmp_path / "other.csv")
            )
        assert caught.value.code == "HW140"
        assert "--split.unknown-labels skip" in str(caught.value)


@pytest.mark.parametrize("task", ["classify", "multi-label"])
def test_texts_with_labels_that_training_does_not_have_can_be_left_out(tmp_path, files, task):
    train = files(task, train=60)["train"]
    (tmp_path / "other.csv").write_text("text,labels\nw1,a\nw2,zzz\nw3,b\n")
    (tmp_path / "none.csv").write_text("text,labels\nw2,zzz\n")
    skip = SplitConfig(unknown_labels="skip")
    parts = read_parts(ITEM_TYPES_BY_TASK[task], train, test=str(tmp_path / "other.csv"), split=skip)
    assert [item.text for item in parts.test] == ["w1", "w3"]
    note = "test: 1 text left out, with labels that the model does not know: 'zzz' (1)"
    assert note in parts.notes
    with pytest.raises(HeadwiseError, match="the label 'zzz' does not occur"):
        read_parts(ITEM_TYPES_BY_TASK[task], train, test=str(tmp_path / "none.csv"), split=skip)


@pytest.mark.parametrize(
    ("task", "text", "message"),
    [
        ("classify", "text,label\na,x\nb,x\n", "only the label 'x' in 2 texts"),
        ("regress", "text,label\na,1\nb,1\n", "only the number 1 in 2 texts"),
        ("pair", "premise,hypothesis,label\na,b,x\nb,c,x\n", "only the label 'x' in 2 pairs"),
        ("bags", "bag_label,bag_id,f1,f2\nx,a,1,2\nx,b,1,2\n", "only the label 'x' in 2 bags"),
        ("multi-label", 'text,labels\na,""\nb,""\n', "no labels in 2 texts"),
        ("tag", "a\tO\nb\tO\n\nc\tO\n", "only the tag 'O' in 2 sentences"),
    ],
)
def test_nothing_to_tell_apart(task, text, message, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(text)
    options = ITEM_TYPES_BY_TASK[task].options()
    with pytest.raises(HeadwiseError, match=message) as caught:
        read_parts(ITEM_TYPES_BY_TASK[task], str(path), options=options)
    assert caught.value.code == "HW406"


def test_numbers_of_all_files_are_numbers(tmp_path, files):
    (tmp_path / "other.csv").write_text("text,labels\nw1,1.5\nw2,much\n")
    with pytest.raises(HeadwiseError, match=r"other\.csv:3: the label 'much'"):
        read_parts(
            ITEM_TYPES_BY_TASK["regress"],
            files("regress", train=60)["train"],
            None,
            str(tmp_path / "other.csv"),
        )


def test_no_dev_data(files):
    with pytest.raises(HeadwiseError, match="there are no dev pairs") as caught:
        read_parts(ITEM_TYPES_BY_TASK["pair"], **files("pair", train=60), split=SplitConfig(dev=0))
    assert caught.value.code == "HW405"


def test_parses_need_their_file_and_a_kind_with_texts(files):
    with pytest.raises(ConfigError, match="parses of dev texts"):
        read_parts(
            ITEM_TYPES_BY_TASK["classify"], **files("classify", train=60), parses=ParseFiles(dev="x.heads")
        )
    for task, message in (("bags", "bags have none"), ("language-model", "language models do not read")):
        with pytest.raises(ConfigError, match=message):
            read_parts(
                ITEM_TYPES_BY_TASK[task], **files(task, train=60), parses=ParseFiles(train="x.heads")
            )


def test_items_get_their_parses(files):
    reader = ParseReader(str.split, lambda path, words: [[0] * len(tokens) for tokens in words or ()])
    for task, parse_paths in (("classify", "x"), ("tag", "x"), ("pair", "x,y")):
        kind = ITEM_TYPES_BY_TASK[task]
        paths = files(task, train=60)
        parts = read_parts(kind, **paths, parses=ParseFiles(train=parse_paths), reader=reader)
        assert all(map(kind.has_parses, parts.train))
        assert not any(map(kind.has_parses, read_parts(kind, **paths).train))
    with pytest.raises(ConfigError, match="two files"):
        read_parts(ITEM_TYPES_BY_TASK["pair"], **paths, parses=ParseFiles(train="x"), reader=reader)


def test_bytes_know_those_of_all_files(files):
    paths = files("language-model", train=60, test=20)
    with open(paths["test"], "a") as file:
        file.write("ä")
    parts = read_parts(SymbolStreamItems(unit="bytes"), **paths)
    assert parts.test.unknown == 0
    assert len(parts.train.symbols) == len(parts.test.symbols)
    plain = read_parts(SymbolStreamItems(), **paths)
    assert plain.notes[-1] == "test: 1 characters that the vocabulary does not have"


@pytest.mark.parametrize(
    ("task", "good", "bad"),
    [
        ("classify", Example("a", "x"), Example("b", None)),
        ("classify", Example("a", "x"), Example("b", 1)),  # type: ignore[arg-type]
        ("regress", Example("a", "1"), Example("b", None)),
        ("multi-label", MultiLabelExample("a"), MultiLabelExample("b", labels=("x", None))),  # type: ignore
        ("pair", Pair("a", "b", "x"), Pair("a", "b", None)),
        ("tag", TaggedSentence(("a",), ("O",)), TaggedSentence(("a", "b"), ("O",))),
    ],
)
def test_items_without_an_answer(task, good, bad):
    DataParts(ITEM_TYPES_BY_TASK[task], [good], [good], [])
    nouns = ITEM_TYPES_BY_TASK[task].nouns
    with pytest.raises(DataError, match=f"{nouns.one} 2 of dev has .* as its answer") as caught:
        DataParts(ITEM_TYPES_BY_TASK[task], [good], [good, bad], [])
    assert caught.value.code == "HW120"


def test_phrases_of_trees_are_for_training_alone(tmp_path):
    for name in ("train", "dev", "test"):
        (tmp_path / f"{name}.txt").write_text(
            f"(3 (2 {name}) (4 works))\n(1 (2 It) (1 (1 breaks) (2 .)))\n" * 9
        )
    files = {name: str(tmp_path / f"{name}.txt") for name in ("train", "dev", "test")}
    options = ITEM_TYPES_BY_TASK["classify"].options(sst_unit="phrases")
    parts = read_parts(ITEM_TYPES_BY_TASK["classify"], *files.values(), options)
    assert {item.text for item in parts.train} == {
        *("train works", "train", "works", "It breaks .", "It", "breaks .", "breaks", "."),
    }
    assert [item.text for item in parts.dev[:2]] == ["dev works", "It breaks ."]
    assert len(parts.dev) == len(parts.test) == 18
    with pytest.raises(ConfigError, match=r"give --dev and --test, or --split\.test 0"):
        read_parts(ITEM_TYPES_BY_TASK["classify"], files["train"], options=options)
    no_test = read_parts(
        ITEM_TYPES_BY_TASK["classify"], files["train"], files["dev"], None, options, SplitConfig(test=0)
    )
    assert not len(no_test.test)


SPANS = "Tom\tB-PER\nRay\tI-PER\nmet\tO\nAnn\tB-PER\n\nin\tO\nRome\tB-LOC\nNew\tB-LOC\nYork\tI-LOC\n\n"


def tagged_parts(tmp_path, train, dev):
    for name, text in (("train", train), ("dev", dev)):
        (tmp_path / f"{name}.tsv").write_text("".join(text.replace("met", f"met{n}") for n in range(9)))
    paths = [str(tmp_path / f"{name}.tsv") for name in ("train", "dev")]
    return read_parts(ITEM_TYPES_BY_TASK["tag"], *paths)


def test_two_schemes_of_spans_are_told_and_types_that_training_lacks(tmp_path):
    bioes = SPANS.replace("I-", "E-").replace("B-PER\n\n", "S-PER\n\n").replace("Rome\tB", "Rome\tS")
    notes = tagged_parts(tmp_path, SPANS, bioes).notes
    prefix = "dev: tags of another scheme than in training, which mark the same spans: E-LOC, E-PER, S-LOC"
    assert any(note.startswith(prefix) for note in notes)
    assert not any("does not have" in note for note in notes)
    notes = tagged_parts(tmp_path, SPANS, SPANS.replace("LOC", "ORG")).notes
    assert "dev: tags that training does not have: B-ORG, I-ORG" in notes


@pytest.mark.parametrize("first", ["spans", "plain"])
def test_tags_that_mark_spans_in_one_file_only(tmp_path, first):
    files = [SPANS, SPANS.replace("B-", "").replace("I-", "")]
    with pytest.raises(HeadwiseError, match=r"dev\.tsv:1: the tag '.*PER' marks (a|no) span") as caught:
        tagged_parts(tmp_path, *(files if first == "spans" else reversed(files)))
    assert caught.value.code == "HW140"


def test_dev_and_test_files_are_read_by_the_columns_of_training(tmp_path):
    """In the dev file alone, the titles look more like the texts, and the votes more like the labels."""

    def write(name, rows, header="title,body,label,vote"):
        (tmp_path / name).write_text("\n".join([header, *rows]) + "\n")
        return str(tmp_path / name)

    topics = ("cats", "dogs")
    body = "a long body of {} that is about {} and more"
    train = write(
        "a.csv", [f"topic {n % 9},{body.format(n, topics[n % 2])},{n % 2},{n}" for n in range(60)]
    )
    title = "a title that is longer than its body {}"
    dev = write("dev.csv", [f"{title.format(n)},about {topics[n % 2]},{n % 2},{n % 3}" for n in range(20)])
    test = write("test.csv", [f"it is about {topics[n % 2]},{n % 2}" for n in range(20)], "review,label")
    parts = read_parts(ITEM_TYPES_BY_TASK["classify"], train, dev, test)
    assert {item.text for item in parts.dev} == {"about cats", "about dogs"}
    assert len(parts.test) == 20  # columns of other names are guessed
    fasttext = tmp_path / "fast.txt"
    fasttext.write_text("".join(f"__label__{n % 2} about {topics[n % 2]}\n" for n in range(9)))
    parts = read_parts(ITEM_TYPES_BY_TASK["classify"], train, str(fasttext), dev)
    assert (len(parts.dev), len(parts.test)) == (9, 20)  # a format without columns
    files = doctor_files([train, dev, test]).files
    columns = [(file.text_column, file.label_column) for file in files]
    assert columns == [("body", "label"), ("body", "label"), ("review", "label")]
