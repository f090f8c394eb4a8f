"""The files of a model folder, and of the folder of an exported model."""

from dataclasses import dataclass

FORMAT = "headwise-model-3"
UNNORMALIZED = "-unnormalized"
"""Ends the name of a tokenizer that reads texts as written, as models did before texts were normalised."""

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
TOKENIZER = "tokenizer.json"  # only where there is a pretrained encoder
STATIC_EMBEDDINGS = "base.json"  # only where the model has pretrained static embeddings
MANIFEST = "manifest.json"

ENCODER = "encoder.onnx"  # of an exported model
READOUT = "readout.onnx"  # of an exported model
CHARACTER_FEATURES = "spelling.onnx"  # of an exported tagger with character features
TABLES = "tables.safetensors"  # of an exported model: static embeddings and linear model
NETWORK = "network.safetensors"  # of an exported model that predicts without onnxruntime
REQUIREMENTS = "requirements.txt"  # of an exported model: the packages that it needs

RUN_FOLDER = "training"  # folder of the training run's state; never touched here
RUN_STATE = "state.safetensors"  # in `training`: what a run continues from
TRACEBACK = "traceback.txt"  # in `training`: the unexpected error that stopped the run
LOCK = ".lock"  # in `training`: the process that is writing to the model folder
STAGING = ".saving"  # folder of the files of a save in progress

_MIB = 1 << 20

# The largest size of each file that is read, in bytes; also enforced on saving.
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
    STATIC_EMBEDDINGS: 64 * _MIB,
    ENCODER: 1024 * _MIB,
    READOUT: 1024 * _MIB,
    CHARACTER_FEATURES: 1024 * _MIB,
    TABLES: 1024 * _MIB,
    NETWORK: 1024 * _MIB,
    REQUIREMENTS: _MIB,
    MANIFEST: _MIB,
}
WEIGHTS_HEADER = 4 * _MIB  # largest header of the safetensors file


@dataclass(frozen=True)
class FolderKind:
    """A kind of folder: model or exported model.

    Attributes:
        format: The format in its files.
        family: The prefix of the formats of all versions.
        how_to_create: How to create it again, for messages.
        repair_advice: Why it may be incomplete, and what to do, for messages.
        other_kind_message: The message if the other kind is expected.
    """

    format: str
    family: str
    how_to_create: str
    repair_advice: str
    other_kind_message: str


MODEL = FolderKind(
    FORMAT,
    "headwise-model-",
    "train the model again",
    "as training or saving was interrupted or not all files were copied. Continue with --resume, save "
    "again or copy the whole folder",
    "this is a model folder, not an exported one; headwise.load_model loads it, headwise export makes one",
)
EXPORTED = FolderKind(
    "headwise-exported-1",
    "headwise-exported-",
    "export the model again",
    "as the export was interrupted or not all files were copied. Export again or copy the whole folder",
    "this is an exported model, which headwise predict and headwise.load_exported read; give the folder "
    "that it was exported from",
)
