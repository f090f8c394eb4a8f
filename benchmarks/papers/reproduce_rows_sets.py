"""The tables of the Set Transformer's paper (Lee et al. 2019), and the Star-Transformer's masked summation,
row by row. Data, no code. The flags are those of stored runs; without them a run is as long as the paper's.
"""

from benchmarks.papers.cifar_clusters import CifarClusters
from benchmarks.papers.reproduce_row import Row, Table, set_task

_RUN = "--threads 1 --minutes 60 --clock processor"
_COUNTED = f"--steps 600 --rate 1e-3 --decay-at 0.8 --precision bfloat16 {_RUN}"
_CLOUD = f"--steps 150 --decay-at 0.8 --precision bfloat16 {_RUN}"
_FITTED = f"--steps 12000 --decay-at 0.8666 {_RUN}"
# With 100, 1,000 and 5,000 points.
_CLOUDS = {
    "rff+max": (".7951", ".8551", ".8933"),
    "rff+pma": (".8076", ".8534", ".8628"),
    "isab16+max": (".8273", ".8915", ".9040"),
    "isab16+pma": (".8454", ".8662", ".8779"),
}
_MODELNET = (
    "ModelNet40.zip (modelnet.cs.princeton.edu, 2 GB); "
    "python -m benchmarks.papers.set_tasks modelnet40 --data"
)
_CIFAR = (
    "features of CIFAR-100's images in an .npz (cifar_clusters.py says how); "
    "python -m benchmarks.papers.set_tasks cifar100 --data features.npz"
)
_FACES = {
    "rff+mean": ".5643, .4126",
    "rffp-mean+mean": ".5687, .4125",
    "rffp-max+mean": ".5717, .4135",
    "rff+dot": ".5671, .4155",
    "sab+mean": ".5757, .4189",
    "rff+pma": ".5756, .4227",
    "sab+pma": ".5941, .4386",
}

SETS: dict[str, Table] = {
    "star/figure-masked-summation": Table(
        "Masked summation, also without edges: squared error (N 200, d 10, k 10; 500 steps; the paper has "
        "a figure, and ablations on data too, for which the encoder has no switch)",
        set_task(
            "masked-summation",
            *("star-transformer", "star-no-radial", "star-no-ring"),
            *("transformer", "ms-transformer", "bilstm"),
            flags=f"--steps 500 --decay-at 0.8 {_RUN}",
        ),
    ),
    "set/table1": Table(
        "Largest of a set of numbers: mean absolute error",
        set_task("max-regression", "rff+mean", "rff+sum", "rff+max", flags=_RUN)
        + set_task("max-regression", "sab+pma", flags=f"--steps 10000 --decay-at 0.8 {_RUN}"),
    ),
    "set/table2": Table(
        "Unique characters: accuracy (600 steps of characters that are drawn here, in place of Omniglot)",
        set_task(
            "unique-characters",
            *("rff+mean", "rffp-mean+mean", "rffp-max+mean", "rff+dot"),
            *("rff+pma", "sab+mean", "sab+dot", "sab+pma"),
            flags=_COUNTED,
        ),
    ),
    "set/table3": Table(
        "Mixtures of Gaussians: log likelihood, before and after one step of EM",
        set_task("mixture", "rff+mean", flags=f"--steps 6000 --decay-at 1 {_RUN}")
        + set_task(
            "mixture",
            *("rffp-mean+mean", "rffp-max+mean", "rff+dot", "sab+mean"),
            *("isab16+mean", "isab32+mean", "isab64+mean"),
            *("rff+pma", "sab+pma", "isab16+pma", "isab32+pma", "isab64+pma"),
            flags=_FITTED,
        )
        + set_task(
            "mixture-unknown",
            *("rff+mean", "isab16+pma"),
            flags=f"--steps 3000 --decay-at 0.8 {_RUN}",
            what="2 to 6 clusters (not the paper's): ",
        )
        + tuple(
            Row(
                f"CIFAR-100: {model}",
                results=f"set_tasks/cifar100-{model}-*.json",
                paper="ARI0 {:.4f}, ARI1 {:.4f}".format(*paper),
                bring=f"{_CIFAR} --model {model}",
            )
            for model, paper in CifarClusters.paper.items()
        ),
    ),
    "set/table3-large": Table(
        "The same with 1,000 to 5,000 points of six Gaussians (the paper's supplement)",
        set_task(
            "mixture-large",
            "rff+mean",
            "rffp-mean+mean",
            "rff+pma",
            "isab32+pma",
            flags=f"--steps 3000 --decay-at 0.8 {_RUN}",
        ),
    ),
    "set/table4": Table(
        "Point clouds: accuracy (ModelNet40; solids that are drawn here, 150 steps)",
        (
            *set_task("point-clouds", *_CLOUDS, flags=_CLOUD, what="ten solids: "),
            *(
                Row(
                    f"ModelNet40, {points:,} points: {model}",
                    paper=paper,
                    bring=f"{_MODELNET} ModelNet40.zip --points {points} --model {model}",
                )
                for model, papers in _CLOUDS.items()
                for points, paper in zip((100, 1000, 5000), papers, strict=True)
            ),
        ),
    ),
    "set/table5": Table(
        "Which of eight faces is the odd one (CelebA)",
        tuple(
            Row(model, paper=f"AUROC, AUPR {paper}", missing="CelebA's 202,599 images cannot be passed on")
            for model, paper in _FACES.items()
        ),
    ),
    "set/bags": Table(
        "Bags of instances: accuracy (not the paper's own)",
        tuple(
            Row(
                f"{source}: {model}",
                command="benchmarks.papers.multiple_instance --threads 1",
                results="multiple_instance.json",
                pick=(source, model),
            )
            for source in ("musk1", "elephant")
            for model in ("sab+pma", "isab16+pma", "sab+mean", "rff+pma", "rff+mean", "rff+max", "linear")
        ),
    ),
}
