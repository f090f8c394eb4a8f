"""The files of a model folder, and of one that is exported."""

from dataclasses import dataclass

FORMAT = "headwise-model-3"

WEIGHTS = "model.safetensors"
CONFIG = "config.json"
VOCABULARY = "vocabulary.json"
LABELS = "labels.json"
CALIBRATION = "calibration.json"
ENVIRONMENT = "environment.json"
DATA = "data.json"
TRAINING = "training.json"
METRICS = "metrics.json"
CARD = "README.md"
PRETRAINED = "pretrained.json"  # only where there is a pretrained encoder
TOKENIZER = "tokenizer.json"  # likewise
BASE = "base.json"  # only where the model began with a base
MANIFEST = "manifest.json"

ENCODER = "encoder.onnx"  # of an exported model
READOUT = "readout.onnx"  # likewise
SPELLING = "spelling.onnx"  # likewise, where a tagger reads the spelling of words
TABLES = "tables.safetensors"  # likewise: the base's and the expert's
REQUIREMENTS = "requirements.txt"  # likewise: what a machine needs to run it

RUN = "training"  # folder of the training run's state; never touched here
LOCK = ".lock"  # in it: who is writing to the model folder
STAGING = ".saving"  # where a save prepares its files

_MIB = 1 << 20

# Largest size that is read (and, so that what was saved can be read, written), in bytes.
LIMITS = {
    CONFIG: _MIB,
    VOCABULARY: 256 * _MIB,
    LABELS: 16 * _MIB,
    CALIBRATION: _MIB,
    ENVIRONMENT: _MIB,
    DATA: 64 * _MIB,
    TRAINING: 64 * _MIB,
    METRICS: 64 * _MIB,
    CARD: _MIB,
    PRETRAINED: _MIB,
    TOKENIZER: 64 * _MIB,
    BASE: 64 * _MIB,
    ENCODER: 1024 * _MIB,
    READOUT: 1024 * _MIB,
    SPELLING: 1024 * _MIB,
    TABLES: 1024 * _MIB,
    REQUIREMENTS: _MIB,
    MANIFEST: _MIB,
}
WEIGHTS_HEADER = 4 * _MIB  # largest header of the safetensors file


@dataclass(frozen=True)
class Form:
    """What kind of folder one is.

    Attributes:
        format: What its files say.
        family: What the formats of all versions begin with.
        anew: How to make it again.
        mend: Why it may be incomplete, and what to do.
        elsewhere: What to say of it where the other kind is expected.
    """

    format: str
    family: str
    anew: str
    mend: str
    elsewhere: str


MODEL = Form(
    FORMAT,
    "headwise-model-",
    "train the model again",
    "as training or saving was interrupted or not all files were copied. Go on with --resume, save again "
    "or copy the whole folder",
    "this is a model folder, not an exported one; headwise.load_model loads it, headwise export makes one",
)
EXPORTED = Form(
    "headwise-exported-1",
    "headwise-exported-",
    "export the model again",
    "as the export was interrupted or not all files were copied. Export again or copy the whole folder",
    "this is an exported model, which headwise predict and headwise.load_exported read; give the folder "
    "that it was exported from",
)
