"""Preprocessing of VGG (https://arxiv.org/abs/1409.1556) and of ResNets of version 1.

Resize, crop, subtract ImageNet's mean of red, green and blue, as in slim: what their published
checkpoints were trained with and need.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tf_frame import Preprocessing

# Means of red, green and blue over ImageNet; slim, vgg_preprocessing.py.
MEANS = (123.68, 116.78, 103.94)
# The smaller side of the resized image, for networks that take 224 pixels.
SMALLEST_SIDE = 256
LARGEST_SIDE = 512
_SIZE = 224


class Vgg(Preprocessing):
    """Subtracts the means; scales with the aspect ratio kept, then crops.

    In training the smaller side becomes 256 to 512 pixels long, the window is
    at a random place, and mirrored half the time; otherwise 256 pixels, and in
    the middle. Where the network takes another size than 224, these lengths
    are scaled alike. A grey image loses the average of the three means.

    Source: slim, vgg_preprocessing.py.
    """

    values: ClassVar[str] = "0 to 255 less the means 123.68, 116.78 and 103.94 of R, G and B"

    def image_side(self, size: int) -> int:
        return _scaled(SMALLEST_SIDE, size, size)

    def __call__(self, image: Any, *, height: int, width: int, is_training: bool, seed: Any) -> Any:
        import tensorflow.compat.v1 as tf

        from tf_frame_vision.preprocessing import geometry

        channels = geometry.count_channels(image)
        if is_training:
            image = _random_window(image, height, width, seed)
        else:
            image = geometry.resize_smaller_side(image, _scaled(SMALLEST_SIDE, height, width))
            image = geometry.central_crop(image, height, width)
        means = MEANS if channels == 3 else [sum(MEANS) / len(MEANS)]
        return tf.ensure_shape(image - tf.constant(means, tf.float32), [height, width, channels])


def _random_window(image: Any, height: int, width: int, seed: Any) -> Any:
    from tf_frame_vision.augmentation import draws
    from tf_frame_vision.preprocessing import geometry

    scale, place, flip = draws.split(seed, 3)
    low, high = (_scaled(side, height, width) for side in (SMALLEST_SIDE, LARGEST_SIDE))
    image = geometry.resize_smaller_side(image, draws.integer(scale, low, high + 1))
    image = geometry.random_crop(image, height, width, place)
    return geometry.random_flip(image, flip)


def _scaled(side: int, height: int, width: int) -> int:
    return round(side * max(height, width) / _SIZE)
