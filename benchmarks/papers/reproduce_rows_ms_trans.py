"""The tables and figures of MS-Trans (Guo et al. 2020), row by row. Data, no code."""

from benchmarks.papers.reproduce_row import (
    GLOVE,
    MTL16,
    ONTONOTES,
    PRESETS,
    SNLI,
    SNLI_FILES,
    SPEED,
    SST,
    TREES,
    WSJ,
    Row,
    Table,
    all_of,
    mirrored,
    quoted,
    rows_of,
    tagging,
)

_SMALLER = "--length 40 --features 10 --width 50 --sequences 100000 --test 20000 --threads 1"
_HALF = "--sequences 100000 --test 20000"
_QUICKLY = f"{_HALF} --precision bfloat16"  # less than half of the time
_SLOWLY = "--rate 2e-4 --warmup 50"  # of wide models, whose attention learns nothing at 1e-3
_WIDE = ("transformer", "flex", "deep-hier", "hier")
_MODELS = (*_WIDE, "bilstm")
_NO_CHARACTERS = "--characters.network none --characters.shape 0"
_NO_CRF = "--tagger.no-crf --tagger.no-constraints"
# MS-Trans Table 4: what it is, its flags, PTB and CoNLL-2012.
_BROUGHT = (
    (
        "transformer",
        f"--recipe {PRESETS}/tag-transformer.toml {_NO_CHARACTERS} {_NO_CRF}",
        "96.31",
        "83.57",
    ),
    (
        "transformer + char",
        f"--recipe {PRESETS}/tag-transformer.toml {_NO_CRF}",
        "97.04",
        "85.14",
    ),
    ("ms-transformer", f"--recipe tag-ms-transformer {_NO_CHARACTERS} {_NO_CRF}", "97.24", "85.26"),
    ("ms-transformer + char", f"--recipe tag-ms-transformer {_NO_CRF}", "97.54", "86.77"),
    ("ms-transformer + char + crf", "--recipe tag-ms-transformer", "97.66", "87.80"),
)
_TAGGERS = (
    "transformer",
    "transformer + char",
    "ms-transformer",
    "ms-transformer + char",
    "ms-transformer + char + crf",
    "bilstm + char + crf",
)

