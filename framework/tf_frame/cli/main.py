"""`tf-frame`: finds the sub-command and turns errors into exit codes.

A sub-command is a module with `main(argv) -> exit code`; only the one that
was asked for is imported, so that the command line starts at once.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Sequence

import tf_frame
from tf_frame.cli.screen import silence
from tf_frame.errors import EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, ConfigError, TfFrameError

COMMANDS = {
    "run": ("tf_frame.cli.run", "train a model, evaluate it, or go on where it stopped"),
    "evaluate": ("tf_frame.cli.evaluate", "evaluate the checkpoints of a run"),
    "predict": ("tf_frame.cli.predict", "write what a trained model predicts"),
    "export": ("tf_frame.cli.export", "write a trained model as SavedModel, frozen graph, TFLite"),
    "plugins": ("tf_frame.cli.plugins", "list and show the installed plugins"),
    "checkpoint": ("tf_frame.cli.checkpoint", "inspect and rewrite checkpoints"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code."""
    try:
        return _dispatch(list(sys.argv[1:] if argv is None else argv))
    except TfFrameError as error:
        print(f"tf-frame: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("tf-frame: stopped by Ctrl-C", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        silence(sys.stdout)
        return EXIT_OK


def _dispatch(argv: list[str]) -> int:
    if not argv or argv[0] in ("--help", "-h", "help"):
        print(usage())
        return EXIT_OK if argv else EXIT_USAGE
    if argv[0] == "--version":
        print(f"tf-frame {tf_frame.__version__}")
        return EXIT_OK
    if argv[0] not in COMMANDS:
        raise ConfigError(_unknown(argv[0]))
    return int(importlib.import_module(COMMANDS[argv[0]][0]).main(argv[1:]))


def usage() -> str:
    """The text of `tf-frame --help`."""
    commands = "\n".join(f"  {name:<12}{text}" for name, (_, text) in COMMANDS.items())
    return (
        f"tf-frame {tf_frame.__version__}: trains TensorFlow models that arrive as pip packages\n\n"
        f"usage: tf-frame COMMAND [OPTIONS]\n\ncommands:\n{commands}\n\n"
        "tf-frame COMMAND --help shows the options of a command; start with\n"
        "  tf-frame plugins list\n"
        "  tf-frame run --plugin NAME\n\n"
        "exit codes: 0 done, 1 the run failed, 2 wrong option, plugin or data,\n"
        "130 Ctrl-C and 143 SIGTERM (after saving the current step)"
    )


def _unknown(word: str) -> str:
    near = difflib.get_close_matches(word, COMMANDS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"commands: {', '.join(COMMANDS)}"
    return f"unknown command {word!r}; {hint}"
