"""Training data of Rasa in YAML, and in the Markdown of older versions:

    nlu:
    - intent: greet                          ## intent:greet
      examples: |                            - hello
        - hello                              - I am [Ann](name)
        - I am [Ann](name)

An example becomes a record with its text, its intent and its entities (start, end, entity). Values
(`[NYC]{"entity": "city", "value": "New York"}`), synonyms, regular expressions and tables are passed over.
The JSON of Rasa is read as JSON.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.file_source import DataSource, Record
from headwise.data.files.text_lines import Line, without_returns
from headwise.data.formats.inline_markup import without_marks

_INTENT = lazy_pattern(
    r"""\s*-\s+intent:\s*(?P<yaml>"[^"]*"|'[^']*'|.+?)\s*(?:\s#.*)?$|##\s*intent:\s*(?P<markdown>.+?)\s*$"""
)
_OTHER_LIST = lazy_pattern(r"\s*-\s+(?:synonym|regex|lookup|rule|story):|##\s|\S")
_EXAMPLE = lazy_pattern(r"\s*(?:-\s+text:\s*(?:\||>|)|-\s+|\*\s+)(?P<text>.*)$", re.DOTALL)
_SECTION = lazy_pattern(r"(\w+):")  # stories and rules have intents, too, and no examples
_BLOCK = lazy_pattern(r"(?P<key>\s*-\s+text:)\s*[|>][-+]?\s*$")  # the text is what is indented below
_KEY = lazy_pattern(r"\s*[-\s]*(?:examples|metadata|sentiment|text|intent):\s*[|>]?\s*$")
_ENTITY = lazy_pattern(r"\[(?P<text>[^\[\]]+)\](?:\((?P<name>[^()]+)\)|(?P<object>\{[^{}]*\}))")


def recognise(texts: Sequence[str]) -> bool:
    """Whether lines begin an intent, after nothing but keys of YAML."""
    beginning = [text for text in texts if text.strip() and not text.lstrip().startswith("# ")][:12]
    if any(text.lstrip().startswith(("{", "[")) for text in beginning[:1]):
        return False
    return any(_INTENT.match(text) for text in beginning)


def read_records(lines: Iterator[Line], source: DataSource) -> Iterator[Record]:
    """One record per example."""
    intent: str | None = None
    in_examples, is_empty = True, True
    for number, line in _with_blocks(without_returns(lines)):
        if section := _SECTION.match(line):
            intent, in_examples = None, section[1] in ("version", "nlu")
        elif not in_examples:
            continue
        elif match := _INTENT.match(line):
            intent = (match["yaml"] or match["markdown"]).strip("'\"")
        elif not line.strip():
            source.counts.blank += 1
        elif _KEY.match(line):
            continue
        elif (example := _EXAMPLE.match(line)) and intent is not None and line[:1] in " -*\t":
            if re.match(r"\s*-\s+(?:synonym|regex|lookup|rule|story):", line):
                intent = None
            elif example["text"].strip():
                is_empty = False
                text, entities = without_marks(example["text"].strip(), _ENTITY, _entity)
                yield Record(number, {"text": text, "intent": intent, "entities": entities})
        elif _OTHER_LIST.match(line) and not line.startswith(" "):
            intent = None
    if is_empty:
        expected = "Rasa's training data: '- intent: NAME', 'examples: |', and an example on each line"
        advice = "give the file with nlu: (not the domain or stories); write other YAML as jsonl"
        raise source.error("HW103", "no examples of intents", expected=expected, advice=advice)


def _with_blocks(lines: Iterator[Line]) -> Iterator[Line]:
    """The lines; a text in a block (`text: |`) is one line with its key, whatever its number of lines."""
    first, column, parts = 0, 0, list[str]()
    for number, line in chain(lines, [(0, "end")]):
        if parts and (not line.strip() or len(line) - len(line.lstrip()) > column):
            parts.append(line.strip())
            continue
        if parts:
            yield first, f"{parts[0]} {chr(10).join(parts[1:]).strip()}"
            parts = []
        if match := _BLOCK.match(line):
            first, column, parts = number, line.index("text:"), [match["key"]]
        elif number:
            yield number, line


def _entity(match: re.Match[str]) -> str | None:
    """The type of an entity; None if the brackets mark none."""
    if match["name"]:
        return match["name"].partition(":")[0].strip()
    try:
        fields = json.loads(match["object"])
    except ValueError:
        return None
    return kind if isinstance(kind := fields.get("entity"), str) else None
