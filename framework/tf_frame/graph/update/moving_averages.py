"""Keeps moving averages of the variables in training; evaluation restores the averages instead.

With averages, the metrics of successive evaluations vary less.

    averages = moving_averages(config, global_step)
    with tf.control_dependencies([update]):
        averages_op = averages.apply()

    saver = tf.train.Saver(averaged_saver_map(variables_to_average()))

The average of `X` is the variable `X/ExponentialMovingAverage`, on the device
of `X`, as `tf.train.ExponentialMovingAverage` makes it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.reader import Checkpoint, saved_name
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import CheckpointError
from tf_frame.graph.graph_edits import switch_branches
from tf_frame.text import short

_SUFFIX = "/ExponentialMovingAverage"
_SHOWN = 8


@dataclasses.dataclass(frozen=True)
class MovingAverages:
    """The averages of a training graph.

    Attributes:
      average: the `tf.train.ExponentialMovingAverage`.
      variables: the variables with an average.
    """

    average: Any
    variables: Sequence[Any]

    def apply(self) -> Any:
        """Builds the op that moves the averages; build it under a dependency on the update.

        Without the dependency it may read some variables before the update and some after it.
        """
        return self.average.apply(list(self.variables))

    def histograms(self) -> list[Any]:
        """Builds a histogram summary per average, `moving_averages/NAME`, in no collection.

        Call it after `apply`.
        """
        # tf.summary.histogram would change a tag that is taken.
        return [
            tf.raw_ops.HistogramSummary(
                tag=f"moving_averages/{variable.op.name}", values=self.average.average(variable)
            )
            for variable in self.variables
        ]


class _ExponentialMovingAverage(tf.train.ExponentialMovingAverage):
    """TensorFlow's class, for reference variables, too.

    A `tf.cond` gives an average its initial value, and a branch that is a function cannot hold
    reference variables.
    """

    def apply(self, var_list: Any = None) -> Any:
        with switch_branches():
            return super().apply(var_list)


def moving_averages(config: RunOptions, global_step: Any) -> MovingAverages | None:
    """Returns the averages that the run options ask for, or None."""
    if config.moving_average_decay is None:
        return None
    average = _ExponentialMovingAverage(
        config.moving_average_decay,
        num_updates=global_step if config.moving_average_num_updates else None,
    )
    return MovingAverages(average, variables_to_average())


def variables_to_average() -> list[Any]:
    """Returns the variables of the default graph that get averages, each once.

    slim averages the model variables; the Inception trainer averages the trainable variables and,
    "double averages", the moving means and variances of batch norm. This function returns all of
    them that are floating point numbers.
    """
    variables = (
        tf.trainable_variables()
        + tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)
        + tf.moving_average_variables()
    )
    unique = {variable.ref(): variable for variable in variables}
    return [variable for variable in unique.values() if variable.dtype.base_dtype.is_floating]


def averaged_saver_map(averaged: Iterable[Any]) -> dict[str, Any]:
    """Returns the argument of a `tf.train.Saver` that restores averages into their variables.

    Args:
      averaged: variables with averages, as of `variables_to_average`.

    Returns:
      Name in the checkpoint -> variable, or the parts of a partitioned variable, for all global
      variables; variables without averages have their own names.
    """
    with_average = {variable.ref() for variable in averaged}
    saver_map: dict[str, Any] = {}
    for variable in tf.global_variables():
        suffix = _SUFFIX if variable.ref() in with_average else ""
        name = saved_name(variable) + suffix
        if variable._get_save_slice_info() is None:
            saver_map[name] = variable
        else:
            saver_map.setdefault(name, []).append(variable)
    return saver_map


def check_averages(path: str, averaged: Iterable[Any]) -> None:
    """Checks that the checkpoint at a path prefix holds the averages of all these variables.

    Raises:
      CheckpointError: averages are missing.
    """
    held = {name for name in Checkpoint(path).names if name.endswith(_SUFFIX)}
    if not held:
        raise CheckpointError(
            f"{short(path)} holds no moving averages of variables; train with "
            "--moving_average_decay, or take the variables as they are with "
            "--eval_moving_averages=false"
        )
    names = dict.fromkeys(saved_name(variable) + _SUFFIX for variable in averaged)
    missing = [name for name in names if name not in held]
    if missing:
        some = ", ".join(missing[:_SHOWN]) + (" ..." if len(missing) > _SHOWN else "")
        raise CheckpointError(
            f"{short(path)} lacks {len(missing)} of {len(names)} moving averages of variables: "
            f"{some}; use the options that it was trained with, or --eval_moving_averages=false"
        )
