"""`headwise train`: a file with the answers in, a model of your own out."""

# The flags' types are made at run time, from the configurations.
# pyright: reportInvalidTypeForm=false

from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from headwise.cli.console import warn
from headwise.cli.file_argument import FileArgument
from headwise.cli.flags import flags, given
from headwise.cli.outcome import print_outcome
from headwise.cli.terminal import Terminal
from headwise.data.kinds import KINDS
from headwise.data.parses import Parses
from headwise.data.split import SplitConfig
from headwise.encoders import ENCODERS
from headwise.encoders.windows import WindowsConfig
from headwise.errors import ConfigError
from headwise.features.bases import BaseConfig
from headwise.features.characters import CharacterConfig
from headwise.features.embedding import WordConfig
from headwise.features.parse import SyntaxConfig
from headwise.features.pretrained import PretrainedConfig
from headwise.layers.bags import BagConfig
from headwise.layers.classify import ClassifierConfig
from headwise.layers.language import LanguageConfig
from headwise.layers.pair import PairConfig
from headwise.layers.regress import RegressorConfig
from headwise.layers.tag import TaggerConfig
from headwise.linear.expert import ExpertConfig
from headwise.memory import keep_freed_memory
from headwise.recipe import read_recipe, size_defaults
from headwise.scores.thresholds import ThresholdConfig
from headwise.store.layout import RUN
from headwise.tasks import TASKS
from headwise.tasks.task import DEFAULT_ENCODER
from headwise.train.config import TrainConfig
from headwise.train.loop import TrainingInterrupted
from headwise.train.recipe import VectorsConfig
from headwise.verbs.train import train_files

_DATA = {task: kind.options for task, kind in KINDS.items()}
_BY_SIZE = {
    section: {name for vectors in (False, True) for name in size_defaults(0, vectors=vectors)[section]}
    for section in ("words", "encoder", "classifier", "train")
}

DataFlags = flags("DataFlags", _DATA, prefix="*", group="Reading files", order=3)
SplitFlags = flags("SplitFlags", {"": SplitConfig}, prefix="--split", group="Splitting", order=4)
TrainFlags = flags(
    "TrainFlags", {"": TrainConfig}, prefix="*", group="Training", order=5, by_size=_BY_SIZE["train"]
)
WordFlags = flags(
    "WordFlags", {"": WordConfig}, prefix="--words", group="Words", order=6, by_size=_BY_SIZE["words"]
)
VectorsFlags = flags(
    "VectorsFlags", {"": VectorsConfig}, prefix="--vectors", group="Words", order=6, omit={"file"}
)
BaseFlags = flags(
    "BaseFlags",
    {"": BaseConfig},
    prefix="--base",
    group="Words",
    order=6,
    omit={"name", "size", "subwords"},
)
PretrainedFlags = flags(
    "PretrainedFlags",
    {"": PretrainedConfig},
    prefix="--pretrained",
    group="Pretrained encoder",
    order=6,
    omit={"name"},
)
SyntaxFlags = flags("SyntaxFlags", {"": SyntaxConfig}, prefix="--syntax", group="Syntax", order=6)
WindowsFlags = flags("WindowsFlags", {"": WindowsConfig}, prefix="--windows", group="Long texts", order=6)
ClassifierFlags = flags(
    "ClassifierFlags",
    {"": ClassifierConfig},
    prefix="--classifier",
    group="Classifier",
    order=7,
    by_size=_BY_SIZE["classifier"],
)
ExpertFlags = flags(
    "ExpertFlags",
    {"": ExpertConfig},
    prefix="--expert",
    group="Linear expert",
    order=8,
    omit=set(ExpertConfig.SIZES),
)
ThresholdFlags = flags(
    "ThresholdFlags",
    {"": ThresholdConfig},
    prefix="--thresholds",
    group="Thresholds (multi-label)",
    order=8,
)
CharacterFlags = flags(
    "CharacterFlags", {"": CharacterConfig}, prefix="--characters", group="Spelling (tag)", order=8
)
BagFlags = flags("BagFlags", {"": BagConfig}, prefix="--bags", group="Bags of instances (bags)", order=8)
LanguageFlags = flags(
    "LanguageFlags",
    {"": LanguageConfig},
    prefix="--language",
    group="Language model (language-model)",
    order=8,
    by_size={"windows"},
)
PairFlags = flags(
    "PairFlags",
    {"": PairConfig},
    prefix="--pair",
    group="Text pairs (pair, pair-score)",
    order=8,
)
RegressorFlags = flags(
    "RegressorFlags",
    {"": RegressorConfig},
    prefix="--regressor",
    group="Regressor (regress, pair-score)",
    order=8,
)
TaggerFlags = flags("TaggerFlags", {"": TaggerConfig}, prefix="--tagger", group="Tagger (tag)", order=8)
EncoderFlags = flags(
    "EncoderFlags",
    {name: config for name, (_, config) in ENCODERS.items()},
    prefix="--encoder",
    group="Encoder",
    order=9,
    by_size=_BY_SIZE["encoder"],
)

_FILES, _MODEL, _RUN = (
    Group(title, sort_key=place) for place, title in enumerate(("Files", "Model", "Run"))
)
_SWITCH = Parameter(group=_RUN, negative=(), show_default=False)


