import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

from headwise.artifacts import load_model, save_model
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.data.items.examples import TaggedSentence
from headwise.metrics.tag_schemes import tag_set
from headwise.models.tag_evaluation import evaluate_tags, score_tagging
from headwise.models.tag_explanation import explain_tags
from headwise.models.tasks import TASKS, find_task
from headwise.nn.encoders import ENCODERS, MSTransformerConfig
from headwise.nn.encoders.encoder_configs import default_readout
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.tag_model import TagModel
from headwise.nn.task_layers.layer_configs import TaggerConfig
from headwise.text.character_features import Alphabet
from headwise.text.text_configs import CharacterConfig, WordConfig
from headwise.text.vocabulary import Vocabulary

WORDS = ["Anna", "met", "Bob", "Li", "in", "New", "York", "."]
SIZES = {"width": 8, "heads": 2, "head_size": 4, "layers": 2, "tree_fallback": "word"}


@pytest.fixture
def make():
    def make(*, encoder="ms-transformer", written="iob2", characters=True, pos=False, **tagger) -> TagModel:
        torch.manual_seed(0)
        kind = ENCODERS[encoder][1]
        fields = kind.__dataclass_fields__
        config = ModelConfig(
            task="tag",
            words=WordConfig(vector_size=6),
            encoder=kind(**{name: value for name, value in SIZES.items() if name in fields}),
            readout=default_readout(kind),
            characters=CharacterConfig(network="cnn" if characters else "none", min_count=1),
            tagger=TaggerConfig(**{"hidden": 5, **tagger}),
        )
        tags = ["DT", "NN", "VB"] if pos else tag_set(["LOC", "PER"], config.tagger.scheme)
        alphabet = Alphabet.build(WORDS)
        model = TagModel(config, Vocabulary.build([WORDS]), tags, "plain" if pos else written, alphabet)
        for parameter in model.parameters():  # different words are to get different tags
            parameter.data += 0.3 * torch.randn_like(parameter)
        return model.eval()

    return make


def sentence(*words, tags=()):
    return TaggedSentence(words, tuple(tags), line=1)


SENTENCES = [
    sentence(*WORDS),
    sentence("Bob"),
    sentence("Anna", "met", "someone", "unknown", "."),
    sentence("Li", "Li", "Li"),
]


@pytest.mark.parametrize("encoder", list(ENCODERS))
@pytest.mark.parametrize("crf", [True, False])
def test_batch_equals_single(make, encoder, crf):
    model = make(encoder=encoder, crf=crf)
    together = model.tag(SENTENCES)
    for tagged, alone in zip(together, (model.tag([s])[0] for s in SENTENCES), strict=True):
        assert tagged.tags == alone.tags
        np.testing.assert_allclose(tagged.probabilities, alone.probabilities, atol=1e-5)
    assert [len(tagged.tags) for tagged in together] == [8, 1, 5, 3]


def test_every_parameter_learns(make):
    model = make().train()
    batch = next(model.batches(model.encode_sentences(SENTENCES)))[1]
    model.train()
    scores = model(batch)
    model.tagger.loss(scores, torch.randint(9, (len(scores.values),))).sum().backward()
    missing = [name for name, p in model.named_parameters() if p.requires_grad and p.grad is None]
    assert not missing


@pytest.mark.parametrize("written", ["iob1", "iob2", "bioes", "bilou"])
def test_predictions_are_in_the_scheme_of_the_file(make, written):
    from headwise.metrics.tag_schemes import check_tags

    model = make(written=written)
    for tagged in model.tag(SENTENCES):
        assert not check_tags(tagged.tags, model.written)


@pytest.mark.parametrize("crf", [True, False])
@pytest.mark.parametrize("written", ["iob1", "iob2", "bioes", "bilou"])
def test_probabilities_are_of_the_written_tag(make, written, crf):
    """Against the sum over all tag sequences of what each writes."""
    model = make(written=written, crf=crf)
    example = sentence("Anna", "Li", "York")
    (actual,) = model.tag([example])
    batch = next(model.batches(model.encode_sentences([example])))[1]
    scores, numbers = model(batch), list(product(range(len(model.tags)), repeat=3))
    with torch.no_grad():
        losses = [float(model.tagger.loss(scores, torch.tensor(tags)).sum()) for tags in numbers]
    expected = []
    for word in range(3):
        chance = 0.0
        for tags, loss in zip(numbers, losses, strict=True):
            tag = model.tags[tags[word]]
            if written == "iob1":  # what is told is that the word is in such a span
                same = tag[1:] == actual.tags[word][1:]
            elif written == "iob2":
                same = {"S": "B", "E": "I"}.get(tag[0], tag[0]) + tag[1:] == actual.tags[word]
            else:
                same = tag == actual.tags[word].replace("U-", "S-").replace("L-", "E-")
            chance += np.exp(-loss) * same
        expected.append(chance)
    np.testing.assert_allclose(actual.probabilities, expected, atol=1e-4)
    spans = [min(actual.probabilities[read.start : read.end]) for read in actual.spans]
    assert [why.probability for why in explain_tags(model, [example])] == pytest.approx(spans, abs=1e-4)


