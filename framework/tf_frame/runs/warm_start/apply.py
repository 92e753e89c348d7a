"""Warm start of an Estimator: variables begin with values of another model's checkpoint.

    scaffold = add_warm_start(scaffold, settings, estimator.latest_checkpoint(), report=print)

Settings have the meaning of tf.estimator (tensorflow_estimator, estimator.py) and of
`tf.compat.v1.train.warm_start`. That function replaces the ops that initialise variables. Here the
values are restored after initialisation, and moving averages of restored variables begin with the
same values.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import find_damage
from tf_frame.checkpoint.find.path import resolve_checkpoint
from tf_frame.checkpoint.find.reader import Checkpoint, saved_name, saved_name_and_shape
from tf_frame.checkpoint.warm_start.plan import WarmStart, plan_warm_start
from tf_frame.config.option_groups import WarmStartOptions
from tf_frame.errors import CheckpointError, ConfigError
from tf_frame.plugin import Mode, ModelOutput
from tf_frame.runs.warm_start.options import add_restore
from tf_frame.runs.warm_start.settings import WarmStartSettings
from tf_frame.runs.warm_start.vocabulary import Remapped, check_same_type, remap
from tf_frame.text import short

# Name -> the variable, or the parts of a partitioned variable.
_Variables: TypeAlias = Mapping[str, Sequence[Any]]


@dataclasses.dataclass(frozen=True, eq=False)
class WarmStartedModel:
    """A model with a scaffold that restores the values of a warm start.

    For evaluation and prediction before the first training. `report` takes the table of variables.
    """

    model: Any
    settings: WarmStartSettings
    report: Callable[[str], None]

    def build(self, features: Any, labels: Any, mode: Mode) -> ModelOutput:
        """Builds one clone; see `tf_frame.Model.build`."""
        output: ModelOutput = self.model.build(features, labels, mode)
        scaffold = add_warm_start(output.scaffold, self.settings, None, report=self.report)
        return dataclasses.replace(output, scaffold=scaffold)


def warm_start_checkpoint(settings: WarmStartSettings | None) -> str | None:
    """Returns the checkpoint of a warm start; None without settings.

    Raises:
      ValueError, tf.errors.NotFoundError: there is no such checkpoint.
    """
    return _open(os.fsdecode(settings.ckpt_to_initialize_from)).path if settings else None


def add_warm_start(
    scaffold: Any,
    settings: WarmStartSettings,
    own_checkpoint: str | None,
    *,
    report: Callable[[str], None],
) -> Any:
    """Returns a copy of a scaffold that restores the values before it calls its `init_fn`.

    Adds ops that assign the values to the default graph, which has to have all variables.

    Args:
      scaffold: a `tf.compat.v1.train.Scaffold`, not finalized; None for a new one.
      settings: the checkpoint and its variables.
      own_checkpoint: the Estimator's own checkpoint, which takes precedence; or None.
      report: takes the table of variables.

    Raises:
      ValueError: there is no checkpoint; a variable is missing in it, or has another shape or
        type; or a setting names a variable that is not warm-started.
      tf.errors.NotFoundError: the file does not exist.
      CheckpointError: the checkpoint is damaged.
    """
    scaffold = scaffold or tf.train.Scaffold()
    if own_checkpoint:
        report(
            f"ignoring warm_start_from {settings.ckpt_to_initialize_from}: there is a checkpoint "
            f"of this model already, {own_checkpoint}"
        )
        return scaffold
    checkpoint = _open(os.fsdecode(settings.ckpt_to_initialize_from))
    variables = _select(settings.vars_to_warm_start)
    _check_used("var_name_to_prev_var_name", settings.var_name_to_prev_var_name, variables)
    _check_used("var_name_to_vocab_info", settings.var_name_to_vocab_info, variables, space=" ")
    unchanged, by_vocabulary = _plan(settings, variables, checkpoint)
    tables = [unchanged.table()] if unchanged.rows or not by_vocabulary else []
    report("\n".join(["warm start", *tables, *(variable.line() for variable in by_vocabulary)]))

    def restore(session: Any) -> None:
        unchanged.init_fn(scaffold, session)
        for variable in by_vocabulary:
            variable.load(session)

    return add_restore(scaffold, restore)


def _open(path: str) -> Checkpoint:
    """Opens the checkpoint of a path, with the errors of tf.estimator."""
    try:
        prefix = resolve_checkpoint(path)
    except ConfigError as error:
        if tf.io.gfile.isdir(path):
            message = "Couldn't find 'checkpoint' file or checkpoints in given directory"
            raise ValueError(f"{message} {short(path)}: {error}") from None
        message = "Unsuccessful TensorSliceReader constructor: Failed to find any matching files"
        raise tf.errors.NotFoundError(None, None, f"{message} for {short(path)}: {error}") from None
    if damage := find_damage(prefix):
        raise CheckpointError(f"warm_start_from {prefix} cannot be read: {damage}")
    return Checkpoint(prefix)


def _select(vars_to_warm_start: Any) -> _Variables:
    """Returns the variables that `vars_to_warm_start` selects."""
    grouped: dict[str, list[Any]] = {}
    for variable in _select_ungrouped(vars_to_warm_start):
        parts = grouped.setdefault(saved_name(variable), [])
        if not any(variable is part for part in parts):
            parts.append(variable)
    return grouped


def _select_ungrouped(selection: Any) -> Sequence[Any]:
    if selection is None or isinstance(selection, str):
        variables: list[Any] = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=selection)
        return variables
    if not isinstance(selection, list):
        raise ValueError(
            f"`vars_to_warm_start must be a `list` or `str`.  Given type is {type(selection)}"
        )
    if all(isinstance(item, str) for item in selection):
        return [v for s in selection for v in tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, s)]
    if all(isinstance(item, (tf.Variable, tf.compat.v2.Variable)) for item in selection):
        return selection
    raise ValueError(
        "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types "
        f"are {[type(item) for item in selection]}"
    )


def _check_used(
    setting: str, names: Collection[str], variables: _Variables, space: str = ""
) -> None:
    """Raises a ValueError for names that are not warm-started: they may be misspelled."""
    if unused := set(names) - set(variables):
        raise ValueError(
            f"You provided the following variables in {setting} that were not used: {unused}. "
            f"{space or ' '}Perhaps you misspelled them?  Here is the list of viable variable "
            f"names: {list(variables)}"
        )


def _plan(
    settings: WarmStartSettings, variables: _Variables, checkpoint: Checkpoint
) -> tuple[WarmStart, list[Remapped]]:
    """Plans the variables that are restored unchanged, and the variables with a vocabulary."""
    sources = {name: settings.var_name_to_prev_var_name.get(name, name) for name in variables}
    vocabularies = settings.var_name_to_vocab_info
    # With None, only the variables with a vocabulary are warm-started.
    names = [n for n in variables if n not in vocabularies] if settings.vars_to_warm_start else []
    unchanged = _plan_unchanged({name: variables[name] for name in names}, sources, checkpoint)
    by_vocabulary = [
        remap(name, parts, vocabularies[name], sources[name], checkpoint)
        for name, parts in variables.items()
        if name in vocabularies
    ]
    return unchanged, by_vocabulary


def _plan_unchanged(
    variables: _Variables, sources: Mapping[str, str], checkpoint: Checkpoint
) -> WarmStart:
    """Plans to restore variables unchanged; `sources` maps names to names in the checkpoint."""
    for name, parts in variables.items():
        check_same_type(name, parts, sources[name], checkpoint)
        shape, saved_shape = saved_name_and_shape(parts)[1], checkpoint.shape(sources[name])
        if shape != saved_shape:
            raise ValueError(
                f"Shape of variable {parts[0].name} ({tuple(shape)}) doesn't match with shape of "
                f"tensor {sources[name]} ({saved_shape}) from checkpoint reader."
            )
    flat = [part for parts in variables.values() for part in parts]
    step = tf.train.get_global_step()
    renamed = [(name, sources[name]) for name in variables if sources[name] != name]
    plan = plan_warm_start(
        WarmStartOptions(
            warm_start_from=checkpoint.path,
            warm_start_map=tuple(_rule(*names) for names in renamed),
            warm_start_global_step=any(part is step for part in flat),
        ),
        flat,
        allow_nothing=True,
    )
    assert plan is not None
    return plan


def _rule(name: str, source: str) -> str:
    return f"{re.escape(name)}=" + source.replace("\\", r"\\")
