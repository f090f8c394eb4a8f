"""The tables of a report on bags of instances."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.padding import Padding
from rich.text import Text

from headwise.cli.console import output, percent, visible
from headwise.cli.tables import confusion_table, labels_table, scores_table
from headwise.report.labels import Evaluation, Rival


def print_bag_scores(
    result: Evaluation, rival: Rival | None = None, worst: Sequence[Mapping[str, Any]] = ()
) -> None:
    """Scores beside a rival's, the labels one by one, what is taken for what, and the worst errors."""
    out = output()
    confusion = confusion_table(result.scores, width=out.width - 2, of="bags")
    rivals = () if rival is None else (rival,)
    tables = (scores_table(result, rivals, of="bags"), labels_table(result.scores, of="bags"), confusion)
    for table in tables:
        if table is not None:
            out.print(Padding(table, (0, 0, 1, 2), expand=False))
    for mistake in worst:
        line = Text(visible(mistake["where"]), style="bold")
        line.append(f"  bag {visible(mistake['bag'])}: {visible(mistake['label'])} taken for ", style="")
        line.append(f"{visible(mistake['predicted'])} ({percent(mistake['probability'])})", style="")
        out.print(line)
