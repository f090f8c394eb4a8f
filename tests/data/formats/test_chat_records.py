"""Texts and labels as messages of chats."""

import json

import pytest

from headwise.data.columns.reading_options import ReadOptions
from headwise.data.errors import DataError
from headwise.data.readers.labelled_files import read_examples, read_rows

TEXTS = [f"Ann sailed to Oslo on day {n}" for n in range(8)]


def openai(text, *answers):
    turns = [("system", "Name the topic."), ("user", text), *(("assistant", answer) for answer in answers)]
    return {"messages": [{"role": role, "content": content} for role, content in turns]}


def openai_parts(text, *answers):
    messages = openai(text, *answers)["messages"][1:]
    return {
        "messages": [
            {"role": message["role"], "content": [{"type": "text", "text": message["content"]}]}
            for message in messages
        ]
    }


def sharegpt(text, *answers):
    turns = [("human", text), *(("gpt", answer) for answer in answers)]
    return {"id": "7", "conversations": [{"from": role, "value": content} for role, content in turns]}


def gemini(text, *answers):
    turns = [("user", text), *(("model", answer) for answer in answers)]
    return {"contents": [{"role": role, "parts": [{"text": content}]} for role, content in turns]}


@pytest.mark.parametrize("form", [openai, openai_parts, sharegpt, gemini])
def test_the_answer_is_the_label(write, form):
    rows = [form(text, "ab"[n % 2]) for n, text in enumerate(TEXTS)]
    data = read_examples(write("a.jsonl", "\n".join(map(json.dumps, rows))))
    assert [(item.text, item.label) for item in data.items[:2]] == [(TEXTS[0], "a"), (TEXTS[1], "b")]
    assert "messages of chats: what the user says is the text, the answer the label" in data.notes


def test_texts_without_an_answer_are_texts(write):
    path = write("a.jsonl", "\n".join(json.dumps(openai(text)) for text in TEXTS))
    assert next(iter(read_rows(path))).fields == {"text": TEXTS[0]}


@pytest.mark.parametrize(
    "row",
    [
        lambda n: openai(TEXTS[n], f"a long answer, which is another one for each text {n}"),
        lambda n: openai(TEXTS[n], "a", "b"),
        lambda n: {"messages": openai(TEXTS[n], "a")["messages"] * 2},
    ],
)
def test_other_chats_are_not_guessed(write, row):
    path = write("a.jsonl", "\n".join(json.dumps(row(n)) for n in range(8)))
    with pytest.raises(DataError, match="the text column cannot be guessed"):
        read_examples(path)


def test_the_message_that_is_asked_for_counts(write):
    path = write(
        "a.jsonl", "\n".join(json.dumps(openai(text, "ab"[n % 2])) for n, text in enumerate(TEXTS))
    )
    options = ReadOptions(text_column="messages.1.content", label_column="messages.2.content")
    assert read_examples(path, options).items[0].text == TEXTS[0]
