"""`tf-frame plugins new`: writes the folder of a new plugin that works."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tf_frame.command_line.option_help import group_text
from tf_frame.command_line.screen import report, report_help
from tf_frame.config.flags import parse_words
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, EXIT_USAGE, ConfigError
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import COMMAND
from tf_frame.scaffold.contents import CONTENTS, describe, run_command
from tf_frame.scaffold.names import check_name, package_name
from tf_frame.scaffold.write import write_plugin
from tf_frame.shell_text import shell_word
from tf_frame.text import brief, listed, short

_USAGE = """usage: tf-frame plugins new NAME --kind KIND [--directory FOLDER]

Writes FOLDER/NAME, a package with a small plugin that works, its tests and settings. NAME my-model
gives the package my_model, the class MyModel, and the plugin my_model."""

OPTIONS = (
    Option("kind", str, "", "the plugins in the package", choices=tuple(CONTENTS)),
    Option("directory", str, ".", "an existing folder for the new one"),
)


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if not argv or any(word in ("-h", "--help") for word in argv):
        kinds = "\n".join(f"  {choice:<20}{describe(choice)}" for choice in CONTENTS)
        options = group_text("Options", OPTIONS, {"kind": "required"})
        report_help(f"{_USAGE}\n\n{options}\n\nkinds:\n{kinds}")
        return EXIT_OK if argv else EXIT_USAGE
    flags, words = parse_words(argv, OPTIONS)
    if len(words) != 1:
        given_names = " ".join(words) or "none"
        raise ConfigError(f"tf-frame plugins new takes one NAME; given: {short(given_names)}")
    if "kind" not in flags:
        raise ConfigError(f"tf-frame plugins new needs --kind, one of {listed(CONTENTS)}")
    name, kind = words[0], flags["kind"]
    check_name(name, find_plugins())
    if kind == "command" and package_name(name) in COMMAND.reserved:
        raise ConfigError(f"the name {brief(name)} is taken: tf-frame itself has this command")
    folder = write_plugin(name, kind, os.path.expanduser(flags.get("directory", ".")))
    report(f"{folder}: {describe(kind)}, with tests. Next:\n\n{_next_commands(name, kind, folder)}")
    return EXIT_OK


def _next_commands(name: str, kind: str, folder: os.PathLike[str]) -> str:
    commands = [
        f"cd {shell_word(folder)}",
        "pip install -e '.[test]'",
        run_command(name, kind),
        "pytest",
        f"tf-frame plugins check {package_name(name)}",
    ]
    return "\n".join(f"  {command}" for command in commands)
