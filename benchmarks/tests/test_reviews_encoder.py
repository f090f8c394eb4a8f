import pytest


@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize("encoder", ["ms-transformer", "ms-directions", "bilstm"])
def test_what_is_read_fits_what_begins_with_it(encoder, more, monkeypatch, tmp_path):
    """The encoder that reads reviews is that of the recipe which goes on from it."""
    from benchmarks.papers import reviews_encoder
    from benchmarks.papers.accuracy import MORE, READ, Accuracy
    from headwise.app.configuration import build_config
    from headwise.core.errors import ConfigError

    system = encoder + (MORE if more else READ)
    read = build_config(reviews_encoder.settings(encoder, more=more))
    bench = Accuracy(tmp_path / "none.jsonl")
    begun = build_config(*bench.layers("mtl16/MR", system))
    assert read.model.encoder == begun.model.encoder
    assert read.model.words.tokenizer == begun.model.words.tokenizer
    assert read.model.task == "masked-words"
    monkeypatch.setattr("benchmarks.papers.accuracy.FOLDER", tmp_path)
    with pytest.raises(
        ConfigError, match=f"reviews-{encoder}{'-more' * more} is not there.*reviews_encoder"
    ):
        bench.previous_model(system)
    assert bench.previous_model(encoder) is None


def test_texts_of_dev_and_test_are_not_read_and_training_texts_only_if_asked(monkeypatch, tmp_path):
    from benchmarks.papers import accuracy, reviews_encoder
    from headwise.data.items.examples import Example

    made = accuracy.task_of([Example("train", "0")], [Example("dev", "0")], [Example("test", "0")])
    monkeypatch.setattr(accuracy.Accuracy, "load", lambda self, task: made)
    monkeypatch.setattr(accuracy, "read_imdb", lambda part, label: [Example("a film", label)])
    lines = ["one  text", "dev", "Test", "one text", "don't"]
    monkeypatch.setattr(reviews_encoder, "reviews", lambda: iter(lines))
    reviews_encoder.write_texts(tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_text().splitlines() == ["one text", "one text", "do n't"]
    reviews_encoder.write_texts(tmp_path / "b.txt", more=True)
    assert (tmp_path / "b.txt").read_text().splitlines() == ["train", "a film", "one text", "do n't"]
