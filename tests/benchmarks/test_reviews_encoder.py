import pytest


@pytest.mark.parametrize("encoder", ["ms-transformer", "ms-directions", "bilstm"])
def test_what_is_read_fits_what_begins_with_it(encoder, monkeypatch, tmp_path):
    """The encoder that reads reviews is that of the recipe which goes on from it."""
    import reviews_encoder
    from accuracy import READ, Accuracy
    from headwise.errors import ConfigError
    from headwise.recipe import build_recipe

    read = build_recipe(reviews_encoder.settings(encoder))
    bench = Accuracy(tmp_path / "none.jsonl")
    begun = build_recipe(*bench.layers("mtl16/MR", encoder + READ))
    assert read.model.encoder == begun.model.encoder
    assert read.model.words.tokenizer == begun.model.words.tokenizer
    assert read.model.task == "masked-words"
    monkeypatch.setattr(reviews_encoder, "FOLDER", tmp_path)
    with pytest.raises(ConfigError, match="reviews_encoder"):
        bench.former(encoder + READ)
    assert bench.former(encoder) is None
