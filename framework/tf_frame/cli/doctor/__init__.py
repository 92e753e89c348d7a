"""`tf-frame doctor`: looks for what on this machine would keep a run or a profile from working.

What imports TensorFlow or a plugin runs in one child process, beside the other checks: its import
takes seconds, and may crash.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence

from tf_frame import file_system
from tf_frame.cli.doctor import environment, imports, machine, packages, storage
from tf_frame.cli.doctor.check import PROBLEM, STATES, WARNING, Check
from tf_frame.cli.doctor.child import Child
from tf_frame.command_line import option_help
from tf_frame.command_line.screen import report
from tf_frame.config.flags import parse_flags, split_flags
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_FAILED, EXIT_OK, ConfigError

_USAGE = """usage: tf-frame doctor [MODEL_DIR] [OPTIONS]

Checks what a run needs, a line each: versions and their known traps, GPUs and cores, TensorBoard's
Profile tab, plugins, MODEL_DIR and the temporary folder, ports, environment variables and limits.
Says what to do about each warning and problem. Exit code 0 without problems, 1 with."""
_JSON = Option("json", bool, False, "print JSON for programs")
OPTIONS = (_JSON,)
# Runs make their folders there without --model_dir.
_DEFAULT_FOLDER = "runs"


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if any(word in ("-h", "--help") for word in argv):
        report(f"{_USAGE}\n\n{option_help.group_text('Options', OPTIONS, {})}")
        return EXIT_OK
    values, words = split_flags(argv, OPTIONS)
    parse_flags([word for word in words if word.startswith("-")], OPTIONS)
    if len(words) > 1:
        raise ConfigError(f"tf-frame doctor takes one folder, MODEL_DIR; given: {' '.join(words)}")
    made = checks(*words)
    found = _as_json(made) if values.get(_JSON.name) else _as_text(made)
    return EXIT_FAILED if found[PROBLEM] else EXIT_OK


def checks(folder: str = _DEFAULT_FOLDER) -> Iterator[Check]:
    """Yields all checks of this machine, those that take seconds last.

    Args:
      folder: the model folder of a run, or the one in which runs make theirs.
    """
    remote = [f"{imports.FOLDER}={folder}"] if file_system.is_remote(folder) else []
    with Child([*imports.PARTS, *remote]) as child:
        yield from packages.checks()
        yield from machine.checks()
        yield from environment.checks(os.environ)
        yield from storage.checks(folder)
        answers = child.answers()
    yield from imports.checks(answers, os.environ, folder)


def _as_text(made: Iterator[Check]) -> Counter[str]:
    """Prints each check as soon as it is made, and then the counts."""
    found: Counter[str] = Counter()
    for check in made:
        report(check.text())
        found[check.state] += 1
    report(", ".join(_counted(found[state], state) for state in (PROBLEM, WARNING)))
    return found


def _counted(number: int, state: str) -> str:
    return f"{number or 'no'} {state}{'' if number == 1 else 's'}"


def _as_json(made: Iterator[Check]) -> Counter[str]:
    every = list(made)
    found = Counter(check.state for check in every)
    counts = {state: found[state] for state in STATES}
    report(json.dumps({**counts, "checks": [dataclasses.asdict(c) for c in every]}, indent=2))
    return found
