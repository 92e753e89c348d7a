"""Starts a session."""

import tensorflow.compat.v1 as tf

from nonconforming.parts import Constant

with tf.Graph().as_default(), tf.Session():
    pass


class Plugin(Constant):
    pass
