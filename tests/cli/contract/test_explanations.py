"""What every task promises of its explanations: words with their characters that add up."""

import json

import numpy as np
import pytest

from headwise.report.explanation import explain_labels
from headwise.store import load_model

DRIFT: dict[str, dict[str, str]] = {}
SILENT = ("tag", "bags", "language-model")
LEFT_OUT = {"test_the_words_add_up": SILENT, "test_a_page": SILENT}


def test_the_words_add_up(call, own, sizes, tmp_path):
    code, out, err = call("explain", own.model, own.test, "--json")
    assert code == 0, err
    found = [json.loads(line) for line in out.splitlines()]
    assert len({record["line"] for record in found}) == sizes[1]
    for record in found:
        texts = record.get("texts") or [record["text"]]
        for word in record["words"]:
            assert texts[word.get("text", 1) - 1][word["start"] : word["end"]] == word["word"]
            parts = [word[part] for part in ("encoder", "base", "expert") if part in word]
            assert word["share"] == pytest.approx(sum(parts))
        total = record["rest"] + sum(word["share"] for word in record["words"])
        assert total == pytest.approx(record["margin"], abs=1e-6)
    path = tmp_path / "why.jsonl"
    assert call("explain", own.model, own.test, "--output", path)[0] == 0
    assert path.read_text() == out
    assert call("explain", own.model, own.test, "--output", path)[0] == 2  # it is not lost by mistake


def test_a_page(call, own, sizes, tmp_path):
    path = tmp_path / "why.html"
    assert call("explain", own.model, own.test, "--output", path)[0] == 0
    assert path.read_text().count("<article") >= sizes[1]
    assert "<mark" in path.read_text()
    code, out, _ = call("explain", own.model, own.test)
    assert code == 0
    assert "for: " in out


@pytest.mark.parametrize("silent", SILENT)
def test_what_is_not_explained_is_told(call, trained_of, silent):
    own = trained_of(silent)
    code, _, err = call("explain", own.model, own.test)
    assert code == 2
    assert "not explained" in err or "headwise sample" in err


def test_what_belongs_to_no_word_is_known(trained_of):
    """The rest is what the model says of a text whose words are all the same, not what is left over."""
    model = load_model(trained_of("classify").model)
    texts = ["the film was great", "a dull story , a poor plot"]
    encoded = model.encoded(texts)
    for text, found in zip(encoded, explain_labels(model, encoded), strict=True):
        probabilities = model.probabilities(model.logits([text]))[0]
        chosen = probabilities.argmax()
        others = np.delete(probabilities, chosen) / (1 - probabilities[chosen])
        logits = model.logits([text])[0] / model.temperature
        assert found.said == model.labels[chosen]
        assert found.margin == pytest.approx(logits[chosen] - others @ np.delete(logits, chosen), abs=1e-5)
        assert found.probability == pytest.approx(1 / (1 + np.exp(-found.margin)), abs=1e-5)  # two labels
