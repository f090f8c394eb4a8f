"""Texts and labels as the messages of chats, with which language models are tuned:

    {"messages": [{"role": "system", "content": "Name the topic."},
                  {"role": "user", "content": "Tom ran"}, {"role": "assistant", "content": "sport"}]}
    {"conversations": [{"from": "human", "value": "Tom ran"}, {"from": "gpt", "value": "sport"}]}
    {"contents": [{"role": "user", "parts": [{"text": "Tom ran"}]}, {"role": "model", ...}]}

What the user says becomes the field `text`, the answer the field `label`, if answers recur as labels do.
"""

from collections.abc import Iterator

from headwise.core.config import JsonMapping
from headwise.data.columns.file_source import DataSource, Record
from headwise.data.formats.record_fields import Flatten, Rows, without_fields

_LISTS = ("messages", "conversations", "contents")
_USERS, _ANSWERING = ("user", "human"), ("assistant", "gpt", "model", "bot")


def recognise(rows: Rows) -> Flatten | None:
    """The reader of messages that are a text and its label, or a text alone."""
    turns = [_turns(row) for row in rows]
    answers = [answer for _, answer in filter(None, turns) if answer is not None]
    recur = not answers or 2 * len({*answers}) <= len(answers)
    return _texts if turns and all(turns) and recur else None


def _texts(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    """The records with a text and a label in place of the messages."""
    source.notes.append("messages of chats: what the user says is the text, the answer the label")
    for record in records:
        text, answer = _turns(record.fields) or (None, None)
        fields = without_fields(record.fields, *_LISTS)
        labelled = {} if answer is None else {"label": answer}
        yield Record(record.line, {**fields, "text": text, **labelled}) if text is not None else record


def _turns(fields: JsonMapping) -> tuple[str, str | None] | None:
    """The only message of the user, and the only answer if there is one; None of other objects."""
    messages = next((fields[name] for name in _LISTS if isinstance(fields.get(name), list)), None)
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return None
    contents: dict[object, list[str | None]] = {True: [], False: []}
    for message in messages:
        role = str(message.get("role", message.get("from"))).lower()
        if role in (*_USERS, *_ANSWERING):
            contents[role in _USERS].append(_content(message))
    if len(contents[True]) != 1 or len(contents[False]) > 1 or None in (*contents[True], *contents[False]):
        return None
    return str(contents[True][0]), next(iter(contents[False]), None)


def _content(message: JsonMapping) -> str | None:
    """The text of a message, which may be in one part."""
    content = next((message[name] for name in ("content", "value", "parts") if name in message), None)
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        content = content[0].get("text")
    return content if isinstance(content, str) else None
