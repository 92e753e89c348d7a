"""LeNet's preprocessing: cut or padded to size, values about zero."""

from __future__ import annotations

from typing import Any

from tf_frame import Preprocessing


class Lenet(Preprocessing):
    """Cuts or pads to size; values from -1 to 127 / 128. Nothing is random.

    Source: slim, lenet_preprocessing.py.
    """

    def __call__(self, image: Any, *, height: int, width: int, is_training: bool, seed: Any) -> Any:
        import tensorflow.compat.v1 as tf

        from tf_frame_classification.preprocessing import geometry

        del is_training, seed
        channels = geometry.channels_of(image)
        image = geometry.crop_or_pad(tf.cast(image, tf.float32), height, width)
        return tf.ensure_shape((image - 128.0) / 128.0, [height, width, channels])
