"""`headwise predict` for label sets: the labels of each text of a file, of any size."""

from headwise.cli.console import note
from headwise.cli.label_set_file import LabelSetLabeller, LabelSetLayout
from headwise.cli.parsing import with_heads
from headwise.cli.predict_texts import predict_rows
from headwise.cli.requests import PredictRequest
from headwise.config import from_dict
from headwise.data.options import LabelSetOptions
from headwise.data.read import read_rows


def predict(request: PredictRequest) -> int:
    """Label the texts of a file, each with any number of labels."""
    options = from_dict(LabelSetOptions, request.read)
    rows = read_rows(request.file, options)
    for line in rows.notes:
        note(line)
    parsed = iter(rows) if request.heads is None else with_heads(iter(rows), request.heads)
    labeller = LabelSetLabeller(request.model, request.batch_tokens)
    separator = options.label_separator or request.model.separator
    layout = LabelSetLayout.of_model(request.model, separator)
    predict_rows(request, parsed, labeller, layout, request.model.predict_proba)
    labeller.summarise()
    return 0
