"""Disables TensorFlow 2."""

import tensorflow.compat.v1 as tf

from nonconforming.parts import Constant

tf.disable_v2_behavior()


class Plugin(Constant):
    pass
