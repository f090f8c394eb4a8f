"""Pages that classify offline: their answers in a browser are those of the model."""

import html
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from headwise.artifacts.offline_page.page_export import CHECKED_TEXTS
from headwise.artifacts.onnx.onnx_errors import ExportError
from headwise.models.word_attributions import attribute_words
from headwise.nn.encoders import MSSANConfig, MSTransformerConfig
from headwise.nn.encoders.encoder_configs import WindowsConfig
from headwise.nn.networks.text_models import MultiLabelModel, TextClassifierModel, TextRegressorModel
from headwise.nn.task_layers.layer_configs import ClassifierConfig
from tests.artifacts.offline_page.conftest import CHROMIUM, HARD_TEXTS, in_chromium, make_model

TEXTS = [*HARD_TEXTS, *CHECKED_TEXTS]


def checked_difference(body: str) -> float:
    """The difference from the model that a page has found itself."""
    match = re.search(r'data-difference="(.*?)"', body)
    assert match
    return float(match[1])


def largest_difference(model, answers) -> float:
    """The largest absolute difference of the probabilities from those of the model."""
    expected = model.predict_proba(TEXTS)
    actual = np.array([list(answer["probabilities"].values()) for answer in answers])
    return float(np.abs(expected - actual).max())


def test_a_classifier_with_everything(classifier, page_of, answers_of):
    answers, body = answers_of(page_of(classifier), TEXTS)
    assert largest_difference(classifier, answers) < 1e-6
    assert checked_difference(body) < 1e-6
    predictions = list(classifier.predict(TEXTS))
    assert [answer["prediction"] for answer in answers] == [one.label for one in predictions]
    assert len({one.label for one in predictions}) == 3
    encoded = classifier.encoded(TEXTS)
    novelty = classifier.novelty_scores(encoded, classifier.logits(encoded))
    assert np.allclose([answer["novelty"] for answer in answers], novelty, atol=1e-6)
    unknown = [answer["unknown"] for answer in answers]
    assert unknown == (novelty > classifier.novelty.threshold).tolist()
    assert 0 < sum(unknown) < len(unknown)


def test_attributions_of_words(classifier, page_of, answers_of):
    answers, _ = answers_of(page_of(classifier), TEXTS)
    encoded = classifier.encoded(TEXTS)
    logits = classifier.calibrated(classifier.logits(encoded))
    odds = np.exp(logits[:, 1:])
    output_weights = np.hstack([np.ones((len(TEXTS), 1)), -odds / odds.sum(axis=1, keepdims=True)])
    expected = attribute_words(classifier, encoded, output_weights / classifier.temperature)
    for answer, parts in zip(answers, expected, strict=True):
        assert np.allclose(answer["words"], parts["linear_model"], atol=1e-5)


def test_label_sets(page_of, answers_of):
    model = make_model(MultiLabelModel, based=False)
    model.thresholds = [0.4, 0.6]
    answers, _ = answers_of(page_of(model), TEXTS)
    assert largest_difference(model, answers) < 1e-6
    predicted = [tuple(answer["prediction"]) for answer in answers]
    assert predicted == [one.labels for one in model.predict(TEXTS)]
    assert {len(labels) for labels in predicted} == {0, 1, 2}


@pytest.mark.parametrize("tokenizer", ["whitespace", "penn-unnormalized"])
def test_numbers_and_other_tokenizers(tokenizer, page_of, answers_of):
    model = make_model(TextRegressorModel, tokenizer=tokenizer)
    answers, body = answers_of(page_of(model), TEXTS)
    actual = [answer["prediction"] for answer in answers]
    assert np.allclose(actual, list(model.predict(TEXTS)), atol=4e-6)  # their deviation is 4
    assert checked_difference(body) < 1e-6


ENCODER = MSTransformerConfig(width=8, heads=4, head_size=3, layers=2)
ENCODERS = {
    "windows and a node": {"readout": "node+max"},
    "directions and distances": {
        "encoder": replace(
            ENCODER,
            priors=("forward + window(3)", "backward", "word-distance(0.5)", "earlier"),
            bias=True,
            classification_node=False,
        ),
        "readout": "attentive,max",
    },
    "pieces of long texts": {"windows": WindowsConfig(words=9, overlap=4), "readout": "node,max"},
    "vectors of words, normalised inputs": {
        "based": False,
        "classifier": ClassifierConfig(hidden=5, normalize="batch"),
        "readout": "mean,max",
    },
    "a head without its node": {
        "classifier": ClassifierConfig(hidden=5, normalize="layer"),
        "readout": "mean",
    },
}


@pytest.mark.parametrize("settings", ENCODERS.values(), ids=ENCODERS)
def test_encoders(settings, page_of, computed_by):
    model = make_model(TextClassifierModel, **({"encoder_weight": 2.0, "encoder": ENCODER} | settings))
    answers = computed_by(page_of(model), TEXTS)
    expected = model.predict_proba(TEXTS)
    actual = np.array([answer["probabilities"] for answer in answers])
    assert np.abs(expected - actual).max() < 1e-5
    model.encoder_weight = 0.0
    assert np.abs(expected - model.predict_proba(TEXTS)).max() > 0.05  # of which the encoder has a part


def test_numbers_of_an_encoder(page_of, computed_by):
    model = make_model(TextRegressorModel, encoder_weight=0.7)
    actual = [answer["number"] for answer in computed_by(page_of(model), TEXTS)]
    assert np.allclose(actual, list(model.predict(TEXTS)), atol=4e-5)


