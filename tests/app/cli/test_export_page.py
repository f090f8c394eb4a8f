"""`headwise export --format html`."""

import numpy as np
import pytest

from headwise.artifacts import load_model, save_model
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.linear.linear_settings import LinearSettings
from headwise.nn.networks.linear_members import TextLinearBuffers
from headwise.nn.networks.text_models import TextClassifierModel


@pytest.fixture(scope="module")
def ensemble(model, tmp_path_factory):
    """Saves the model with a linear member, and its encoder with this weight."""

    def ensemble(encoder_weight: float):
        network = load_model(model, TextClassifierModel)
        texts = ["w1 w2", "w3 w4", "w1 w5", "w3 w6"] * 3
        settings = LinearSettings(ratios=False)
        fitted = fit_linear(
            LinearExamples(texts, np.arange(12) % 2, 2), settings=settings, calibrated=False
        )
        buffers = TextLinearBuffers.of(fitted.model)
        network.add_linear_model(buffers, 2.0, encoder_weight=encoder_weight, share=0.25)
        folder = tmp_path_factory.mktemp("ensembles") / "my <model>"
        save_model(network, folder, data={}, training={}, metrics={})
        return folder

    return ensemble


def test_the_command(run, ensemble, tmp_path):
    folder = ensemble(0.0)
    code, out, err = run("export", folder, "page.html", "--format", "html")
    assert (code, out) == (0, ""), err
    assert "the page is in page.html" in err
    page = (tmp_path / "page.html").read_text()
    assert "<h1>my &lt;model&gt;</h1>" in page
    assert "leaves out" not in page + err
    code, _, err = run("export", folder, "page.html", "--format", "html")
    assert (code, "page.html exists" in err) == (2, True), err
    assert run("export", folder, "page.html", "--format", "html", "--overwrite")[0] == 0
    code, _, err = run("export", folder, folder / "page.html", "--format", "html")
    assert (code, "[HW604]" in err) == (2, True), err
    assert run("export", folder, "-", "--format", "html")[1] == page
    page = run("export", folder, "-", "--format", "html", "--example", "a <b>", "another")[1]
    assert page.count(">Try: ") == 2
    assert 'value="a &lt;b&gt;"' in page
    code, _, err = run("export", folder, "x", "--example", "a")
    assert (code, "--example is for --format html" in err) == (2, True), err


def test_an_encoder_is_left_out_by_a_flag_only(run, ensemble, tmp_path):
    folder = ensemble(1.0)
    code, _, err = run("export", folder, "page.html", "--format", "html")
    assert (code, "leaves out" in err) == (0, False), err
    complete = (tmp_path / "page.html").read_text()
    assert "class EncoderNetwork" in complete
    (tmp_path / "page.html").unlink()
    code, _, err = run("export", folder, "page.html", "--format", "html", "--without-encoder")
    assert (code, "leaves out the encoder" in err) == (0, True), err
    smaller = (tmp_path / "page.html").read_text()
    assert "leaves out the encoder" in smaller
    assert "class EncoderNetwork" not in smaller
    code, _, err = run("export", folder, "x", "--without-encoder")
    assert (code, "--without-encoder is for --format html" in err) == (2, True), err


def test_a_model_that_is_no_linear_one(run, model):
    code, _, err = run("export", model, "page.html", "--format", "html")
    assert (code, "[HW952]" in err, "no linear model" in err) == (2, True, True), err
