"""`tf-frame profile`: profiles a model, and shows, compares, merges and removes profiles."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from tf_frame.command_line.screen import report_help
from tf_frame.errors import EXIT_OK, EXIT_USAGE

SUB_COMMANDS = ("attach", "show", "diff", "merge", "gc")
USAGE = """usage: tf-frame profile --plugin NAME [--steps N] [--warmup N] [OPTIONS]
       tf-frame profile show MODEL_DIR        print the report of a profile again
       tf-frame profile attach MODEL_DIR      profile a job that is running
       tf-frame profile diff DIR DIR          show what became slower
       tf-frame profile merge MODEL_DIR       write one trace of all tasks for ui.perfetto.dev
       tf-frame profile gc MODEL_DIR          remove old profiles

The first form trains a few steps, and reports where the time of a step goes and what would make it
shorter. It takes the options of tf-frame run (tf-frame run --plugin NAME --help); nothing is kept
of the training. tf-frame profile WORD --help shows the options of a word."""


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if argv and argv[0] in SUB_COMMANDS:
        module = importlib.import_module(f"tf_frame.cli.profile.{argv[0]}")
        return int(module.main(argv[1:]))
    from tf_frame.cli.profile import record as run

    if not argv or any(word in ("-h", "--help") for word in argv):
        report_help(f"{USAGE}\n\n{run.options_text()}")
        return EXIT_OK if argv else EXIT_USAGE
    return run.main(argv)
