"""The learning rate `fixed`."""

from __future__ import annotations

from typing import Any

from tf_frame.plugin.contracts import LearningRate


class Fixed(LearningRate):
    """Always `--learning_rate`."""

    def __call__(self, step: Any) -> Any:
        import tensorflow.compat.v1 as tf

        return tf.constant(self.context.learning_rate, tf.float32)
