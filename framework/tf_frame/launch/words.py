"""Checks the command that every task of a job runs, and makes the `Job` of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.command_line.parsing import parse_command_line
from tf_frame.command_line.selection import COMMAND_MODES, DRY_RUN, MODE, MODEL_DIR, PRINT_CONFIG
from tf_frame.command_line.words import CommandLine
from tf_frame.errors import ConfigError
from tf_frame.launch.job import Job
from tf_frame.runs.setup.training_setup import TrainingSetup

# A task of its own evaluates; the chief does not.
_OF_A_JOB_WITH_EVALUATOR = ("--dedicated_evaluator",)
_HELP = ("-h", "--help", "--help_all")
_TRIED_ALONE = (DRY_RUN.name, PRINT_CONFIG.name, "show_placement", "show_hooks", "show_model")
_SAID_BY_TF_CONFIG = (
    *("master", "task", "worker_replicas", "num_ps_tasks"),
    *("ps_hosts", "worker_hosts", "job_name", "cluster_from"),
)


def job_of(words: Sequence[str], values: Mapping[str, Any]) -> tuple[Job, TrainingSetup]:
    """Returns the job, and what its tasks train.

    Args:
      words: what follows `--`, not empty: `run`, and its options.
      values: the options of the job, by name.

    Raises:
      ConfigError: the words are no training of several tasks, or one of the options is wrong.
      PluginError: a plugin cannot be used.
    """
    _check_is_run(words)
    command, *options = words
    line = parse_command_line(options)
    _check_is_for_a_job(line)
    setup = line.setup()
    if not line.values.get(MODEL_DIR.name):
        # The default is a new folder, which would be another one in each task.
        options += [f"--{MODEL_DIR.name}", setup.model_dir]
    if values["evaluator"]:
        options += _OF_A_JOB_WITH_EVALUATOR
    job = Job(
        words=[command, *options],
        model_dir=setup.model_dir,
        num_ps=values["num_ps"],
        num_workers=values["num_workers"],
        evaluator=values["evaluator"],
    )
    return job, setup


def _check_is_run(words: Sequence[str]) -> None:
    if words[0] != "run":
        raise ConfigError(
            f"tf-frame launch starts trainings only: after -- comes run, not {words[0]!r}"
        )
    asking = [word for word in words if word in _HELP]
    if asking:
        raise ConfigError(
            f"{asking[0]} after -- would be a task's; ask tf-frame run {asking[0]}, or "
            "tf-frame launch --help"
        )


def _check_is_for_a_job(line: CommandLine) -> None:
    for name in _TRIED_ALONE:
        if line.values.get(name):
            raise ConfigError(f"--{name} is for one process; try it by tf-frame run --{name}")
    mode = line.values.get(MODE.name)
    if mode in COMMAND_MODES:
        raise ConfigError(f"--{MODE.name} {mode} is for one process; use tf-frame {mode}")
    for name in _SAID_BY_TF_CONFIG:
        if name in line.values:
            raise ConfigError(
                f"--{name} describes a cluster, and tf-frame launch makes it and tells each task; "
                f"leave --{name} out, and give --num_ps and --num_workers before --"
            )
