"""Inputs that are attacked with: small ones of every kind that is read, damaged ones, and made-up ones."""

import bz2
import gzip
import io
import lzma
import random
import zipfile

TEXTS = "text,label\n" + "".join(f"a text number {n},{'ab'[n % 2]}\n" for n in range(60))
CONLL = "".join(f"word{n} {'B-X' if n % 3 else 'O'}\n" + ("\n" if n % 5 == 4 else "") for n in range(60))
CONLLU = "".join(
    f"# sent_id = {n}\n1\tA\ta\tDET\t_\t_\t2\tdet\t_\t_\n2\tb\tb\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    for n in range(20)
)
SEEDS: dict[str, bytes] = {
    "csv": TEXTS.encode(),
    "tsv": TEXTS.replace(",", "\t").encode(),
    "jsonl": "".join(f'{{"text": "a text {n}", "label": "{"ab"[n % 2]}"}}\n' for n in range(40)).encode(),
    "sets": ("text,labels\n" + "".join(f"text {n},a|{'bc'[n % 2]}\n" for n in range(40))).encode(),
    "fasttext": "".join(f"__label__{'ab'[n % 2]} some text {n}\n" for n in range(40)).encode(),
    "trees": "".join(f"({n % 5} (2 good) (2 film{n}))\n" for n in range(40)).encode(),
    "pairs": ("sentence1,sentence2,label\n" + "".join(f"one {n},two {n},x\n" for n in range(40))).encode(),
    "bags": (
        "bag,x1,x2,label\n" + "".join(f"m{n // 2},{n},{-n}.5,{n // 2 % 2}\n" for n in range(40))
    ).encode(),
    "conll": CONLL.encode(),
    "conllu": CONLLU.encode(),
    "slashed": "".join(f"the/DT film/NN was/VBD {n}/CD\n" for n in range(30)).encode(),
    "utf-16": TEXTS.encode("utf-16"),
    "vectors": "".join(f"w{n} {n} {n + 0.5} -{n}e-3\n" for n in range(40)).encode(),
    "word2vec": b"3 2\na 1 2\nb 3 4\nc 5 6\n",
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
)


def packed(data: bytes, chance: random.Random) -> bytes:
    """Perhaps as an archive."""
    kind = chance.randrange(10)
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


def damaged(data: bytes, chance: random.Random, other: bytes = b"") -> bytes:
    """A few places changed, left out, doubled, or filled with what readers look for."""
    found = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 3, 8])):
        at, size = chance.randrange(len(found) + 1), chance.choice([1, 1, 2, 8, 64, 1000])
        match chance.randrange(7):
            case 0:
                found[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del found[at : at + size]
            case 2:
                found[at:at] = chance.choice(PIECES)
            case 3:
                found[at:at] = found[at : at + size] * chance.choice([1, 2, 50])
            case 4:
                found[at : at + size] = chance.choice(PIECES) * chance.choice([1, 2, 500])
            case 5:
                del found[at:]
            case _:
                start = chance.randrange(len(other) + 1)
                found[at:at] = other[start : start + size]
    return bytes(found[: 1 << 20])
