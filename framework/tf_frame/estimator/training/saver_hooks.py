"""Checkpoint hooks that a script brings: then tf-frame does not save as well.

As in tf.estimator (estimator.py, `_train_with_estimator_spec`), a
`CheckpointSaverHook` among the hooks of a script takes the place of the
estimator's own, and the first of them gets the saving listeners.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.stock.checkpoint_saver import CheckpointSaverHook


def saver_hooks(hooks: Sequence[Any]) -> list[Any]:
    """Those of the hooks that save checkpoints."""
    classes = (tf.train.CheckpointSaverHook, CheckpointSaverHook)
    return [hook for hook in hooks if isinstance(hook, classes)]


def add_listeners(savers: Sequence[Any], listeners: Sequence[Any], *, saves: bool) -> None:
    """Gives listeners to the first hook that saves, once each.

    Args:
      savers: what `saver_hooks` found.
      listeners: `CheckpointSaverListener`s.
      saves: whether tf-frame saves, which then has them already.

    Raises:
      ValueError: nothing saves, so that no listener would hear of anything.
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
