"""`tf-frame plugins`: runs the module of a sub-command, such as `tf-frame plugins list`."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from tf_frame.command_line.screen import report_help
from tf_frame.config.values import not_a_choice
from tf_frame.errors import EXIT_OK, EXIT_USAGE, ConfigError
from tf_frame.tensorflow_log import quiet_import
from tf_frame.text import columns

# Word -> module with `main(argv) -> exit code`, its arguments, and its help.
SUB_COMMANDS = {
    "list": (
        "tf_frame.cli.plugin_list",
        "[--json] [--check]",
        "the installed plugins, with the problems that their metadata tells; --check loads each of "
        "them and reports the broken ones (then the exit code is 2), --json prints the list "
        "for programs",
    ),
    "show": (
        "tf_frame.cli.plugin_show",
        "NAME [--all | --schema]",
        "what the plugins called NAME are, the inputs or models that they work with, and everyday "
        "options; --all: also the whole description, entry point, contract and all options; "
        "--schema: the JSON schema of config.yaml for a model, for editors",
    ),
    "why": (
        "tf_frame.cli.plugin_why",
        "NAME",
        "why the plugins called NAME cannot be used, and what to do; exit code 0 if they can, else "
        "2",
    ),
    "check": (
        "tf_frame.cli.plugin_check",
        "NAME [--json] [OPTIONS]",
        "whether the plugins called NAME keep their contracts; tf-frame plugins check --help",
    ),
    "new": (
        "tf_frame.cli.plugin_new",
        "NAME --kind KIND [--directory FOLDER]",
        "writes the folder of a new plugin; tf-frame plugins new --help shows the kinds",
    ),
}
# Words without a help of their own; a plugin that they load may write log lines.
_BRIEF = ("list", "show", "why")
_HELP = ("-h", "--help")


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    word, *arguments = argv or [""]
    brief_help = word in _BRIEF and any(argument in _HELP for argument in arguments)
    if not argv or word in _HELP or brief_help:
        report_help(usage())
        return EXIT_OK if argv else EXIT_USAGE
    if word not in SUB_COMMANDS:
        raise ConfigError(f"tf-frame plugins: {not_a_choice(word, SUB_COMMANDS)}")
    command = importlib.import_module(SUB_COMMANDS[word][0]).main
    if word not in _BRIEF:
        return int(command(arguments))
    # A plugin that is loaded to be shown or checked may import TensorFlow at its top.
    with quiet_import():
        return int(command(arguments))


def usage() -> str:
    """Returns the text of `tf-frame plugins --help`."""
    calls = [f"tf-frame plugins {word} {words}" for word, (_, words, _) in SUB_COMMANDS.items()]
    rows = [(word, about) for word, (_, _, about) in SUB_COMMANDS.items()]
    return "usage: " + "\n       ".join(calls) + "\n\n" + columns(rows, indent=0)
