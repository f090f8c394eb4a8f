"""Write the tables in the docs that come from the code: `python docs/make_tables.py`.

A table is between `<!-- table: name -->` and `<!-- end -->`; a test checks that all are up to date.
"""

import csv
import json
import re
import runpy
import statistics
import sys
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from docstring_parser import parse_from_object

from headwise.core.error_codes import error_codes
from headwise.models.tasks.task_settings import text_defaults
from headwise.nn.encoders import ENCODERS
from headwise.nn.encoders.encoder_configs import DEFAULT_ENCODER, WindowsConfig, default_readout
from headwise.nn.priors import head_counts
from headwise.nn.task_layers.layer_configs import BagConfig, TaggerConfig
from headwise.text.text_configs import CharacterConfig, PretrainedConfig, SyntaxConfig

DOCS = Path(__file__).parent
BENCHMARKS = DOCS.parent / "benchmarks"
RESULTS = BENCHMARKS / "papers" / "results"
SPEED = BENCHMARKS / "speed" / "results" / "speed.json"

_TABLE = re.compile(r"(<!-- table: ([^\n>]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n" + "".join(f"| {' | '.join(cells)} |\n" for cells in lines) + "\n"


def shown(value: Any) -> str:
    """A value as it is written in a recipe."""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return f"`{' '.join(map(str, value))}`"
    if isinstance(value, int):
        return f"{value:,}"
    if value is None or value == "":
        return "-"
    return f"{value:g}" if isinstance(value, float) else f"`{value}`"


def codes(first: str, last: str) -> str:
    """The error codes from `first` to `last`: cause and remedy."""
    rows = [[f"`{row.code}`", row.cause, row.remedy] for row in error_codes().values()]
    return table(["code", "cause", "remedy"], [row for row in rows if first <= row[0].strip("`") <= last])


def defaults() -> str:
    """The settings that the number of texts decides, for the default encoder."""
    sizes = {
        "under 5,000": 4_999,
        "5,000 to 20,000": 19_999,
        "20,000 to 50,000": 50_000,
        "over 50,000": 50_001,
    }
    parts = []
    for vectors, title in ((False, "Without word vectors"), (True, "With word vectors (`--vectors`)")):
        cases = [text_defaults(texts, vectors=vectors, encoder=DEFAULT_ENCODER) for texts in sizes.values()]
        names = dict.fromkeys(
            (section, name) for case in cases for section in case for name in case[section]
        )
        rows = []
        for section, name in names:
            values = [case.get(section, {}).get(name) for case in cases]
            rows.append([f"`{section}.{name}`", *("-" if v is None else shown(v) for v in values)])
        parts.append(f"\n{title}:\n" + table(["training texts", *sizes], rows))
    return "".join(parts)


def encoder(name: str) -> str:
    """The settings of an encoder, from the docstrings of its configuration."""
    return settings(ENCODERS[name][1])


def settings(config: type) -> str:
    """The settings of a configuration that users set, from the docstrings of its fields."""
    help_of = {param.arg_name: param.description for param in parse_from_object(config).params}
    rows = [
        [f"`{field.name}`", shown(field.default), " ".join((help_of[field.name] or "").split())]
        for field in fields(config)
        if not (help_of[field.name] or "").endswith("not to be set.")
    ]
    return table(["setting", "default", "meaning"], rows)


def encoders() -> str:
    """All encoders with their readouts."""
    rows = [
        [
            f"[`{name}`](#{name})",
            f"`headwise.nn.encoders.{module.__name__}`",
            f"`{default_readout(config)}`",
        ]
        for name, (module, config) in ENCODERS.items()
    ]
    return table(["name", "class", "readout"], rows)


def heads() -> str:
    """The heads of each scale (MS-Transformer, Eq. 11-12): 10 heads, 3 layers, 5 scales."""
    rows = [
        [f"{alpha:g}", *(" ".join(map(str, head_counts(layer, 3, 10, 5, alpha))) for layer in (1, 2, 3))]
        for alpha in (1.0, 0.5, 0.0, -0.5, -1.0)
    ]
    return table(["alpha", "layer 1", "layer 2", "layer 3"], rows)


def set_tasks() -> str:
    """What benchmarks/papers/set_tasks.py has measured, and the paper's scores: a row for each score."""
    rows = []
    for path in sorted((RESULTS / "set_tasks").glob("*.json")):
        run = json.loads(path.read_text(encoding="utf-8"))
        if run["task"] == "translation":  # papers.md has it
            continue
        steps = f"{run['steps']:,} ({run['processor_seconds'] / 60:.0f} min)"
        for score, value in run["scores"].items():
            scores = {name: values.get(score) for name, values in run["references"].items()}
            references = ", ".join(
                f"{name} {value:.4g}" for name, value in scores.items() if value is not None
            )
            paper = run["paper"].get(score)
            named = [run["task"], f"`{run['model']}`", str(run["seed"]), score, steps]
            rows.append(
                [*named, f"{value:.4f}", "-" if paper is None else f"{paper:.4f}", references or "-"]
            )
    head = ["task", "model", "seed", "score", "steps (processor time)", "ours", "paper", "references"]
    return table(head, rows)


def speed() -> str:
    """The ratios of benchmarks/speed/speed.py with their targets, where it has been run."""
    rows, machines = [], {}
    for part, measurement in speed_parts().items():
        machine = measurement["environment"]
        training = " --training" * bool(measurement["details"].get("training"))
        quick = "--quick " * any(note.startswith("quick") for note in measurement["notes"])
        rounds = f" --rounds {machine['rounds']}" if "rounds" in machine else ""
        command = f"`{quick}--only {part} --threads {machine['threads']}{rounds}{training}`"
        rows += [[row["what"], number(row), bar(row), command] for row in measurement["rows"]]
        name = (
            f"{machine['processor']}, {machine['threads']} of {machine['cores']} cores, "
            f"{machine['clock']}, load {machine['load']:.1f}, torch {machine['torch']}"
        )
        machines.setdefault(name, []).append(part)
    if not rows:
        return "\nNot measured yet.\n\n"
    machine_notes = [f"{', '.join(parts)}: {name}." for name, parts in machines.items()]
    return table(["what", "measured", "target", "command"], rows) + "\n".join(machine_notes) + "\n\n"


def number(row: dict[str, Any]) -> str:
    """A value of benchmarks/speed/speed.py in three digits, with its unit."""
    value = row["value"]
    return f"{value:,.0f} {row['unit']}" if abs(value) >= 100 else f"{value:.3g} {row['unit']}"


def bar(row: dict[str, Any]) -> str:
    """The target, and whether it is met."""
    return f"{row['bar']}, {'met' if row['met'] else '**not met**'}" if row["bar"] else "-"


def growth() -> str:
    """Time and memory for each word, by encoder and length."""
    cases = speed_parts().get("scaling", {"details": {"cases": []}})["details"]["cases"]
    if not cases:
        return "\nNot measured yet.\n\n"
    systems = list(dict.fromkeys(case["system"] for case in cases))
    cases_by_key = {(case["words"], case["system"]): case for case in cases}

    def cell(case: dict[str, Any] | None) -> str:
        if case is None:
            return "-"
        peak = case["peak_kib_per_word"]
        return f"{case['microseconds_per_word']:,.0f}" + (f" / {peak:.0f}" if peak else "")

    rows = [
        [f"{length:,}", *(cell(cases_by_key.get((length, system))) for system in systems)]
        for length in sorted({length for length, _ in cases_by_key})
    ]
    return table(["words of a text", *systems], rows)


def predict() -> str:
    """Texts in a second of everything that has labelled the same file."""
    measured = speed_parts().get("predict")
    if measured is None:
        return "\nNot measured yet.\n\n"
    details = measured["details"]
    speeds, texts = details["texts_per_second"], details["texts"]
    first = next(iter(speeds.values()))
    rows = [
        [name, f"{speed:,.0f}", f"{first / speed:.3g} x", f"{texts[name]:,}"]
        for name, speed in sorted(speeds.items(), key=lambda item: -item[1])
    ]
    return table(["", "texts/s", "speed of headwise relative to it", "texts of the file"], rows)


def choice() -> str:
    """The time of `banded` over that of `sdpa`, by length and prior."""
    measured = speed_parts().get("choice")
    if measured is None:
        return "\nNot measured yet.\n\n"
    cases = measured["details"]["banded_over_sdpa"]
    widths = {case["prior"]: [int(n) for n in re.findall(r"\d+", case["prior"])] for case in cases}
    priors = sorted(widths, key=lambda prior: widths[prior] or [sys.maxsize])
    ratios = {
        (case["head_size"], case["words"], case["prior"]): "{forward:.2f} / {and backward:.2f}".format(
            **case
        )
        for case in cases
    }
    rows = [
        [str(size), f"{words:,}", *(ratios.get((size, words, prior), "-") for prior in priors)]
        for size, words in dict.fromkeys((size, words) for size, words, _ in ratios)
    ]
    return table(["head size", "words of a text", *(f"`{prior}`" for prior in priors)], rows)


def speed_parts() -> dict[str, Any]:
    """The parts of benchmarks/speed/speed.py that have been run, by name."""
    return json.loads(SPEED.read_text(encoding="utf-8")) if SPEED.exists() else {}


def papers(name: str) -> str:
    """What benchmarks/papers/accuracy.py has measured with the settings as they are now."""
    sys.path.insert(0, str(BENCHMARKS.parent))
    from benchmarks.papers.accuracy_page import TABLES as MEASURED

    return table(*MEASURED[name]())


@cache
def runs_of(benchmark: type) -> Any:
    """The runs of a benchmark's systems, which several tables show."""
    bench = benchmark()
    return bench.current_runs(list(bench.paper), list(bench.systems))


def learning_curves(rival: str) -> str:
    """What benchmarks/papers/learning_curves.py has measured: accuracies, or differences from a system."""
    sys.path.insert(0, str(BENCHMARKS.parent))
    from benchmarks.papers.learning_curves import LearningCurves, accuracies, gains

    by_task = runs_of(LearningCurves)
    return table(*(gains(by_task, rival) if rival else accuracies(by_task)))


def tagging_curves(rival: str) -> str:
    """What benchmarks/papers/tagging_curves.py has measured: scores, or differences from a system."""
    sys.path.insert(0, str(BENCHMARKS.parent))
    from benchmarks.papers.tagging_curves import TaggingCurves, gains, scores

    by_task = runs_of(TaggingCurves)
    return table(*(gains(by_task, rival) if rival else scores(by_task)))


def going_on_taggers() -> str:
    """What benchmarks/defaults/going_on_taggers.py has measured."""
    sys.path.insert(0, str(BENCHMARKS.parent))
    from benchmarks.defaults.default_results import read_results
    from benchmarks.defaults.going_on_taggers import RESULTS, scores_table

    return table(*scores_table(read_results(RESULTS)))


def baselines() -> str:
    """What benchmarks/defaults/default.py has measured with few labels: means over sets, by system."""
    results, tables = default_runs()
    head, rows = tables.mean_accuracies(results, FEW_TEXTS, list(BASELINES))
    return table(head, [[BASELINES[system], *cells] for system, *cells in rows])


def differences() -> str:
    """The default minus its rivals with few labels, paired by set."""
    results, tables = default_runs()
    head = ["texts", "headwise minus", "points", "95 % interval", "sets", "worst set"]
    return table(head, tables.gap_rows(results, FEW_TEXTS, ["best linear", "minilm"]))


def default_runs() -> tuple[Any, Any]:
    """The runs of benchmarks/defaults/default.py, and the module of their tables."""
    sys.path.insert(0, str(BENCHMARKS.parent))
    from benchmarks.defaults import default_results, default_table

    return default_results.read_results(
        BENCHMARKS / "defaults" / "results" / "default.jsonl"
    ), default_table


FEW_TEXTS = (100, 250, 1_000)
BASELINES = {
    "headwise": "headwise",
    "minilm": "all-MiniLM-L6-v2 + logistic regression",
    "svm": "TF-IDF + linear SVM",
    "fasttext": "fastText",
}


def tagging() -> str:
    """What benchmarks/papers/tagging.py has measured with the recipes as they are now."""
    sys.path.insert(0, str(BENCHMARKS.parent))
    from benchmarks.papers.tagging import PAPER, Tagging, row_of

    rows = []
    for name, by_system in Tagging().current_runs(list(TAGGED), Tagging.systems).items():
        first = TAGGED[name]
        for system, runs in by_system.items():
            if runs:
                *cells, seconds, _ = row_of(runs, PAPER[name].get(system))
                rows.append([first, system, *cells, f"{int(seconds) / 60:.0f}"])
                first = ""
    return table(["data", "system", "test", "seeds", "paper", "minutes to train"], rows)


TAGGED = {
    "conll2003": "CoNLL-2003 names, F1",
    "conll2003-glove": "the same with GloVe 6B",
    "conll2003-glove-all": "the same with all words of GloVe 6B",
    "wnut17": "WNUT-17 names, F1",
    "ewt-xpos": "UD EWT parts of speech (XPOS), accuracy",
    "ewt-xpos-glove": "the same with GloVe 6B, 20 epochs",
    "treebank": "Penn Treebank sample, parts of speech, accuracy",
}


def multiple_instance() -> str:
    """What benchmarks/papers/multiple_instance.py has measured."""
    path = RESULTS / "multiple_instance.json"
    if not path.exists():
        return "\nNot measured yet.\n\n"
    rows = []
    for source, models in json.loads(path.read_text(encoding="utf-8"))["sets"].items():
        for model, row in models.items():
            spread = "" if row["deviation"] is None else f" ± {100 * row['deviation']:.1f}"
            size = "-" if row["parameters"] is None else f"{row['parameters']:,}"
            accuracy = f"{100 * row['accuracy']:.1f}{spread}"
            ahead = (
                "-" if row.get("ahead") is None else "{:+.1f} ({:+.1f} to {:+.1f})".format(*row["ahead"])
            )
            rows.append(
                [source, f"`{model}`", accuracy, str(row["seeds"]), ahead, size, f"{row['seconds']:.0f}"]
            )
    head = [
        "data",
        "model",
        "accuracy",
        "seeds",
        "ahead of `rff+mean` (95 %)",
        "parameters",
        "seconds a seed",
    ]
    return table(head, rows)


def mirrored_summation() -> str:
    """What benchmarks/papers/mirrored_summation.py has measured: mean squared errors by K."""
    rows = []
    for path in sorted((RESULTS / "mirrored_summation").glob("*.csv")):
        with path.open(encoding="utf-8") as file:
            runs = list(csv.DictReader(file))
        length, features, positions = re.fullmatch(r"n(\d+)-d(\d+)-positions-(\w+)", path.stem).groups()
        for terms in sorted({int(run["terms"]) for run in runs}):
            term_runs = [run for run in runs if int(run["terms"]) == terms]
            errors: dict[str, list[float]] = {}
            for run in term_runs:
                errors.setdefault(run["model"], []).append(float(run["mse"]))
            cells = [f"{statistics.mean(errors[m]):.4f}" if m in errors else "-" for m in FIGURE]
            levels = [f"{float(term_runs[0][name]):.4f}" for name in ("chance", "linear")]
            rows.append([length, features, positions, str(terms), *cells, *levels])
    if not rows:
        return "\nNot measured yet.\n\n"
    return table(["N", "d", "positions", "K", *FIGURE.values(), "chance", "best linear"], rows)


FIGURE = {
    "transformer": "Transformer",
    "flex": "Flex",
    "deep-hier": "deepHier-S",
    "hier": "Hier-S",
    "bilstm": "BiLSTM",
}


def language_models(*parts: str) -> str:
    """What benchmarks/papers/language_modelling.py has measured."""
    output = runpy.run_path(str(BENCHMARKS / "papers" / "language_modelling_output.py"))
    results = json.loads((RESULTS / "language_modelling.json").read_text(encoding="utf-8"))
    sentences = "".join(f"- {sentence}\n" for sentence in output["differences"](results)) + "\n"
    return "".join(sentences if part == "differences" else table(*output[part](results)) for part in parts)


def unknown() -> str:
    """What benchmarks/defaults/unknown.py has measured: a table for each set that is trained on."""
    path = BENCHMARKS / "defaults" / "results" / "unknown.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [json.loads(line) for line in lines]
    tables = []
    for name in dict.fromkeys(row["set"] for row in rows):
        of_set = [row for row in rows if row["set"] == name]
        outside = list(dict.fromkeys(row["outside"] for row in of_set))
        rows_by_key = {(row["score"], row["outside"]): row for row in of_set}
        body = []
        for score in dict.fromkeys(row["score"] for row in of_set):
            shown_rows = [rows_by_key[score, outside_set] for outside_set in outside]
            body.append(
                [score, *(f"{row['auroc']:.3f}, {100 * row['caught']:.0f} %" for row in shown_rows)]
            )
        marks = [rows_by_key["headwise", outside_set]["at_threshold"] for outside_set in outside]
        label = f"its threshold, which keeps {100 * marks[0]['kept']:.1f} %"
        body.append([label, *(f"{100 * mark['caught']:.0f} %" for mark in marks)])
        tables.append(table([f"{name}, {of_set[0]['labels']} labels", *outside], body))
    return "".join(tables)


def default_results(name: str) -> str:
    """What languages.py, distill.py and default.py in benchmarks/defaults found. Of the last are the tables
    of encoders that are `frozen` or `trained`, of the encoder of the base (`base-encoder`), and of `4000`
    and `all` texts."""
    sys.path.insert(0, str(BENCHMARKS.parent))
    from benchmarks.defaults import encoder_tables, languages
    from benchmarks.defaults.default_results import ALL, read_results
    from benchmarks.defaults.default_sets import GROUPS
    from benchmarks.defaults.default_table import accuracy_rows

    folder = BENCHMARKS / "defaults" / "results"
    default = read_results(folder / "default.jsonl")
    if name == "base-encoder":
        return table(*encoder_tables.base_encoder_table(default))
    if name in ("4000", "all"):
        texts, rivals = ALL if name == "all" else int(name), ("svm", "nb-svm", "fasttext", "minilm")
        return table(*accuracy_rows(default, texts, GROUPS["texts"], rivals))
    if name in ("trained", "frozen"):
        systems = encoder_tables.TRAINED if name == "trained" else encoder_tables.FROZEN
        return table(*encoder_tables.encoder_table(default, systems))
    results = read_results(folder / f"{name}.jsonl")
    if name == "languages":
        return "".join(table(*languages.rows_of(results, size)) for size in (250, 1_000))
    return table(*encoder_tables.teacher_table(results, default))


def label_sets() -> str:
    """Scores of benchmarks/defaults/label_sets.py: label sets, compared with linear SVMs."""
    from benchmarks.defaults.label_sets import scores_table

    scores = "micro_f1", "macro_f1"
    return "".join(table(*scores_table(score, texts)) for texts in (250, 1_000) for score in scores)


TABLES: dict[str, Callable[[], str]] = {
    "baselines": baselines,
    "differences": differences,
    "bags settings": lambda: settings(BagConfig),
    "multiple-instance": multiple_instance,
    "other-languages": lambda: default_results("languages"),
    "base-encoder": lambda: default_results("base-encoder"),
    "4000-texts": lambda: default_results("4000"),
    "all-texts": lambda: default_results("all"),
    "frozen-encoders": lambda: default_results("frozen"),
    "trained-encoders": lambda: default_results("trained"),
    "teachers": lambda: default_results("distill"),
    "mirrored-summation": mirrored_summation,
    "windows settings": lambda: settings(WindowsConfig),
    "tagging settings": lambda: settings(TaggerConfig) + settings(CharacterConfig),
    "tagging": tagging,
    "choice": choice,
    "defaults": defaults,
    "encoders": encoders,
    "growth": growth,
    "heads": heads,
    "label sets": label_sets,
    "learning curves": lambda: learning_curves(""),
    "learning curves, minus the Transformer": lambda: learning_curves("transformer"),
    "learning curves, minus full windows": lambda: learning_curves("ms-full-windows"),
    "tagging curves": lambda: tagging_curves(""),
    "tagging curves, minus positions": lambda: tagging_curves("ms-full-windows + positions"),
    "tagging curves, minus the Transformer": lambda: tagging_curves("transformer"),
    "going on: taggers": going_on_taggers,
    "language-models": lambda: language_models("scores", "differences"),
    "language-model costs": lambda: language_models("costs"),
    "language-model rates": lambda: language_models("rates"),
    "set-tasks": set_tasks,
    "speed": speed,
    "predict": predict,
    "pretrained": lambda: settings(PretrainedConfig),
    "syntax": lambda: settings(SyntaxConfig),
    "unknown": unknown,
    **{f"encoder:{name}": lambda name=name: encoder(name) for name in ENCODERS},
}


def with_tables(page: str) -> str:
    """A page with its tables generated again."""
    return _TABLE.sub(lambda match: match[1] + made(match[2]) + match[3], page)


def made(name: str) -> str:
    """The table of a name; `papers: NAME` is one of benchmarks/papers/accuracy_page.py."""
    group, _, of_group = name.partition(": ")
    if group == "codes":  # from a code to another
        return codes(*of_group.split(" to "))
    return papers(of_group) if group == "papers" else TABLES[name]()


if __name__ == "__main__":
    for path in (DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))):
        page = path.read_text(encoding="utf-8")
        if with_tables(page) != page:
            path.write_text(with_tables(page), encoding="utf-8")
