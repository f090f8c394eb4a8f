"""Small models with a linear member, fitted to texts of several scripts, and the pages made of them."""

import html
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from headwise.artifacts.offline_page.page_export import offline_page
from headwise.artifacts.offline_page.page_tables import script_json
from headwise.data.items.label_types import LABEL_SET_TYPE, NUMERIC_LABEL_TYPE, SINGLE_LABEL_TYPE, LabelType
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.linear.linear_settings import LinearSettings
from headwise.metrics.novelty import NoveltyDetector
from headwise.metrics.target_scale import Scale
from headwise.nn.encoders import MSTransformerConfig
from headwise.nn.networks.linear_members import TextLinearBuffers
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import MultiLabelModel, TextClassifierModel, TextRegressorModel
from headwise.text.static_embeddings.base_vectors import QuantizedMatrix, StaticEmbeddings
from headwise.text.text_configs import BaseConfig, WordConfig
from headwise.text.vocabulary import Vocabulary

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NODE = shutil.which("node")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--window-size=500,900", "--virtual-time-budget=20000", "--dump-dom"),
)
IN_NODE = """
const [settings, tables, texts] = JSON.parse(require('fs').readFileSync(0, 'utf8'));
for (const [name, [type, base64]] of Object.entries(tables))
  tables[name] = new globalThis[type](Uint8Array.from(Buffer.from(base64, 'base64')).buffer);
const model = new OfflineModel(settings, tables);
const answers = texts.map(text => {
  const prediction = model.predict(text);
  return {...prediction, read: null, words: model.explain(prediction, 0).attributions};
});
process.stdout.write(JSON.stringify(answers));
"""

TRAINING_TEXTS = [
    "The lamp is bright and it doesn't flicker!",
    "The lamp is broken, I'm very angry :(",
    "Die Lampe ist hell, SEHR schön.",
    "Die Straße war laut und die Lampe kaputt",
    "Η λάμπα είναι ΦΩΤΕΙΝΟΣ και ωραία",
    "Η λάμπα χάλασε, ΛΑΘΟΣ",
    "这盏灯很亮，我喜欢",
    "这盏灯坏了，很生气",
    "Лампа яркая и красивая",
    "Лампа сломалась, ужас!!!",
    "หลอดไฟสว่างมาก",
    "المصباح مكسور للأسف",
] * 2
HARD_TEXTS = [
    *TRAINING_TEXTS[:12],
    "",
    " \t\n",
    "lamp",
    "Lampe LAMPE lampe\u0301 la\u00admpe ｌａｍｐｅ ‘lamp’ “LAMP”… — ﬂicker İSTANBUL ΟΔΥΣΣΕΥΣ ΑΣ' Σ",
    "U.S. J. K. Rowling e.g. it.The $5.00 don't rock'n'roll and/or well-made lamp-bright <br /> a<b",
    "soooo briiiight #lamp @lamp lamp... *lamp* bright/lamp bright-lamp",
    "😀👍🏽👨‍👩‍👧 🇫🇷🇩🇪 :-) ;) ^_^ &amp; ---- ****",
    "ｶﾞ ﷺ ﻻ ½ x² 𝒳 𐐀𐐨 \U0001e900 \u2028 a\u0301\u0323 ก็ที่เมื่อ ကျွန်တော် ខ្ញុំ",
    "x" * 300 + " " + "lamp " * 40,
]

AnyTextModel = TextClassifierModel | MultiLabelModel | TextRegressorModel


def _base() -> StaticEmbeddings:
    drawn = np.random.default_rng(0)
    words = ("lamp", "bright", "broken", "lampe", "the", "is", "λάμπα", "very", "so", "u.s", "灯")
    rows, runs = (drawn.normal(size=(count, 6)).astype(np.float32) for count in (len(words), 64))
    weights = drawn.uniform(0.5, 1.5, size=len(words) + 1).astype(np.float32)
    return StaticEmbeddings("tiny", words, QuantizedMatrix.of(rows), QuantizedMatrix.of(runs), weights)


def _targets(kind: type[AnyTextModel]) -> tuple[np.ndarray, LabelType]:
    numbers = np.arange(len(TRAINING_TEXTS))
    if kind is MultiLabelModel:
        return np.stack([numbers % 2 == 0, numbers % 3 == 0], axis=1), LABEL_SET_TYPE
    if kind is TextRegressorModel:
        return numbers % 2 / 1.0, NUMERIC_LABEL_TYPE
    return numbers % 3, SINGLE_LABEL_TYPE


