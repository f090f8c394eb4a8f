"""What the docs say is so: their commands and snippets run, their tables, links and names are right."""

import contextlib
import importlib
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from headwise.app.cli import COMMANDS, main
from headwise.app.configuration import build_config
from headwise.core.error_codes import error_codes
from headwise.nn.encoders import ENCODERS
from headwise.nn.priors import PRIORS

PROJECT = Path(__file__).parents[2]
DOCS, SOURCE = PROJECT / "docs", PROJECT / "src" / "headwise"
SAMPLES = SOURCE / "data" / "samples"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PIPED = re.compile(r"(?:([^|<>;&]+) \| )?(headwise [^|<>;&]+?)(?: > (\S+))?")
LINES = {"helpdesk.tsv": 361, "travel.conll": 2_233, "claims.tsv": 241}
"""Lines of the samples that the pages train on; all of them only take longer."""
LONGER = {"how-to/retraining.md": ("helpdesk.tsv", 601), "python.md": ("travel.conll", 4_510)}
"""What a page divides in two at a place behind these lines."""
MANY_EPOCHS = re.compile(r"(--epochs |\bepochs=)([4-9]|\d\d+)\b")  # two say what there is to say
BUILDS_ON = {"how-to/onnx.md": "exporting.md", "noise.md": "multi-label.md"}
NEEDS_MODEL = (
    "predicting.md",
    "model-folder.md",
    "explaining.md",
    "report.md",
    "more-texts.md",
    "serving.md",
    "spacy.md",
    "exporting.md",
    "how-to/spacy.md",
    "how-to/offline-page.md",
)
WITH_BASE_ENCODER = ("bases.md", "tutorials/few-labels.md")
"""Pages whose models start from the encoder of the base; on the others it only takes seconds."""
NEEDS_LIBRARIES = dict.fromkeys(("exporting.md", "how-to/onnx.md"), ("onnx", "onnxscript", "onnxruntime"))


