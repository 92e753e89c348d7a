"""Adds the restoring of a warm start to the initialisation that a model defines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf


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
