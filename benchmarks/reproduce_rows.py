"""The tables and figures of the five papers, row by row: what runs each of them here, or what is missing.

Data, no code: `benchmarks/reproduce.py` reads it.
"""

from dataclasses import dataclass

DOMAINS = """apparel baby books camera_photo dvd electronics health_personal_care imdb kitchen_housewares
magazines MR music software sports_outdoors toys_games video"""
MTL16 = tuple(f"mtl16/{domain}" for domain in DOMAINS.split())


@dataclass(frozen=True)
class Row:
    """A row of a table, or a line of a figure. One of `bench`, `command`, `bring` and `missing` is said.

    Attributes:
        name: What it is called.
        bench: accuracy, pairs or tagging: the benchmark that runs `system` on `tasks`.
        tasks: Data sets.
        system: What is trained on them.
        command: Another command that makes it.
        kept: Where its result then is, below benchmarks/results.
        bring: What data you must bring, and the command that takes it.
        missing: Why there is no command.
    """

    name: str
    bench: str = ""
    tasks: tuple[str, ...] = ()
    system: str = ""
    command: str = ""
    kept: str = ""
    bring: str = ""
    missing: str = ""


@dataclass(frozen=True)
class Table:
    """A table or a figure.

    Attributes:
        title: What it shows, and how our data differ from the paper's.
        rows: Of it.
        rival: The system that the others are compared with, text by text.
    """

    title: str
    rows: tuple[Row, ...]
    rival: str = ""


def _rows(bench: str, tasks: tuple[str, ...], *systems: str, what: str = "") -> tuple[Row, ...]:
    """Rows of the same data."""
    return tuple(Row(f"{what}{system}", bench, tasks, system) for system in systems)


def _tagging(name: str, task: str, *systems: str) -> tuple[Row, ...]:
    return _rows("tagging", (task,), *systems, what=f"{name}: ")


def _whole(data: str, files: str, *systems: str) -> tuple[Row, ...]:
    """Pairs that you must bring."""
    bring = f"{data} (jsonl); headwise train {files} --task pair --recipe nli-"
    return tuple(Row(f"{system}, all of {data}", bring=bring + system) for system in systems)


_SNLI, _SST = ("snli",), ("sst5",)
_SNLI_FILES = "snli_1.0_train.jsonl --dev snli_1.0_dev.jsonl --test snli_1.0_test.jsonl"
_MNLI_FILES = "train.jsonl --dev dev_matched.jsonl --test dev_mismatched.jsonl"
_MINILM = "headwise train SST --recipe sst5-ms-san --pretrained.name FOLDER --readout attentive,cls"
_CHARACTERS = "(100 MB); headwise train"
_TAGGERS = (
    "transformer",
    "transformer + char",
    "ms-transformer",
    "ms-transformer + char",
    "ms-transformer + char + crf",
    "bilstm + char + crf",
)

