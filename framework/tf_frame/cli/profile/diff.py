"""`tf-frame profile diff`: compares two profiles, and says what became slower or faster."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.command_line.folder_command import folder_command
from tf_frame.command_line.screen import complain, output_may_fail, report
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_FAILED, EXIT_OK, ConfigError
from tf_frame.profiling.profile_folders import read_recorded_run
from tf_frame.profiling.report.build_report import build_report
from tf_frame.profiling.report.contents import Report
from tf_frame.profiling.report.diff import Comparison, compare
from tf_frame.profiling.report.diff_text import format_comparison, too_few_steps
from tf_frame.tensorflow_log import quiet_import

USAGE = """usage: tf-frame profile diff BEFORE AFTER [OPTIONS]

Compares the steps of two profiles: the whole step, its phases, hooks, kinds of operations, layers
and operations, in milliseconds per step. Operations are matched by name, without the scopes of
clones and without numbers that TensorFlow adds to make names unique. A difference that may be
noise of the steps is marked so. BEFORE and AFTER are each the --model_dir of a run (its newest
profile counts) or one folder below its plugins/profile.

Exit code 0; with --fail_over, 1 if the step became slower by more than that; where the number of
examples per step differs, the time of an example counts."""
_RUN = Option(
    "run", tuple[str, ...], (), "name of the profile in both folders, or two: before,after"
)
_FAIL_OVER = Option(
    "fail_over", str, "", "exit with code 1 if the step is slower by more, such as 10%"
)
_JSON = Option("json", bool, False, "print JSON for programs, with all entries")
OPTIONS = (_RUN, _FAIL_OVER, _JSON)


@folder_command(
    name="tf-frame profile diff", usage=USAGE, options=OPTIONS, takes="two folders", count=2
)
def main(folders: Sequence[str], values: Mapping[str, Any]) -> int:
    """Prints the comparison; returns the exit code."""
    limit = _percent(values[_FAIL_OVER.name]) if values.get(_FAIL_OVER.name) else None
    with quiet_import():  # A remote folder needs TensorFlow.
        compared = compare(*_reports(folders, values[_RUN.name]))
    with output_may_fail():  # The exit code has the result in any case.
        if values.get(_JSON.name):
            report(json.dumps(dataclasses.asdict(compared), indent=1, allow_nan=False))
        else:
            report(format_comparison(compared))
    return EXIT_OK if limit is None else _gate(compared, limit)


def _reports(folders: Sequence[str], runs: Sequence[str]) -> list[Report]:
    """Reads both profiles; one name of a run counts for both."""
    if len(runs) > 2:
        raise ConfigError(f"--run takes one name, or two: before,after; given: {','.join(runs)}")
    names: list[str | None] = [*runs, *runs] if len(runs) == 1 else [*runs] or [None, None]
    return [_report(*pair) for pair in zip(folders, names, strict=True)]


def _report(folder: str, name: str | None) -> Report:
    model_dir, name = _split_run_folder(folder) if name is None else (folder, name)
    run = read_recorded_run(model_dir, name)
    path = os.path.join(model_dir, "plugins", "profile", run.name)
    return build_report(run.profiles, run=path, max_operations=None)


def _split_run_folder(folder: str) -> tuple[str, str | None]:
    """Splits `MODEL_DIR/plugins/profile/RUN`; any other folder is a model folder."""
    parent, name = os.path.split(folder.rstrip("/"))
    model_dir = parent.removesuffix(os.path.join("plugins", "profile"))
    return (folder, None) if model_dir == parent else (model_dir or os.curdir, name)


def _percent(text: str) -> float:
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ConfigError(f"--fail_over {text}: it takes a percentage from 0 up, such as 10%")
    return value


def _gate(compared: Comparison, limit: float) -> int:
    """Returns the exit code for the change of the step."""
    step, what = compared.step, "step"
    if compared.example is not None:
        step, what = compared.example, "time of an example"
    if not compared.can_tell:
        raise ConfigError(f"--fail_over {limit:g}%: {too_few_steps(compared)}")
    if not step.significant or step.percent is None or step.percent <= limit:
        return EXIT_OK
    complain(f"tf-frame: the {what} became {step.percent:.1f} % slower; allowed: {limit:g} %")
    return EXIT_FAILED
