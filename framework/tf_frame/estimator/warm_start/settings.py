"""How an Estimator begins with values of another model's checkpoint.

    initial = apply_warm_start(settings, estimator.latest_checkpoint(), say=print)
    scaffold = with_warm_start(scaffold, initial)

The meaning of the settings is that of tf.estimator (tensorflow_estimator,
estimator.py) and of `tf.compat.v1.train.warm_start`, which makes the ops that
initialise variables others. Here the values are restored after initialisation
instead, and moving averages of them begin with the same values.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.match import saved_as
from tf_frame.checkpoint.find.newest import damage_of
from tf_frame.checkpoint.find.path import resolve
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.checkpoint.warm_start.warm_start import WarmStart
from tf_frame.errors import CheckpointError, ConfigError
from tf_frame.estimator.warm_start.vocabulary import Remapped, VocabInfo, remapped
from tf_frame.estimator.warm_start.whole_variables import restore_whole

__all__ = ["VocabInfo", "WarmStartSettings", "apply_warm_start", "settings_of", "with_warm_start"]

InitFunction: TypeAlias = Callable[[Any, Any], None]
_Grouped: TypeAlias = Mapping[str, Sequence[Any]]


class _Fields(NamedTuple):
    ckpt_to_initialize_from: Any
    vars_to_warm_start: Any
    var_name_to_vocab_info: Mapping[str, Any]
    var_name_to_prev_var_name: Mapping[str, str]


class WarmStartSettings(_Fields):
    """Which variables begin with which values of a checkpoint.

    Args:
      ckpt_to_initialize_from: a path prefix, a folder with checkpoints, or a SavedModel.
      vars_to_warm_start: one of

        * a regular expression: the trainable variables whose names it matches at their beginning;
        * a list of regular expressions: likewise, of all global variables, those
          of an optimizer and moving statistics among them;
        * a list of variables;
        * None: the trainable variables in `var_name_to_vocab_info`, and no others.
      var_name_to_vocab_info: name of a variable -> `VocabInfo`, where the rows or
        columns belong to the entries of a vocabulary, which may be another one now.
      var_name_to_prev_var_name: name of a variable -> its name in the checkpoint,
        where that is another.

    Raises:
      ValueError: there is no `ckpt_to_initialize_from`.
    """

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from: Any,
        vars_to_warm_start: Any = ".*",
        var_name_to_vocab_info: Mapping[str, Any] | None = None,
        var_name_to_prev_var_name: Mapping[str, str] | None = None,
    ) -> WarmStartSettings:
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        vocabularies, names = var_name_to_vocab_info or {}, var_name_to_prev_var_name or {}
        return super().__new__(
            cls, ckpt_to_initialize_from, vars_to_warm_start, vocabularies, names
        )


def settings_of(warm_start_from: Any) -> WarmStartSettings | None:
    """The settings that an argument `warm_start_from` means.

    Args:
      warm_start_from: settings; a path, for all trainable variables; or None.

    Raises:
      ValueError: it is something else.
    """
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if isinstance(warm_start_from, (str, bytes, os.PathLike)):
        return WarmStartSettings(os.fsdecode(warm_start_from))
    raise ValueError(
        "warm_start_from must be a string or a WarmStartSettings, instead got "
        f"{type(warm_start_from)}"
    )


def warm_start_checkpoint(warm_start_from: Any) -> str | None:
    """The checkpoint that a warm start takes its values from; None without one.

    Raises:
      ValueError, tf.errors.NotFoundError: there is no such checkpoint.
    """
    settings = settings_of(warm_start_from)
    return _opened(os.fsdecode(settings.ckpt_to_initialize_from)).path if settings else None


def apply_warm_start(
    settings: Any, model_dir_checkpoint: str | None, *, report: Callable[[str], None]
) -> InitFunction | None:
    """Finds the values in the checkpoint, and adds the ops that set them to the default graph.

    Call it when the graph has all its variables, and before its scaffold is finalized.

    Args:
      settings: what `settings_of` takes.
      model_dir_checkpoint: the Estimator's own checkpoint, from which it goes on instead.
      report: takes the report, a line for each variable.

    Returns:
      The function of `(scaffold, session)` that sets the values, to be called when
      the variables are initialised: `with_warm_start` sees to that. None without
      settings, or with a checkpoint of its own.

    Raises:
      ValueError: there is no checkpoint; it lacks a variable, or has another
        shape or type; or a setting names a variable that is not warm-started.
      tf.errors.NotFoundError: there is no such file.
      CheckpointError: the checkpoint is damaged.
    """
    settings = settings_of(settings)
    if settings is None:
        return None
    if model_dir_checkpoint:
        report(
            f"ignoring warm_start_from {settings.ckpt_to_initialize_from}: there is a checkpoint "
            f"of this model already, {model_dir_checkpoint}"
        )
        return None
    checkpoint = _opened(os.fsdecode(settings.ckpt_to_initialize_from))
    chosen = _chosen(settings.vars_to_warm_start)
    _check_used("var_name_to_prev_var_name", settings.var_name_to_prev_var_name, chosen)
    _check_used("var_name_to_vocab_info", settings.var_name_to_vocab_info, chosen, space=" ")
    whole, by_vocabulary = _planned(settings, chosen, checkpoint)
    report(_report(whole, by_vocabulary))

    def initial(scaffold: Any, session: Any) -> None:
        whole.init_fn(scaffold, session)
        for variable in by_vocabulary:
            variable.load(session)

    return initial


def with_warm_start(scaffold: Any, initial: InitFunction | None) -> Any:
    """A scaffold that sets the values before it calls the `init_fn` that it had.

    Args:
      scaffold: a `tf.compat.v1.train.Scaffold`, not finalized, or None.
      initial: what `apply_warm_start` returned.
    """
    scaffold = scaffold or tf.train.Scaffold()
    if initial is None:
        return scaffold
    own = scaffold.init_fn

    def init_fn(this: Any, session: Any) -> None:
        initial(this, session)
        if own is not None:
            own(session)

    return tf.train.Scaffold(init_fn=init_fn, copy_from_scaffold=scaffold)


def _opened(path: str) -> Checkpoint:
    """Opens the checkpoint that a path means; the errors are those of the old API."""
    try:
        prefix = resolve(path)
    except ConfigError as error:
        if tf.io.gfile.isdir(path):
            message = "Couldn't find 'checkpoint' file or checkpoints in given directory"
            raise ValueError(f"{message} {path}: {error}") from None
        message = "Unsuccessful TensorSliceReader constructor: Failed to find any matching files"
        raise tf.errors.NotFoundError(None, None, f"{message} for {path}: {error}") from None
    if damage := damage_of(prefix):
        raise CheckpointError(f"warm_start_from {prefix} cannot be read: {damage}")
    return Checkpoint(prefix)


def _chosen(wanted: Any) -> _Grouped:
    """Name -> the variable, or its parts, of those that `vars_to_warm_start` means."""
    grouped: dict[str, list[Any]] = {}
    for variable in _wanted_variables(wanted):
        parts = grouped.setdefault(saved_as(variable)[0], [])
        if not any(variable is part for part in parts):
            parts.append(variable)
    return grouped


def _wanted_variables(wanted: Any) -> Sequence[Any]:
    if wanted is None or isinstance(wanted, str):
        found: list[Any] = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=wanted)
        return found
    if not isinstance(wanted, list):
        raise ValueError(
            f"`vars_to_warm_start must be a `list` or `str`.  Given type is {type(wanted)}"
        )
    if all(isinstance(each, str) for each in wanted):
        return [v for s in wanted for v in tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, s)]
    if all(isinstance(each, (tf.Variable, tf.compat.v2.Variable)) for each in wanted):
        return wanted
    raise ValueError(
        "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types "
        f"are {[type(each) for each in wanted]}"
    )


def _check_used(setting: str, names: Collection[str], chosen: _Grouped, space: str = "") -> None:
    """Refuses names that are not warm-started: they may be misspelled."""
    if unused := set(names) - set(chosen):
        raise ValueError(
            f"You provided the following variables in {setting} that were not used: {unused}. "
            f"{space or ' '}Perhaps you misspelled them?  Here is the list of viable variable "
            f"names: {list(chosen)}"
        )


def _planned(
    settings: WarmStartSettings, chosen: _Grouped, checkpoint: Checkpoint
) -> tuple[WarmStart, list[Remapped]]:
    """What is restored as it is, and what by its vocabulary."""
    sources = {name: settings.var_name_to_prev_var_name.get(name, name) for name in chosen}
    vocabularies = settings.var_name_to_vocab_info
    # None means: only those with a vocabulary.
    plain = [n for n in chosen if n not in vocabularies] if settings.vars_to_warm_start else []
    whole = restore_whole({n: chosen[n] for n in plain}, sources, checkpoint)
    by_vocabulary = [
        remapped(name, chosen[name], vocabularies[name], sources[name], checkpoint)
        for name in chosen
        if name in vocabularies
    ]
    return whole, by_vocabulary


def _report(whole: WarmStart, by_vocabulary: Sequence[Remapped]) -> str:
    tables = [whole.table()] if whole.rows or not by_vocabulary else []
    return "\n".join(["warm start", *tables, *(variable.line() for variable in by_vocabulary)])
