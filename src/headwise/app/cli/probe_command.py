"""`headwise probe`: the attention span of each head of an encoder."""

from itertools import islice
from pathlib import Path

from headwise.app.cli.argument_types import (
    FileArgument,
    Integer,
    OptionalOutputFile,
    OptionalParses,
    Switch,
)
from headwise.app.cli.console import (
    check_page_output,
    columns,
    note,
    print_json,
    standard_output,
    write_text,
)
from headwise.app.cli.flags import LABEL_SETTINGS, flag_values, section_flags
from headwise.app.cli.path_checks import check_one_standard_input, is_standard
from headwise.app.cli.terminal import TerminalReporter
from headwise.core.errors import ConfigError


def probe(
    model: str,
    texts: FileArgument,
    /,
    *,
    most: Integer = 200,
    svg: OptionalOutputFile = None,
    parses: OptionalParses = None,
    json: Switch = False,
    read: section_flags("data", LABEL_SETTINGS) = None,
) -> None:
    """Measure the attention span of each head of an encoder.

    The span of a head is the distance, in words, from each word to the word with the largest attention
    weight, averaged (MS-Transformer, Figure 3). A head of small scale has a small span. A head with uniform
    attention has a third of the words of a text.

    Args:
        model: Folder of a model, or an encoder of Hugging Face: a folder or owner/name (needs the extra
            pretrained).
        texts: A file of texts, pairs or sentences, as the model reads them; "-" is standard input.
        most: Largest number of texts to read, from the first.
        svg: Draw the spans by head and layer into this file; an existing picture is replaced.
        parses: Dependency parses of the texts, for a model that uses them; see headwise predict.
        json: Print JSON for other programs.
    """
    check_one_standard_input({"TEXTS": texts, "--parses": parses})
    if most < 1:
        raise ConfigError(f"--most {most}; expected 1 or more")
    check_page_output(svg, ".svg")
    # With these comes torch.
    from headwise.app.session import ModelSession
    from headwise.core.folder_layout import MANIFEST
    from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, options_for
    from headwise.models.pictures import attention_span_figure, distances_by_layer
    from headwise.nn.embeddings.pretrained.hub import load_pretrained
    from headwise.nn.networks.attention_inspection import attention_spans

    session = ModelSession.open(model) if (Path(model) / MANIFEST).exists() else None
    encoder = load_pretrained(model) if session is None else session.model
    if session is None or session.item_type.label_type.self_supervised:  # any texts will do
        item_type = ITEM_TYPES_BY_TASK["classify"]
        rows = item_type.rows(str(texts), options_for("classify", flag_values(read)))
        TerminalReporter().notes(rows.notes)
        if parses is not None:
            raise ConfigError(f"--parses {parses}: {model} reads no syntax; leave it out")
    else:
        rows = session.rows(texts, parses=parses, reading=flag_values(read), reporter=TerminalReporter())
    distances = attention_spans(encoder, (row.item for row in islice(rows, most)))
    if svg is not None:
        write_text(svg, attention_span_figure(distances, f"How far the heads of {Path(model).name} look"))
        if is_standard(svg):
            return
        note(f"the picture is in {svg}")
    if json:
        print_json([head.to_json() for head in distances])
        return
    titles = ("layer", "mean", "up to 1", "up to 5", "heads, from near to far")
    table = columns(*titles, texts=titles)
    for layer, counts in distances_by_layer(distances).items():
        layer_heads = sorted(
            (head for head in distances if head.layer == layer), key=lambda head: head.mean
        )
        shares = [counts[: far + 1].sum() / counts.sum() for far in (1, 5)]
        mean = sum(head.mean for head in layer_heads) / len(layer_heads)
        head_means = "  ".join(f"{head.head}:{head.mean:.1f}" for head in layer_heads)
        table.add_row(str(layer), f"{mean:.1f}", *(f"{share:.0%}" for share in shares), head_means)
    standard_output().print(table)