def read(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def blocks(page: str) -> list[tuple[str, str]]:
    """Language and content of every fenced block."""
    return BLOCK.findall(read(page))


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with the samples, shared by all pages."""
    folder = tmp_path_factory.mktemp("docs")
    for sample in SAMPLES.glob("[!_R]*.*"):
        shutil.copy(sample, folder)
    return folder


def write_samples(folder: Path, page: str) -> None:
    """Write the samples that are shortened, also where another page has copied them."""
    for name, count in (LINES | dict([LONGER[page]] if page in LONGER else [])).items():
        lines = (SAMPLES / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / name).write_text("".join(lines[:count]), encoding="utf-8")


@pytest.fixture(scope="module")
def run_page(place, short_runs, without_base_encoder, one_registry):
    """Run the blocks of a page, once; those that others build on go first."""
    done = set()

    def run_page(page: str) -> None:
        if page in done:
            return
        for library in NEEDS_LIBRARIES.get(page, ()):
            pytest.importorskip(library, reason="the extra `onnx` is not installed")
        done.add(page)
        if page in NEEDS_MODEL:
            run_page("training.md")
        if page in BUILDS_ON:
            run_page(BUILDS_ON[page])
        if page in (
            "spacy.md",
            "how-to/spacy.md",
        ):  # by its entry point, wherever headwise was installed since it has one
            importlib.import_module("headwise.app.spacy_component")
        write_samples(place, page)
        names = {"__name__": page}
        encoder = contextlib.nullcontext() if page in WITH_BASE_ENCODER else without_base_encoder()
        with encoder, short_runs(), contextlib.chdir(place), pytest.MonkeyPatch.context() as patch:
            patch.setenv("COLUMNS", "100")
            patch.setattr(sys, "argv", ["python"])
            patch.syspath_prepend(PROJECT)  # some pages use `benchmarks`
            patch.setenv("PYTHONPATH", str(PROJECT), prepend=os.pathsep)
            for language, content in blocks(page):
                content = MANY_EPOCHS.sub(r"\g<1>2", content)
                if language == "python":
                    with contextlib.redirect_stdout(io.StringIO()):
                        exec(compile(content, page, "exec"), names)
                elif language == "console":
                    run_console(content)

    return run_page


def run_console(content: str) -> None:
    """Run each line that begins with `$ ` and compare what follows it with what comes out."""
    commands = re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]
    for command in commands:
        line, _, expected = command.partition("\n")
        code, output = call(line) if PIPED.fullmatch(line) else shell(line)
        assert code in (0, 1), output
        assert re.fullmatch(pattern(expected), plain(output)), f"$ {line}\n{output}"


def call(line: str) -> tuple[int, str]:
    """Run a headwise command in this process, perhaps behind a pipe or into a file; both outputs together,
    what goes into the file aside."""
    feed, command, target = PIPED.fullmatch(line).groups()
    fed = io.BytesIO(shell(feed)[1].encode() if feed else b"")
    out, captured = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in "oe")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out if target else captured):
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(fed)))
        with contextlib.redirect_stderr(captured):
            code = main(shlex.split(command)[1:])
    if target:
        Path(target).write_bytes(out.buffer.getvalue())
    return code, captured.buffer.getvalue().decode()


def shell(line: str) -> tuple[int, str]:
    script = f'python() {{ "{sys.executable}" "$@"; }}\nheadwise() {{ python -m headwise "$@"; }}\n{line}'
    done = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.decode()


def plain(text: str) -> str:
    """Without what differs from machine to machine: numbers, and the white space that goes with them."""
    text = re.sub(r"(?<![A-Za-z\d])\d[\d,.]*", "0", text)  # a code such as HW110 stays
    return "\n".join(" ".join(line.split()) for line in text.strip().splitlines())


def pattern(expected: str) -> str:
    """A regular expression for an expected output: `...` stands for anything, alone for any lines."""
    lines = [re.escape(line).replace(r"\.\.\.", ".*") for line in plain(expected).splitlines()]
    return re.sub(r"(?:^|\n)\.\*(?=\n|$)", lambda match: r"(?:(?:^|\n).*)*?", "\n".join(lines))


def test_the_comparison_can_fail():
    assert re.fullmatch(pattern("a 12\n...\nend"), plain("a  3.5\nx\ny\nend\n"))
    assert re.fullmatch(pattern("a\n...\nend\n..."), plain("a\nend\n"))
    assert re.fullmatch(pattern("a ... z"), plain("a b z"))
    for text in ("b 1\nend", "a 1\nend\nmore", "a 1 b\nend", ""):
        assert not re.fullmatch(pattern("a 12\n...\nend"), plain(text))


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_snippets_run(page, run_page):
    run_page(page)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_of_a_kind_that_is_tested(page):
    kinds = [language for language, _ in blocks(page)]
    assert set(kinds) <= {"console", "python", "toml", "text"}
    assert len(kinds) * 2 == len(re.findall("^```", read(page), re.MULTILINE))


@pytest.mark.parametrize("page", PAGES)
def test_recipes_are_recipes(page):
    for language, content in blocks(page):
        if language == "toml":
            build_config(tomllib.loads(content))


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(path: Path) -> set[str]:
    text = BLOCK.sub("", path.read_text(encoding="utf-8"))
    return {slug(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


@pytest.mark.parametrize("page", [*PAGES, "../README.md"])
def test_links_lead_somewhere(page):
    text = re.sub(r"`[^`\n]*`", "", BLOCK.sub("", read(page)))  # code may look like a link
    for link in re.findall(r"\]\(([^)]+)\)", text):
        if link.startswith("https://"):
            continue
        file, _, anchor = link.partition("#")
        target = ((DOCS / page).parent / file if file else DOCS / page).resolve()
        assert target.is_file(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", [*PAGES, "../README.md", "../CONTRIBUTING.md"])
def test_source_files_that_a_page_names_exist(page):
    for path in re.findall(r"`([\w/]+/\w+\.py)`", read(page)):
        assert (SOURCE / path).is_file() or (PROJECT / path).is_file(), path


@pytest.mark.parametrize("page", PAGES)
def test_no_page_names_a_folder_of_some_machine(page):
    assert not re.findall(r"(?<![\w.])/(?:work|tmp|home|root|Users|opt|mnt)\b", read(page))


def test_all_pages_are_in_the_index():
    linked = set(re.findall(r"\]\(([^)#]+\.md)\)", read("README.md")))
    assert linked == set(PAGES) - {"README.md"}


@pytest.fixture(scope="module")
def with_tables():
    """Generates the tables of a page again."""
    return runpy.run_path(str(DOCS / "make_tables.py"))["with_tables"]


@pytest.mark.parametrize("page", [*PAGES, "../README.md"])
def test_tables_from_the_code_are_up_to_date(page, with_tables):
    assert with_tables(read(page)) == read(page), "run: python docs/make_tables.py"


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_still_to_be_written(page):
    prose = BLOCK.sub("", read(page))
    assert not re.findall(
        r"(?i:not measured yet)|^[A-Z]{3,}$|\b(?:TODO|TBD|FIXME|XXX)\b", prose, re.MULTILINE
    )
    for name, content in re.findall(r"<!-- table: ([^\n>]+) -->\n(.*?)<!-- end -->", prose, re.DOTALL):
        assert len(re.findall(r"^\|", content, re.MULTILINE)) > 2, f"the table {name} is empty"


def test_pictures_are_up_to_date():
    pictures = runpy.run_path(str(DOCS / "make_images.py"))["pictures"]()
    drawn = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "images").iterdir()}
    del drawn["overview.svg"]  # of a trained model: make_overview.py
    assert drawn == pictures, "run: python docs/make_images.py"
    shown = "".join(map(read, PAGES))
    assert set(drawn) == set(re.findall(r"\((?:\.\./)?images/([^)]+)\)", shown))


def test_the_readme_shows_its_picture():
    picture = re.search(r"!\[[^\]]+\]\(([^)]+)\)", read("../README.md"))
    svg = (PROJECT / picture[1]).read_text(encoding="utf-8")
    assert picture[1] == "docs/images/overview.svg"
    assert all(name in svg for name in ("The report", "An explanation", "The heads"))


def test_the_python_of_the_readme_runs(tmp_path, short_runs):
    python = [content for language, content in blocks("../README.md") if language == "python"]
    assert len(python) == 1
    assert len(python[0].splitlines()) <= 12
    with short_runs(), contextlib.chdir(tmp_path), contextlib.redirect_stdout(io.StringIO()):
        exec(compile(python[0], "README.md", "exec"), {"__name__": "readme"})
    assert (tmp_path / "helpdesk-model" / "manifest.json").is_file()


def test_the_readme_is_short():
    assert len(read("../README.md").splitlines()) <= 200


def rows(page: str, column: str = r"\| `([\w-]+)` \|") -> list[str]:
    return re.findall(f"^{column}", read(page), re.MULTILINE)


def test_every_error_code_has_one_row():
    codes = rows("reference/error-codes.md", r"\| `(HW\d{3})` \|")
    assert codes == list(error_codes())


@pytest.mark.parametrize("page", PAGES)
def test_codes_exist(page):
    assert set(re.findall(r"\bHW\d{3}\b", read(page))) <= set(error_codes())


def test_all_priors_and_encoders_are_told():
    priors = [name for name in rows("priors.md") if not name.startswith("HW")]
    assert sorted(priors) == sorted(PRIORS)
    for name in ENCODERS:
        assert f"\n## {name}\n" in read("encoders.md")
        assert f"<!-- table: encoder:{name} -->" in read("encoders.md")


def test_flags_exist(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    main(["--help-all"])
    for command in COMMANDS:
        main([command, "--help-all"])
    paths = [path for folder in ("benchmarks", "fuzz") for path in (PROJECT / folder).rglob("*.py")]
    scripts = "".join(path.read_text(encoding="utf-8") for path in paths)
    flags = set(re.findall(r"--[a-z][\w.-]*", capsys.readouterr().out + scripts)) | {
        "--help",
        "--help-all",
        "--no-deps",  # of pip, as the next two
        "--index-url",
        "--wheel-dir",
        "--torch-backend",  # of uv
        "--rm",  # of docker, as the next ones
        "--user",
        "--cpus",
        "--memory",
        "--build-arg",
        "--nproc-per-node",  # of torchrun, as the next ones
        "--nnodes",
        "--rdzv-backend",
        "--rdzv-endpoint",
    }
    used = {flag for page in PAGES for flag in re.findall(r"(?<![\w<!-])--[a-z][\w.-]*", read(page))}
    assert used <= flags
