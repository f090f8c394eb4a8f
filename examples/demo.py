"""The main job in three commands, on the help-desk messages that come with headwise (`make demo`)."""

import sys
import time
from importlib.resources import files
from pathlib import Path

from headwise.cli import main

SAMPLES = files("headwise") / "data" / "samples"
MODEL = Path("demo-model")


def step(title: str, *arguments: str) -> None:
    """Show a command and run it."""
    print(f"\n\033[1m{title}\033[0m\n$ headwise {' '.join(arguments)}\n", flush=True)
    code = main(arguments)
    if code:
        sys.exit(code)


def demo() -> None:
    began = time.monotonic()
    messages, new = str(SAMPLES / "helpdesk.tsv"), str(SAMPLES / "helpdesk_new.txt")
    print("1,049 messages to a help desk, written for headwise, each with one of six intents.")
    step("1. Is the file sound?", "doctor", messages)
    step(
        "2. Train a model, and judge it on messages it has not seen",
        *("train", messages, "--output", str(MODEL), "--overwrite"),
    )
    step("3. Use it on new messages", "predict", str(MODEL), new, "--format-out", "tsv")
    print(
        f"\nDone in {time.monotonic() - began:.0f} s. The model is the folder {MODEL}/: weights, words, "
        "settings, scores and a README; nothing in it can run code.\n"
        "Now with texts of your own, one row a text, in csv, tsv, jsonl or label<TAB>text:\n\n"
        "  headwise doctor YOUR_FILE\n"
        "  headwise train YOUR_FILE --output my-model\n"
        "  headwise predict my-model NEW_TEXTS --output predictions.csv\n\n"
        "With pretrained word vectors (GloVe text format) small data goes much further:\n\n"
        "  headwise train YOUR_FILE --output my-model --vectors glove.6B.300d.txt\n\n"
        f"The command is {Path(sys.executable).parent / 'headwise'}; add --help to any of these."
    )


if __name__ == "__main__":
    demo()
