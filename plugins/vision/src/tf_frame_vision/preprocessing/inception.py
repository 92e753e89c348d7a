"""Preprocessing of Inception, MobileNets, NASNets and ResNets of version 2, as in slim.

Crop, resize, values from -1 to 1: what their published checkpoints were trained with and need.
In training, random boxes, flips and colours vary the images.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from tf_frame import Preprocessing

# Limits of a crop: fractions of the image, width over height.
MIN_OBJECT_COVERED = 0.1
ASPECT_RATIOS = (0.75, 1.33)
AREAS = (0.05, 1.0)
MAX_ATTEMPTS = 100
CENTRAL_FRACTION = 0.875


class Inception(Preprocessing):
    """Values from -1 to 1; training crops, stretches, mirrors and changes colours.

    Evaluation takes the middle 87.5 % of height and width. A grey image only
    changes its brightness.

    Source: slim, inception_preprocessing.py, with `fast_mode=True`, its default.

    Attributes:
      fast_mode: leave out slow changes: contrast, hue, a random order of changes,
        and other ways to resize than bilinear.
    """

    fast_mode: ClassVar[bool] = True
    values: ClassVar[str] = "-1 to 1"

    def image_side(self, size: int) -> int:
        # `tf.image.central_crop` rounds the margin down.
        margin = (1 - CENTRAL_FRACTION) / 2
        sides = [s for s in range(size, 2 * size) if s - 2 * int(s * margin) == size]
        return min(sides, key=lambda side: abs(side * CENTRAL_FRACTION - size))

    def __call__(self, image: Any, *, height: int, width: int, is_training: bool, seed: Any) -> Any:
        import tensorflow.compat.v1 as tf

        from tf_frame_vision.preprocessing import geometry

        channels = geometry.count_channels(image)
        image = tf.image.convert_image_dtype(image, tf.float32)
        if is_training:
            image = self._distorted(image, height, width, seed)
        else:
            image = tf.image.central_crop(image, CENTRAL_FRACTION)
            image = geometry.resize_bilinear(image, height, width)
        return tf.ensure_shape((image - 0.5) * 2.0, [height, width, channels])

    def _distorted(self, image: Any, height: int, width: int, seed: Any) -> Any:
        from tf_frame_vision.augmentation import draws
        from tf_frame_vision.preprocessing import geometry

        crop, method, flip, colours = draws.split(seed, 4)
        image = random_box(image, crop)
        image = self._resized(image, height, width, method)
        image = geometry.random_flip(image, flip)
        return self._recoloured(image, colours)

    def _resized(self, image: Any, height: int, width: int, seed: Any) -> Any:
        import tensorflow.compat.v1 as tf

        from tf_frame_vision.augmentation import draws
        from tf_frame_vision.preprocessing import geometry

        if self.fast_mode:
            resized = geometry.resize_bilinear(image, height, width)
        else:
            methods = geometry.RESIZE_METHODS.values()
            ways = [partial(tf.image.resize_images, image, [height, width], m) for m in methods]
            resized = draws.choose(ways, seed)
        return tf.ensure_shape(resized, [height, width, image.shape[-1]])

    def _recoloured(self, image: Any, seed: Any) -> Any:
        from tf_frame_vision.augmentation import colour, draws

        if self.fast_mode:
            return colour.distort(image, colour.FAST_ORDER, seed)
        which, changes = draws.split(seed, 2)
        ways = [partial(colour.distort, image, order, changes) for order in colour.ORDERS]
        return draws.choose(ways, which)


class InceptionFull(Inception):
    """`Inception` with everything: slim's `fast_mode=False`.

    A resize method of four and an order of four colour changes are drawn for
    each image.
    """

    fast_mode = False


def random_box(image: Any, seed: Any) -> Any:
    """Cuts a box of random place, area and aspect ratio.

    Args:
      image: `[height, width, channels]`.

    Returns:
      `[new_height, new_width, channels]`: 5 to 100 % of the area, width over
      height between 0.75 and 1.33; the whole image where no such box was found.
    """
    import tensorflow.compat.v1 as tf

    begin, size, _ = tf.raw_ops.StatelessSampleDistortedBoundingBox(
        image_size=tf.shape(image),
        bounding_boxes=tf.constant([[[0.0, 0.0, 1.0, 1.0]]]),
        min_object_covered=MIN_OBJECT_COVERED,
        seed=seed,
        aspect_ratio_range=ASPECT_RATIOS,
        area_range=AREAS,
        max_attempts=MAX_ATTEMPTS,
        use_image_if_no_bounding_boxes=True,
    )
    return tf.ensure_shape(tf.slice(image, begin, size), [None, None, image.shape[-1]])
