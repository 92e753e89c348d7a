"""Shapes of programs that divide numbers of channels with `/`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf


def take_whole_numbers() -> None:
    """Lets the dimensions of the process be floating-point numbers like 3.0, as until 2019."""
    make = tf.Dimension.__init__

    @functools.wraps(make)
    def init(dimension: Any, value: Any) -> None:
        is_whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
        make(dimension, int(value) if is_whole else value)

    tf.Dimension.__init__ = init
