"""The tasks as far as files go: how those of each are read, and how a file's task is found out."""

from headwise.data.kinds import KINDS, infer_task

DATA: dict[str, type] = {task: kind.options for task, kind in KINDS.items()}
"""How the files of each task are read."""

__all__ = ["DATA", "infer_task"]
