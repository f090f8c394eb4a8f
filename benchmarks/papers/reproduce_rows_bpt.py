"""The tables of the BP-Transformer's paper (Ye et al. 2019), row by row. Data, no code."""

from benchmarks.papers.reproduce_row import PRESETS, SNLI, SNLI_FILES, Row, Table, all_of, rows_of

_CHARACTERS = "(100 MB); headwise train"
_ENWIK8_512 = f"enwik8.zip {_CHARACTERS} enwik8.zip --recipe {PRESETS}/enwik8-bp-transformer-512.toml"
_PART = "--steps 2500 --minutes 15.5 --clock processor --threads 1"
_PUBLISHED = "bp-transformer, as published"
_WMT = {"transformer": "27.2", "bpt-k1": "26.9", "bpt-k2": "27.4", "bpt-k4": "27.6", "bpt-k8": "26.7"}
_LINES = "six files, train, dev and test in both languages; python -m benchmarks.papers.translation"
# text, context, steps
_SMALL = (
    ("ptb", 512, 1500),
    ("ptb", 2048, 1500),
    ("war-and-peace", 512, 1500),
    ("war-and-peace", 2048, 1500),
)
_SHAPES = {"bp-transformer": "bp-transformer-2x128k32", "transformer": "transformer-2x128-distance"}

BPT: dict[str, Table] = {
    "bpt/table-text": Table(
        "BP-Transformer on SST-5 and IMDB (but as published two layers, k 4 and the mean as the readout)",
        (
            *rows_of("accuracy", ("sst5",), "bp-transformer", _PUBLISHED, "transformer", what="SST-5: "),
            *rows_of(
                "accuracy",
                ("imdb",),
                "bp-transformer",
                _PUBLISHED,
                "transformer",
                "star-transformer",
                what="IMDB: ",
            ),
            Row("IMDB: LSTM + CoVe", paper="91.8", missing="the paper quotes it of others"),
        ),
        rival="transformer",
    ),
    "bpt/table-snli": Table(
        "BP-Transformer on SNLI (16,672 pairs): words of a text see the other's, as released; those of "
        "`transformer` do not (the paper's, whose do: 87.89)",
        (
            *rows_of("pairs", SNLI, "bp-transformer", "ms-transformer-cross", "transformer"),
            *all_of("SNLI", SNLI_FILES, "bp-transformer"),
        ),
        rival="transformer",
    ),
    "bpt/table-characters": Table(
        "Bits per character: enwik8 and text8 (small texts and models here)",
        (
            *(
                Row(
                    f"{data}, context {context:,}: {model}",
                    command=f"benchmarks.papers.language_modelling --data {data} --context {context} "
                    f"--steps {steps}",
                    results="language_modelling.json",
                    pick=(f"{data}-{context}-{shape}-0.002-{steps}-0",),
                )
                for data, context, steps in _SMALL
                for model, shape in _SHAPES.items()
            ),
            Row(
                "enwik8, context 8,192",
                paper="1.02",
                bring=f"enwik8.zip {_CHARACTERS} enwik8.zip --recipe enwik8-bp-transformer",
            ),
            Row(
                "enwik8, context 512",
                bring=_ENWIK8_512,
            ),
            Row(
                "text8, context 8,192",
                paper="1.11",
                bring=f"text8.zip {_CHARACTERS} text8.zip --recipe {PRESETS}/text8-bp-transformer.toml",
            ),
            Row(
                "text8, context 512",
                bring=f"text8.zip {_CHARACTERS} text8.zip --recipe {PRESETS}/text8-bp-transformer-512.toml",
            ),
            *(
                Row(
                    f"enwik8, context 512, k {k}",
                    bring=f"{_ENWIK8_512} --encoder.k {k} --encoder.clip {clip}",
                )
                for k, clip in ((1, 8), (2, 7), (4, 6), (8, 5), (16, 4), (32, 3))
            ),
        ),
    ),
    "bpt/table-translation": Table(
        "BLEU: Multi30k en-de, 3 + 3 layers of width 256, a fraction of the steps (the paper: WMT14 en-de)",
        (
            *(
                Row(
                    f"Multi30k en-de: {model}",
                    command=f"benchmarks.papers.translation --model {model} {_PART}",
                    results=f"set_tasks/translation-{model}-*.json",
                    seeded=True,
                    paper=paper,
                )
                for model, paper in _WMT.items()
            ),
            Row(
                "IWSLT15 zh-en: k 4, context 64",
                paper="19.84",
                bring=f"{_LINES} --model bpt-k4 --data {{train,dev,test}}.{{zh,en}}",
            ),
            Row(
                "WMT14 en-de: all",
                paper=", ".join(_WMT.values()),
                bring=f"{_LINES} --sweep --data {{train,dev,test}}.{{en,de}}",
            ),
        ),
    ),
    "bpt/speed": Table(
        "Time and memory by length (the paper has figures only)",
        tuple(
            Row(
                what,
                command="benchmarks.speed.speed --only scaling --threads 1",
                results="speed.json",
                pick=("scaling", what),
            )
            for what in (
                "bp-transformer: time per word at 16,384 / at 256",
                "bp-transformer: peak memory per word at 16,384 / at 256",
                "transformer: time per word at 16,384 / at 256",
                "transformer: peak memory per word at 16,384 / at 256",
                "dense SDPA Transformer / bp-transformer at 8,192 words",
            )
        ),
    ),
}
