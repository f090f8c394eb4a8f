"""`headwise noise` on label sets: surplus and missing labels are found."""

import random
from dataclasses import replace

import numpy as np
import pytest

from headwise import noise_file
from headwise.app.reporter import NULL_REPORTER
from headwise.app.workflows.label_set_errors import find_label_set_issues, wrong_labels
from headwise.core.errors import ConfigError
from headwise.data.errors import DataError
from headwise.data.items.examples import MultiLabelExample
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.data_parts import DataParts
from headwise.data.splits.line_lists import drop_listed_items

WORDS = {
    "money": ["refund", "invoice", "payment"],
    "house": ["badge", "door", "garage"],
    "it": ["mail", "login"],
}


def rows(texts=240, missing=(5, 50), more=(65,), seed=0):
    """Texts with two words of each of their topics; some have the first one too few, or one too many."""
    chance, found, true = random.Random(seed), [], []
    for number in range(texts):
        own = [topic for topic in WORDS if chance.random() < 0.4]
        if number in missing:
            own = own or ["it"]
        elif number in more:
            own = own[:2]
        words = [chance.choice(WORDS[topic]) for topic in own for _ in "ab"] + [f"n{number % 7}", "the"]
        given = own[1:] if number in missing else own
        if number in more:
            given = [*own, next(topic for topic in WORDS if topic not in own)]
        found.append((" ".join(words), given))
        true.append(own)
    return found, true


def write(path, found, separator="|"):
    lines = [f"{text}\t{separator.join(own)}" for text, own in found]
    path.write_text("\n".join(["text\tlabels", *lines]) + "\n")
    return str(path)


@pytest.mark.parametrize("separator", ["|", ";"])
def test_sets_with_a_label_too_many_or_too_few_are_found(tmp_path, separator):
    own, true = rows(texts=400)
    found = noise_file(write(tmp_path / "a.tsv", own, separator), base="none")
    assert sorted(each.line for each in found) == [7, 52, 67]
    for each in found:
        text, given = own[each.line - 2]
        assert (each.text, each.label) == (text, separator.join(given))
        assert {*filter(None, each.suggested.split(separator))} == {*true[each.line - 2]}
        assert 0 <= each.given_probability < 0.5 < each.probability <= 1


def test_columns_of_labels(tmp_path):
    own, _ = rows(texts=400)
    lines = ["text," + ",".join(WORDS)]
    lines += [f"{text}," + ",".join(str(int(topic in given)) for topic in WORDS) for text, given in own]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    found = noise_file(str(tmp_path / "a.csv"), base="none")
    assert sorted(each.line for each in found) == [7, 52, 67]
    (tmp_path / "suspects.csv").write_text(
        "line,label\n" + "".join(f"{each.line},{each.label}\n" for each in found)
    )
    kind = ITEM_TYPES_BY_TASK["multi-label"]
    data = kind.read(str(tmp_path / "a.csv"), kind.options(label_columns=",".join(WORDS)))
    parts = DataParts(kind, data.items, [], [], files={"train": data})
    left, dropped = drop_listed_items(parts, str(tmp_path / "suspects.csv"))
    assert dropped == 3
    assert not {7, 52, 67} & {item.line for item in left.train}
    items = [replace(item, labels=()) if item.line == 67 else item for item in data.items]
    with pytest.raises(DataError, match="the training file has no line 67 with the label"):
        drop_listed_items(
            replace(parts, files={"train": data.with_items(items)}), str(tmp_path / "suspects.csv")
        )


def test_equal_texts_with_two_sets_are_told_whatever_the_model_thinks(tmp_path):
    own, _ = rows(missing=(), more=())
    text = "the invoice of the badge for the garage door has a payment and a refund"
    own += [(f"{text} today", ["money"]), (f"{text} tomorrow", ["house", "money"])]
    found = noise_file(write(tmp_path / "a.tsv", own), base="none")
    assert {each.line: each.twin for each in found}.items() & {(242, 243), (243, 242)}


def test_where_labels_are_thrown_by_a_coin_none_is_called_wrong():
    chance, told = random.Random(1), []
    items = [
        MultiLabelExample(
            f"{chance.choice('abcdef')} w{n}",
            line=n,
            labels=tuple(x for x in "xy" if chance.random() < 0.5),
        )
        for n in range(150)
    ]

    class Hears:
        """Keeps the warnings."""

        note = notes = stage = staticmethod(lambda *_: None)
        warn = staticmethod(told.append)

    data = type("Data", (), {"items": items, "columns": None})
    assert find_label_set_issues(data, Hears(), base="none") == []  # type: ignore[arg-type]
    assert "predicts no label better than how common it is" in told[0]


def test_a_label_that_nothing_tells_is_not_called_wrong_beside_one_that_is_known():
    chance = np.random.default_rng(0)
    has = chance.random((400, 2)) < 0.4
    has[0, 1] = ~has[0, 1]
    chances = np.stack([np.full(400, 0.4), np.where(has[:, 1], 0.95, 0.05)], axis=1)
    chances[:, 0] += 0.3 * chance.normal(size=400)
    chances[0, 1] = 1 - chances[0, 1]
    wrong, told = wrong_labels(chances.clip(0.01, 0.99), has)
    assert told.tolist() == [False, True]
    assert np.argwhere(wrong).tolist() == [[0, 1]]


def test_few_texts(tmp_path):
    with pytest.raises(ConfigError, match=r"12 texts with \d labels in their sets; expected 20 or more"):
        noise_file(write(tmp_path / "a.tsv", rows(12, (), ())[0]), base="none", reporter=NULL_REPORTER)
