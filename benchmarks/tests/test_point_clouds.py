"""Solids that are drawn, and the reader of ModelNet's meshes on a zip that the test makes."""

import zipfile

import numpy as np
import pytest

from headwise.core.errors import HeadwiseError

# A square of two triangles, and a triangle; the second with its numbers on the line of OFF.
SQUARE = "OFF\n4 1 0\n0 0 0\n2 0 0\n2 2 0\n0 2 0\n4 0 1 2 3\n"
TRIANGLE = "OFF3 1 0\n0 0 0\n0 0 4\n0 4 0\n3 0 1 2\n"


@pytest.fixture
def clouds():
    from benchmarks.papers import point_clouds

    return point_clouds


def test_solids(clouds):
    points, kinds = clouds.solids(1, 50, points=30)
    assert points.layout.sizes == (30,) * 50
    again, _ = clouds.solids(1, 50, points=30)
    assert points.values.equal(again.values)
    assert kinds.unique().tolist() == list(range(len(clouds.SOLIDS)))
    shapes = points.values.unflatten(0, (50, 30))
    assert shapes.mean(1).abs().max() < 1e-5
    np.testing.assert_allclose(shapes.flatten(1).std(1, correction=0), 1, rtol=1e-5)


def test_every_solid_has_its_surface(clouds):
    u = np.random.default_rng(0).random((500, 2))
    drawn = {name: solid(u) for name, solid in clouds.SOLIDS.items()}
    radius = {name: np.hypot(p[:, 0], p[:, 1]) for name, p in drawn.items()}
    np.testing.assert_allclose(np.linalg.norm(drawn["ball"], axis=1), 1)
    assert drawn["half a ball"][:, 2].min() >= 0
    np.testing.assert_allclose(radius["cylinder"], 1, rtol=2e-3)
    np.testing.assert_allclose(radius["cone"], (1 - drawn["cone"][:, 2]) / 2, rtol=2e-3)
    np.testing.assert_allclose(np.abs(drawn["box"][:, :2]).sum(1), 1)
    np.testing.assert_allclose((radius["ring"] - 1) ** 2 + drawn["ring"][:, 2] ** 2, 0.35**2)


def test_modelnet(clouds, tmp_path):
    path = tmp_path / "ModelNet40.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for part in ("train", "test"):
            archive.writestr(f"ModelNet40/sofa/{part}/sofa_0001.off", SQUARE)
            archive.writestr(f"ModelNet40/bed/{part}/bed_0001.off", TRIANGLE)
        archive.writestr("ModelNet40/__MACOSX/train/x.off", "")
    parts = clouds.read_modelnet(path, 200)
    points, kinds = parts["test"]
    assert (points.shape, kinds.tolist()) == ((2, 200, 3), [0, 1])
    bed, sofa = points
    assert not bed[:, 0].any()
    assert (bed[:, 1:].sum(1) <= 4 + 1e-5).all()
    assert (sofa.min(0) >= 0).all()
    assert (sofa.max(0) <= [2, 2, 0]).all()
    assert abs(sofa[:, :2].mean() - 1) < 0.1
    task = clouds.ModelNet()
    task.data, task.drawn_points, task.points = path, 200, 20
    drawn, labels = task.draw([0, 1])
    assert drawn.layout.sizes == (20,) * len(labels)


@pytest.mark.parametrize("text", ["", "OF\n", "OFF\n1 1 0\n0 0 0\n3 0 1 2\n", "OFF\n3 1 0\n0 0 0\n"])
def test_what_is_no_mesh(clouds, text):
    with pytest.raises(HeadwiseError, match=r"a\.off: no mesh"):
        clouds.read_off(text.encode(), "a.off")


def test_no_archive(clouds, tmp_path):
    with pytest.raises(HeadwiseError, match="neither a folder nor a zip"):
        clouds.read_modelnet(tmp_path / "a.zip", 10)
    with pytest.raises(HeadwiseError, match="no KIND/train"):
        clouds.read_modelnet(tmp_path, 10)


@pytest.mark.parametrize(("name", "linears"), [("isab16+max", 2), ("isab16+pma", 1)])
def test_what_follows_the_pooling_is_the_papers(clouds, name, linears):
    """Supplement, Table 10: a maximum, a hidden layer and 40 outputs; PMA and 40 outputs."""
    model = clouds.Clouds(name, 40)
    hidden = [] if model.hidden is None else [model.hidden[0]]
    after = [*hidden, *(m for m in model.sets.decoder.modules() if isinstance(m, clouds.nn.Linear))]
    assert [layer.out_features for layer in after] == [256, 40][2 - linears :]
    assert clouds.ModelNet.paper.keys() == {"rff+max", "rff+pma", "isab16+max", "isab16+pma"}
