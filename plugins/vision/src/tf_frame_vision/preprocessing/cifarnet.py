"""Preprocessing of CIFAR-10 and of other small images: crop or pad, mean 0, variance 1.

The family `cifarnet`, as in slim: networks that were trained with it need it to predict, too.
Random crops, flips and changes of light vary the images in training.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tf_frame import Preprocessing

PADDING = 4


class Cifarnet(Preprocessing):
    """Makes mean 0 and variance 1; training moves, mirrors, brightens and changes contrast.

    An image is never scaled: it is cut or padded with zeros in the middle, in
    training at a random place after four zeros were added on every side.

    Source: slim, cifarnet_preprocessing.py.
    """

    values: ClassVar[str] = "mean 0 and variance 1 in each image"

    def __call__(self, image: Any, *, height: int, width: int, is_training: bool, seed: Any) -> Any:
        import tensorflow.compat.v1 as tf

        from tf_frame_vision.preprocessing import geometry

        channels = geometry.count_channels(image)
        image = tf.cast(image, tf.float32)
        if is_training:
            image = _distort(image, height, width, seed)
        else:
            image = geometry.crop_or_pad(image, height, width)
        return tf.ensure_shape(tf.image.per_image_standardization(image), [height, width, channels])


def _distort(image: Any, height: int, width: int, seed: Any) -> Any:
    from tf_frame_vision.augmentation import colour, draws
    from tf_frame_vision.preprocessing import geometry

    place, flip, light, contrast = draws.split(seed, 4)
    image = geometry.random_crop(_padded(image, height, width), height, width, place)
    image = geometry.random_flip(image, flip)
    image = colour.brightness(image, 63.0, light)
    return colour.contrast(image, 0.2, 1.8, contrast)


def _padded(image: Any, height: int, width: int) -> Any:
    """Adds zeros: four on every side, more where the window would not fit."""
    import tensorflow.compat.v1 as tf

    size = tf.shape(image)[:2]
    missing = tf.maximum(tf.constant([height, width]) - size + 1, 0) // 2
    edges = tf.maximum(missing, PADDING)
    padded = tf.pad(image, tf.stack([[edges[0], edges[0]], [edges[1], edges[1]], [0, 0]]))
    return tf.ensure_shape(padded, [None, None, image.shape[-1]])