MS_TRANS: dict[str, Table] = {
    "ms-trans/table1": Table(
        "Data sets and settings",
        (
            Row(
                "all",
                missing="nothing to measure; recipes mtl16-, sst5-, tag-, nli-ms-transformer have them",
            ),
        ),
    ),
    "ms-trans/table2": Table(
        "Test accuracy on SST-5 (sentences; review vectors in place of GloVe 840B)",
        rows_of(
            "accuracy",
            SST,
            "bilstm",
            "bilstm + self-att",
            "s-lstm",
            *TREES,
            "disan",
            "transformer",
            "ms-transformer",
            "ms-transformer, as published",
            "star-transformer",
            "ms-san",
            "bp-transformer",
            "tfidf-svm",
        )
        + quoted(
            ("CNN-Tensor", "51.2"),
            ("Emb + self-att", "48.9"),
            ("CNN + self-att", "50.6"),
            ("Dynamic self-att", "50.6"),
        ),
        rival="transformer",
    ),
    "ms-trans/table2-phrases": Table(
        "Test accuracy on SST-5 where all phrases of the training trees are learned (159,274 texts; the "
        "paper is Tai et al. 2015)",
        rows_of(
            "accuracy",
            SST,
            "transformer + phrases",
            "ms-transformer + phrases",
            "bilstm + phrases",
            "tree-lstm-constituency + phrases",
        ),
        rival="transformer + phrases",
    ),
    "ms-trans/table3": Table(
        "Test accuracy on the 16 domains of MTL-16 (review vectors in place of GloVe 840B; the averages of "
        "BiLSTM and S-LSTM that the paper prints, 84.01 and 85.38, are not those of its rows)",
        rows_of(
            "accuracy",
            MTL16,
            "ms-transformer",
            "ms-transformer, as published",
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
        "Tagging: CoNLL-2003 names (F1), parts of speech (accuracy); GloVe 6B, or static MiniLM vectors; "
        "the BiLSTM-CRF's published figure is that of Ma and Hovy (2016)",
        (
            *tagging(
                "CoNLL-2003, GloVe",
                "conll2003-glove",
                *_TAGGERS,
                "ms-transformer + directions + char + crf",
                "ms-transformer + directions + char + crf + linear model",
                "bilstm + char + crf + linear model",
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
            *(
                Row(f"PTB, all of it: {name}", paper=ptb, bring=f"{WSJ} {flags}")
                for name, flags, ptb, _ in _BROUGHT
            ),
            *(
                Row(f"CoNLL-2012: {name}", paper=names, bring=f"{ONTONOTES} {flags} {GLOVE}")
                for name, flags, _, names in _BROUGHT
            ),
            *quoted(("seven taggers", "CoNLL-2003 90.10 to 91.62, PTB 97.43 to 97.78")),
        ),
        rival="bilstm + char + crf",
    ),
    "ms-trans/table5": Table(
        "Test accuracy on SNLI, from 16,672 pairs in place of 550,000",
        rows_of(
            "pairs",
            SNLI,
            "bilstm",
            "bilstm + self-att",
            "transformer",
            "ms-transformer",
            "ms-transformer, as published",
            "star-transformer",
            "ms-san",
            "tfidf-svm",
        )
        + all_of("SNLI", SNLI_FILES, "transformer", "ms-transformer")
        + quoted(
            ("4096D BiLSTM-max", "84.5"),
            ("300D DiSAN", "85.6"),
            ("Residual encoders", "86.0"),
            ("Gumbel TreeLSTM", "86.0"),
            ("Reinforced self-att", "86.3"),
            ("2400D Multiple DSA", "87.4"),
        ),
        rival="transformer",
    ),
    "ms-trans/table5-longer": Table(
        "The same after 24 epochs in place of 8",
        rows_of(
            "pairs",
            SNLI,
            *(f"{name}, 24 epochs" for name in ("bilstm", "transformer", "ms-transformer", "ms-san")),
        ),
        rival="bilstm, 24 epochs",
    ),
    "ms-trans/table5-match": Table(
        "The same where the words of a text look at those like them in the other (not the papers')",
        rows_of(
            "pairs",
            SNLI,
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
            SNLI,
            *(
                f"{name}{layers}"
                for layers in ("", ", two layers")  # the paper's rows have three
                for name in (
                    *(f"alpha {alpha}" for alpha in ("1.0", "0.5", "0.0", "-0.5", "-1.0")),
                    *(f"scale {scale}" for scale in ("3", "n/16", "n/8", "n/4")),
                )
            ),
        ),
        rival="alpha 0.0",
    ),
    "ms-trans/figure2": Table(
        "Mirrored summation, squared error over K (the paper has a figure only, its axis ends at 0.1)",
        (
            *mirrored("N 100, d 50", "n100-d50-positions-none", f"{_HALF} {_SLOWLY}", _WIDE, 10),
            *mirrored("N 100, d 50", "n100-d50-positions-none", _HALF, ("bilstm",), 10),
            *(
                row
                for k in range(20, 101, 10)
                for flags, models in ((f"{_QUICKLY} {_SLOWLY}", _WIDE), (_QUICKLY, ("bilstm",)))
                for row in mirrored("N 100, d 50", "n100-d50-positions-none", flags, models, k)
            ),
            *mirrored("N 40, d 10", "n40-d10-positions-none", _SMALLER, _MODELS, 4, 10, 20),
        ),
    ),
    "ms-trans/figure3": Table(
        "How far the heads of a pretrained encoder look (all-MiniLM-L6-v2: docs/priors.md)",
        (
            Row(
                "heads of one layer (a)",
                bring="a Hugging Face encoder in FOLDER; headwise probe FOLDER TEXTS --json",
            ),
            Row(
                "layers (b)",
                bring="a Hugging Face encoder in FOLDER; headwise probe FOLDER TEXTS --svg heads.svg",
            ),
        ),
    ),
    "ms-trans/figure4": Table(
        "Milliseconds for a batch of 128 texts in random order, and how many times MS-Trans's they are",
        (
            *(
                Row(
                    f"{title}: {system}",
                    command=SPEED,
                    results="speed.json",
                    pick=("encoders", domain, system),
                )
                for domain, title in (("imdb", "IMDB"), ("MR", "MR"), ("mean", "mean of all domains"))
                for system in ("ms-transformer", "transformer", "padded Transformer", "bilstm")
            ),
            *(
                Row(
                    f"padded Transformer / MS-Trans, {what}",
                    command=SPEED,
                    results="speed.json",
                    pick=("encoders", f"padded Transformer / MS-Trans, random: {what}"),
                    paper=paper,
                )
                for what, paper in (("mean of 16 domains", "6.5"), ("imdb", "10"), ("MR", "1.8"))
            ),
        ),
    ),
    "ms-trans/diagrams": Table(
        "What shows no measurement",
        (
            Row(
                "Figure 1: windows of three heads",
                missing="a diagram; headwise priors --draw priors.html draws them",
            ),
        ),
    ),
}
