"""`tf-frame legacy where NAME`: what stands for an old name today."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from tf_frame.command_line.screen import report, report_help
from tf_frame.errors import EXIT_FAILED, EXIT_OK, EXIT_USAGE
from tf_frame_legacy.names import Row, canonical, find, table

_USAGE = """usage: tf-frame legacy where NAME ...

Tells what stands for an old name: tf.contrib.rnn.LSTMCell, tf_slim.conv2d, or only LSTMCell. Of a
module, such as tf.contrib.opt, all names are listed. Exit code 1: the table has no such name."""


def main(argv: Sequence[str]) -> int:
    """Prints the rows of the names; returns the exit code."""
    if not argv or any(word in ("-h", "--help") for word in argv):
        report_help(_USAGE)
        return EXIT_OK if argv else EXIT_USAGE
    answers = [_rows(name) for name in argv]
    for name, rows in zip(argv, answers, strict=True):
        report("\n".join(map(_text, rows)) if rows else _unknown(name))
    return EXIT_OK if all(answers) else EXIT_FAILED


def _rows(name: str) -> list[Row]:
    """Returns the row of a full name, those of a module, or those whose last part is the name."""
    if row := find(name):
        return [row]
    module = f"{canonical(name)}."
    rows = [row for row in table().values() if row.was.startswith(module)]
    return rows or [row for row in table().values() if row.was.endswith(f".{name}")]


def _text(row: Row) -> str:
    lines = [f"{row.was}: {row.kind}"]
    if row.target:
        lines.append(f"  is    {row.target}")
    if row.note:
        lines.append(f"  note  {row.note}")
    return "\n".join(lines)


def _unknown(name: str) -> str:
    # Imported here, because a known name needs no sources.
    from tf_frame_legacy.source.lookup import NEWER_NOTE, is_newer

    if is_newer(canonical(name)):
        return f"{name}: {NEWER_NOTE}"
    near = difflib.get_close_matches(canonical(name), table(), n=3)
    hint = f"; near: {', '.join(near)}" if near else ""
    return f"{name}: not in the table: what TensorFlow 2 has in tf.compat.v1 is not listed{hint}"
