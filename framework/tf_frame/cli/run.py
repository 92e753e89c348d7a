"""`tf-frame run`: trains and evaluates a model, and resumes a run that was stopped."""

from __future__ import annotations

import importlib
import importlib.metadata
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import tf_frame
from tf_frame.cli import option_help
from tf_frame.cli.screen import emphasised, reader_may_leave, report, without_chatter
from tf_frame.cli.training_setup import (
    COMMAND_MODES,
    MODE,
    MODEL_DIR,
    SELECTION,
    CommandLine,
    parse_command_line,
)
from tf_frame.cluster import cluster_of
from tf_frame.config.flags import split_flags
from tf_frame.config.option import options_of, resolve
from tf_frame.config.run_options import RunOptions, without_effect
from tf_frame.config.values import to_text
from tf_frame.errors import EXIT_OK, ConfigError
from tf_frame.estimator.training.context import RunContext, RunObserver
from tf_frame.estimator.training.model_dir import discarded_if_unused
from tf_frame.estimator.training.setup import ConfiguredPlugin, TrainingSetup
from tf_frame.plugin import InputInfo, Mode
from tf_frame.session.interrupts import Interrupts
from tf_frame.text import columns

_HELP_ALL = "--help_all"
_HELP = ("-h", "--help", _HELP_ALL)


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    code = run_as_command(argv)
    if code is not None:
        return code
    if any(word in _HELP for word in argv):
        rest = [word for word in argv if word not in _HELP]
        report(_help(rest, everything=_HELP_ALL in argv))
        return EXIT_OK
    line = parse_command_line(argv)
    setup = line.setup()
    source = setup.make_input()
    setup.check(source.info)
    notes = _notes(line, setup)
    if setup.config.show_placement or setup.config.show_hooks:
        _show(setup, source)
        return EXIT_OK
    with (
        discarded_if_unused(setup.model_dir, is_chief=setup.config.task == 0),
        reader_may_leave(),
        Interrupts().installed() as interrupts,
    ):
        report("\n".join([_introduction(setup, source.info), *notes]))
        observer = RunObserver(report, interrupts, shows_progress=True)
        report(_closing(setup, _run(setup, observer, source)))
    return EXIT_OK


def run_as_command(argv: Sequence[str]) -> int | None:
    """Hands `--mode evaluate`, `predict` and `export` over to the sub-command of that name.

    Args:
      argv: the words after `tf-frame run`.

    Returns:
      Its exit code, or None for a mode that trains.

    Raises:
      ConfigError: the mode needs `--model_dir`, or does not exist.
    """
    values, rest = split_flags(argv, [MODE, MODEL_DIR])
    mode = values.get(MODE.name)
    if mode not in COMMAND_MODES:
        return None
    command = importlib.import_module(f"tf_frame.cli.{mode}")
    if any(word in _HELP for word in rest):
        return int(command.main(["--help"]))
    if not values.get(MODEL_DIR.name):
        raise ConfigError(f"--mode {mode} needs --model_dir, the folder of a run that has trained")
    return int(command.main([values[MODEL_DIR.name], *rest]))


def _run(setup: TrainingSetup, observer: RunObserver, source: Any) -> Mapping[str, Any]:
    with without_chatter(setup.config.verbosity):
        # Not before the first screen: importing TensorFlow takes seconds.
        from tf_frame.estimator.training.run import run
    observer.interrupts.raise_if_received()
    return run(setup, RunContext(observer=observer, cluster=cluster_of(setup.config)), source)


def _show(setup: TrainingSetup, source: Any) -> None:
    with without_chatter(setup.config.verbosity):
        from tf_frame.estimator.training.show import show_hooks, show_placement
    if setup.config.show_placement:
        show_placement(setup, source, report=report)
    if setup.config.show_hooks:
        show_hooks(setup, source, report=report)


def _notes(line: CommandLine, setup: TrainingSetup) -> list[str]:
    """Notes on versions and on options without effect; with `--strict` the latter is an error."""
    ineffective = without_effect(setup.config, resolve(RunOptions, [line.defaults()]))
    if ineffective and setup.config.strict:
        raise ConfigError(f"{ineffective[0]} (an error because of --strict)")
    written_with, present = line.file.versions, setup.versions()
    changed = [name for name, now in present.items() if written_with.get(name, now) != now]
    return [
        *(
            f"note: the configuration was written with {name} {written_with[name]}, "
            f"this is {present[name]}"
            for name in changed
        ),
        *(f"warning: {text}" for text in ineffective),
    ]


