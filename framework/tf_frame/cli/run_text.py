"""Texts that `tf-frame run` prints: introduction, notes and closing lines."""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tf_frame
from tf_frame import file_system
from tf_frame.checkpoint.names import LIST_FILE
from tf_frame.cli.run_hints import (
    hints,
    network_name,
    steps_note,
    warmup_note,
    weights_note,
)
from tf_frame.cluster import Cluster
from tf_frame.command_line.lock import change_warnings
from tf_frame.command_line.screen import emphasised
from tf_frame.command_line.words import CommandLine
from tf_frame.config.option import resolve
from tf_frame.config.run_options import RunOptions, without_effect
from tf_frame.config.values import to_text
from tf_frame.config.yaml_file import Named, Settings, plain, read_settings
from tf_frame.errors import ConfigError
from tf_frame.plugin import InputInfo, Mode
from tf_frame.plugin.configured import ConfiguredPlugin
from tf_frame.runs.evaluation.printing import result_table
from tf_frame.runs.setup.model_dir import CONFIG_FILE
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.shell_text import shell_word
from tf_frame.text import columns, gflops_text

_PLUGINS = ("plugin", "input", "optimizer", "schedule")
_PREFIXES = {"plugin": "model."}
# These may differ between the workers of one run, or with the path of its folder.
_OF_A_PROCESS = ("model_dir", "task", "master")


def notes(line: CommandLine, setup: TrainingSetup, info: InputInfo) -> list[str]:
    """Returns notes: changed plugins, options and their effect, a remote folder, weights, warm-up.

    Raises:
      ConfigError: an option has no effect, and `--strict` is set.
    """
    ineffective = without_effect(setup.config, resolve(RunOptions, [line.defaults()]))
    if ineffective and setup.config.strict:
        raise ConfigError(f"{ineffective[0]} (an error because of --strict)")
    return [
        *change_warnings(line.records()),
        *(f"warning: {text}" for text in ineffective),
        *_changes(setup),
        *_remote_note(setup.model_dir),
        *weights_note(setup, info),
        *_steps_note(line, setup, info),
        *warmup_note(setup),
    ]


def _steps_note(line: CommandLine, setup: TrainingSetup, info: InputInfo) -> list[str]:
    """Returns a note on steps of a preset or of the model, which may be made for other data."""
    is_chosen = "max_steps" in line.values or any("max_steps" in f.values for f in line.files)
    if is_chosen or line.chosen is None:
        return []
    return steps_note(setup, info, source=line.chosen.origins(line.flags)["max_steps"])


def _remote_note(model_dir: str) -> list[str]:
    if not file_system.is_remote(model_dir):
        return []
    return [
        f"note: {model_dir} cannot be locked; a second run in it would overwrite files of this one"
    ]


def _changes(setup: TrainingSetup) -> list[str]:
    """Returns a note on the options that differ from the options of the resumed run."""
    file, checkpoint = (os.path.join(setup.model_dir, name) for name in (CONFIG_FILE, LIST_FILE))
    if setup.config.task or not (file_system.exists(file) and file_system.exists(checkpoint)):
        return []
    try:
        changed = changed_options(read_settings(file), setup.settings())
    except ConfigError as error:
        return [f"note: the options of the run that is resumed are not known: {error}"]
    heading = "note: options differ from the run that is resumed:"
    return ["\n  ".join([heading, *changed])] if changed else []


def changed_options(before: Settings, now: Settings) -> list[str]:
    """Returns a line such as `learning_rate 0.9, was 0.1` for each option that differs.

    Of a plugin that replaces another one, only the name is listed. An option that the earlier run
    did not have is left out.
    """
    names = [name for name in _PLUGINS if getattr(before, name) not in (None, getattr(now, name))]
    lines = [_change(name, getattr(now, name), getattr(before, name)) for name in names]
    hidden = tuple(_PREFIXES.get(name, f"{name}.") for name in names)
    for name, value in now.values.items():
        if name in before.values and name not in _OF_A_PROCESS and not name.startswith(hidden):
            lines += _compare(name, value, before.values[name])
    for word in ("transform", "hook"):
        lines += _list_changes(word, getattr(before, f"{word}s"), getattr(now, f"{word}s"))
    return lines


