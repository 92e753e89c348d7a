"""The optimizer `sgd`: stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from tf_frame.plugin.contracts import Optimizer


class SGD(Optimizer):
    """Subtracts the gradient times the learning rate."""

    def __call__(self, learning_rate: Any) -> Any:
        import tensorflow.compat.v1 as tf

        return tf.train.GradientDescentOptimizer(learning_rate)
