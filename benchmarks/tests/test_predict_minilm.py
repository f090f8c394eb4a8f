"""Which texts are read, and what is shown. Times themselves are never asserted."""

from types import SimpleNamespace

from benchmarks.speed import predict_minilm


def test_sentences_and_reviews_are_read(monkeypatch):
    texts = ["short", " ".join(["word"] * 50), " ".join(["word"] * 200)]

    def read(domain, part):
        return [SimpleNamespace(text=f"{text} {domain} {part}", label="good") for text in texts]

    monkeypatch.setattr(predict_minilm, "read_domain", read)
    texts_by_kind = predict_minilm.read_texts(10)
    assert len(texts_by_kind["sentences"]) == 6
    assert {len(text.split()) for text, _ in texts_by_kind["reviews"]} == {52}
    assert not any("MR" in text for text, _ in texts_by_kind["reviews"])


def test_systems_take_turns_and_medians_are_shown(monkeypatch, capsys, tmp_path):
    rows = [("a b c", "good")] * (predict_minilm.TRAINING + 2)
    turns = []

    def system(name, seconds):
        return lambda: turns.append(name) or seconds.pop()

    def systems_of(*_):
        return {
            "headwise": system("headwise", [1.0, 0.01, 0.01]),
            "all-MiniLM-L6-v2": system("MiniLM", [0.1] * 3),
        }

    monkeypatch.setattr(predict_minilm, "missing_data", lambda: None)
    monkeypatch.setattr(predict_minilm, "minilm_folder", lambda: tmp_path)
    monkeypatch.setattr(predict_minilm, "SentenceEncoder", lambda _: None)
    monkeypatch.setattr(predict_minilm, "read_texts", lambda _: {"sentences": rows})
    monkeypatch.setattr(predict_minilm, "systems_of", systems_of)
    predict_minilm.main(["--rounds", "3", "--folder", str(tmp_path)])
    assert turns == ["headwise", "MiniLM"] * 3
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| 2 sentences | 3 | headwise | 10,000 | 100 | 1, 100 | 10.0 x |",
        "| 2 sentences | 3 | all-MiniLM-L6-v2 | 100,000 | 10 | 10, 10 | 1.0 x |",
    ]
