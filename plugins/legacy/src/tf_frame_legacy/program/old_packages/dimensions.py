"""Sizes of static shapes, which Python 2 divided as integers."""

import tensorflow.compat.v1 as tf

from tf_frame_legacy.program.shapes import take_whole_numbers


def restore_methods() -> None:
    """Makes `/` with a `tf.Dimension`, an error in Python 3, the integer division.

    Of a number of channels, `/` makes a float such as 3.0, which is a size of a shape again.
    """
    tf.Dimension.__truediv__ = tf.Dimension.__floordiv__
    tf.Dimension.__rtruediv__ = tf.Dimension.__rfloordiv__
    take_whole_numbers()
