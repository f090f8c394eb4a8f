"""The main job in three commands, on the help-desk messages that come with headwise (`make demo`)."""

import csv
import sys
import time
from importlib.resources import files
from pathlib import Path

from headwise.app.cli import main

SAMPLES = files("headwise") / "data" / "samples"
MODEL, PREDICTIONS = Path("demo-model"), Path("demo-predictions.csv")


def step(title: str, *arguments: str) -> None:
    """Show a command and run it."""
    bold, plain = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("", "")
    print(f"\n{bold}{title}{plain}\n$ headwise {' '.join(arguments)}\n", flush=True)
    code = main(arguments)
    if code:
        sys.exit(code)


def show_predictions() -> None:
    """The most important columns of the predictions."""
    print()
    with open(PREDICTIONS, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            text = row["text"] if len(row["text"]) <= 56 else row["text"][:55] + "…"
            print(f"  {row['prediction']:<11} {float(row['probability']):4.0%}  {text}")
    print(f"\n{PREDICTIONS} has them all, with the probability of every label.")


def demo() -> None:
    began = time.monotonic()
    messages, new = str(SAMPLES / "helpdesk.tsv"), str(SAMPLES / "helpdesk_new.txt")
    print("1,049 messages to a help desk, written for headwise, each with one of six intents.")
    step("1. Is the file sound?", "doctor", messages)
    step(
        "2. Train a model, and judge it on messages it has not seen",
        *("train", messages, "--output", str(MODEL), "--overwrite"),
    )
    step(
        "3. Use it on new messages",
        *("predict", str(MODEL), new, "--output", str(PREDICTIONS), "--overwrite"),
    )
    show_predictions()
    print(
        f"\nDone in {time.monotonic() - began:.0f} s. The model is the folder {MODEL}/: weights, words, "
        "settings, scores and a README; nothing in it can run code.\n"
        "Now with your own texts, one text per row, in csv, tsv, jsonl or label<TAB>text:\n\n"
        "  headwise doctor YOUR_FILE\n"
        "  headwise train YOUR_FILE --output my-model\n"
        "  headwise predict my-model NEW_TEXTS --output predictions.csv\n\n"
        "Texts in English and in sixteen other languages start from a base in this folder. For another\n"
        "language or field make one from texts without labels:\n\n"
        "  headwise pretrain TEXTS --output my-base\n"
        "  headwise train YOUR_FILE --output my-model --base my-base\n\n"
        f"The command is {Path(sys.executable).parent / 'headwise'}; add --help to any of these."
    )


if __name__ == "__main__":
    demo()
