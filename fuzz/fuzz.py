"""Attack the readers, the doctor, word vectors and model folders with damaged and made-up inputs.

    python fuzz/fuzz.py --seconds 300 --folder build/fuzz

The same command goes on where it was: the corpus is kept and the next session has the next seed.
"""

import argparse
import random
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from campaign import Campaign, until
from headwise.data.fingerprint import file_sha256
from headwise.data.kinds import KINDS, infer_task
from headwise.encoders import MSTransformerConfig
from headwise.features.embedding import WordConfig
from headwise.features.vectors import load_vectors
from headwise.features.vocabulary import Vocabulary
from headwise.models.classifier import Model
from headwise.models.model_config import ModelConfig
from headwise.store import load_model, save_model
from headwise.store.files import parse_json, to_json
from headwise.store.layout import MANIFEST
from inputs import PIECES, SEEDS, damaged, packed

WORDS = ("a good film", "a bad film", "w1 w2")
RECORDS = st.lists(
    st.lists(
        st.one_of(st.text(max_size=12), st.sampled_from([own.decode("latin-1") for own in PIECES])),
        max_size=5,
    ),
    max_size=12,
)


def read(path: str, kind: str) -> None:
    """As a file of this kind, by who trains and by who predicts."""
    own = KINDS[kind]
    own.read(path)
    for _ in own.rows(path):
        pass


def attack_files(campaign: Campaign, chance: random.Random, place: Path) -> None:
    """One damaged file, read as everything."""
    corpus = [*SEEDS.values(), *campaign.corpus()[-500:]]
    data = damaged(packed(chance.choice(corpus), chance), chance, chance.choice(corpus))
    path = place / f"input{chance.choice(['', '.csv', '.tsv', '.jsonl', '.txt', '.conll', '.gz', '.zip'])}"
    path.write_bytes(data)
    for kind in chance.sample([*KINDS], 3):
        campaign.attack(kind, data, lambda kind=kind: read(str(path), kind))
    campaign.attack("infer", data, lambda: infer_task(str(path), {}))
    campaign.attack("vectors", data, lambda: load_vectors(path))
    path.unlink()


def attack_tables(campaign: Campaign, seed: int, place: Path) -> None:
    """Made-up tables, by hypothesis."""
    path = place / "table.csv"

    @seeded(seed)
    @settings(
        max_examples=50,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )
    @given(RECORDS, st.sampled_from([",", "\t", ";", " "]), st.booleans())
    def attack(records: list[list[str]], delimiter: str, header: bool) -> None:
        lines = [["text", "label"]] * header + records
        data = "\n".join(delimiter.join(own) for own in lines).encode("utf-8", "replace")
        path.write_bytes(data)
        campaign.attack("made-up", data, lambda: read(str(path), "classify"))

    attack()


def a_model(folder: Path) -> Path:
    """A small model of texts."""
    encoder = MSTransformerConfig(width=8, heads=2, head_size=4, layers=1)
    config = ModelConfig(words=WordConfig(vector_size=8), encoder=encoder)
    model = Model(config, Vocabulary.build([text.split() for text in WORDS]), ["bad", "good"])
    save_model(model, folder, data={}, training={}, metrics={})
    return folder


def attack_folder(campaign: Campaign, chance: random.Random, sound: Path, place: Path) -> None:
    """A model folder with one file damaged, with and without a manifest that is made to fit."""
    folder = place / "model"
    shutil.copytree(sound, folder)
    name = chance.choice(sorted(path.name for path in folder.iterdir()))
    data = damaged((folder / name).read_bytes(), chance)
    (folder / name).write_bytes(data)
    signed = name != MANIFEST and chance.random() < 0.7
    if signed:
        manifest = parse_json((folder / MANIFEST).read_bytes(), MANIFEST)
        manifest["files"][name] = {"sha256": file_sha256(folder / name), "size": len(data)}
        (folder / MANIFEST).write_bytes(to_json(manifest))
    expected = load_model(sound).predict_proba(WORDS)

    def use() -> None:
        found = load_model(folder).predict_proba(WORDS)
        assert np.isfinite(found).all(), "a prediction that is no number"
        assert signed or np.array_equal(found, expected), "another prediction, and nobody noticed"

    campaign.attack("folder", data, use)
    shutil.rmtree(folder)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--seed", type=int)
    asked = parser.parse_args()
    campaign = Campaign(asked.folder, asked.seed)
    print(f"session {campaign.sessions}, seed {campaign.seed}", flush=True)
    chance, more = random.Random(campaign.seed), until(asked.seconds)
    with tempfile.TemporaryDirectory() as name, suppress(KeyboardInterrupt):
        place = Path(name)
        sound, rounds = a_model(place / "sound"), 0
        while more():
            for _ in range(20):
                attack_files(campaign, chance, place)
            for _ in range(10):
                attack_folder(campaign, chance, sound, place)
            attack_tables(campaign, chance.randrange(1 << 32), place)
            rounds += 1
            if rounds % 10 == 0:
                campaign.save()
    campaign.save()
    print(campaign.report())
    raise SystemExit(bool(campaign.failures))


if __name__ == "__main__":
    main()
