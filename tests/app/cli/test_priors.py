"""`headwise priors`: the list and the gallery."""

import re

import pytest

from headwise.app.cli.priors_command import spelling, summary
from headwise.core.errors import HeadwiseError
from headwise.nn.priors import PRIORS, Window, format_prior, parse_prior


def test_lists_every_prior_on_a_line(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    code, out, err = run("priors")
    assert (code, err) == (0, "")
    *lines, empty, _, example = out.splitlines()
    assert [line.split()[0] for line in lines] == [*PRIORS, "alibi"]
    assert all(len(line.split()) > 5 for line in lines)
    assert summary(Window) in out
    assert not empty
    assert "Written dilated(step, width=...)." in out
    spellings = [*example.split('"')[1::2], "window(n/4)"]
    assert [format_prior(parse_prior(text)) for text in spellings] == spellings


def test_a_prior_is_written_with_its_defaults():
    written = {name: spelling(prior).removeprefix("Written ")[:-1] for name, prior in PRIORS.items()}
    assert written["forward"] == ""
    for name in ("random-blocks", "word-distance", "tree-distance", "shaw", "kerple", "adaptive-span"):
        assert parse_prior(written[name]) == PRIORS[name]()


@pytest.mark.parametrize(("name", "begin"), [("a.html", "<!DOCTYPE html>"), ("b.SVG", "<svg ")])
def test_writes_a_gallery(run, tmp_path, name, begin):
    file = tmp_path / name
    code, out, err = run("priors", "--draw", str(file))
    assert (code, out) == (0, "")
    assert str(file) in re.sub(r"\s", "", err)
    assert file.read_text(encoding="utf-8").startswith(begin)


def test_other_files_are_refused(run, tmp_path):
    file = tmp_path / "train.csv"
    file.write_text("text,label\n")
    code, out, err = run("priors", "--draw", str(file))
    assert (code, out) == (2, "")
    assert "HW601" in err
    code, out, err = run("priors", "--draw", str(tmp_path / "priors.png"))
    assert (code, out) == (2, "")
    assert "a file for a page or a picture; name it .html or .svg" in err
    assert file.read_text() == "text,label\n"
    code, _, err = run("priors", "--draw", str(tmp_path / "no" / "a.svg"))
    assert code == 2
    assert "cannot be written" in err


@pytest.mark.parametrize(
    "flags", [["--json"], ["--minutes", "3"], ["--seeds", "2"], ["--output", "x"], ["--text-column", "2"]]
)
def test_flags_of_the_search_without_it(run, flags):
    code, out, err = run("priors", *flags)
    assert (code, out) == (2, "")
    assert f"{flags[0]} is for the search; give --search FILE" in " ".join(err.split())


def test_a_picture_of_all_and_a_search(run, tmp_path):
    (tmp_path / "b.tsv").write_text("label\ttext\n")
    code, _, err = run("priors", "--draw", str(tmp_path / "a.svg"), "--search", "b.tsv")
    assert code == 2
    assert "the one or the other" in err


def test_search(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    rows = "".join(f"{'no' if n % 3 else 'yes'}\t{'a b' if n % 3 else 'c d'} {n}\n" for n in range(30))
    file, recipe = tmp_path / "texts.tsv", tmp_path / "small.toml"
    file.write_text("label\ttext\n" + rows)
    recipe.write_text(
        '[base]\nname = "none"\n[encoder]\nname = "ms-transformer"\nwidth = 8\nheads = 2\nhead_size = 4\n'
        "layers = 1\n[train]\nepochs = 1\n"
    )
    folder = tmp_path / "o"
    given = ["--search", str(file), "--recipe", str(recipe), "--seeds", "1", "--output", str(folder)]
    code, out, err = run("priors", *given)
    assert code == 0, err
    assert "3/3" in out
    assert "gain over the" in out
    assert 'name = "ms-transformer"' in (folder / "recipe.toml").read_text()
    assert (folder / "winner.svg").read_text().startswith("<svg")
    code, out, _ = run("priors", *given, "--json")
    assert '"finished": true' in out


def test_priors_are_searched_without_the_encoder_of_a_base(run, tmp_path, monkeypatch):
    class StopError(HeadwiseError):
        pass

    def stop(*_, **arguments):
        seen.append(arguments["settings"])
        raise StopError("here")

    seen = []
    monkeypatch.setattr("headwise.app.workflows.tune.tune_file", stop)
    texts, bags = tmp_path / "texts.tsv", tmp_path / "bags.jsonl"
    texts.write_text("label\ttext\n" + "yes\tthe film was good\n" * 20)
    bags.write_text('{"bag": "a", "label": "yes", "instances": [[1.0, 2.0]]}\n')
    recipe = tmp_path / "bags.toml"
    recipe.write_text('[model]\ntask = "bags"\n')
    run("priors", "--search", str(texts), "--output", str(tmp_path / "o"))
    run("priors", "--search", str(bags), "--recipe", str(recipe), "--output", str(tmp_path / "p"))
    assert [any("base" in layer for layer in layers) for layers in seen] == [True, False]
    assert seen[0][0] == {"base": {"encoder": "off"}}
