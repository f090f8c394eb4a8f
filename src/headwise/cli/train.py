"""`headwise train`: a file of labelled texts in, a model of your own out."""

# The flags' types are made at run time, from the configurations.
# pyright: reportInvalidTypeForm=false

from pathlib import Path

from headwise.cli.file_argument import FileArgument
from headwise.cli.flags import flags, given
from headwise.cli.train_report import TrainDisplay, announce, print_outcome
from headwise.data.options import ReadOptions
from headwise.encoders import ENCODERS
from headwise.errors import ConfigError
from headwise.features.embedding import WordConfig
from headwise.memory import keep_freed_memory
from headwise.recipe import SplitConfig, VectorsConfig, build_recipe, read_recipe
from headwise.tasks.classify import ClassifierConfig
from headwise.train.config import TrainConfig
from headwise.train.run import choose_settings, read_texts, run

DataFlags = flags("DataFlags", [ReadOptions], prefix="*", group="Reading files", order=2)
SplitFlags = flags("SplitFlags", [SplitConfig], prefix="--split", group="Splitting", order=3)
TrainFlags = flags("TrainFlags", [TrainConfig], prefix="*", group="Training", order=4)
VectorsFlags = flags("VectorsFlags", [VectorsConfig], prefix="--vectors", group="Words", order=5)
WordFlags = flags("WordFlags", [WordConfig], prefix="--words", group="Words", order=5)
EncoderFlags = flags(
    "EncoderFlags",
    [config for _, config in ENCODERS.values()],
    prefix="--encoder",
    group="Encoder",
    order=6,
)
ClassifierFlags = flags(
    "ClassifierFlags", [ClassifierConfig], prefix="--classifier", group="Classifier", order=7
)


def train(
    file: FileArgument,
    /,
    *,
    output: Path | None = None,
    dev: Path | None = None,
    test: Path | None = None,
    recipe: Path | None = None,
    encoder: str | None = None,
    readout: str | None = None,
    vectors: Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    baseline: bool = True,
    data: DataFlags = None,
    split: SplitFlags = None,
    training: TrainFlags = None,
    vector_settings: VectorsFlags = None,
    words: WordFlags = None,
    encoder_settings: EncoderFlags = None,
    classifier: ClassifierFlags = None,
) -> int:
    """Train a model on a file of labelled texts, and judge it.

    csv, tsv, jsonl, label<TAB>text, fastText and sentiment-tree files are read, compressed or not;
    format and columns are guessed. Dev and test texts are split off where they are not given. The
    model is reported beside a linear baseline on the same texts.

    Args:
        file: The training texts.
        output: Folder of the model; by default the file's name with .model in place of its ending.
        dev: Labelled texts that choose the best epoch and set the temperature.
        test: Labelled texts for the final report; read once.
        recipe: A TOML file with settings, in sections named like the flags; flags go before it.
        encoder: ms-transformer (the default) or transformer.
        readout: From words to text: node+max (the default), node,max, mean,max, node, max, mean,
            attentive or attentive,max.
        vectors: Pretrained word vectors in GloVe or word2vec text format.
        resume: Go on with the interrupted run in the output folder.
        overwrite: Replace the model in the output folder.
        baseline: Fit the linear baseline for comparison.
    """
    keep_freed_memory()
    output = output or _output_for(file)
    named = {
        "data": given(data),
        "split": given(split),
        "train": given(training),
        "vectors": given(vector_settings) | ({"file": str(vectors)} if vectors else {}),
        "words": given(words),
        "encoder": ({"name": encoder} if encoder else {}) | given(encoder_settings),
        "classifier": given(classifier),
        "model": {"readout": readout} if readout else {},
    }
    layers = (*((read_recipe(recipe),) if recipe else ()), named)
    _check_output(output, resume=resume, overwrite=overwrite)
    texts = read_texts(str(file), _path(dev), _path(test), build_recipe(*layers))
    settings, loaded = choose_settings(texts, layers)
    announce(texts, settings, output)
    with TrainDisplay(settings.train) as display:
        outcome = run(
            texts, settings, loaded, output, resume=resume, baseline=baseline, report=display.show
        )
    print_outcome(outcome, output, file)
    return 0


def _output_for(file: Path) -> Path:
    if str(file) == "-":
        raise ConfigError("texts from standard input need --output, the folder of the model")
    return Path(file.name.split(".")[0] + ".model")


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _check_output(output: Path, *, resume: bool, overwrite: bool) -> None:
    """An earlier run or model is not lost by mistake."""
    if resume or overwrite or not output.exists():
        return
    if (output / "training" / "state.safetensors").exists() or (output / "manifest.json").exists():
        raise ConfigError(
            f"{output} already holds a model or an interrupted run; add --resume to go on with it, "
            "--overwrite to replace it, or give another --output"
        )
