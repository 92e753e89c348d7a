"""The log of tf-frame in scripts that turn on TensorFlow's.

tf.logging.set_verbosity(tf.logging.INFO)
"""

from __future__ import annotations

import logging

import tensorflow.compat.v1 as tf


def follow_tensorflow() -> None:
    """Lets tf-frame's log say as much as TensorFlow's, and where nobody reads it, in its place.

    It never says less than before: the command line keeps TensorFlow's own log silent.
    """
    own, tensorflow = logging.getLogger("tf_frame"), tf.get_logger()
    if logging.NOTSET < tensorflow.level < own.getEffectiveLevel():
        own.setLevel(tensorflow.level)
    if not own.hasHandlers():
        for handler in tensorflow.handlers:
            own.addHandler(handler)
