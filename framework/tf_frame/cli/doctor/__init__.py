"""`tf-frame doctor`: checks everything on this machine that a run or a profile needs.

The checks that import TensorFlow or a plugin run in a child process, at the same time as the other
checks: such an import takes seconds, and may crash.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence

from tf_frame import file_system
from tf_frame.cli.doctor import machine, packages
from tf_frame.cli.doctor.machine import PROBLEM, STATES, WARNING, Check
from tf_frame.cli.doctor.probe import Child
from tf_frame.command_line import option_help
from tf_frame.command_line.screen import report, report_help
from tf_frame.config.flags import parse_words
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_FAILED, EXIT_OK, ConfigError

_USAGE = """usage: tf-frame doctor [MODEL_DIR] [OPTIONS]

Checks the needs of a run, a line each: versions and their known traps, GPUs and cores, the Profile
tab of TensorBoard, plugins, MODEL_DIR and the temporary folder, ports, environment variables,
limits and, measured for three seconds, the peaks of the machine in GFLOP/s and GB/s. Says what to
do about each warning and problem. Exit code 0 without problems, 1 with."""
_JSON = Option("json", bool, False, "print JSON for programs")
OPTIONS = (_JSON,)
# Runs make their folders there without --model_dir.
_DEFAULT_FOLDER = "runs"


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if any(word in ("-h", "--help") for word in argv):
        report_help(f"{_USAGE}\n\n{option_help.group_text('Options', OPTIONS, {})}")
        return EXIT_OK
    values, words = parse_words(argv, OPTIONS)
    if len(words) > 1:
        raise ConfigError(f"tf-frame doctor takes one folder, MODEL_DIR; given: {' '.join(words)}")
    has_problem = _show(checks(*words), as_json=bool(values.get(_JSON.name)))
    return EXIT_FAILED if has_problem else EXIT_OK


def checks(folder: str = _DEFAULT_FOLDER) -> Iterator[Check]:
    """Yields all checks of this machine and a model folder; slow checks come last."""
    remote = [f"{packages.FOLDER}={folder}"] if file_system.is_remote(folder) else []
    with Child([*packages.PARTS, *remote]) as child:
        yield from packages.version_checks()
        yield from machine.limit_checks()
        yield from machine.environment_checks(os.environ)
        yield from machine.folder_checks(folder)
        answers = child.answers()
    yield from packages.import_checks(answers, os.environ, folder)


def _show(checks: Iterator[Check], *, as_json: bool) -> bool:
    """Prints the checks and their counts; returns whether there is a problem."""
    rows = []
    for check in checks:
        rows.append(dataclasses.asdict(check))
        if not as_json:
            report(check.text())
    counts = Counter(row["state"] for row in rows)
    if as_json:
        report(json.dumps({**{state: counts[state] for state in STATES}, "checks": rows}, indent=2))
    else:
        texts = [
            f"{counts[state] or 'no'} {state}{'' if counts[state] == 1 else 's'}"
            for state in (PROBLEM, WARNING)
        ]
        report(", ".join(texts))
    return counts[PROBLEM] > 0