def train(
    file: Annotated[FileArgument, Parameter(group=_FILES, show_default=False)],
    /,
    *,
    output: Annotated[Path | None, Parameter(alias="-o", group=_FILES)] = None,
    task: Annotated[
        str | None, Parameter(group=_FILES, help=f"{', '.join(TASKS)}. \\[by the looks of the file]")
    ] = None,
    dev: Annotated[Path | None, Parameter(group=_FILES)] = None,
    test: Annotated[Path | None, Parameter(group=_FILES)] = None,
    vectors: Annotated[Path | None, Parameter(group=_MODEL)] = None,
    base: Annotated[str | None, Parameter(group=_MODEL)] = None,
    pretrained: Annotated[str | None, Parameter(group=_MODEL)] = None,
    encoder: Annotated[
        str | None,
        Parameter(group=_MODEL, help=f"{', '.join(ENCODERS)}. \\[{DEFAULT_ENCODER}]"),
    ] = None,
    readout: Annotated[str | None, Parameter(group=_MODEL)] = None,
    recipe: Annotated[Path | None, Parameter(group=_MODEL)] = None,
    heads: Annotated[Path | None, Parameter(group=_FILES)] = None,
    dev_heads: Annotated[Path | None, Parameter(group=_FILES)] = None,
    test_heads: Annotated[Path | None, Parameter(group=_FILES)] = None,
    resume: Annotated[bool, _SWITCH] = False,
    overwrite: Annotated[bool, _SWITCH] = False,
    no_baseline: Annotated[bool, _SWITCH] = False,
    data: DataFlags = None,
    split: SplitFlags = None,
    training: TrainFlags = None,
    words: WordFlags = None,
    vector_settings: VectorsFlags = None,
    base_settings: BaseFlags = None,
    pretrained_settings: PretrainedFlags = None,
    syntax: SyntaxFlags = None,
    windows: WindowsFlags = None,
    classifier: ClassifierFlags = None,
    expert: ExpertFlags = None,
    thresholds: ThresholdFlags = None,
    characters: CharacterFlags = None,
    tagger: TaggerFlags = None,
    pair: PairFlags = None,
    bags: BagFlags = None,
    regressor: RegressorFlags = None,
    language: LanguageFlags = None,
    encoder_settings: EncoderFlags = None,
) -> int:
    """Train a model on a file of texts, and judge it.

    The file alone is enough: task, format and columns are guessed, dev and test texts are split off where
    they are not given, and settings marked \\[by size] are chosen by the number of texts and by whether
    there are word vectors. The model is reported beside a simple baseline on the same test texts.

    Args:
        file: The training texts, plain or compressed; "-" is standard input. Labelled: csv, tsv, jsonl,
            "label, tab, text", fastText, sentiment trees. Tagged: columns (CoNLL), CoNLL-U, word/TAG,
            bracketed trees. Bags of instances: csv with a row of numbers for each instance.
        output: Folder of the model. [FILE without its ending, and .model]
        task: Replaced by the list of tasks.
        dev: Labelled texts that choose the best epoch and set the temperature. [split off]
        test: Labelled texts for the final report; read once. [split off]
        vectors: Pretrained word vectors in GloVe or word2vec text format (plain, .gz, .xz), or .npy with
            the words beside it.
        base: What the model knows of words before it sees a label: auto, the name or the folder of a base,
            or none. [auto: the base that comes with headwise, where it lists most of the words]
        pretrained: A Hugging Face encoder (a name of the hub, or a folder) that reads the words in place of
            word vectors.
        encoder: Replaced by the list of encoders.
        readout: From words to text: node+max; node,max; mean,max; node; max; mean; attentive;
            attentive,max; or attentive,cls. [by size]
        recipe: A TOML file with settings: \\[train] epochs = 5 is --epochs 5, \\[encoder] layers = 1 is
            --encoder.layers 1. Flags go before it.
        heads: Dependency syntax of the training texts, for encoders that go by it (ms-san): a line of heads
            for each text (1-based numbers of words, 0 for a root), "words, tab, heads", or CoNLL-U.
        dev_heads: The same of the dev texts.
        test_heads: The same of the test texts.
        resume: Go on with the interrupted run in the output folder; give the same settings again.
        overwrite: Replace the model in the output folder.
        no_baseline: Do not fit the simple baseline.
    """
    keep_freed_memory()
    output = output or _output_for(file)
    named = {
        "data": given(data),
        "split": given(split),
        "train": given(training),
        "vectors": given(vector_settings) | ({"file": str(vectors)} if vectors else {}),
        "words": given(words),
        "base": given(base_settings) | ({"name": base} if base else {}),
        "pretrained": given(pretrained_settings) | ({"name": pretrained} if pretrained else {}),
        "syntax": given(syntax),
        "windows": given(windows),
        "encoder": ({"name": encoder} if encoder else {}) | given(encoder_settings),
        "classifier": given(classifier),
        "expert": given(expert),
        "thresholds": given(thresholds),
        "characters": given(characters),
        "tagger": given(tagger),
        "pair": given(pair),
        "bags": given(bags),
        "regressor": given(regressor),
        "language": given(language),
        "model": ({"readout": readout} if readout else {}) | ({"task": task} if task else {}),
    }
    layers = (*((read_recipe(recipe),) if recipe else ()), named)
    terminal = Terminal()
    try:
        outcome = train_files(
            file,
            output,
            dev=dev,
            test=test,
            parses=Parses(
                *(None if path is None else str(path) for path in (heads, dev_heads, test_heads))
            ),
            settings=layers,
            resume=resume,
            overwrite=overwrite,
            baseline=not no_baseline,
            listener=terminal,
        )
    except KeyboardInterrupt:  # a second one, or after the last epoch
        warn(f"stopped at once; --resume goes on from what was saved last in {output / RUN}")
        raise
    except TrainingInterrupted as stop:
        warn(stop.args[0])
        return 128 + stop.signal  # what a shell makes of it: 130 for Ctrl-C
    print_outcome(outcome, output, terminal)
    return 0


def _output_for(file: Path) -> Path:
    if str(file) == "-":
        raise ConfigError("texts from standard input need --output, the folder of the model")
    return Path(file.name.split(".")[0] + ".model")