TABLES: dict[str, Table] = {
    "ms-trans/table2": Table(
        "Test accuracy on SST-5 (sentences; review vectors in place of GloVe 840B)",
        _rows(
            "accuracy",
            _SST,
            "bilstm",
            "s-lstm",
            "disan",
            "transformer",
            "ms-transformer",
            "star-transformer",
            "ms-san",
            "bp-transformer",
            "tfidf-svm",
        ),
        rival="transformer",
    ),
    "ms-trans/table3": Table(
        "Test accuracy on the 16 domains of MTL-16 (review vectors in place of GloVe 840B)",
        _rows(
            "accuracy",
            MTL16,
            "ms-transformer",
            "transformer",
            "bilstm",
            "s-lstm",
            "star-transformer",
            "ms-san",
            "bp-transformer",
            "set-transformer",
            "ms-full-windows",
            "tfidf-svm",
        ),
        rival="transformer",
    ),
    "ms-trans/table4": Table(
        "Tagging: CoNLL-2003 names (F1), parts of speech (static MiniLM vectors in place of GloVe)",
        (
            *_tagging("CoNLL-2003", "conll2003", *_TAGGERS),
            *_tagging("PTB sample", "treebank", *_TAGGERS),
            *_tagging("UD EWT", "ewt-xpos", *_TAGGERS),
            Row(
                "PTB: all of it",
                bring="its .mrg files; headwise train FOLDER/*.mrg --recipe tag-ms-transformer",
            ),
        ),
    ),
    "ms-trans/table5": Table(
        "Test accuracy on SNLI, from 16,672 pairs in place of 550,000",
        _rows(
            "pairs",
            _SNLI,
            "bilstm",
            "transformer",
            "ms-transformer",
            "star-transformer",
            "ms-san",
            "tfidf-svm",
        )
        + _whole("SNLI", _SNLI_FILES, "transformer", "ms-transformer"),
        rival="transformer",
    ),
    "ms-trans/table6": Table(
        "Scale distributions on SNLI (16,672 pairs): alpha over five scales, and single scales",
        _rows(
            "pairs",
            _SNLI,
            *(f"alpha {alpha}" for alpha in ("1.0", "0.5", "0.0", "-0.5", "-1.0")),
            *(f"scale {scale}" for scale in ("3", "n/16", "n/8", "n/4")),
        ),
        rival="alpha 0.0",
    ),
    "ms-trans/figure2": Table(
        "Mirrored summation, error over K",
        (
            Row(
                "the paper's size",
                command="mirrored_summation.py",
                kept="mirrored_summation/n100-d50-*.csv",
            ),
            Row(
                "N 40, d 10",
                command="mirrored_summation.py --length 40 --features 10 --positions none",
                kept="mirrored_summation/n40-d10-*.csv",
            ),
        ),
    ),
    "ms-trans/figure3": Table(
        "How far the heads of a pretrained encoder look (all-MiniLM-L6-v2: docs/priors.md)",
        (Row("any encoder", bring="a Hugging Face one in FOLDER; headwise probe FOLDER TEXTS --svg FILE"),),
    ),
    "ms-trans/figure4": Table(
        "Milliseconds for a batch of 128 texts",
        (Row("all encoders", command="speed.py --only encoders --threads 1", kept="speed-figure4.svg"),),
    ),
    "ms-san/table1": Table(
        "NLI and sentiment (SNLI from 16,672 pairs)",
        (
            *_rows("pairs", _SNLI, "transformer", "star-transformer", "ms-san", what="SNLI: "),
            *_rows(
                "accuracy", ("sst2",), "ms-san", "transformer", "bilstm", "ms-transformer", what="SST-2: "
            ),
            *_rows("accuracy", _SST, "ms-san", "transformer", "disan", what="SST-5: "),
            *_whole("SNLI", _SNLI_FILES, "ms-san"),
            *_whole("MultiNLI", _MNLI_FILES, "ms-san"),
            Row("with BERT", bring=f"a Hugging Face encoder in FOLDER (extra pretrained); {_MINILM}"),
        ),
        rival="transformer",
    ),
    "ms-san/table2": Table(
        "What each prior adds, on SNLI (16,672 pairs)",
        _rows(
            "pairs",
            _SNLI,
            "san",
            "san + direction",
            "san + word",
            "san + dp",
            "san + word & dp",
            "san + direction & word",
            "san + direction & dp",
            "ms-san",
        ),
        rival="san",
    ),
    "ms-san/table3": Table(
        "One encoder or one for each direction, on SNLI (16,672 pairs)",
        _rows("pairs", _SNLI, "ms-san", "ms-san, separate"),
        rival="ms-san, separate",
    ),
    "ms-san/table4": Table(
        "Priors or relative positions, on SNLI (16,672 pairs)",
        _rows(
            "pairs",
            _SNLI,
            "san",
            "san + rel pos",
            "san + xl pos",
            "san + word & dp",
            "san + direction & rel pos",
            "san + direction & xl pos",
            "ms-san",
        ),
        rival="san",
    ),
    "ms-san/figure4": Table(
        "Heat maps of the heads for one sentence",
        (Row("any model", bring="a model (recipe sst5-ms-san); headwise report FOLDER --data FILE"),),
    ),
    "star/table-sst": Table(
        "Star-Transformer on SST-5",
        _rows("accuracy", _SST, "star-transformer", "transformer"),
        rival="transformer",
    ),
    "star/table-mtl16": Table(
        "Star-Transformer on MTL-16",
        _rows("accuracy", MTL16, "star-transformer", "transformer"),
        rival="transformer",
    ),
    "star/table-snli": Table(
        "Star-Transformer on SNLI (16,672 pairs)",
        _rows("pairs", _SNLI, "star-transformer", "transformer")
        + _whole("SNLI", _SNLI_FILES, "star-transformer"),
        rival="transformer",
    ),
    "star/table-tagging": Table(
        "Star-Transformer as a tagger",
        (
            *_tagging("CoNLL-2003", "conll2003", "star-transformer + char + crf"),
            *_tagging("PTB sample", "treebank", "star-transformer + char + crf"),
        ),
    ),
    "star/figure-masked-summation": Table(
        "Masked summation", (Row("all models", missing="the task is not written"),)
    ),
    "bpt/table-text": Table(
        "BP-Transformer on SST-5 and IMDB",
        (
            *_rows("accuracy", _SST, "bp-transformer"),
            Row("IMDB", command="imdb.py --vectors -- --encoder bp-transformer"),
        ),
    ),
    "bpt/table-snli": Table(
        "BP-Transformer on SNLI (16,672 pairs): words of a text see the other's",
        (
            *_rows("pairs", _SNLI, "ms-transformer-cross"),
            Row("released variant", missing="cross edges in the upper layers are not written"),
        ),
    ),
    "bpt/table-characters": Table(
        "Characters: enwik8 and text8",
        (
            Row(
                "small texts, against a Transformer",
                command="language_modelling.py",
                kept="language_modelling.json",
            ),
            Row("enwik8", bring=f"enwik8.zip {_CHARACTERS} enwik8.zip --recipe enwik8-bp-transformer"),
            Row("text8", bring=f"text8.zip {_CHARACTERS} text8.zip --recipe text8-bp-transformer"),
        ),
    ),
    "bpt/table-translation": Table(
        "Translation: IWSLT15 zh-en, WMT14 en-de",
        (Row("Multi30k en-de", missing="there is no encoder-decoder"),),
    ),
    "set/table1": Table(
        "Largest of a set of numbers: mean absolute error",
        tuple(
            Row(
                model,
                command=f"set_tasks.py max-regression --model {model}",
                kept=f"set_tasks/max-regression-{model}-*.json",
            )
            for model in ("rff+mean", "rff+sum", "rff+max", "sab+pma")
        ),
    ),
    "set/table2": Table(
        "Unique characters", (Row("all models", missing="the task is not written; it needs Omniglot"),)
    ),
    "set/table3": Table(
        "Mixtures of Gaussians: log likelihood",
        tuple(
            Row(
                model,
                command=f"set_tasks.py mixture --model {model}",
                kept=f"set_tasks/mixture-{model}-*.json",
            )
            for model in ("rff+mean", "isab16+pma")
        ),
    ),
    "set/table4": Table(
        "Point clouds of ModelNet40", (Row("all models", missing="there is no reader for point clouds"),)
    ),
    "set/bags": Table(
        "Bags of instances (not the paper's own)",
        (Row("Musk1, Elephant", command="multiple_instance.py", kept="multiple_instance.json"),),
    ),
}
