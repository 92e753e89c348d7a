"""Errors with two base classes: one of tf-frame, and the one that code for tf.estimator catches."""

from __future__ import annotations

import tensorflow.compat.v1 as tf

from tf_frame.errors import NonFiniteError


class NanLossError(NonFiniteError, tf.train.NanLossDuringTrainingError):
    """The loss became NaN or infinite; an error of tf-frame's class and of TensorFlow's."""

    # TensorFlow's `__str__` is a fixed text without the details.
    __str__ = NonFiniteError.__str__
