"""Inputs that are attacked with: small ones of every kind that is read, damaged ones, and made-up ones."""

import bz2
import gzip
import io
import json
import lzma
import random
import zipfile
from copy import deepcopy
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from exports import exports

ROWS = range(12)
LONGEST = 1 << 16  # bytes of an input, most often


def lines(form: str, head: str = "") -> bytes:
    """Records by their form, in which n is a number and c is a or b."""
    return (head + "".join(form.format(n=n, c="ab"[n % 2]) for n in ROWS)).encode()


def _array() -> bytes:
    out = io.BytesIO()
    np.save(out, np.arange(24, dtype=np.float32).reshape(12, 2))
    return out.getvalue()


def _workbook() -> bytes:
    """A workbook of one sheet, not packed, so that damage reaches its cells."""
    start, office = '<?xml version="1.0"?>', "http://schemas.openxmlformats.org"
    main, kind = f"{office}/spreadsheetml/2006/main", "application/vnd.openxmlformats-officedocument"
    cell = '<c t="inlineStr"><is><t>{}</t></is></c>'.format
    rows = "".join(f"<row>{cell(f'a text {n}')}{cell('ab'[n % 2])}<c><v>{n}.5</v></c></row>" for n in ROWS)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{office}/package/2006/content-types"><Override PartName='
        f'"/xl/workbook.xml" ContentType="{kind}.spreadsheetml.sheet.main+xml"/></Types>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{office}/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{office}/officeDocument/2006/relationships/worksheet" '
        'Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}/officeDocument/2006/relationships">'
        '<sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData><row>{cell("text")}'
        f"{cell('label')}{cell('n')}</row>{rows}</sheetData></worksheet>",
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name), start + text)
    return out.getvalue()


def _parquet() -> bytes:
    out = pa.BufferOutputStream()
    columns = {"text": [f"a text {n}" for n in ROWS], "label": ["ab"[n % 2] for n in ROWS]}
    lists = [["x", "y"][: n % 3] for n in ROWS]
    parquet.write_table(pa.table({**columns, "lists": lists, "n": [*ROWS]}), out, compression="none")
    return out.getvalue().to_pybytes()


EXPORTS = exports()
"""Exports of annotation tools, in JSON."""
SEEDS: dict[str, bytes] = {
    **EXPORTS,
    "rasa-yaml": lines("- intent: {c}\n  examples: |\n    - a [text](X) of {n}\n", "nlu:\n"),
    "cell-spans": lines(
        'a text {n},"[{{""start"": 0, ""end"": 1, ""label"": ""{c}""}}]"\n', "text,label\n"
    ),
    "csv": lines("a text number {n},{c}\n", "text,label\n"),
    "quoted": lines('"say ""{n}"",\n{c}",{c}\n', "text,label\n"),
    "tsv": lines("a text number {n}\t{c}\n", "text\tlabel\n"),
    "jsonl": lines('{{"text": "a text {n}", "label": "{c}"}}\n'),
    "sets": lines("text {n},a|{c}c\n", "text,labels\n"),
    "lists": lines('{{"text": "a text {n}", "labels": ["x", "{c}"]}}\n'),
    "flags": lines("text {n},1,0,{n}\n", "text,good,bad,other\n").replace(b",10\n", b",1\n"),
    "soft": lines("text {n},0.25,0.75\n", "text,probability:a,probability:b\n"),
    "fasttext": lines("__label__{c} some text {n}\n"),
    "label-text": lines("{c}\tsome text {n}\n"),
    "sentiment": lines("(3 (2 good) (2 film{n}))\n"),
    "numbers": lines("a text {n},{n}.5\n", "text,score\n"),
    "pairs": lines("one {n},two {n},{c}\n", "sentence1,sentence2,label\n"),
    "scores": lines("one {n},two {n},{n}.5\n", "sentence1,sentence2,score\n"),
    "bags": lines("m{n},{n},-{n}.5,{c}\n", "bag,x1,x2,label\n"),
    "json-array": lines('  {{"text": "a text {n}",\n   "label": "{c}"}},\n', "[\n")
    + b'  {"text": "z", "label": "a"}\n]\n',
    "commas": lines('text {n},"{c}, x"\n', "text,labels\n"),
    "cell-lists": lines("text {n},\"['{c}', 'x']\"\n", "text,labels\n"),
    "ticks": lines("text {n},x,\n", "text,good,bad\n").replace(b"1,x,", b"1,,x"),
    "token-lists": lines('{{"tokens": ["it", "is", "{n}"], "ner_tags": ["O", "O", "B-{c}"]}}\n'),
    "conll": lines("word{n} B-X\nof I-X\nit O\n\n"),
    "conllu": lines(
        "# sent_id = {n}\n1\tA\ta\tDET\t_\t_\t2\tdet\t_\t_\n2\t{c}\tb\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    ),
    "slashed": lines("the/DT film/NN was/VBD {n}/CD\n"),
    "spread": lines("[ the/DT film/NN ]\nwas/VBD {n}/CD ./.\n=====\n"),
    "trees": lines("( (S (NP (PRP it{n})) (VP (VBZ works)) (. .)))\n"),
    "utf-16": lines("a text number {n},{c}\n", "text,label\n").decode().encode("utf-16"),
    "lines": lines("{n},{c},0.9\n", "line,label,doubt\n"),
    "vectors": lines("w{n} {n} {n}.5 -{n}e-3\n"),
    "word2vec": b"3 2\na 1 2\nb 3 4\nc 5 6\n",
    "array": _array(),
    "workbook": _workbook(),
    "parquet": _parquet(),
    "recipe": b'[model]\nreadout = "max"\n[encoder]\nname = "bilstm"\nwidth = 8\n[train]\nepochs = 2\n'
    b'learning_rate = 1e-3\n[words]\nvector_size = 8\n[data]\ntext_column = "text"\n',
}
PIECES = (
    *(
        b'"',
        b'""',
        b'"""',
        b",",
        b"\t",
        b"\n",
        b"\r",
        b"\r\n",
        b"\0",
        b"\xff",
        b"\xfe\xff",
        b"\xef\xbb\xbf",
    ),
    *(b"{", b"}", b"[", b"]", b"(", b")", b":", b"|", b"/", b"#", b"_", b"-1", b"1e999", b"NaN", b"nan"),
    *(b"9" * 5000, b"=1+1", b"\x1b[2J", "\u2028".encode(), "\u202e".encode(), "\U0001f600".encode()),
    *(
        b"__label__",
        b"B-",
        b"I-X",
        b"label",
        b"text",
        b"\x85",
        b"\x1c",
        b"\x0b",
        b"null",
        b"{}",
        b"\\ud800",
    ),
    *(b"0", b"true", b"1.5", b"(2 ", b"(NN x)", b"\n\n", b"! ", b"PK\x03\x04", b"\x1f\x8b\x08", b"../x"),
)
STRANGE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 3.5, -0.0, 1e-320, 1e308, 10**40, 2**31, 2**63, "", " ", "a", "nan"),
    *([], {}, [[]], {"": {}}, [None], ["a", "a"], [1, 2], "\0", "\ud800", "x" * 3000, list(range(500))),
)