def _list_changes(
    word: str, before: Sequence[Named] | None, now: Sequence[Named] | None
) -> Iterator[str]:
    before, now = before or (), now or ()
    names, earlier = ([plugin.name for plugin in listed] for listed in (now, before))
    if names != earlier:
        yield _change(f"{word}s", names, earlier)
        return
    for new, old in zip(now, before, strict=True):
        for name, value in new.values.items():
            if name in old.values:
                yield from _compare(f"{word}.{new.name}.{name}", value, old.values[name])


def _compare(name: str, now: Any, before: Any) -> Iterator[str]:
    if plain(now) != plain(before):
        yield _change(name, now, before)


def _change(name: str, now: Any, before: Any) -> str:
    return f"{name} {to_text(now) or 'empty'}, was {to_text(before) or 'empty'}"


def introduction(
    setup: TrainingSetup,
    info: InputInfo,
    cluster: Cluster | None = None,
    *,
    keeps_folder: bool = True,
) -> str:
    """Returns the first screen: versions, model, input, training, task, folder."""
    config = setup.config
    folder = [
        ("model_dir", emphasised(setup.model_dir)),
        ("watch it", f"tf-frame tensorboard {shell_word(setup.model_dir)}"),
    ]
    rows = [
        ("model", _model(setup)),
        ("input", f"{_named(setup.input)}{_counts(info)}"),
        ("training", f"to step {config.max_steps}, {_examples(setup)} examples a step"),
        *_overfitting(config),
        ("optimizer", f"{setup.optimizer.name}, {_learning_rate(setup)}"),
        *_task(config, cluster),
        *(folder if keeps_folder else []),
    ]
    versions = f"tf-frame {tf_frame.__version__}, TensorFlow {_version('tensorflow')}"
    return f"{versions}\n{columns(rows)}"


def _overfitting(config: RunOptions) -> list[tuple[str, str]]:
    number = config.overfit_batches
    batches = "batch" if number == 1 else f"{number} batches"
    text = f"only on the first {batches}, again and again; they are evaluated, too"
    return [("overfitting", text)] if number else []


def _examples(setup: TrainingSetup) -> str:
    batches = setup.batches_per_step()
    config = setup.config
    of_step = config.update_batch_size if config.batch_shards else config.worker_batch_size
    examples = of_step * batches
    return f"{examples}" + (f" ({batches} batches)" if batches > 1 else "")


def _named(plugin: ConfiguredPlugin | None) -> str:
    assert plugin is not None
    info = plugin.plugin.info
    return f"{plugin.name} ({info.distribution} {info.version})"


def _model(setup: TrainingSetup) -> str:
    network = network_name(setup)
    return _named(setup.model) + (f", network {network}" if network else "")


def _counts(info: InputInfo) -> str:
    train, held_out = (info.num_examples.get(mode) for mode in (Mode.TRAIN, Mode.EVAL))
    return f", {train} training and {held_out} evaluation examples" if train else ""


def _learning_rate(setup: TrainingSetup) -> str:
    schedule = setup.schedule
    if hasattr(schedule.params, "learning_rates"):
        return f"{schedule.name} learning rates {to_text(schedule.params.learning_rates)}"
    return f"{schedule.name} learning rate {setup.config.learning_rate:g}"


def _task(config: RunOptions, cluster: Cluster | None) -> list[tuple[str, str]]:
    """Returns the row with the task of this process in its job, if there is one."""
    if cluster is None or not cluster.target:
        return []
    tasks = _counted(config.worker_replicas, "worker")
    if config.num_ps_tasks:
        tasks += f" and {_counted(config.num_ps_tasks, 'parameter server')}"
    return [("task", f"{cluster.task_name} of {tasks}")]


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "(version unknown)"


def closing(setup: TrainingSetup, result: Mapping[str, Any], *, keeps_folder: bool = True) -> str:
    """Returns the last evaluation as a table, hints, the duration of the run, and its folder."""
    lines = []
    if result["metrics"]:
        lines.append(result_table(result["metrics_step"], result["metrics"]))
    if keeps_folder:
        lines += hints(setup, result)
    done = f"done in {result['duration_secs']:.0f} s"
    if keeps_folder:  # The report of a profile has better figures.
        rate, gflops, peak = (
            result[name] for name in ("steps_per_sec", "gflops_per_sec", "peak_gflops")
        )
        done += f", {rate:.2f} steps/s" if rate else ""
        flops = gflops_text(gflops and gflops * 1e9, peak and peak * 1e9, of=" of the peak")
        done += f", {flops}" if flops else ""
        done += f"; results in {setup.model_dir}"
    return "\n".join([*lines, done])
