"""The tables of the Star-Transformer's paper (Guo et al. 2019), row by row. Data, no code."""

from dataclasses import replace

from benchmarks.papers.reproduce_row import (
    GLOVE,
    MTL16,
    ONTONOTES,
    PRESETS,
    SNLI,
    SNLI_FILES,
    SPEED,
    SST,
    WSJ,
    Row,
    Table,
    all_of,
    rows_of,
    tagging,
)

STAR: dict[str, Table] = {
    "star/table-sst": Table(
        "Star-Transformer on SST-5",
        rows_of("accuracy", SST, "star-transformer", "star-transformer, as published", "transformer"),
        rival="transformer",
    ),
    "star/table-mtl16": Table(
        "Star-Transformer on MTL-16",
        tuple(
            replace(row, paper="86.98" if row.system == "star-transformer" else "")
            for row in rows_of("accuracy", MTL16, "star-transformer", "transformer")
        ),
        rival="transformer",
    ),
    "star/table-snli": Table(
        "Star-Transformer on SNLI (16,672 pairs)",
        rows_of("pairs", SNLI, "star-transformer", "star-transformer, as published", "transformer")
        + all_of("SNLI", SNLI_FILES, "star-transformer"),
        rival="transformer",
    ),
    "star/table-tagging": Table(
        "Star-Transformer as a tagger",
        (
            *tagging("CoNLL-2003", "conll2003", "star-transformer + char + crf"),
            *tagging("CoNLL-2003, GloVe", "conll2003-glove", "star-transformer + char + crf"),
            *tagging("PTB sample", "treebank", "star-transformer + char + crf"),
            Row(
                "PTB, all of it: star-transformer + char + crf",
                bring=f"{WSJ} --recipe {PRESETS}/tag-star-transformer.toml",
            ),
            Row(
                "CoNLL-2012: star-transformer + char + crf",
                bring=f"{ONTONOTES} --recipe {PRESETS}/tag-star-transformer.toml {GLOVE}",
            ),
        ),
    ),
    "star/speed": Table(
        "Milliseconds for a batch of 128 texts, mean of 16 domains (the paper: 4.5 times as fast)",
        tuple(
            Row(system, command=SPEED, results="speed.json", pick=("encoders", "mean", system))
            for system in ("star-transformer", "transformer", "padded Transformer")
        ),
    ),
}
