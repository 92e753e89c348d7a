"""Adds the restoring of a warm start to the initialisation that a model defines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf


def with_init_fn(scaffold: Any, restore: Callable[[Any], None]) -> Any:
    """Returns a copy of a scaffold that restores values before it calls its own `init_fn`.

    So a model's `init_fn` sees the restored values, and has the last word.

    Args:
      scaffold: a `tf.compat.v1.train.Scaffold`, not finalized.
      restore: takes the session.
    """
    own = scaffold.init_fn

    def init_fn(this: Any, session: Any) -> None:
        del this
        restore(session)
        if own is not None:
            own(session)

    return tf.train.Scaffold(init_fn=init_fn, copy_from_scaffold=scaffold)