def packed(data: bytes, chance: random.Random) -> bytes:
    """Perhaps as an archive."""
    kind = chance.randrange(40)
    if kind == 0:
        return gzip.compress(data, 1)
    if kind == 1:
        return bz2.compress(data)
    if kind == 2:
        return lzma.compress(data, preset=0)
    if kind == 3:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(chance.choice([1, 1, 1, 2])):
                archive.writestr(f"data{number}.csv", data)
        return file.getvalue()
    return data


def damaged(data: bytes, chance: random.Random, donor: bytes = b"") -> bytes:
    """A few places changed, left out, doubled, or filled with what readers look for."""
    content = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 3, 8])):
        at, size = chance.randrange(len(content) + 1), chance.choice([1, 1, 2, 8, 64, 1000])
        match chance.randrange(7):
            case 0:
                content[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del content[at : at + size]
            case 2:
                content[at:at] = chance.choice(PIECES)
            case 3:
                content[at:at] = content[at : at + size] * chance.choice([1, 2, 50])
            case 4:
                content[at : at + size] = chance.choice(PIECES) * chance.choice([1, 1, 1, 2, 500])
            case 5:
                del content[at:]
            case _:
                start = chance.randrange(len(donor) + 1)
                content[at:at] = donor[start : start + size]
    return bytes(content[: LONGEST << 4 * (chance.random() < 0.01)])


def altered(data: bytes, chance: random.Random) -> bytes:
    """JSON of which a few values, anywhere, are others, or gone, or have other names."""
    tree: Any = {"": json.loads(data)}
    for _ in range(chance.choice([1, 1, 2, 4])):
        inner: Any = tree
        while True:
            keys = [*inner] if isinstance(inner, dict) else range(len(inner))
            key = chance.choice(keys)
            deeper: Any = inner[key]
            if (
                not isinstance(deeper, dict | list)
                or not deeper
                or (inner is not tree and chance.random() < 0.2)
            ):
                break
            inner = deeper
        way = chance.random()
        if way < 0.15 and inner is not tree:
            del inner[key]
            if not tree[""]:
                break
        elif way < 0.25 and isinstance(inner, dict) and inner is not tree:
            inner[str(chance.choice(STRANGE))] = inner.pop(key)
        elif way < 0.6 and type(deeper) in (int, float):
            number: Any = deeper
            inner[key] = chance.choice([-number, number + 1, number - 1, number * 1000, number / 7])
        else:
            inner[key] = deepcopy(chance.choice(STRANGE))  # which may be changed in its turn
    return json.dumps(tree[""]).encode()
