"""The folder of multilingual-e5-small, made of a file in the package's format with two tiny layers."""

import json
import struct

import numpy as np
import pytest
from safetensors.numpy import load_file

from benchmarks.common.e5_teacher import NAME, dequantized, e5_folder, write_folder

SIZE, LAYERS, INNER, WINDOW = 32, 2, 64, 16
SPACE = "\u2581"
PIECES = ["<s>", "<pad>", "</s>", "<unk>", f"{SPACE}que", "ry", ":", f"{SPACE}sun", f"{SPACE}rain", SPACE]
MATRICES = {"q.w": SIZE, "k.w": SIZE, "v.w": SIZE, "ao.w": SIZE, "fi.w": INNER, "fo.w": SIZE}
VECTORS = {
    **{f"{name}.b": SIZE for name in ("q", "k", "v", "ao", "fo")},
    "fi.b": INNER,
    **{f"{norm}.{end}": SIZE for norm in ("aln", "oln") for end in "wb"},
}


def quantized(levels, scale):
    """Blocks of 32 weights: a float16 scale and 16 bytes."""
    blocks = (np.asarray(levels) + 8).astype(np.uint8).reshape(-1, 32)
    pairs = blocks[:, :16] | (blocks[:, 16:] << 4)
    return b"".join(np.float16(scale).tobytes() + row.tobytes() for row in pairs)


def tensors():
    """Name, type and numbers of each tensor; the quantised ones as levels, with the scale 0.25."""
    random = np.random.default_rng(0)

    def levels(rows, columns):
        return random.integers(-8, 8, rows * columns)

    def numbers(count):
        return random.standard_normal(count).astype(np.float32)

    yield "emb.word", 1, levels(len(PIECES), SIZE)
    yield "emb.pos", 0, numbers(WINDOW * SIZE)
    yield "emb.type", 0, numbers(SIZE)
    yield "emb.ln.w", 0, numbers(SIZE)
    yield "emb.ln.b", 0, numbers(SIZE)
    for layer in range(LAYERS):
        for name, rows in MATRICES.items():
            yield f"L{layer}.{name}", 1, levels(rows, INNER if name == "fo.w" else SIZE)
        for name, count in VECTORS.items():
            yield f"L{layer}.{name}", 0, numbers(count)


@pytest.fixture(scope="module")
def content():
    """A file as in the package."""
    blob = [piece.encode() for piece in PIECES]
    ends = np.cumsum([0, *map(len, blob)]).astype("<u4")
    scores = -np.arange(len(PIECES)).astype("<f4")
    head = b"E5S1" + struct.pack("<I7ifi", 1, SIZE, LAYERS, 4, INNER, len(PIECES), WINDOW, 1, 1e-12, 0)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, int(ends[-1]))
    head += ends.tobytes() + scores.tobytes() + b"".join(blob) + struct.pack("<iI", 0, 3) + b"???"
    rows = [*tensors()]
    entries = [(name.encode(), kind, len(numbers)) for name, kind, numbers in rows]
    start = len(head) + 4 + sum(2 + len(name) + struct.calcsize("<BIQQ") for name, _, _ in entries)
    table, data = struct.pack("<i", len(rows)), b""
    for (name, kind, count), (_, _, numbers) in zip(entries, rows, strict=True):
        packed = quantized(numbers, 0.25) if kind else numbers.tobytes()
        table += struct.pack("<H", len(name)) + name
        table += struct.pack("<BIQQ", kind, count, start + len(data), len(packed))
        data += packed
    return head + table + data


def test_weights_of_four_bits():
    levels = np.arange(64) % 16 - 8
    assert dequantized(b"??" + quantized(levels, 0.5), 2, 64).tolist() == (0.5 * levels).tolist()


def test_the_folder_has_all_weights(content, tmp_path):
    write_folder(content, tmp_path / "e5")
    weights = load_file(tmp_path / "e5" / "model.safetensors")
    originals = {name: (kind, numbers) for name, kind, numbers in tensors()}
    assert len(weights) == len(originals)
    for ours, theirs, shape in (
        ("embeddings.word_embeddings.weight", "emb.word", (len(PIECES), SIZE)),
        ("embeddings.position_embeddings.weight", "emb.pos", (WINDOW, SIZE)),
        ("embeddings.LayerNorm.bias", "emb.ln.b", (SIZE,)),
        ("encoder.layer.1.attention.self.key.weight", "L1.k.w", (SIZE, SIZE)),
        ("encoder.layer.0.output.dense.weight", "L0.fo.w", (SIZE, INNER)),
        ("encoder.layer.1.output.LayerNorm.weight", "L1.oln.w", (SIZE,)),
    ):
        kind, numbers = originals[theirs]
        assert weights[ours].shape == shape
        assert weights[ours].ravel().tolist() == ((0.25 if kind else 1) * numbers).tolist()


def test_headwise_reads_the_folder_and_the_tokenizer_adds_the_prefix(content, tmp_path):
    pytest.importorskip("transformers")
    from headwise.training.pretraining.base_config import TeacherConfig
    from headwise.training.pretraining.sentence_encoder import SentenceEncoder

    folder = e5_folder(tmp_path, write(tmp_path, content))
    encoder = SentenceEncoder(TeacherConfig(str(folder)))
    vectors = encoder.read(["sun", "rain", "rain rain", "sun"])
    assert vectors.shape == (4, SIZE)
    assert np.allclose(np.linalg.norm(vectors.astype(np.float32), axis=1), 1, atol=1e-2)
    assert np.array_equal(vectors[0], vectors[3])
    assert not np.array_equal(vectors[0], vectors[1])
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert tokenizer.encode("sun\u200brain").tokens == [
        "<s>", f"{SPACE}que", "ry", ":", f"{SPACE}sun", f"{SPACE}rain", "</s>",
    ]  # fmt: skip


def test_the_folder_is_made_once(content, tmp_path):
    weights = write(tmp_path, content)
    folder = e5_folder(tmp_path, weights)
    assert folder == tmp_path / NAME
    assert json.loads((folder / "config.json").read_text())["num_hidden_layers"] == LAYERS
    weights.unlink()
    assert e5_folder(tmp_path, weights) == folder


def test_a_file_of_another_version_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="another version"):
        write_folder(b"E5S2" + bytes(64), tmp_path / "e5")
    assert not (tmp_path / "e5").exists()


def write(folder, content):
    path = folder / "weights.bin"
    path.write_bytes(content)
    return path
