"""Warm start by run options: a new run begins with values of a checkpoint (`--warm_start_from`).

A run with its own checkpoint resumes from it and ignores the option; the command can be repeated.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import find_damage, listed_checkpoints, read_step
from tf_frame.checkpoint.find.reader import Checkpoint, saved_name
from tf_frame.checkpoint.warm_start.plan import plan_warm_start, resolve_warm_start
from tf_frame.config.option import declared_options
from tf_frame.config.option_groups import WarmStartOptions
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import CheckpointError, ConfigError
from tf_frame.graph.train_graph import TrainGraph
from tf_frame.runs.warm_start.published import (
    naming_network,
    notes_on_classes,
    options_for_weights,
)
from tf_frame.text import short
from tf_frame.weights.plugins import is_weights_name, load_weights
from tf_frame.weights.resolve import resolve_values

_LOG = logging.getLogger("tf_frame")


def warm_start_graph(
    graph: TrainGraph,
    config: RunOptions,
    model_dir: str,
    *,
    checkpoint: str | None,
    report: Callable[[str], None],
    proposed: Callable[[Mapping[str, Sequence[int]]], Mapping[str, Any]],
    class_names: Sequence[str] = (),
) -> TrainGraph:
    """Makes a new run begin with values of the checkpoint that the options name.

    Args:
      graph, config, model_dir: graph, options and folder of the run.
      checkpoint: the run's own checkpoint, which takes precedence; None for a new run.
      report: takes the summary; the log has the table of variables.
      proposed: the model's `warm_start_options`.
      class_names: names of the classes of the run.

    Returns:
      The graph, with a scaffold that restores the values.

    Raises:
      CheckpointError: the checkpoint does not exist or does not fit.
      ConfigError: an option is malformed.
    """
    if not config.warm_start_from:
        return graph
    if checkpoint is not None:
        _note(
            f"ignoring --warm_start_from {config.warm_start_from}: {model_dir} already has the "
            f"checkpoint {checkpoint}",
            report,
        )
        return graph
    # config.yaml keeps the name; here the values are a checkpoint.
    path = resolve_values(config.warm_start_from, report)
    name = config.warm_start_from
    weights = load_weights(name) if is_weights_name(name) else None
    config = dataclasses.replace(config, warm_start_from=path)
    with graph.graph.as_default():
        names = [saved_name(variable) for variable in graph.model_variables] if weights else ()
        config = _add_proposed(config, proposed, names)
        with naming_network(name, weights):
            plan = plan_warm_start(config, graph.model_variables)
        assert plan is not None
        check_readable(plan.path)
        _check_step(plan.path, config)
        newest = _newest_in(config.warm_start_from)
        if newest not in (None, plan.path):
            _note(f"warning: {newest} cannot be read; taking {plan.path}", report)
        report(plan.short_table())
        _LOG.info("warm start\n%s", plan.table())
        for line in notes_on_classes(plan, weights, class_names):
            report(line)
        scaffold = add_restore(graph.scaffold, lambda session: plan.init_fn(None, session))
    return dataclasses.replace(graph, scaffold=scaffold)


def add_restore(scaffold: Any, restore: Callable[[Any], None]) -> Any:
    """Returns a copy of a scaffold that restores values before it calls its own `init_fn`.

    The `init_fn` of a model may read and change the restored values.

    Args:
      scaffold: a `tf.compat.v1.train.Scaffold`, not finalized.
      restore: takes the session.
    """
    original = scaffold.init_fn

    def init_fn(_: Any, session: Any) -> None:
        restore(session)
        if original is not None:
            original(session)

    return tf.train.Scaffold(init_fn=init_fn, copy_from_scaffold=scaffold)


def _add_proposed(
    config: RunOptions,
    proposed: Callable[[Mapping[str, Sequence[int]]], Mapping[str, Any]],
    names: Collection[str],
) -> RunOptions:
    """Returns the options, with the model's values for options that have their defaults.

    With `names`, those of the graph, the checkpoint has published weights, which have values, too.
    """
    checkpoint = Checkpoint(resolve_warm_start(config.warm_start_from))
    defaults = {option.name: option.default for option in declared_options(WarmStartOptions)}
    values = options_for_weights(names, checkpoint.names) if names else {}
    values |= proposed({name: checkpoint.shape(name) for name in checkpoint.names})
    unset = {k: v for k, v in values.items() if getattr(config, k) == defaults[k]}
    return dataclasses.replace(config, **unset)


def check_readable(path: str) -> None:
    """Raises a CheckpointError for a damaged checkpoint."""
    damage = find_damage(path)
    if damage:
        raise CheckpointError(f"--warm_start_from {short(path)} cannot be read: {damage}")


def _check_step(path: str, config: RunOptions) -> None:
    """Refuses a checkpoint that leaves no step to train."""
    if config.warm_start_global_step and read_step(path) >= config.max_steps:
        raise ConfigError(
            f"--warm_start_global_step: {short(path)} is at step {read_step(path)} of --max_steps "
            f"{config.max_steps}, so there is nothing to train; raise --max_steps"
        )


def _newest_in(path: str) -> str | None:
    """Returns the newest checkpoint that a folder lists, readable or not; None for other paths."""
    listed = listed_checkpoints(path) if tf.io.gfile.isdir(path) else []
    return listed[-1] if listed else None


def _note(text: str, report: Callable[[str], None]) -> None:
    report(text)
    _LOG.info("%s", text)
