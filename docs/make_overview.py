"""Draw the picture of the README: `python docs/make_overview.py` trains on the help-desk messages first.

The picture shows the report, an explanation and the attention heads of one model.
"""

import tempfile
from html import escape
from importlib.resources import files
from pathlib import Path

from headwise import TextClassifier, attention_weights, load_model, train_files
from headwise.artifacts import read_info
from headwise.models.explanation import Explanation

PICTURE = Path(__file__).parent / "images" / "overview.svg"
TEXT = "The door to the garage does not open with my badge"
LONG_TEXT = (
    "Since the move to the new floor our printer needs a minute for each page and then reports that the "
    "tray is empty although I filled it today. The cable is in, the light is green, and my colleague "
    "next door prints from the same queue without any trouble. Could somebody have a look before noon?"
)
WIDTH = 760
STYLE = """
text { font: 17px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2430 }
.title { font-weight: 600; font-size: 19px } .small { font-size: 14px; fill: #5b6472 }
.card { fill: #fff; stroke: #d5dae2 } .for { fill: #1f6feb } .against { fill: #d9730d }
"""
SYSTEMS = {
    "test": "headwise",
    "encoder_alone": "its encoder",
    "linear_model_alone": "its linear model",
    "baseline": "TF-IDF + SVM",
}


def report(metrics: dict[str, dict], top: int) -> str:
    """Test accuracy of the model, its parts and the baseline, with 95 % intervals."""
    parts = [heading("The report: test accuracy with its 95 % interval", top)]
    for row, (key, name) in enumerate(SYSTEMS.items()):
        y, score = top + 62 + 34 * row, metrics[key]["accuracy"]
        low, high = metrics[key]["accuracy_interval"]
        x, left, right = (220 + 440 * (value - 0.5) / 0.5 for value in (score, low, high))
        colour = "#1f6feb" if key == "test" else "#8a94a6"
        parts += [
            f'<text x="36" y="{y + 6}">{name}</text>',
            f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="4"'
            ' stroke-opacity=".35"/>',
            f'<circle cx="{x:.1f}" cy="{y}" r="7" fill="{colour}"/>',
            f'<text x="{WIDTH - 36}" y="{y + 6}" text-anchor="end">{100 * score:.1f} %</text>',
        ]
    return "\n".join(parts)


def explanation(result: Explanation, top: int) -> str:
    """The words of a text, coloured by what they contribute to the predicted label."""
    sure = f"{result.prediction}, {100 * result.probability:.1f} %"
    parts = [heading(f"An explanation: {escape(sure)}", top)]
    largest = max(abs(word.attribution) for word in result.words)
    x = 36.0
    for word in result.words:
        width = 9.1 * len(word.word) + 10
        kind, strength = ("for" if word.attribution > 0 else "against"), abs(word.attribution) / largest
        parts += [
            f'<rect class="{kind}" x="{x:.1f}" y="{top + 44}" width="{width:.1f}" height="30" rx="5"'
            f' fill-opacity="{0.6 * strength:.2f}"/>',
            f'<text x="{x + width / 2:.1f}" y="{top + 65}" text-anchor="middle">{escape(word.word)}</text>',
        ]
        x += width + 5
    without = ", ".join(f'"{word}"' for word in result.removed_words)
    note = f"Without {without}, the probability is {100 * result.value_after_removal:.0f} %."
    parts.append(f'<text class="small" x="36" y="{top + 104}">{escape(note)}</text>')
    return "\n".join(parts)


def heads(folder: Path, top: int) -> str:
    """The attention of each head in the first layer; rows are the words that look."""
    seen = attention_weights(load_model(folder), LONG_TEXT)[0]
    parts = [heading("The heads: which word looks at which, by the prior of each", top)]
    for number, (name, weights) in enumerate(zip(seen.heads, seen.between_words().tolist(), strict=True)):
        left, size = 36 + 178 * number, 152 / len(weights)
        parts.append(f'<rect x="{left}" y="{top + 44}" width="152" height="152" fill="#f0f4fb"/>')
        for row, values in enumerate(weights):
            for column, weight in enumerate(values):
                if weight < 0.005:
                    continue
                x, y = left + size * column, top + 44 + size * row
                parts.append(
                    f'<rect x="{x:.2f}" y="{y:.2f}" width="{size:.2f}" height="{size:.2f}" fill="#1f6feb"'
                    f' fill-opacity="{min(1.0, 0.15 + weight):.2f}"/>'
                )
        parts.append(
            f'<text class="small" x="{left + 76}" y="{top + 218}" text-anchor="middle">'
            f"{escape(name)}</text>"
        )
    return "\n".join(parts)


def heading(text: str, top: int) -> str:
    return f'<text class="title" x="36" y="{top + 18}">{text}</text>'


def card(top: int, height: int) -> str:
    return f'<rect class="card" x="12" y="{top}" width="{WIDTH - 24}" height="{height}" rx="10"/>'


def picture(folder: Path) -> str:
    """The SVG of a trained model folder."""
    result = TextClassifier.load(folder).explain([TEXT])[0]
    cards = [card(12, 204), card(230, 134), card(378, 250)]
    parts = [report(read_info(folder)["metrics"], 26), explanation(result, 246), heads(folder, 392)]
    title = "The report, an explanation and the attention heads of a text classifier"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} 640" role="img"'
        f' aria-label="{title}">'
        f'<style>{STYLE}</style><rect width="{WIDTH}" height="640" rx="14" fill="#f4f6f9"/>\n'
        + "\n".join([*cards, *parts])
        + "\n</svg>\n"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        model = Path(scratch) / "model"
        train_files(str(files("headwise") / "data" / "samples" / "helpdesk.tsv"), model)
        PICTURE.write_text(picture(model), encoding="utf-8")
