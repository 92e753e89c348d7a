"""Sizes of static shapes, which Python 2 divided as integers."""

import tensorflow.compat.v1 as tf


def restore_methods() -> None:
    """Makes `/` with a `tf.Dimension`, an error in Python 3, the integer division."""
    tf.Dimension.__truediv__ = tf.Dimension.__floordiv__
    tf.Dimension.__rtruediv__ = tf.Dimension.__rfloordiv__
