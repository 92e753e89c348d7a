"""`tf-frame launch`: starts all tasks of a distributed training by one command."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.cli.resume_check import check_resume
from tf_frame.cluster.meeting import parse_worker_counts
from tf_frame.command_line import option_help
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.command_line.screen import report_help
from tf_frame.command_line.selection import (
    COMMAND_MODES,
    DRY_RUN,
    MODE,
    MODEL_DIR,
    PRINT_CONFIG,
    PRINT_DATA,
)
from tf_frame.command_line.words import CommandLine
from tf_frame.config.flags import parse_flags, split_flags
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, EXIT_USAGE, ConfigError
from tf_frame.launch.job import ON, OPTIONS, PLACES, Job
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.text import brief

_USAGE = """usage: tf-frame launch [OPTIONS] -- run --plugin NAME [OPTIONS OF THE RUN]

Starts a training of several processes: a chief, workers, parameter servers and an evaluator. Shows
their output, each line once, and one line of progress; starts a task again that dies; passes
Ctrl-C and SIGTERM on, so that the chief saves; and ends when the last task has ended. The logs of
the tasks are in MODEL_DIR/logs; tf-frame status MODEL_DIR shows what each does."""
_HELP = ("-h", "--help")
_WORDS_FOLLOW = "--"
# A separate task evaluates; the chief does not.
_OF_A_JOB_WITH_EVALUATOR = ("--dedicated_evaluator",)
_HELP_OF_RUN = ("-h", "--help", "--help_all")
_TRIED_ALONE = (
    *(DRY_RUN.name, PRINT_CONFIG.name, PRINT_DATA.name),
    *("show_placement", "show_hooks", "show_model"),
)
_SAID_BY_TF_CONFIG = (
    *("master", "task", "worker_replicas", "num_ps_tasks"),
    *("ps_hosts", "worker_hosts", "job_name", "cluster_from"),
)


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    job_words, run_words = split_at_dashes(argv)
    if not argv or any(word in _HELP for word in job_words):
        report_help(_help([word for word in job_words if word not in _HELP]))
        return EXIT_OK if argv else EXIT_USAGE
    if not run_words:
        raise ConfigError(
            "say after -- what to train: tf-frame launch --num_workers 2 -- run --plugin NAME"
        )
    named, other_words = split_flags(job_words, [ON])
    place = _place(named)
    options = _options(place)
    defaults = {option.name: option.default for option in options}
    values = defaults | named | parse_flags(other_words, options)
    values["min_workers"], values["num_workers"] = parse_worker_counts(str(values["num_workers"]))
    job, setup = make_job(run_words, values)
    # If the tasks run on other machines, only those may have the folder and the data.
    if hasattr(place, "check"):
        place.check(setup, values)
        check_resume(setup, job.words[1:])
    return int(place.main(job, values))


def make_job(words: Sequence[str], values: Mapping[str, Any]) -> tuple[Job, TrainingSetup]:
    """Returns the job of the words after `--`, and the setup of its training.

    Raises:
      ConfigError: the words do not train with several tasks, or an option is wrong.
      PluginError: a plugin cannot be used.
    """
    _check_is_run(words)
    command, *options = words
    line = parse_command_line(options)
    _check_is_for_a_job(line)
    setup = line.setup()
    # Options that do not fit these tasks are an error now, and not in each of them.
    dataclasses.replace(
        setup.config, worker_replicas=values["num_workers"], num_ps_tasks=values["num_ps"]
    )
    if not line.values.get(MODEL_DIR.name):
        # The default is a new folder, a different one in each task.
        options += [f"--{MODEL_DIR.name}", setup.model_dir]
    if values["evaluator"]:
        options += _OF_A_JOB_WITH_EVALUATOR
    job = Job(
        words=[command, *options],
        model_dir=setup.model_dir,
        num_ps=values["num_ps"],
        num_workers=values["num_workers"],
        min_workers=_min_workers(values, setup.config.batch_shards),
        evaluator=values["evaluator"],
        timeout_secs=setup.config.cluster_timeout_secs,
        is_default_dir=setup.is_default_dir,
    )
    return job, setup


def _min_workers(values: Mapping[str, Any], batch_shards: int) -> int | None:
    """Returns the least number of workers; None for a job that needs all.

    Raises:
      ConfigError: the job cannot go on with fewer workers.
    """
    least, most = values.get("min_workers", values["num_workers"]), values["num_workers"]
    if least == most:
        return None
    counts = f"--num_workers {least}..{most}"
    if values.get(ON.name) == "env":
        raise ConfigError(f"{counts}: --on env has one TF_CONFIG for each task; give one number")
    if batch_shards < most:
        raise ConfigError(
            f"{counts} needs --batch_shards of the run, after --, of at least {most}: otherwise a "
            "job does not go on with another number of workers"
        )
    return int(least)


def _check_is_run(words: Sequence[str]) -> None:
    if words[0] != "run":
        raise ConfigError(
            f"tf-frame launch starts trainings only: after -- comes run, not {brief(words[0])}"
        )
    asking = [word for word in words if word in _HELP_OF_RUN]
    if asking:
        raise ConfigError(
            f"{asking[0]} after -- would go to a task; ask tf-frame run {asking[0]}, or "
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


def split_at_dashes(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Returns the words before the first `--`, and those after it."""
    if _WORDS_FOLLOW not in argv:
        return list(argv), []
    at = list(argv).index(_WORDS_FOLLOW)
    return list(argv[:at]), list(argv[at + 1 :])


def options_for(job_words: Sequence[str]) -> list[Option]:
    """Returns the options of a job and of the place that `--on` names.

    Raises:
      ConfigError: there is no such place.
    """
    return _options(_place(split_flags(job_words, [ON])[0]))


def _options(place: Any) -> list[Option]:
    hidden = {option.name for option in place.OPTIONS}
    return [*(option for option in OPTIONS if option.name not in hidden), *place.OPTIONS]


def _place(values: Mapping[str, Any]) -> Any:
    """Returns the module of the place that `--on` names."""
    return importlib.import_module(PLACES[values.get(ON.name, ON.default)])


def _help(job_words: Sequence[str]) -> str:
    values, _ = split_flags(job_words, [ON])
    place = values.get(ON.name, ON.default)
    other_places = "|".join(name for name in PLACES if name != place)
    return "\n\n".join(
        [
            _USAGE,
            option_help.group_text("Options", OPTIONS, {ON.name: place}),
            option_help.group_text(f"Options with --on {place}", _place(values).OPTIONS, {}),
            f"tf-frame launch --on {other_places} --help shows the options there.",
        ]
    )
