"""`tf-frame run`: trains and evaluates a model, and resumes a run that was stopped."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tf_frame import file_system
from tf_frame.cli import run_text
from tf_frame.cli.print_config import config_text
from tf_frame.cluster import Cluster
from tf_frame.cluster.find import find_cluster, in_cluster
from tf_frame.cluster.meeting import Meeting
from tf_frame.cluster.tf_config import TaskType
from tf_frame.command_line import option_help
from tf_frame.command_line.environment import start_again_with
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.command_line.screen import output_may_fail, print_error, report, report_help
from tf_frame.command_line.selection import (
    COMMAND_MODES,
    DRY_RUN,
    MODE,
    MODEL_DIR,
    PRINT_CONFIG,
    PRINT_DATA,
    SELECTION,
    TRYING,
)
from tf_frame.command_line.words import CommandLine
from tf_frame.config.flags import split_flags
from tf_frame.config.option import declared_options
from tf_frame.config.option_groups import FOLDER
from tf_frame.errors import EXIT_OK, ConfigError
from tf_frame.plugin.data_warnings import find_data_report
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import MODEL
from tf_frame.plugin.matching import matching_plugins
from tf_frame.resources import check_threads
from tf_frame.runs.setup.data_text import data_page, refuse_warnings
from tf_frame.runs.setup.folder_claim import check_writable, claimed, make_writable
from tf_frame.runs.setup.folder_watch import watched_folder
from tf_frame.runs.setup.run_context import RunObserver
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.session.interrupts import Interrupts
from tf_frame.tensorflow_log import quiet_import

_HELP_ALL = "--help_all"
_HELP = ("-h", "--help", _HELP_ALL)
# Options that describe a training instead of running it.
_SHOWING = ("show_placement", "show_hooks", "show_model")


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    argv = with_flag(argv)
    code = run_as_command(argv)
    if code is not None:
        return code
    line = parse_command_line([word for word in argv if word not in _HELP])
    if any(word in _HELP for word in argv):
        report_help(_help(line, everything=_HELP_ALL in argv))
        return EXIT_OK
    setup = line.setup()
    start_again_with(setup.config.environment, module="tf_frame", words=["run", *argv])
    return run_line(line, setup)


def with_flag(argv: Sequence[str]) -> Sequence[str]:
    """Returns the words with the option that is left out: `run deeplab`, `run runs/first`."""
    if not argv or argv[0].startswith("-"):
        return argv
    models = [info for info in find_plugins() if info.kind == MODEL]
    is_path = "/" in argv[0] or os.path.exists(argv[0])
    is_folder = is_path and not matching_plugins(argv[0], models)
    return [f"--{MODEL_DIR.name if is_folder else 'plugin'}", *argv]


def run_as_command(argv: Sequence[str]) -> int | None:
    """Hands `--mode evaluate`, `predict` and `export` over to the sub-command of that name.

    Returns:
      The exit code of the sub-command, or None for a mode that trains.

    Raises:
      ConfigError: the mode needs `--model_dir`, or does not exist.
    """
    # The mode decides which options there are, so that it is read before the line is split.
    if not any(word.lstrip("-").partition("=")[0] == MODE.name for word in argv):
        return None
    values, other_words = split_flags(argv, [MODE, MODEL_DIR])
    mode = values.get(MODE.name)
    if mode not in COMMAND_MODES:
        return None
    command = importlib.import_module(f"tf_frame.cli.{mode}")
    if any(word in _HELP for word in other_words):
        return int(command.main(["--help"]))
    if not values.get(MODEL_DIR.name):
        raise ConfigError(f"--mode {mode} needs --model_dir, the folder of a run that has trained")
    return int(command.main([values[MODEL_DIR.name], *other_words]))


def run_line(line: CommandLine, setup: TrainingSetup, *, keeps_folder: bool = True) -> int:
    """Trains, serves variables, tries or shows, as the command line says; returns the exit code.

    No text names `--model_dir` if the caller does not keep it.
    """
    if line.values.get(PRINT_CONFIG.name):
        report(config_text(line, setup))
        return EXIT_OK
    only_shows = any(getattr(setup.config, name) for name in _SHOWING)
    tries = line.values.get(DRY_RUN.name) or line.values.get(PRINT_DATA.name)
    if setup.config.cluster_from == FOLDER and not (only_shows or tries):
        return _run_in_meeting(line, setup)
    cluster = Cluster() if only_shows else find_cluster(setup.config, os.environ)
    return _run_task(line, setup, cluster, keeps_folder=keeps_folder)


def _run_in_meeting(line: CommandLine, setup: TrainingSetup) -> int:
    """Trains with the tasks that are there; see `cluster.meeting`."""
    config = setup.config
    setup.check(setup.make_input().info)  # Before the others wait for this task.
    make_writable(setup.model_dir)
    check_threads()
    with quiet_import(config.verbosity):
        importlib.import_module("tensorflow")
    meeting = Meeting(
        setup.model_dir,
        os.environ,
        batch_shards=config.batch_shards,
        max_steps=config.max_steps,
        timeout_secs=config.cluster_timeout_secs,
        report=report,
    )
    with output_may_fail(), Interrupts().installed() as interrupts:
        cluster = meeting.attend(interrupts.raise_if_received)
    if cluster is None:
        return EXIT_OK
    code = _run_task(line, setup, cluster, regroup_due=meeting.others_wait)
    if cluster.is_chief:
        meeting.end()
    return code


def _run_task(
    line: CommandLine,
    setup: TrainingSetup,
    cluster: Cluster,
    *,
    keeps_folder: bool = True,
    regroup_due: Callable[[], bool] = lambda: False,
) -> int:
    """Runs a task of a job, or a single process; for `regroup_due` see `RunObserver`."""
    setup = dataclasses.replace(setup, config=in_cluster(setup.config, cluster))
    if file_system.is_remote(setup.model_dir):
        with quiet_import(setup.config.verbosity):
            importlib.import_module("tensorflow")
    if cluster.role == TaskType.PS:
        return _serve(setup, cluster)
    source = setup.make_input()
    if line.values.get(PRINT_DATA.name):
        _print_data(setup, source)
        return EXIT_OK
    setup.check(source.info, evaluate=bool(line.values.get("evaluate")))
    notes = run_text.notes(line, setup, source.info)
    if any(getattr(setup.config, name) for name in _SHOWING):
        _show(setup, source)
    elif line.values.get(DRY_RUN.name):
        _dry_run(setup, cluster, source, notes)
    else:
        _train(setup, cluster, source, notes, keeps_folder=keeps_folder, regroup_due=regroup_due)
    return EXIT_OK


def _train(
    setup: TrainingSetup,
    cluster: Cluster,
    source: Any,
    notes: Sequence[str],
    *,
    keeps_folder: bool,
    regroup_due: Callable[[], bool],
) -> None:
    claim: contextlib.AbstractContextManager[TrainingSetup] = claimed(setup)
    if not cluster.is_chief:  # The chief claims the folder for the job.
        make_writable(setup.model_dir)
        claim = contextlib.nullcontext(setup)
    with (
        claim as setup,
        _watched(setup),
        output_may_fail(),
        Interrupts().installed() as interrupts,
    ):
        introduction = run_text.introduction(setup, source.info, cluster, keeps_folder=keeps_folder)
        report("\n".join([introduction, *notes]))
        observer = RunObserver(
            report,
            interrupts,
            shows_progress=True,
            regroup_due=regroup_due,
            can_resume=keeps_folder,
        )
        result = _run(setup, source, cluster, observer)
        if cluster.is_chief:
            report(run_text.closing(setup, result, keeps_folder=keeps_folder))


def _watched(setup: TrainingSetup) -> contextlib.AbstractContextManager[None]:
    return watched_folder(
        setup.model_dir,
        timeout_secs=setup.config.cluster_timeout_secs,
        report=print_error,
    )


def _run(
    setup: TrainingSetup, source: Any, cluster: Cluster, observer: RunObserver
) -> Mapping[str, Any]:
    check_threads()
    with quiet_import(setup.config.verbosity):
        # Not before the first screen: importing TensorFlow takes seconds.
        from tf_frame.runs.training.run_training import run
        from tf_frame.runs.training.tasks import evaluate_job
    observer.interrupts.raise_if_received()
    if cluster.role == TaskType.EVALUATOR:
        return evaluate_job(setup, source, cluster=cluster, observer=observer)
    return run(setup, source, cluster=cluster, observer=observer)


def _serve(setup: TrainingSetup, cluster: Cluster) -> int:
    make_writable(setup.model_dir)
    check_threads()
    with _watched(setup), output_may_fail(), Interrupts().installed() as interrupts:
        with quiet_import(setup.config.verbosity):
            from tf_frame.runs.training.tasks import hold_variables
        hold_variables(setup, cluster, RunObserver(report, interrupts))
    return EXIT_OK


def _dry_run(setup: TrainingSetup, cluster: Cluster, source: Any, notes: Sequence[str]) -> None:
    check_writable(setup.model_dir)
    with output_may_fail(), Interrupts().installed() as interrupts:
        report("\n".join([run_text.introduction(setup, source.info, cluster), *notes]))
        with quiet_import(setup.config.verbosity):
            from tf_frame.runs.training.dry_run import dry_run
        observer = RunObserver(report, interrupts)
        report(dry_run(setup, source, cluster=cluster, observer=observer))


def _print_data(setup: TrainingSetup, source: Any) -> None:
    data = find_data_report(source)
    # An input need not inherit from `Input`.
    notes = [f"note: {note}" for note in getattr(source, "notes", tuple)()]
    report("\n".join([*notes, data_page(data)]))
    if setup.config.strict:
        refuse_warnings(data)


def _show(setup: TrainingSetup, source: Any) -> None:
    with quiet_import(setup.config.verbosity):
        from tf_frame.runs.training import show
    for name in _SHOWING:
        if getattr(setup.config, name):
            getattr(show, name)(setup, source, report=report)


def _help(line: CommandLine, *, everything: bool) -> str:
    chosen, defaults = line.chosen, line.defaults()
    names: dict[str, Any] = {}
    if chosen:
        names = {key: part.name for key, part in chosen.single.items()}
    sections = [
        "usage: tf-frame run --plugin NAME [OPTIONS]\n\n"
        "Trains the model that a plugin brings, then evaluates it. The same command with the same "
        "--model_dir goes on where it stopped. Each line ends with the default [in brackets].",
        option_help.group_text("What to run", SELECTION, _selected(line)),
        option_help.group_text("Before training; see also --overfit_batches", TRYING, {}),
        option_help.run_options_text(defaults, everything=everything),
    ]
    for part in chosen.parts() if chosen else ():
        title = f"Options of {part.prefix.replace('.', ' ')} {names.get(part.prefix, '')}".rstrip()
        options = declared_options(part.plugin.cls.Params, part.prefix)
        few = options if everything else option_help.everyday_options(part.plugin.cls, options)
        if len(few) < len(options):
            title += f"; {_HELP_ALL} shows all {len(options)}"
        sections.append(option_help.group_text(title, few, defaults))
    if chosen is None:
        sections.append("With --plugin NAME this also shows the options of the plugin.")
    return "\n\n".join(sections)


def _selected(line: CommandLine) -> dict[str, Any]:
    """Defaults of `--input`, `--hook` and the like in the help, as the chosen model sets them."""
    if line.chosen is None:
        return {}
    chosen = line.chosen
    names: dict[str, Any] = {k: p.name for k, p in chosen.single.items() if k != "model"}
    lists = {"transform": chosen.transforms, "hook": chosen.hooks}
    return names | {word: tuple(plugin.name for plugin in listed) for word, listed in lists.items()}
