"""The files of a model folder."""

FORMAT = "headwise-model-3"
FAMILY = "headwise-model-"  # what the formats of all versions begin with

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
    MANIFEST: _MIB,
}
WEIGHTS_HEADER = 4 * _MIB  # largest header of the safetensors file
