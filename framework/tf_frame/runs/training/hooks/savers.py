"""Listeners of checkpoints, and the hooks of a script that save checkpoints themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.checkpoint_saver import CheckpointSaverHook
from tf_frame.hooks.training_clock import pause


@dataclasses.dataclass(frozen=True, eq=False)
class EvaluateSaved(tf.train.CheckpointSaverListener):
    """Evaluates each checkpoint between the first and the last one of a run.

    The checkpoint that the run begins with has been evaluated before, and the last
    one is evaluated when training has ended. Evaluations count in no rate of steps.
    """

    evaluate: Callable[[int], Mapping[str, float]]
    first_step: int
    last_step: int

    def after_save(self, session: Any, global_step_value: int) -> None:
        if self.first_step < global_step_value < self.last_step:
            with pause():
                self.evaluate(global_step_value)


def saver_hooks(hooks: Sequence[Any]) -> list[Any]:
    """The hooks that save checkpoints; where a script brings one, tf-frame does not save.

    As in tf.estimator (estimator.py, `_train_with_estimator_spec`), a
    `CheckpointSaverHook` among the hooks of a script takes the place of the
    estimator's own, and the first of them gets the saving listeners.
    """
    classes = (tf.train.CheckpointSaverHook, CheckpointSaverHook)
    return [hook for hook in hooks if isinstance(hook, classes)]


def add_listeners(savers: Sequence[Any], listeners: Sequence[Any], *, saves: bool) -> None:
    """Gives listeners to the first of `saver_hooks`, once each, unless tf-frame's own hook saves.

    Raises:
      ValueError: there is no hook that saves, so no listener would be called.
    """
    if not listeners or saves:
        return
    if not savers:
        raise ValueError(
            "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
            "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
        )
    # No public way leads to the listeners of TensorFlow's hook once it is made.
    known = savers[0]._listeners
    known.extend(listener for listener in listeners if listener not in known)
