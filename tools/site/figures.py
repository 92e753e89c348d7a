"""A page of measured figures, from docs/figures/*.json: value, date, machine and command."""

from __future__ import annotations

import json
import pathlib
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_HEAD = """# Measured figures

Benchmarks in `tools/bench` measured these. A figure is marked as old if its code has changed since.

| what | figure | date | machine | command | |
|---|---|---|---|---|---|
"""

_NETWORKS = """| network | image | parameters, 10^6 | multiply-adds, 10^6 | strides of its maps |
|---|---|---|---|---|"""


def pages(root: pathlib.Path) -> Mapping[str, str]:
    """Returns the page, by its name."""
    files = sorted((root / "docs" / "figures").glob("*.json"))
    contents = [json.loads(path.read_text(encoding="utf-8")) for path in files]
    measured = (figure for content in contents for figure in content.get("figures", ()))
    return {"figures": _HEAD + "\n".join(_rows(measured, root)) + "\n"}


def network_table(root: pathlib.Path) -> str:
    """Returns the table of networks, which tools/network_costs.py measured."""
    text = (root / "docs" / "figures" / "networks.json").read_text(encoding="utf-8")
    rows = [_NETWORKS]
    for name, cost in json.loads(text)["networks"].items():
        size, strides = cost["image_size"], ", ".join(map(str, cost["strides"])) or "no backbone"
        parameters, products = (
            f"{cost[key] / 1e6:,.1f}" for key in ("parameters", "multiply_adds")
        )
        rows.append(f"| `{name}` | {size} x {size} | {parameters} | {products} | {strides} |")
    return "\n".join(rows)


def _rows(measured: Iterable[Mapping[str, Any]], root: pathlib.Path) -> Iterator[str]:
    for figure in measured:
        old = "older than its code" if is_old(figure, root) else ""
        cells = (figure["what"], figure["value"], figure["date"], figure["machine"])
        command = f"`{figure['command']}`"
        yield "| " + " | ".join([*map(str, cells), command, old]) + " |"


def is_old(figure: Mapping[str, Any], root: pathlib.Path) -> bool:
    """Returns whether the code that a figure measures was changed after its date."""
    words = ["git", "log", "-1", "--format=%cs", "--", *figure["code"]]
    changed = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False).stdout
    return changed.strip() > str(figure["date"])
