"""The tables and figures of the five papers, row by row: what runs each of them here, or what is missing.

Data, no code: `benchmarks/reproduce.py` reads it.
"""

from reproduce_row import Row, Table, all_of, rows_of, set_task, tagging

_SMALLER = "--length 40 --features 10 --width 50 --sequences 100000 --test 20000"
_MIRRORED = "mirrored_summation.py --terms 10 --sequences 100000 --test 20000"
_SLOWLY = "--rate 2e-4 --warmup 50"  # of wide models, whose attention learns nothing at 1e-3
DOMAINS = """apparel baby books camera_photo dvd electronics health_personal_care imdb kitchen_housewares
magazines MR music software sports_outdoors toys_games video"""
MTL16 = tuple(f"mtl16/{domain}" for domain in DOMAINS.split())
_TREES = ("tree-lstm", "tree-lstm-constituency", "tree-lstm-constituency + phrases")
_CLOUDS = ("rff+mean", "rff+pma", "isab16+mean", "isab16+pma")
_SNLI, _SST = ("snli",), ("sst5",)
_SNLI_FILES = "snli_1.0_train.jsonl --dev snli_1.0_dev.jsonl --test snli_1.0_test.jsonl"
_MNLI_FILES = "train.jsonl --dev dev_matched.jsonl --test dev_mismatched.jsonl"
_MINILM = "headwise train SST --recipe sst5-ms-san --pretrained FOLDER --readout attentive,cls"
_PTB = "its .mrg files in a zip; headwise train wsj.zip!*.mrg --recipe tag-ms-transformer"
_ONTONOTES = (
    "LDC2013T19 and the CoNLL-2012 scripts; find train -path '*english*' -name '*gold_conll' "
    "-exec cat {} + > train.conll, the same for dev and test; "
    "headwise train train.conll --dev dev.conll --test test.conll --recipe tag-ms-transformer "
    "--vectors glove.6B.100d.txt --epochs 20"
)
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
        rows_of(
            "accuracy",
            _SST,
            "bilstm",
            "s-lstm",
            *_TREES,
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
    "ms-trans/table2-phrases": Table(
        "Test accuracy on SST-5 where all phrases of the training trees are learned (159,274 texts)",
        rows_of(
            "accuracy",
            _SST,
            "transformer + phrases",
            "ms-transformer + phrases",
            "bilstm + phrases",
            "tree-lstm-constituency + phrases",
        ),
        rival="transformer + phrases",
    ),
    "ms-trans/table3": Table(
        "Test accuracy on the 16 domains of MTL-16 (review vectors in place of GloVe 840B)",
        rows_of(
            "accuracy",
            MTL16,
            "ms-transformer",
            "transformer",
            "bilstm",
            "s-lstm",
            "tree-lstm",
            "star-transformer",
            "ms-san",
            "bp-transformer",
            "set-transformer",
            "ms-full-windows",
            "ms-directions",
            "ms-transformer + masked words",
            "ms-directions + masked words",
            "ms-directions + more masked words",
            "bilstm + masked words",
            "ms-directions + masked words + refit",
            "bilstm + masked words + refit",
            "bilstm + refit",
            "ms-transformer + refit",
            "transformer + refit",
            "tfidf-svm",
            "tfidf-svm + refit",
        ),
        rival="transformer",
    ),
    "ms-trans/table3-longer": Table(
        "The same after 12 epochs in place of 6, learnt again on dev too",
        rows_of(
            "accuracy",
            MTL16,
            *(
                f"{name} + refit, 12 epochs"
                for name in ("ms-transformer", "transformer", "bilstm", "ms-directions")
            ),
            "tfidf-svm + refit",
        ),
        rival="bilstm + refit, 12 epochs",
    ),
    "ms-trans/table4": Table(
        "Tagging: CoNLL-2003 names (F1), parts of speech (GloVe 6B, or static MiniLM vectors)",
        (
            *tagging(
                "CoNLL-2003, GloVe",
                "conll2003-glove",
                *_TAGGERS,
                "ms-transformer + directions + char + crf",
                "ms-transformer + directions + char + crf + expert",
                "bilstm + char + crf + expert",
                "star-transformer + char + crf",
            ),
            *tagging(
                "CoNLL-2003, all of GloVe",
                "conll2003-glove-all",
                "ms-transformer + char + crf",
                "ms-transformer + char + crf + refit",
                "ms-transformer + char + crf + refit, 40 epochs",
                "ms-transformer + directions + char + crf",
                "ms-transformer + directions + char + crf + refit",
                "bilstm + char + crf + refit",
                "bilstm + char + crf + refit, 40 epochs",
            ),
            *tagging("CoNLL-2003", "conll2003", *_TAGGERS),
            *tagging("PTB sample", "treebank", *_TAGGERS),
            *tagging("UD EWT", "ewt-xpos", *_TAGGERS),
            *tagging(
                "UD EWT, GloVe", "ewt-xpos-glove", "ms-transformer + char + crf", "bilstm + char + crf"
            ),
            Row("PTB: all of it", bring=_PTB),
            Row("CoNLL-2012 (OntoNotes 5)", bring=_ONTONOTES),
        ),
    ),
    "ms-trans/table5": Table(
        "Test accuracy on SNLI, from 16,672 pairs in place of 550,000",
        rows_of(
            "pairs",
            _SNLI,
            "bilstm",
            "transformer",
            "ms-transformer",
            "star-transformer",
            "ms-san",
            "tfidf-svm",
        )
        + all_of("SNLI", _SNLI_FILES, "transformer", "ms-transformer"),
        rival="transformer",
    ),
    "ms-trans/table5-longer": Table(
        "The same after 24 epochs in place of 8",
        rows_of(
            "pairs",
            _SNLI,
            *(f"{name}, 24 epochs" for name in ("bilstm", "transformer", "ms-transformer", "ms-san")),
        ),
        rival="bilstm, 24 epochs",
    ),
    "ms-trans/table5-match": Table(
        "The same where the words of a text look at those like them in the other (not the papers')",
        rows_of(
            "pairs",
            _SNLI,
            "bilstm + match",
            "bilstm, twice as wide + match",
            "ms-transformer, one layer",
            "ms-transformer, one layer + match",
            "san + match",
            "ms-san + match",
        ),
        rival="bilstm + match",
    ),
    "ms-trans/table6": Table(
        "Scale distributions on SNLI (16,672 pairs): alpha over five scales, and single scales",
        rows_of(
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
                "the paper's size, K 10, half its sequences: all but the BiLSTM",
                command=f"{_MIRRORED} {_SLOWLY} --models transformer flex deep-hier hier",
                kept="mirrored_summation/n100-d50-*.csv",
            ),
            Row(
                "the paper's size, K 10, half its sequences: BiLSTM",
                command=f"{_MIRRORED} --models bilstm",
                kept="mirrored_summation/n100-d50-*.csv",
            ),
            Row(
                "the paper's size, all of it (two days of a core)",
                command=f"mirrored_summation.py {_SLOWLY}",
            ),
            Row(
                "N 40, d 10",
                command=f"mirrored_summation.py {_SMALLER} --terms 4 10 20",
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
            *rows_of("pairs", _SNLI, "transformer", "star-transformer", "ms-san", what="SNLI: "),
            *rows_of("accuracy", ("sst2",), "ms-san", "transformer", "bilstm", *_TREES, what="SST-2: "),
            *rows_of("accuracy", ("sst2",), "ms-transformer", what="SST-2: "),
            *rows_of("accuracy", _SST, "ms-san", "transformer", "disan", *_TREES, what="SST-5: "),
            *all_of("SNLI", _SNLI_FILES, "ms-san"),
            *all_of("MultiNLI", _MNLI_FILES, "ms-san"),
            Row("with BERT", bring=f"a Hugging Face encoder in FOLDER (extra pretrained); {_MINILM}"),
        ),
        rival="transformer",
    ),
    "ms-san/table2": Table(
        "What each prior adds, on SNLI (16,672 pairs)",
        rows_of(
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
        rows_of("pairs", _SNLI, "ms-san", "ms-san, separate"),
        rival="ms-san, separate",
    ),
    "ms-san/table4": Table(
        "Priors or relative positions, on SNLI (16,672 pairs)",
        rows_of(
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
        rows_of("accuracy", _SST, "star-transformer", "transformer"),
        rival="transformer",
    ),
    "star/table-mtl16": Table(
        "Star-Transformer on MTL-16",
        rows_of("accuracy", MTL16, "star-transformer", "transformer"),
        rival="transformer",
    ),
    "star/table-snli": Table(
        "Star-Transformer on SNLI (16,672 pairs)",
        rows_of("pairs", _SNLI, "star-transformer", "transformer")
        + all_of("SNLI", _SNLI_FILES, "star-transformer"),
        rival="transformer",
    ),
    "star/table-tagging": Table(
        "Star-Transformer as a tagger",
        (
            *tagging("CoNLL-2003", "conll2003", "star-transformer + char + crf"),
            *tagging("PTB sample", "treebank", "star-transformer + char + crf"),
        ),
    ),
    "star/figure-masked-summation": Table(
        "Masked summation: squared error (N 200, d 10, k 10)",
        set_task("masked-summation", "star-transformer", "transformer", "ms-transformer", "bilstm"),
    ),
    "bpt/table-text": Table(
        "BP-Transformer on SST-5 and IMDB",
        (
            *rows_of("accuracy", _SST, "bp-transformer", "transformer", what="SST-5: "),
            *rows_of(
                "accuracy", ("imdb",), "bp-transformer", "transformer", "star-transformer", what="IMDB: "
            ),
        ),
        rival="transformer",
    ),
    "bpt/table-snli": Table(
        "BP-Transformer on SNLI (16,672 pairs): words of a text see the other's, as released",
        (
            *rows_of("pairs", _SNLI, "bp-transformer", "ms-transformer-cross", "transformer"),
            *all_of("SNLI", _SNLI_FILES, "bp-transformer"),
        ),
        rival="transformer",
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
        (
            *(
                Row(
                    f"Multi30k en-de: {model}",
                    command=f"translation.py --model {model}",
                    kept=f"set_tasks/translation-{model}-*.json",
                )
                for model in ("transformer", "bpt-k1", "bpt-k2", "bpt-k4", "bpt-k8")
            ),
            Row(
                "IWSLT15 zh-en, WMT14 en-de",
                bring="six files of words between spaces, train, dev and test in both languages; "
                "python benchmarks/translation.py --sweep --data {train,dev,test}.{zh,en}",
            ),
        ),
    ),
    "set/table1": Table(
        "Largest of a set of numbers: mean absolute error",
        set_task("max-regression", "rff+mean", "rff+sum", "rff+max", "sab+pma"),
    ),
    "set/table2": Table(
        "Unique characters: accuracy (characters that are drawn here, in place of Omniglot)",
        set_task("unique-characters", "rff+mean", "rff+pma", "sab+mean", "sab+pma"),
    ),
    "set/table3": Table(
        "Mixtures of Gaussians: log likelihood",
        (
            *set_task("mixture", "rff+mean", "isab16+pma"),
            *set_task("mixture-unknown", "rff+mean", "isab16+pma", what="2 to 6 clusters: "),
        ),
    ),
    "set/table4": Table(
        "Point clouds: accuracy (ModelNet40; solids that are drawn here)",
        (
            *set_task("point-clouds", *_CLOUDS, what="ten solids: "),
            *(
                Row(
                    f"ModelNet40: {model}",
                    bring="ModelNet40.zip (modelnet.cs.princeton.edu, 2 GB); python benchmarks/set_tasks.py"
                    f" modelnet40 --data ModelNet40.zip --points 100 --model {model}",
                )
                for model in _CLOUDS
            ),
        ),
    ),
    "set/bags": Table(
        "Bags of instances (not the paper's own)",
        (Row("Musk1, Elephant", command="multiple_instance.py", kept="multiple_instance.json"),),
    ),
}
