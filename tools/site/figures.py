"""Measured tables, from docs/figures/*.json: cells, date, machine, command, and the code measured.

    python tools/site/figures.py

copies the tables into the documents, between `<!-- figures: FILE#TABLE -->` and `<!-- end -->`. The
build of the site adds date, machine and command to each, and marks one that is older than its code.
A table without a machine was computed, not measured.
"""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

_ROOT = pathlib.Path(__file__).parents[2]
_PLACE = re.compile(r"<!-- figures: (\S+) -->\n.*?<!-- end -->", re.DOTALL)
_HEAD = """# Measured figures

All tables that a program measured, by the names of their files in `docs/figures`. A table is marked
if the code that it measures has changed since.
"""

_NETWORKS = """| network | image | parameters, 10^6 | multiply-adds, 10^6 | strides of its maps |
|---|---|---|---|---|"""


def tables(root: pathlib.Path) -> dict[str, Mapping[str, Any]]:
    """Returns the tables of all files, by `FILE#TABLE`."""
    found = {}
    for path in sorted((root / "docs" / "figures").glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        for name, table in content.get("tables", {}).items():
            found[f"{path.stem}#{name}"] = table
    return found


def filled(text: str, root: pathlib.Path) -> str:
    """Returns the text of a document with the tables as the files have them."""
    found = tables(root)

    def place(match: re.Match[str]) -> str:
        return f"<!-- figures: {match[1]} -->\n\n{_markdown(found[match[1]])}\n\n<!-- end -->"

    return _PLACE.sub(place, text)


def add_facts(app: Any, page: str, source: list[str]) -> None:
    """Adds a line beneath each table; called by Sphinx for each page."""
    root = pathlib.Path(app.srcdir).parent
    found = tables(root)
    source[0], count = _PLACE.subn(lambda match: _with_facts(found[match[1]], root), source[0])
    if count:
        app.env.note_reread()  # The next build looks for newer code.


def pages(root: pathlib.Path) -> Mapping[str, str]:
    """Returns the page of all tables, by its name."""
    parts = [f"## {name}\n\n{_with_facts(table, root)}\n" for name, table in tables(root).items()]
    return {"figures": "\n".join([_HEAD, *parts])}


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


def _markdown(table: Mapping[str, Any]) -> str:
    lines = ["|---" * len(table["head"]) + "|", *map(_line, table["rows"])]
    return "\n".join([_line(table["head"]), *lines])


def _line(cells: Sequence[str]) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def _with_facts(table: Mapping[str, Any], root: pathlib.Path) -> str:
    command = f": `{table['command']}`" if table["command"] else ""
    how = f"Measured on {table['date']}, {table['machine']}"
    facts = (how if table["machine"] else f"Computed on {table['date']}") + command
    old = ". **Older than its code**" if is_old(table, root) else ""
    return f"{_markdown(table)}\n\n*{facts}*{old}"


def is_old(table: Mapping[str, Any], root: pathlib.Path) -> bool:
    """Returns whether the code that a table measures was changed after its date."""
    words = ["git", "log", "-1", "--format=%cs", "--", *table["code"]]
    changed = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False).stdout
    return changed.strip() > str(table["date"])


def main() -> None:
    """Copies the tables into the documents."""
    for pattern in ("docs/**/*.md", "plugins/*/README.md"):
        for path in _ROOT.glob(pattern):
            text = path.read_text(encoding="utf-8")
            if (new := filled(text, _ROOT)) != text:
                path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
