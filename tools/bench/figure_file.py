"""Writes what a benchmark measured to docs/figures, for the site; `--write` of the benchmarks."""

from __future__ import annotations

import datetime
import json
import os
import pathlib
import platform
import sys
from collections.abc import Mapping, Sequence

_FOLDER = pathlib.Path(__file__).parents[2] / "docs" / "figures"


def write_figures(figures: Mapping[str, str], *, code: Sequence[str]) -> None:
    """Writes the figures of the running benchmark.

    Args:
      figures: what was measured -> the figure with its unit.
      code: paths of the repository; the site marks figures that are older than this code.
    """
    name = pathlib.Path(sys.argv[0]).stem
    facts = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{len(os.sched_getaffinity(0))} cores, {platform.machine()}, no GPU",
        "command": f"python tools/bench/{name}.py",
        "code": list(code),
    }
    rows = [{"what": what, "value": value, **facts} for what, value in figures.items()]
    text = json.dumps({"figures": rows}, indent=2) + "\n"
    (_FOLDER / f"{name}.json").write_text(text, encoding="utf-8")
