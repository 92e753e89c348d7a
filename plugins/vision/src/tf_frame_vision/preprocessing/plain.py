"""Preprocessing without random changes: the families `none` and `lenet`.

For images that random changes would falsify, such as digits, which must not be mirrored.
`none` resizes; `lenet` crops or pads, as slim does for MNIST.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tf_frame import Preprocessing
from tf_frame_vision.resizing import HALF_PIXEL, PLACES


class Plain(Preprocessing):
    """Resizes, and scales values to -1 to 1; the same in training.

    Values do not stay 0 to 255: no network here would train on them.

    Attributes:
      resizing: a key of `tf_frame_vision.resizing.PLACES`.
    """

    values: ClassVar[str] = "-1 to 1"
    resizing: str = HALF_PIXEL

    def __call__(self, image: Any, *, height: int, width: int, is_training: bool, seed: Any) -> Any:
        import tensorflow.compat.v1 as tf

        from tf_frame import layers
        from tf_frame_vision.preprocessing import geometry

        del is_training, seed
        channels = geometry.count_channels(image)
        places = PLACES[self.resizing]
        resized = layers.resize_bilinear(image[tf.newaxis], [height, width], **places)[0]
        return tf.ensure_shape(resized / 127.5 - 1.0, [height, width, channels])


class Lenet(Preprocessing):
    """Cuts or pads to size; values from -1 to 127 / 128; the same in training.

    Source: slim, lenet_preprocessing.py.
    """

    values: ClassVar[str] = "-1 to 127 / 128"

    def __call__(self, image: Any, *, height: int, width: int, is_training: bool, seed: Any) -> Any:
        import tensorflow.compat.v1 as tf

        from tf_frame_vision.preprocessing import geometry

        del is_training, seed
        channels = geometry.count_channels(image)
        image = geometry.crop_or_pad(tf.cast(image, tf.float32), height, width)
        return tf.ensure_shape((image - 128.0) / 128.0, [height, width, channels])
