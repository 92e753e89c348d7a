"""TensorFlow's `FeedFnHook`: feeds what a function returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook
from tf_frame.hooks.cadence import Cadence


class FeedFnHook(Hook):
    """Feeds every step, so no step goes without hooks.

    The argument is that of `tf.compat.v1.train.FeedFnHook`.

    Args:
      feed_fn: called before each step; returns placeholder -> value.
    """

    def __init__(self, feed_fn: Callable[[], Mapping[Any, Any]]) -> None:
        super().__init__(Cadence(every_steps=1))
        self.feed_fn = feed_fn

    def before_step(self, run_context: Any, step: int) -> Any:
        return tf.train.SessionRunArgs(fetches=None, feed_dict=self.feed_fn())