def test_words_that_decide_with_an_encoder(page_of, computed_by):
    """Their shares are those of the linear model and what the encoder's output loses without each word."""
    model = make_model(MultiLabelModel, encoder_weight=1.5, tokenizer="whitespace")
    words = HARD_TEXTS[1].split()
    shortened = [" ".join(words[:place] + words[place + 1 :]) for place in range(len(words))]
    outputs = model.outputs_of(model.encoded([HARD_TEXTS[1], *shortened]))[:, 0]
    output_weights = np.array([[1.0, 0.0]]) / model.temperature
    linear = attribute_words(model, model.encoded([HARD_TEXTS[1]]), output_weights)[0]["linear_model"]
    expected = linear + 1.5 / model.temperature * (outputs[0] - outputs[1:])
    assert np.allclose(computed_by(page_of(model), HARD_TEXTS[1:2])[0]["words"], expected, atol=1e-5)


def test_an_ensemble_in_a_browser(page_of, answers_of):
    model = make_model(TextClassifierModel, encoder_weight=1.0)
    answers, body = answers_of(page_of(model), TEXTS)
    assert largest_difference(model, answers) < 1e-5
    assert checked_difference(body) < 1e-5


def test_without_the_encoder_the_page_says_so(page_of, answers_of):
    encoder = MSSANConfig(width=8, heads=2, head_size=4, layers=1)
    model = make_model(TextClassifierModel, encoder_weight=1.0, encoder=encoder, readout="max")
    assert not model.config.linear_model.tabular
    with pytest.raises(ExportError, match="the encoder ms-san, and the encoder contributes 50 %") as error:
        page_of(model)
    assert error.value.code == "HW952"
    assert "--without-encoder" in str(error.value)
    page = page_of(model, without_encoder=True)
    assert "leaves out the encoder" in page
    alone = make_model(TextClassifierModel)
    alone.linear_weight = 1.3 / 0.5  # as large as the scores of the ensemble
    answers, _ = answers_of(page, TEXTS)
    assert largest_difference(alone, answers) < 1e-6
    assert "leaves out" not in page_of(alone, without_encoder=True)


def test_what_one_types_is_answered(classifier, page_of, tmp_path):
    """Bars, words and the choice of a label, by the keyboard, on a narrow screen."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium (apt-get install chromium); pages are tested in it")
    probe = """<script>setTimeout(() => {
      const steps = [], input = document.querySelector('#text'), type = text => {
        input.value = text; input.dispatchEvent(new Event('input')); };
      const nameOf = button => button.querySelector('bdi').textContent +
        (button.getAttribute('aria-pressed') === 'true' ? '*' : '');
      const shown = () => Array.from(document.querySelectorAll('.hw-bars button'), nameOf);
      type('Die Lampe war kaputt');
      setTimeout(() => {
        steps.push(document.querySelector('#answer').textContent, shown().join());
        steps.push(document.querySelectorAll('mark').length > 0);
        document.querySelectorAll('.hw-bars button')[2].click();
        steps.push(shown().join(), document.activeElement.getAttribute('aria-pressed'));
        steps.push(document.documentElement.scrollWidth <= innerWidth);
        type('  ');
        setTimeout(() => {
          steps.push(document.querySelector('#results').children.length);
          document.querySelector('#examples button').click();
          steps.push(input.value, document.querySelector('#answer').textContent);
          document.body.dataset.steps = JSON.stringify(steps);
        }, 200);
      }, 200);
    }, 50)</script></body>"""
    document = in_chromium(
        page_of(classifier, examples=["Die <Lampe> war kaputt"]).replace("</body>", probe), tmp_path
    )
    match = re.search(r'data-steps="([^"]*)"', document)
    assert match
    steps = json.loads(html.unescape(match[1]))
    label = next(classifier.predict(["Die Lampe war kaputt"])).label
    probabilities = classifier.predict_proba(["Die Lampe war kaputt"])[0]
    ranked = [classifier.labels[place] for place in np.argsort(-probabilities)]
    marked = [name + "*" * (name == label) for name in ranked]
    assert steps == [
        label,
        ",".join(marked),
        True,
        ",".join([*ranked[:2], ranked[2] + "*"]),
        "true",
        True,
        0,
        "Die <Lampe> war kaputt",
        next(classifier.predict(["Die <Lampe> war kaputt"])).label,
    ]


def test_a_model_without_a_linear_model(page_of):
    model = make_model(TextClassifierModel, based=False)
    model.remove_linear_model()
    with pytest.raises(ExportError, match="the model has no linear model"):
        page_of(model)


def test_a_text_that_the_model_cuts(page_of, answers_of):
    model = make_model(TextClassifierModel)
    model.features.most, model.features.cut = lambda: 3, True
    answers, _ = answers_of(page_of(model), TEXTS)
    assert largest_difference(model, answers) < 1e-6
    model.features.cut = False
    assert '"checks":[{"text":"a",' in page_of(model)


def test_the_page_needs_no_network_and_escapes_labels(classifier, page_of):
    page = page_of(classifier)
    assert "default-src 'none'" in page
    assert not re.search(r"<(link|img|script[^>]*src)", page)
    assert "\\u003c/script>" in page
    assert page.count("</script>") == page.count("<script")
