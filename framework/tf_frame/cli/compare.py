"""`tf-frame compare`: shows how runs differ, and which is better by more than noise."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.command_line import option_help
from tf_frame.command_line.output_file import check_file, write_text
from tf_frame.command_line.screen import complain, report, report_help
from tf_frame.config.flags import parse_words
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, ConfigError
from tf_frame.launch.watchdog import is_there
from tf_frame.runs.comparison.compared_run import read_runs
from tf_frame.runs.comparison.comparison import Comparison, compare_runs
from tf_frame.runs.comparison.page import comparison_page
from tf_frame.runs.comparison.text import format_runs
from tf_frame.side_files import finite

_USAGE = """usage: tf-frame compare RUN RUN ... [OPTIONS]

Compares the runs in folders: the options that differ, metrics at the same step and at the end,
curves, speed, memory, versions and profiles. The verdict says which setting is better. Runs that
differ only in --random_seed say how large noise is."""
_METRIC = Option("metric", str, "", "metric of the verdict; empty: the main one of the first run")
_MODE = Option(
    "mode",
    str | None,
    None,
    "the best value of --metric is the largest or the smallest; none: as its name says",
    choices=("max", "min"),
)
_HTML = Option(
    "html",
    str | None,
    None,
    "write the comparison as a page with curves and pictures, to this file",
)
_JSON = Option("json", bool, False, "print JSON for programs")
OPTIONS = (_METRIC, _MODE, _HTML, _JSON)


def main(argv: Sequence[str]) -> int:
    """Prints the comparison; returns the exit code."""
    if any(word in ("-h", "--help") for word in argv):
        report_help(f"{_USAGE}\n\n{option_help.group_text('Options', OPTIONS, {})}")
        return EXIT_OK
    given, folders = parse_words(argv, OPTIONS)
    values = {option.name: option.default for option in OPTIONS} | given
    folders = [os.path.expanduser(folder) for folder in folders]
    if len(folders) < 2:
        raise ConfigError("give at least two folders of runs: tf-frame compare RUN RUN ...")
    check_file(values[_HTML.name])
    comparison = compare_runs(
        read_runs(folders, is_there), metric=values[_METRIC.name], mode=values[_MODE.name]
    )
    if path := values[_HTML.name]:
        write_text(path, comparison_page(comparison))
        complain(f"wrote {path}")
    report(_json(comparison) if values[_JSON.name] else format_runs(comparison))
    return EXIT_OK


def _json(comparison: Comparison) -> str:
    return json.dumps(finite(_facts(comparison)), indent=2, allow_nan=False)


def _facts(comparison: Comparison) -> dict[str, Any]:
    labels = [run.label for run in comparison.runs]

    def by_run(rows: Mapping[str, Sequence[str]]) -> dict[str, dict[str, str]]:
        return {name: dict(zip(labels, cells, strict=True)) for name, cells in rows.items()}

    best = comparison.verdict.best
    return {
        "runs": {run.label: run.name for run in comparison.runs},
        "states": {run.label: run.record.state for run in comparison.runs},
        "metric": comparison.metric,
        "step": comparison.step,
        "metrics": {run.label: dict(run.metrics_at(comparison.step)) for run in comparison.runs},
        "options": by_run(comparison.options),
        "packages": by_run(comparison.origin),
        "speed": by_run(comparison.speed_rows()),
        "settings": [
            {
                "name": setting.name,
                "runs": [run.label for run in setting.runs],
                "mean": setting.mean if setting.values else None,
                "deviation": setting.deviation,
            }
            for setting in comparison.settings
        ],
        "profiles": {
            f"{before} {after}": dataclasses.asdict(compared.step)
            for (before, after), compared in comparison.profiles.items()
        },
        "verdict": list(comparison.verdict.lines),
        "best": [run.label for run in best.runs] if best else [],
        "notes": list(comparison.notes),
    }