def make_model(
    kind: type[AnyTextModel],
    *,
    based: bool = True,
    tokenizer: str = "penn",
    encoder_weight: float = 0.0,
    **settings: Any,
) -> Any:
    """A model whose answers are those of its linear member, unless its encoder has a weight.

    Args:
        settings: Further settings of the model, such as its encoder.
    """
    torch.manual_seed(0)
    outputs: dict[type[AnyTextModel], Any] = {
        TextClassifierModel: {"labels": ["</script>", "b", "γ"]},
        MultiLabelModel: {"labels": ["even", "third"]},
        TextRegressorModel: {"scale": Scale(20.0, 4.0)},
    }
    base = _base()
    files = {"base.json": {"words": list(base.words)}} if based else None
    sizes = BaseConfig(name="tiny", size=6, subwords=64) if based else BaseConfig()
    encoder = MSTransformerConfig(width=8, heads=2, head_size=4, layers=1)
    words = WordConfig(vector_size=8, tokenizer=tokenizer)
    config = ModelConfig(**({"words": words, "encoder": encoder, "base": sizes} | settings))
    model = kind(
        config, Vocabulary.build([["lamp", "bright", "lampe", "gr\u00fcn"]]), files=files, **outputs[kind]
    ).eval()
    if based:
        values = np.concatenate([base.table.values, base.subwords.values])
        scales = np.concatenate([base.table.scales, base.subwords.scales])
        for name, table in (("values", values), ("scales", scales), ("weights", base.weights)):
            model.embedding.get_buffer(name).copy_(torch.from_numpy(table))
    vectors = base.texts(model.features.reader.read(TRAINING_TEXTS)) if based else None
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    linear = LinearSettings(dense=1.0 if based else 0.0, form=True, edges=True)
    targets, label_type = _targets(kind)
    fitted = fit_linear(
        LinearExamples(
            TRAINING_TEXTS,
            targets,
            model.outputs.count,
            label_type=label_type,
            dense=vectors,
            tokenizer=tokenizer,
        ),
        settings=linear,
        calibrated=False,
    )
    model.add_linear_model(
        TextLinearBuffers.of(fitted.model), 1.3, encoder_weight=encoder_weight, share=0.5
    )
    if kind is not TextRegressorModel:
        model.temperature = 0.8
    return model


@pytest.fixture(scope="session")
def classifier() -> Any:
    """A classifier with all that a page computes."""
    model = make_model(TextClassifierModel)
    model.biases, model.thresholds = [0.1, -0.2, 0.05], [0.5, 0.2, 0.3]
    model.set_references(_base().texts(model.features.reader.read(TRAINING_TEXTS[:9])))
    model.novelty = NoveltyDetector(1.0, 0.5, 2.0, 0.3)
    return model


Answers = list[dict[str, Any]]


@pytest.fixture
def answers_of(tmp_path) -> Callable[[str, Sequence[str]], tuple[Answers, str]]:
    """What a page answers to texts in a browser, and the attributes of its body."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium (apt-get install chromium); pages are tested in it")

    def answers_of(page: str, texts: Sequence[str]) -> tuple[Answers, str]:
        probe = f"""<script type="application/json" id="texts">{script_json(texts)!s}</script><script>
          setTimeout(() => {{
            const texts = JSON.parse(document.querySelector('#texts').textContent);
            document.body.dataset.answers = JSON.stringify(texts.map(
              text => ({{...headwise.predict(text), words: headwise.explain(text, 0)}})));
          }}, 50)</script></body>"""
        done = in_chromium(page.replace("</body>", probe), tmp_path)
        body = re.search(r"<body[^>]*>", done)
        assert body
        match = re.search(r'data-answers="([^"]*)"', body[0])
        assert match, done[-500:]
        return json.loads(html.unescape(match[1])), body[0]

    return answers_of


@pytest.fixture
def computed_by() -> Callable[[str, Sequence[str]], Answers]:
    """What the scripts of a page compute for texts, without its elements."""
    if NODE is None:
        pytest.skip("there is no Node.js; the scripts of pages are tested in it")

    def computed_by(page: str, texts: Sequence[str]) -> Answers:
        settings = json.loads(re.findall(r'id="settings">(.*?)</script>', page)[0])
        tables = {
            name: (kind, base64)
            for name, kind, base64 in re.findall(
                r'data-name="(.*?)" data-type="(.*?)">(.*?)</script>', page
            )
        }
        script = page.split("'use strict';\n{\n")[1].split("// The page: ")[0]
        data = json.dumps([settings, tables, texts])
        command = [str(NODE), "--eval", script + IN_NODE]
        done = subprocess.run(command, input=data, capture_output=True, text=True, timeout=100)
        assert not done.returncode, done.stderr
        return json.loads(done.stdout)

    return computed_by


def in_chromium(page: str, folder: Path) -> str:
    """The document that a browser has made of a page."""
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [
        str(CHROMIUM),
        *FLAGS,
        profile,
        "--window-size=500,900",
        "--virtual-time-budget=20000",
        "--dump-dom",
        path.as_uri(),
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=True).stdout


@pytest.fixture(scope="session")
def page_of() -> Callable[..., str]:
    """The page of a model."""

    def page_of(model: Any, **options: Any) -> str:
        return str(offline_page(model, "A lamp", "<p>facts</p>", **options).html)

    return page_of
