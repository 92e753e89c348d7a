"""The learning rate `fixed`: constant."""

from __future__ import annotations

from typing import Any

from tf_frame.plugin.training_contracts import LearningRate


class Fixed(LearningRate):
    """Returns `--learning_rate` at every step."""

    def __call__(self, step: Any) -> Any:
        import tensorflow.compat.v1 as tf

        return tf.constant(self.context.learning_rate, tf.float32)
