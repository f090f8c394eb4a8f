"""Attack what headwise reads with damaged and made-up inputs.

    python fuzz/fuzz.py data --seconds 300 --folder build/fuzz
    python fuzz/fuzz.py models --seconds 300 --folder build/fuzz

`data`: readers of all kinds, their options, vectors, the doctor; `models`: model folders of every task,
states of training runs, outputs to resume, recipes, command lines. The same command goes on where it was:
the corpus stays and the next session has the next seed. Each session of 200 seconds
or more adds a line to fuzz/results/fuzz.jsonl.
"""

import argparse
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from campaign import MEMORY, Campaign, until

Attack = Callable[[], None]


def data(campaign: Campaign, place: Path) -> Iterator[tuple[Attack, int]]:
    """The attacks, and how often each is made in a round."""
    import readers

    yield lambda: readers.attack_file(campaign, place), 5_600
    yield lambda: readers.attack_options(campaign, place), 1_600
    yield lambda: readers.attack_tables(campaign, place), 1


def models(campaign: Campaign, place: Path) -> Iterator[tuple[Attack, int]]:
    """The same of models."""
    import folders

    sounds = [folders.Sound.of(path.name, place) for path in sorted(folders.GOLDEN.iterdir())]
    flags, wholes = folders.known_flags(), dict[str, bytes]()
    yield lambda: folders.attack_folder(campaign, sounds), 100
    yield lambda: folders.attack_output(campaign, sounds, wholes), 2
    yield lambda: folders.attack_state(campaign, place), 10
    yield lambda: folders.attack_recipe(campaign, place), 10
    yield lambda: folders.attack_measured(campaign, place), 5
    yield lambda: folders.attack_flags(campaign, place, flags), 1


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["data", "models"])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    campaign, more = Campaign(options.folder / options.what, options.seed), until(options.seconds)
    print(f"session {campaign.sessions}, seed {campaign.seed}", flush=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(dir=MEMORY) as name, suppress(KeyboardInterrupt):
        attacks = [*(data if options.what == "data" else models)(campaign, Path(name))]
        while more():
            for attack, times in attacks:
                for _ in range(times):
                    attack()
            campaign.save()
    campaign.save()
    campaign.note("fuzz")
    print(campaign.report())
    raise SystemExit(bool(campaign.failures))


if __name__ == "__main__":
    main()
