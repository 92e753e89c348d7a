"""`tf-frame legacy`: runs, checks and converts old programs; looks up old names."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import ClassVar

from tf_frame import Command
from tf_frame.command_line.screen import report_help
from tf_frame.errors import EXIT_OK, EXIT_USAGE, ConfigError
from tf_frame.text import brief, listed

_SUB_COMMANDS = {
    "run": ("tf_frame_legacy.cli.run", "run a program for TensorFlow 1 as it is"),
    "check": ("tf_frame_legacy.source.check", "tell what of a program runs, without running it"),
    "convert": (
        "tf_frame_legacy.source.convert",
        "rewrite a program to run without this",
    ),
    "where": ("tf_frame_legacy.cli.where", "tell what stands for an old name"),
}


class Legacy(Command):
    """Runs, checks and converts programs that were written for TensorFlow 1.

    run SCRIPT [WORDS]         run it as it is: its files see TensorFlow 1, all others do not
    check DIR                  list the old names of its files, and which are not offered
    convert DIR --output NEW   rewrite it, so that it runs without this command
    where NAME                 tell what stands for an old name, such as tf.contrib.rnn.LSTMCell

    tf-frame legacy NAME --help shows the options of each.
    """

    usage: ClassVar[str] = "run|check|convert|where ..."
    passes_words_on: ClassVar[bool] = True

    def run(self, words: Sequence[str]) -> int:
        """Runs the sub-command; see `Command`."""
        if not words:
            names = "\n".join(f"  {name:<10}{text}" for name, (_, text) in _SUB_COMMANDS.items())
            report_help(f"usage: tf-frame legacy {self.usage}\n\n{names}")
            return EXIT_USAGE
        name, *rest = words
        if name not in _SUB_COMMANDS:
            raise ConfigError(f"unknown word {brief(name)}; words: {listed(_SUB_COMMANDS)}")
        return int(importlib.import_module(_SUB_COMMANDS[name][0]).main(rest) or EXIT_OK)
