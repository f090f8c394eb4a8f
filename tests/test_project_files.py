"""The files around the code agree with it: versions, platforms, the container."""

import re
import tarfile
import tomllib
from pathlib import Path

from scikit_build_core.build import build_sdist

from headwise import __version__

PROJECT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
CLASSIFIERS = SETTINGS["project"]["classifiers"]


def read(name: str) -> str:
    return (PROJECT / name).read_text(encoding="utf-8")


def test_python_versions_are_the_same_everywhere():
    versions = {
        classifier.rpartition(" :: ")[2]
        for classifier in CLASSIFIERS
        if re.search(r":: 3\.\d+$", classifier)
    }
    matrix = re.search(r"python: \[(.*)\]", read(".github/workflows/ci.yml"))[1]
    assert set(re.findall(r"3\.\d+", matrix)) == versions
    wheels = re.findall(r"cp3(\d+)-\*", SETTINGS["tool"]["cibuildwheel"]["build"])
    assert {f"3.{minor}" for minor in wheels} == versions
    assert SETTINGS["project"]["requires-python"] == f">=3.{min(map(int, wheels))}"


def test_the_citation_names_this_version():
    assert f"\nversion: {__version__}\n" in read("CITATION.cff")


def test_ci_runs_commands_that_the_makefile_has_and_all_that_are_promised():
    made = re.findall(r"\bmake ([a-z -]+)", read(".ci/run"))
    targets = {target for line in made for target in line.split()}
    assert targets == {"lint", "test", "test-benchmarks", "types", "docs", "fuzz", "faults"}
    for target in targets:
        assert re.search(rf"^{target}:.*##", read("Makefile"), re.MULTILINE)
        assert f"`make {target}`" in read("CONTRIBUTING.md")


def test_the_container_runs_without_root_and_with_the_pinned_torch():
    stages = read("Dockerfile").split("\nFROM ")
    assert len(stages) == 3
    assert re.search(r"^USER (?!root)\w+$", stages[-1], re.MULTILINE)
    assert "g++" not in stages[-1]
    assert "-c constraints.txt" in stages[1]
    ignored = read(".dockerignore").split()
    assert {".git", "tests", "**/*.so"} <= set(ignored)
    assert not {"src", "native", "README.md", "LICENSE", "constraints.txt"} & set(ignored)


def test_the_source_archive_holds_the_package_and_what_builds_it(tmp_path, monkeypatch):
    monkeypatch.chdir(PROJECT)
    with tarfile.open(tmp_path / build_sdist(str(tmp_path))) as archive:
        members = {name.partition("/")[2] for name in archive.getnames()}
    folders = PROJECT / "src" / "headwise", PROJECT / "native"
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    made = {".so", ".pyd", ".pyc"}
    expected = {path.relative_to(PROJECT).as_posix() for path in files if path.suffix not in made}
    assert "src/headwise/text/bases/english/encoder.safetensors" in expected
    assert expected | {"CMakeLists.txt", "pyproject.toml"} <= members
    assert not {name for name in members if name.startswith(("bases/", "benchmarks/", "fuzz/", "tests/"))}
