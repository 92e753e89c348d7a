"""`init_fn`: the function of a session that begins a training with variables of another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.path import resolve_checkpoint
from tf_frame.errors import ConfigError
from tf_frame_legacy.variables_helper import get_variables_available_in_checkpoint


def init_fn(var_map: Mapping[str, Any], checkpoint: str) -> Callable[[Any], None]:
    """Returns the function of a session that restores what a checkpoint has of these variables.

    Args:
      var_map: name in the checkpoint -> variable; one that is missing there, or has another shape,
        keeps its initial value. The global step is never restored, as it was in the forks if the
        map had it.
      checkpoint: the checkpoint, or a folder, for its newest one.

    Raises:
      ConfigError: the checkpoint does not exist, or has none of the variables.
    """
    path = resolve_checkpoint(checkpoint)
    available = get_variables_available_in_checkpoint(
        dict(var_map), path, include_global_step=False
    )
    if not available:
        raise ConfigError(
            f"fine_tune_checkpoint {checkpoint} has none of the {len(var_map)} variables to "
            "restore; see the warnings above: it may be of another kind of model"
        )
    saver = tf.train.Saver(available)

    def restore(session: Any) -> None:
        saver.restore(session, path)

    return restore
