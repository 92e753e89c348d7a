"""Pages of old names: an entry with an anchor for each, which the search of the site finds."""

from __future__ import annotations

import collections
from collections.abc import Mapping

from tf_frame_legacy.names import NOT_OFFERED, Row, table

_INTRODUCTION = """# Old names

What stands for a name of TensorFlow 1, slim, tf.contrib and the trainers around them. The search of
this site finds a name as a program has it, such as `tf.contrib.layers.conv2d`;
`tf-frame legacy where NAME` looks it up on the command line.

The names begin with:

{groups}
"""


def pages() -> Mapping[str, str]:
    """Returns name -> text of each page: one for the names below `tf.contrib.layers`, and so on."""
    groups: dict[str, list[Row]] = collections.defaultdict(list)
    for row in table().values():
        groups[_group(row.was)].append(row)
    links = [f"* [`{group}`](old_names/{group}.md)" for group in sorted(groups)]
    texts = {
        f"old_names/{group}": f"# {group}\n\n" + "\n\n".join(_entry(row) for row in rows)
        for group, rows in groups.items()
    }
    return {"old_names": _INTRODUCTION.format(groups="\n".join(links)), **texts}


def _group(name: str) -> str:
    parts = name.split(".")
    most = 3 if parts[:2] == ["tf", "contrib"] else 2
    return ".".join(parts[: min(most, max(len(parts) - 1, 1))]).replace("*", "all")


def _entry(row: Row) -> str:
    """An entry of the table, as an object of Sphinx."""
    if row.kind == NOT_OFFERED:
        text = f"Not offered: {row.note}"
    else:
        text = f"Is `{row.target}` ({row.kind})." + (f" {row.note}" if row.note else "")
    return f"```{{old-name}} {row.was}\n{text}\n```"
