"""The tables and figures of MS-SAN's paper (Qi et al. 2020), row by row. Data, no code."""

from benchmarks.papers.reproduce_row import (
    PRESETS,
    SNLI,
    SNLI_FILES,
    SST,
    TREES,
    Row,
    Table,
    all_of,
    quoted,
    rows_of,
)

MNLI_FILES = "train.jsonl --dev dev_matched.jsonl --test dev_mismatched.jsonl"
_MSSAN = "ms-san, as published"
_ON_MINILM = ("ms-san on MiniLM", "transformer on MiniLM")  # where the paper has BERT
_BERT = (
    "a Hugging Face encoder in FOLDER (extra pretrained) and {}; headwise train {} --pretrained FOLDER "
    "--readout attentive,cls"
)

MS_SAN: dict[str, Table] = {
    "ms-san/table1": Table(
        "NLI and sentiment (SNLI from 16,672 pairs)",
        (
            *rows_of("pairs", SNLI, "transformer", "star-transformer", "ms-san", _MSSAN, what="SNLI: "),
            *rows_of(
                "accuracy", ("sst2",), "ms-san", _MSSAN, "transformer", "bilstm", *TREES, what="SST-2: "
            ),
            *rows_of("accuracy", ("sst2",), "ms-transformer", what="SST-2: "),
            *rows_of("accuracy", SST, "ms-san", _MSSAN, "transformer", "disan", *TREES, what="SST-5: "),
            *(
                row
                for name, task in (("SST-2", ("sst2",)), ("SST-5", SST))
                for row in rows_of("accuracy", task, *_ON_MINILM, what=f"{name}: ")
            ),
            *all_of("SNLI", SNLI_FILES, "ms-san"),
            *all_of("MultiNLI", MNLI_FILES, "ms-san"),
            *(
                Row(
                    f"{name}: MS-SAN on BERT",
                    paper=f"base {base}, large {large}",
                    bring=_BERT.format(data, flags),
                )
                for name, base, large, data, flags in (
                    (
                        "SNLI",
                        "87.9",
                        "88.2",
                        "SNLI",
                        f"{SNLI_FILES} --task pair --recipe {PRESETS}/nli-ms-san.toml",
                    ),
                    (
                        "MultiNLI",
                        "77.9/78.3",
                        "78.7/78.5",
                        "MultiNLI",
                        f"{MNLI_FILES} --task pair --recipe {PRESETS}/nli-ms-san.toml",
                    ),
                    (
                        "SST-2",
                        "94.1",
                        "95.1",
                        "two columns of SST-2",
                        f"sst2.tsv --recipe {PRESETS}/sst5-ms-san.toml",
                    ),
                    (
                        "SST-5",
                        "58.2",
                        "58.4",
                        "SST",
                        f"SST --recipe {PRESETS}/sst5-ms-san.toml",
                    ),
                )
            ),
            Row(
                "BERT alone",
                paper="base: SNLI 85.7, MultiNLI 75.6/75.3, SST-2 93.5, SST-5 56.1; "
                "large: 86.3, 76.7/76.4, 94.9, 57.5",
                missing="no encoder here is a [CLS] state alone",
            ),
            *quoted(
                ("LSTM", "SNLI 80.6"),
                ("HBMP", "SNLI 86.6, MultiNLI 73.7/73.0"),
                ("600D TreeLSTM", "SNLI 86.0"),
                ("Tree-CNN", "SNLI 82.1"),
                ("DSA", "SNLI 86.8, SST-2 88.5, SST-5 50.6"),
                ("300D DiSAN", "SNLI 85.6, MultiNLI 70.9/71.4"),
                ("PSAN", "SNLI 86.1"),
                ("Reinforced self-att", "SNLI 86.3"),
                ("Distance-based SAN", "SNLI 86.3, MultiNLI 74.1/72.9"),
            ),
        ),
        rival="transformer",
    ),
    "ms-san/table2": Table(
        "What each prior adds, on SNLI (16,672 pairs)",
        rows_of(
            "pairs",
            SNLI,
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
        (
            *rows_of("pairs", SNLI, "ms-san", "ms-san, separate"),
            *(
                Row(
                    f"{name}: {what}",
                    command="benchmarks.papers.ms_san_costs --threads 1",
                    results="ms_san_costs.json",
                    pick=(name, what),
                    paper=paper,
                )
                for name, size, time in (
                    ("ms-san", "1.8 million", "2 (GPU)"),
                    ("separate", "4.0 million", "4 (GPU)"),
                )
                for what, paper in (("parameters", size), ("milliseconds", time))
            ),
        ),
        rival="ms-san, separate",
    ),
    "ms-san/table4": Table(
        "Priors or relative positions, on SNLI (16,672 pairs)",
        rows_of(
            "pairs",
            SNLI,
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
    "ms-san/diagrams": Table(
        "What shows no measurement",
        (
            Row("Figure 1: architecture", missing="a diagram"),
            Row(
                "Figure 2: masks",
                missing="a diagram; headwise priors --draw priors.html draws them",
            ),
            Row(
                "Figure 3: distances of one sentence",
                missing="an example; tests/text/test_syntax.py has it",
            ),
        ),
    ),
}
