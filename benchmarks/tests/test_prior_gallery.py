"""The page and the picture with all priors."""

import re
from xml.etree import ElementTree

import pytest
import torch

from benchmarks.papers.prior_gallery import LENGTH, SECTIONS, SENTENCE, gallery_html, gallery_svg, main
from headwise.nn import priors
from headwise.nn.priors import PRIORS, Prior, alibi

EXHIBITS = [exhibit for exhibits in SECTIONS.values() for exhibit in exhibits]


@pytest.fixture(scope="module")
def page() -> str:
    return gallery_html()


@pytest.fixture(scope="module")
def picture() -> str:
    return gallery_svg()


def test_every_prior_is_on_show():
    code = " ".join(exhibit.code for exhibit in EXHIBITS)
    classes = {prior.__name__ for prior in PRIORS.values()} - {"Sum"}  # there written with a +
    assert {name for name in classes if f"{name}(" not in code} == set()
    assert f"{alibi.__name__}(" in code


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda exhibit: exhibit.title)
def test_the_code_can_be_run(exhibit):
    names = {name: getattr(priors, name) for name in priors.__all__}  # imported when they are looked up
    made = eval(exhibit.code.replace(", Backward() + ...", ""), names)
    flat = made if isinstance(made, tuple) else (made,)
    flat = [x for one in flat for x in (one if isinstance(one, tuple) else (one,))]
    assert flat
    assert all(isinstance(prior, Prior) for prior in flat)


def test_the_page_is_well_formed_and_needs_nothing_from_outside(page):
    assert set(re.findall(r"https?://[^\"\s]+", page)) == {"http://www.w3.org/2000/svg"}
    assert "<script" not in page
    assert "prefers-color-scheme: dark" in page
    assert page.count("<article>") == page.count("</article>") == len(EXHIBITS)
    body = page[page.index("<body>") : page.index("</html>")]
    root = ElementTree.fromstring(body)
    svg = "{http://www.w3.org/2000/svg}"
    assert len(list(root.iter(f"{svg}svg"))) == len(EXHIBITS)
    heads = sum(len(exhibit.heads) for exhibit in EXHIBITS)
    assert len(list(root.iter(f"{svg}use"))) == heads


def test_the_picture_is_well_formed_and_nothing_lies_outside(picture):
    root = ElementTree.fromstring(picture)
    inner = root.findall("{http://www.w3.org/2000/svg}svg")
    assert len(inner) == len(EXHIBITS)
    boxes = [tuple(int(one.attrib[a]) for a in ("x", "y", "width", "height")) for one in inner]
    for x, y, width, height in boxes:
        assert x + width <= int(root.attrib["width"])
        assert y + height <= int(root.attrib["height"])
    for n, (x, y, width, height) in enumerate(boxes):
        for u, v, wide, high in boxes[:n]:
            assert x >= u + wide or u >= x + width or y >= v + high or v >= y + height


def test_the_same_every_time(page):
    assert gallery_html() == page


def test_the_sentence_has_a_tree():
    tree = torch.tensor(SENTENCE)
    assert torch.equal(tree, tree.T)
    assert (tree.diagonal() == 0).all()
    assert (tree == 1).sum() == 2 * (len(tree) - 1)
    assert (tree[:, None] <= tree[:, :, None] + tree[None]).all()
    assert len(tree) < LENGTH


@pytest.mark.parametrize(("name", "begin"), [("a.html", "<!DOCTYPE html>"), ("b.svg", "<svg ")])
def test_writes_a_file(name, begin, tmp_path):
    assert main([str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begin)


@pytest.mark.parametrize("names", [[], ["a.png"], ["a.svg", "b.svg"]])
def test_other_files_are_not_written(names, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(names) == 2
    assert "named .html or .svg" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