def _help(argv: Sequence[str], *, everything: bool) -> str:
    line = parse_command_line(argv)
    chosen, defaults = line.chosen, line.defaults()
    names: dict[str, Any] = {}
    if chosen:
        names = {key: name for key, (name, _) in chosen.single.items()}
    sections = [
        "usage: tf-frame run --plugin NAME [OPTIONS]\n\n"
        "Trains the model that a plugin brings, then evaluates it. The same command with the same\n"
        "--model_dir goes on where it stopped. Each line ends with the default [in brackets].",
        option_help.group_text("What to run", SELECTION, _selected(line)),
        option_help.run_options_text(defaults, everything=everything),
    ]
    for prefix, params in chosen.params_classes().items() if chosen else ():
        title = f"Options of {prefix.replace('.', ' ')} {names.get(prefix, '')}".rstrip()
        sections.append(option_help.group_text(title, options_of(params, prefix), defaults))
    if chosen is None:
        sections.append("With --plugin NAME this also shows the options of the plugin.")
    return "\n\n".join(sections)


def _selected(line: CommandLine) -> dict[str, Any]:
    """Defaults of `--input`, `--hook` and the like in the help, as the chosen model sets them."""
    if line.chosen is None:
        return {}
    chosen = line.chosen
    names: dict[str, Any] = {k: n for k, (n, _) in chosen.single.items() if k != "model"}
    lists = {"transform": chosen.transforms, "hook": chosen.hooks}
    return names | {word: tuple(each.name for each in listed) for word, listed in lists.items()}


def _introduction(setup: TrainingSetup, info: InputInfo) -> str:
    config = setup.config
    rows = [
        ("model", _named(setup.model)),
        ("input", f"{_named(setup.input)}{_counts(info)}"),
        ("training", f"to step {config.max_steps}, {_examples(setup)} examples a step"),
        ("optimizer", f"{setup.optimizer.name}, {_learning_rate(setup)}"),
        ("devices", _devices(config)),
        ("model_dir", emphasised(setup.model_dir)),
        ("watch it", f"tensorboard --logdir {shlex.quote(setup.model_dir)}"),
    ]
    versions = f"tf-frame {tf_frame.__version__}, TensorFlow {_version('tensorflow')}"
    return f"{versions}\n{columns(rows)}"


def _examples(setup: TrainingSetup) -> str:
    batches = setup.batches_per_step()
    examples = setup.config.worker_batch_size * batches
    return f"{examples}" + (f" ({batches} batches)" if batches > 1 else "")


def _named(plugin: ConfiguredPlugin | None) -> str:
    assert plugin is not None
    info = plugin.plugin.info
    return f"{plugin.name} ({info.distribution} {info.version})"


def _counts(info: InputInfo) -> str:
    train, held_out = (info.num_examples.get(mode) for mode in (Mode.TRAIN, Mode.EVAL))
    return f", {train} training and {held_out} evaluation examples" if train else ""


def _learning_rate(setup: TrainingSetup) -> str:
    schedule = setup.schedule
    if hasattr(schedule.params, "learning_rates"):
        return f"{schedule.name} learning rates {to_text(schedule.params.learning_rates)}"
    return f"{schedule.name} learning rate {setup.config.learning_rate:g}"


def _devices(config: RunOptions) -> str:
    clones = "1 clone" if config.num_clones == 1 else f"{config.num_clones} clones"
    if config.clone_on_cpu:
        clones += " on CPU:0"
    return f"{clones}, {config.worker_replicas} worker(s), {config.num_ps_tasks} ps task(s)"


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "(version unknown)"


def _closing(setup: TrainingSetup, result: Mapping[str, Any]) -> str:
    lines = []
    if result["metrics"]:
        rows = [(name, f"{value:.4f}") for name, value in result["metrics"].items()]
        lines += [f"evaluation at step {result['global_step']}", columns(rows)]
    rate = result["steps_per_sec"]
    speed = f", {rate:.2f} steps/s" if rate else ""
    lines.append(f"done in {result['duration_secs']:.0f} s{speed}; results in {setup.model_dir}")
    return "\n".join(lines)
