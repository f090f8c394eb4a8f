"""`headwise train --base MODEL`: going on from an earlier model of other domains, beside the English base.

    python benchmarks/going_on.py                # books, dvd and kitchen; then 250 reviews of another

A model is trained on all reviews of three domains of MTL-16; others go on from it, or begin anew, with 250
reviews of a fourth. Needs the data folder (HEADWISE_DATA).
"""

import argparse
import json
import tempfile
from pathlib import Path

from default_model import run_headwise
from default_sets import DataSet, Part, load, subset
from runs import HERE

RESULTS = HERE / "results" / "going_on.json"
FIRST = ("mtl16/books", "mtl16/dvd", "mtl16/kitchen_housewares")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--others", nargs="+", default=["mtl16/apparel", "mtl16/MR", "mtl16/music"])
    parser.add_argument("--texts", type=int, default=250)
    parser.add_argument("--most", type=int, default=2_000, help="reviews of each of the three domains")
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        sets = [load(name) for name in FIRST]
        parts = [own.train.take(subset(own.train.labels, arguments.most, 0)) for own in sets]
        train = Part(
            [t for own in parts for t in own.items], [label for own in parts for label in own.labels]
        )
        run_headwise(DataSet("three", "classify", train, sets[0].test), train, 0, [], folder / "first")
        base = ["--base", str(folder / "first" / "model")]
        for name in arguments.others:
            data = load(name)
            own = data.train.take(subset(data.train.labels, arguments.texts, 0))
            found[name] = {
                system: run_headwise(data, own, 0, options, folder / "second")
                for system, options in (("anew", []), ("goes on", base))
            }
            print(name, {system: result["test"] for system, result in found[name].items()}, flush=True)
            arguments.results.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