def test_the_spelling_counts_only_with_characters(make):
    def says(model, word):
        return model.tag([sentence(word)])[0].probabilities

    with_characters, without = make(), make(characters=False)
    assert says(with_characters, "xanna") != says(with_characters, "BOB!")
    assert says(without, "xanna") == says(without, "BOB!")  # both unknown


def test_texts_are_cut_into_words_that_know_their_characters(make):
    text = "  Anna met Bob\nin New York. "
    (actual,) = make().predict([text])
    assert [text[start:end] for start, end in actual.places] == list(actual.words)
    assert actual.text == text
    assert len(actual.tags) == len(actual.words) == 7


def test_sentences_are_lists_of_words(make):
    model = make()
    for words in (["Anna", "met", "Bob"], ("Anna", "met", "Bob")):
        assert model.tag([words]) == model.tag([TaggedSentence(tuple(words), ())])
    for second in ("Anna met Bob", ["Anna", 5], None, {"Anna": 1}):
        with pytest.raises(ConfigError, match=r"expected a sentence as a list of words, got .* predict"):
            model.tag([second])
    with pytest.raises(ConfigError, match="expected a list of sentences"):
        model.tag("Anna met Bob")


def test_texts_without_words(make):
    model = make()
    actual = list(model.predict(["", "Anna", "  "]))
    assert [len(tagged.words) for tagged in actual] == [0, 1, 0]
    assert actual[1].tags == next(model.predict(["Anna"])).tags


def test_targets_are_converted_and_unknown_ones_marked(make):
    model = make(scheme="bioes")
    example = sentence("New", "York", "Li", tags=("B-LOC", "I-LOC", "B-ORG"))
    assert [model.tags[n] if n >= 0 else None for n in model.targets(example)] == ["B-LOC", "E-LOC", None]


def test_a_saved_tagger_says_the_same(make, tmp_path):
    for model in (make(), make(characters=False, crf=False), make(pos=True, constraints=False)):
        save_model(model, tmp_path / "model", data={}, training={}, metrics={})
        loaded = load_model(tmp_path / "model")
        assert isinstance(loaded, TagModel)
        assert loaded.config == model.config
        assert loaded.tag(SENTENCES) == model.tag(SENTENCES)
        assert "tagger" in (tmp_path / "model" / "README.md").read_text()


@pytest.mark.parametrize(
    "change",
    [
        {"labels": None},
        {"labels": ["O", "O"]},
        {"labels": ["O", 3]},
        {"labels": []},
        {"scheme": "iob"},
        {"scheme": 5},
        {"scheme": None},
        {"alphabet": {}},
        {"alphabet": {"characters": ["a", "a"]}},
        {"labels": ["O", "B-"]},
    ],
)
def test_outputs_that_make_no_tagger(make, change):
    model = make()
    outputs = {**json.loads(json.dumps(model.outputs_json())), **change}
    with pytest.raises(HeadwiseError):
        TagModel(model.config, model.features.vocabulary, **TagModel.read_outputs(outputs))


def test_configurations_of_other_tasks_are_refused():
    with pytest.raises(ConfigError, match="task tag: unknown setting 'classifier'"):
        ModelConfig.from_json({"task": "tag", "classifier": {}}, sections=TASKS["tag"].sections)
    with pytest.raises(ConfigError, match="unknown task 'tags'; did you mean 'tag'"):
        find_task("tags")
    config = replace(ModelConfig(encoder=MSTransformerConfig()), task="tag")
    sections = TASKS["tag"].sections
    assert (
        ModelConfig.from_json(json.loads(json.dumps(config.to_json(sections))), sections=sections) == config
    )


def test_evaluation_is_that_of_the_predicted_tags(make):
    model = make()
    outputs = model.tag(SENTENCES)
    right = [replace(s, tags=tagged.tags) for s, tagged in zip(SENTENCES, outputs, strict=True)]
    perfect = evaluate_tags(model, right)
    assert perfect.tokens.accuracy == 1.0
    assert perfect.entities is not None
    assert perfect.entities.f1 == (1.0 if perfect.entities.spans else 0.0)
    json.dumps(perfect.to_json())


def test_judging_across_schemes():
    truth = [sentence("New", "York", tags=("I-LOC", "I-LOC"))]
    tokens, entities = score_tagging([["B-LOC", "I-LOC"]], truth, "iob2")
    assert entities is not None
    assert (entities.f1, tokens.accuracy) == (1.0, 1.0)
    tokens, entities = score_tagging([["B-LOC", "O"]], truth, "iob2")
    assert entities is not None
    assert (entities.f1, tokens.accuracy) == (0.0, 0.5)
    tokens, entities = score_tagging([["NN", "VB"]], [sentence("a", "b", tags=("NN", "XX"))], "plain")
    assert entities is None
    assert tokens.accuracy == 0.5


def test_words_in_place_of_a_text_are_an_error_that_names_the_method_for_words(make):
    model = make()
    for words in (["Anna", "Li"], ("Anna", "Li")):
        with pytest.raises(
            ConfigError, match=r"expected a text, got .*Anna.*; sentences cut into words.*`tag`"
        ):
            list(model.predict(["Anna Li", words]))
