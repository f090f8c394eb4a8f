"""The tables and figures of the five papers, row by row: what runs each of them here, or why nothing does.

Data, no code: `reproduce.py` reads it.
"""

from benchmarks.papers.reproduce_row import Table
from benchmarks.papers.reproduce_rows_bpt import BPT
from benchmarks.papers.reproduce_rows_ms_san import MS_SAN
from benchmarks.papers.reproduce_rows_ms_trans import MS_TRANS
from benchmarks.papers.reproduce_rows_sets import SETS
from benchmarks.papers.reproduce_rows_star import STAR

TABLES: dict[str, Table] = MS_TRANS | MS_SAN | STAR | BPT | SETS
