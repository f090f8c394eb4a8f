import pytest


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A data folder with two domains of short texts."""
    import gzip

    folder = tmp_path / "data" / "mtl16"
    folder.mkdir(parents=True)
    for domain in ("MR", "imdb"):
        for part in ("train", "test"):
            lines = [f"{n % 2}\t{' '.join(['good', 'bad', 'film'][: n % 3 + 1])}\n" for n in range(12)]
            (folder / f"{domain}.task.{part}.gz").write_bytes(gzip.compress("".join(lines).encode()))
    monkeypatch.setattr("speed_texts.DATA", folder.parent)
    return folder.parent
