"""Branches of `tf.cond` that may hold reference variables."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import tensorflow.compat.v1 as tf


@contextlib.contextmanager
def branches_of_switches() -> Iterator[None]:
    """Builds `tf.cond` of switches instead of functions.

    Functions cannot update reference variables (TensorFlow 2.21: a TypeError).
    """
    of_functions = tf.control_flow_v2_enabled()
    tf.disable_control_flow_v2()
    try:
        yield
    finally:
        if of_functions:
            tf.enable_control_flow_v2()
