"""Writes tables of what a benchmark measured to docs/figures; `--write` of the benchmarks.

`python tools/site/figures.py` copies them into the documents.
"""

from __future__ import annotations

import datetime
import json
import os
import pathlib
import platform
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence

_FOLDER = pathlib.Path(__file__).parents[2] / "docs" / "figures"


def write_figures(figures: Mapping[str, str], *, code: Sequence[str]) -> None:
    """Writes a table of the values that the running benchmark measured.

    Args:
      figures: what was measured -> the figure with its unit.
      code: as in `write_table`.
    """
    write_table(["", "figure"], figures.items(), code=code)


def write_table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    code: Sequence[str],
    table: str = "main",
    words: Sequence[str] | None = None,
    computed: bool = False,
) -> None:
    """Writes a table that the running benchmark measured; other tables of its file stay.

    Args:
      head: names of the columns.
      rows: cells of each row.
      code: paths of the repository; the site marks a table that is older than this code.
      table: name of the table, for a benchmark with several ones.
      words: what the command shows instead of the words of the command line.
      computed: the table is the same on every machine.
    """
    script = pathlib.Path(sys.argv[0])
    path = _FOLDER / f"{script.stem}.json"
    tables = json.loads(path.read_text(encoding="utf-8"))["tables"] if path.exists() else {}
    words = [word for word in (sys.argv[1:] if words is None else words) if word != "--write"]
    machine = f"{len(os.sched_getaffinity(0))} cores, {platform.machine()}, no GPU"
    tables[table] = {
        "date": datetime.date.today().isoformat(),
        "machine": "" if computed else machine,
        "command": shlex.join(["python", f"tools/bench/{script.name}", *words]),
        "code": list(code),
        "head": list(head),
        "rows": [list(row) for row in rows],
    }
    text = json.dumps({"tables": tables}, indent=2, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8")
