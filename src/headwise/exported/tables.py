"""Arrays that an exported model stores outside its graphs: those of a base and of a linear model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from headwise.exported.settings import BaseSizes
from headwise.features.bases.base import Base, Table
from headwise.linear.expert import ExpertConfig
from headwise.linear.solver import Floats
from headwise.linear.text_model import LinearModel
from headwise.linear.text_tables import TextTables
from headwise.store.errors import StoreError

WORDS, BASE, EXPERT, CHAIN = "words.", "base.", "expert.", "chain."
"""Prefixes of the array names: word vectors, base, linear model, CRF."""
Shapes = Mapping[str, tuple[DTypeLike, tuple[int, ...]]]


def base_shapes(listed: int, word_count: int, sizes: BaseSizes) -> Shapes:
    """Types and shapes of the arrays of a base.

    Args:
        listed: Number of words that the base lists.
        word_count: Size of the training vocabulary, `<unk>` included.
        sizes: Sizes in the settings.
    """
    rows = listed + sizes.subwords
    shapes: dict[str, tuple[DTypeLike, tuple[int, ...]]] = {
        "values": (np.int8, (rows, sizes.size)),
        "scales": (np.float32, (rows,)),
        "weights": (np.float32, (listed + 1,)),
    }
    if sizes.trained:
        shapes["vectors"] = (np.float32, (word_count, sizes.size))
    return shapes


def base_of(tables: Mapping[str, NDArray], words: tuple[str, ...]) -> Base:
    """The base with these arrays."""
    values, scales, listed_count = tables["values"], tables["scales"], len(words)
    listed, runs = (
        Table(values[part], scales[part]) for part in (slice(listed_count), slice(listed_count, None))
    )
    return Base("exported", words, listed, runs, tables["weights"])


@dataclass(frozen=True)
class Expert:
    """The linear model of an exported model.

    Attributes:
        model: The linear model.
        vectors: Dimensions of the text vectors that it reads; 0 if it reads none.
    """

    model: LinearModel
    vectors: int

    def __call__(self, texts: Any, dense: NDArray | None = None, numbers: NDArray | None = None) -> Floats:
        """Logits of texts, `[texts, classes]`."""
        return self.model.scores(texts, dense, numbers)


def expert_tables(
    config: ExpertConfig, classes: int, tokenizer: str, *, sets: bool, pairs: bool
) -> TextTables | None:
    """Sizes of the arrays of a linear model with this configuration; None without one."""
    features = config.words + config.characters
    if not features:
        return None
    return TextTables(
        features,
        config.words,
        config.vectors,
        classes,
        tokenizer,
        sets=sets,
        pairs=pairs,
        stored_weights=config.kept,
        reach=config.reach,
        form=config.form,
        edges=config.edges,
    )


def packed(tables: Mapping[str, NDArray]) -> bytes:
    """The content of a safetensors file; arrays that float16 represents without loss are stored in it."""
    return save({name: np.ascontiguousarray(_stored(table)) for name, table in tables.items()})


def unpacked(content: bytes, shapes: Shapes, where: str) -> dict[str, NDArray]:
    """Read arrays of these types and shapes from an untrusted file.

    Raises:
        StoreError: HW509, it holds something else; HW510, a number is NaN or infinite.
    """
    try:
        tables = load(content)
    except (SafetensorError, ValueError, KeyError) as error:
        raise StoreError(f"{where}: cannot be read: {error!s:.200}", code="HW509") from None
    if tables.keys() != shapes.keys():
        strange = sorted(tables.keys() ^ shapes.keys())[0]
        lacks = "lacks" if strange in shapes else "holds"
        raise StoreError(f"{where}: it {lacks} {strange:.200}, unlike its settings", code="HW509")
    return {name: _checked(name, table, *shapes[name], where) for name, table in tables.items()}


def _stored(table: NDArray) -> NDArray:
    if table.dtype != np.float32:
        return table
    with np.errstate(over="ignore"):
        half = table.astype(np.float16)
    return half if np.array_equal(half.astype(np.float32), table) else table


def _checked(name: str, table: NDArray, kind: DTypeLike, shape: tuple[int, ...], where: str) -> NDArray:
    kinds = (np.float32, np.float16) if kind == np.float32 else (kind,)
    if table.shape != shape or table.dtype not in kinds:
        raise StoreError(
            f"{where}: {name} is {table.dtype} {list(table.shape)!s:.80}, but the settings ask for "
            f"{np.dtype(kind)} {list(shape)}",
            code="HW509",
        )
    if not np.isfinite(table).all():
        raise StoreError(f"{where}: {name} holds NaN or infinite numbers", code="HW510")
    return table.astype(kind)
