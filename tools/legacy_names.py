"""Writes docs/legacy/names.md: the table of old names, by module.

python tools/legacy_names.py
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

from tf_frame_legacy.names import NOT_OFFERED, Row, table

PAGE = Path(__file__).parents[1] / "docs" / "legacy" / "names.md"
_HEAD = """# Old names and what stands for them

Written by `tools/legacy_names.py` from the table; `tf-frame legacy where NAME` looks a name up.
`old=new` is a name that changed. The kinds are explained in [where.md](where.md).

{offered} names are offered, {missing} rows say why a name or a module is not.

## Offered

| was in | names | is in | kind | note |
|---|---|---|---|---|
"""
_MISSING = """
## Not offered

| was in | names | reason |
|---|---|---|
"""


def page() -> str:
    """Returns the text of the page."""
    offered = [row for row in table().values() if row.kind != NOT_OFFERED]
    missing = [row for row in table().values() if row.kind == NOT_OFFERED]
    head = _HEAD.format(offered=len(offered), missing=len(missing))
    return head + "".join(_offered(offered)) + _MISSING + "".join(_missing(missing))


def _offered(rows: Iterable[Row]) -> Iterator[str]:
    for (was, target, kind, note), group in _grouped(rows):
        names = ", ".join(map(_renamed, group))
        yield f"| `{was}` | {names} | `{target}` | {kind} | {_cell(note)} |\n"


def _missing(rows: Iterable[Row]) -> Iterator[str]:
    for (was, _, _, note), group in _grouped(rows):
        names = ", ".join(row.was.rpartition(".")[2] for row in group)
        yield f"| `{was}` | {names.replace('*', 'all')} | {_cell(note)} |\n"


def _grouped(rows: Iterable[Row]) -> Iterator[tuple[tuple[str, str, str, str], list[Row]]]:
    def key(row: Row) -> tuple[str, str, str, str]:
        was, target = row.was.rpartition(".")[0], row.target.rpartition(".")[0]
        return was, target, row.kind, row.note

    ordered = sorted(rows, key=lambda row: (key(row), row.was))
    for group_key, group in itertools.groupby(ordered, key):
        yield group_key, list(group)


def _renamed(row: Row) -> str:
    was, target = row.was.rpartition(".")[2], row.target.rpartition(".")[2]
    return was if was == target else f"{was}={target}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
