"""`tf-frame run`: trains a model, evaluates it, or goes on where it stopped."""

from __future__ import annotations

import importlib.metadata
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import tf_frame
from tf_frame.cli import choose, option_help
from tf_frame.cli.make_job import make_job
from tf_frame.cli.modes import TRAIN_AND_EVALUATE, run_as_command
from tf_frame.cli.quiet import without_chatter
from tf_frame.cli.screen import columns, emphasised, reader_may_leave, report
from tf_frame.config.flags import parse_flags
from tf_frame.config.option import options_of
from tf_frame.config.resolve import resolve
from tf_frame.config.run_options import RunOptions, run_options
from tf_frame.config.values import to_text
from tf_frame.config.without_effect import without_effect
from tf_frame.errors import EXIT_OK, ConfigError
from tf_frame.estimator.training.job import Job
from tf_frame.estimator.training.model_dir import discarded_if_unused
from tf_frame.plugin import InputInfo, Mode
from tf_frame.session.interrupts import Interrupts


def main(words: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    code = run_as_command(words)
    if code is not None:
        return code
    if any(word in ("-h", "--help") for word in words):
        report(_help([word for word in words if word not in ("-h", "--help")]))
        return EXIT_OK
    choice = choose.choose_plugins(words)
    if choice is None:
        parse_flags(words, [*choose.SELECTION, *run_options()])
        raise choose.no_plugin_named()
    job = make_job(words, choice)
    source = job.make_input()
    job.check(source.info)
    notes = _notes(job.config, choice.weak_values())
    if job.config.show_placement or job.config.show_hooks:
        _show(job, source)
        return EXIT_OK
    with (
        discarded_if_unused(job.model_dir, is_chief=job.config.task == 0),
        reader_may_leave(),
        Interrupts().installed() as interrupts,
    ):
        report("\n".join([_introduction(job, source.info, choice.file.versions), *notes]))
        report(_closing(job, _run(job, source, interrupts, choice.mode)))
    return EXIT_OK


def _run(job: Job, source: Any, interrupts: Interrupts, mode: str) -> Mapping[str, Any]:
    with without_chatter(job.config.verbosity):
        # Not before the first screen: importing TensorFlow takes seconds.
        from tf_frame.estimator.training.run import run
    interrupts.raise_if_received()
    return run(
        job,
        source=source,
        interrupts=interrupts,
        report=report,
        evaluates_saved=mode == TRAIN_AND_EVALUATE,
    )


def _notes(config: RunOptions, defaults: Mapping[str, Any]) -> list[str]:
    """Warnings about options without effect; with `--strict` the first is an error."""
    notes = without_effect(config, resolve(RunOptions, [defaults]))
    if notes and config.strict:
        raise ConfigError(f"{notes[0]} (an error because of --strict)")
    return [f"warning: {note}" for note in notes]


def _show(job: Job, source: Any) -> None:
    with without_chatter(job.config.verbosity):
        from tf_frame.estimator.training.show_hooks import show_hooks
        from tf_frame.estimator.training.show_placement import show_placement
    if job.config.show_placement:
        show_placement(job, source=source, report=report)
    if job.config.show_hooks:
        show_hooks(job, source=source, report=report)


def _help(words: Sequence[str]) -> str:
    choice = choose.choose_plugins(words)
    defaults = choice.weak_values() if choice else {}
    sections = [
        "usage: tf-frame run --plugin NAME [OPTIONS]\n\n"
        "Trains the model that a plugin brings, then evaluates it. The same command with the same\n"
        "--model_dir goes on where it stopped. Each line ends with the default [in brackets].",
        option_help.group_text("What to run", choose.SELECTION, _chosen(choice)),
        option_help.run_groups(defaults),
    ]
    for prefix, params in choice.groups() if choice else []:
        title = f"Options of {prefix.replace('.', ' ')}{_name_of(choice, prefix)}"
        sections.append(option_help.group_text(title, options_of(params, prefix), defaults))
    if choice is None:
        sections.append("With --plugin NAME this also shows the options of the plugin.")
    return "\n\n".join(sections)


def _chosen(choice: choose.Choice | None) -> dict[str, Any]:
    """What stands for the default of each selection once the model is known."""
    if choice is None:
        return {}
    names = {part: getattr(choice, part)[0] for part in ("input", "optimizer", "schedule")}
    listed = {word: getattr(choice, f"{word}s") for word in ("transform", "hook")}
    return {**names, **{word: tuple(each.name for each in of) for word, of in listed.items()}}


def _name_of(choice: choose.Choice | None, prefix: str) -> str:
    chosen = getattr(choice, prefix, None)
    return f" {chosen[0]}" if chosen else ""


def _introduction(job: Job, info: InputInfo, file_versions: Mapping[str, str]) -> str:
    config = job.config
    rows = [
        ("model", f"{job.model.name} ({_package(job.model)})"),
        ("input", f"{job.input.name} ({_package(job.input)}){_counts(info)}"),
        ("training", f"to step {config.max_steps}, {_examples(job)} examples a step"),
        ("optimizer", f"{job.optimizer.name}, {_learning_rate(job)}"),
        ("devices", _devices(config)),
        ("model_dir", emphasised(job.model_dir)),
        ("watch it", f"tensorboard --logdir {shlex.quote(job.model_dir)}"),
    ]
    lines = [f"tf-frame {tf_frame.__version__}, TensorFlow {_version('tensorflow')}"]
    lines += _version_notes(file_versions, job.versions())
    return "\n".join([*lines, columns(rows)])


def _examples(job: Job) -> str:
    batches = job.batches_per_step()
    examples = job.config.worker_batch_size * batches
    return f"{examples}" + (f" ({batches} batches)" if batches > 1 else "")


def _package(part: Any) -> str:
    return f"{part.plugin.found.distribution} {part.plugin.found.version}"


def _counts(info: InputInfo) -> str:
    train, held_out = (info.num_examples.get(mode) for mode in (Mode.TRAIN, Mode.EVAL))
    return f", {train} training and {held_out} evaluation examples" if train else ""


def _learning_rate(job: Job) -> str:
    if hasattr(job.schedule.params, "learning_rates"):
        return f"{job.schedule.name} learning rates {to_text(job.schedule.params.learning_rates)}"
    return f"{job.schedule.name} learning rate {job.config.learning_rate:g}"


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


def _version_notes(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [
        f"note: the configuration was written with {name} {before[name]}, this is {version}"
        for name, version in now.items()
        if name in before and before[name] != version
    ]


def _closing(job: Job, result: Mapping[str, Any]) -> str:
    lines = []
    if result["metrics"]:
        rows = [(name, f"{value:.4f}") for name, value in result["metrics"].items()]
        lines += [f"evaluation at step {result['global_step']}", columns(rows)]
    rate = result["steps_per_sec"]
    speed = f", {rate:.2f} steps/s" if rate else ""
    lines.append(f"done in {result['duration_secs']:.0f} s{speed}; results in {job.model_dir}")
    return "\n".join(lines)
