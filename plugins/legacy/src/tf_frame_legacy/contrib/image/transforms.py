"""Projective transforms of images by the operation ImageProjectiveTransformV3.

A transform is `[a0, a1, a2, b0, b1, b2, c0, c1]`: the output at `(x, y)` is the input at
`((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k)` with `k = c0 x + c1 y + 1`, and 0 outside of the
input. Behaviour of TensorFlow 1.15, contrib/image/python/ops/image_ops.py.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

_DTYPES = (tf.uint8, tf.int32, tf.int64, tf.float16, tf.float32, tf.float64)


def rotate(
    images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None
) -> Any:
    """Rotates images counterclockwise about their centres.

    Args:
      images: see the package; of numbers.
      angles: angle in radians, or `[batch]`.
      interpolation: `NEAREST` or `BILINEAR`.
      name: op name.

    Returns:
      Images of the same shape and type.

    Raises:
      TypeError: another type or rank.
    """
    with tf.name_scope(name, "rotate"):
        images = tf.convert_to_tensor(images)
        size = tf.shape(_to_batch(images))[1:3]
        height, width = tf.unstack(tf.cast(size, tf.float32)[:, None])
        flat = angles_to_projective_transforms(angles, height, width)
        return transform(images, flat, interpolation=interpolation)


def translate(
    images: Any, translations: Any, interpolation: str = "NEAREST", name: str | None = None
) -> Any:
    """Moves images by `[dx, dy]`, or each by its row of `[batch, 2]`; see `rotate`."""
    with tf.name_scope(name, "translate"):
        flat = translations_to_projective_transforms(translations)
        return transform(images, flat, interpolation=interpolation)


def transform(
    images: Any,
    transforms: Any,
    interpolation: str = "NEAREST",
    output_shape: Any = None,
    name: str | None = None,
) -> Any:
    """Applies projective transforms to images.

    Args:
      images: see the package; of numbers.
      transforms: a transform `[8]`, or `[batch, 8]`.
      interpolation: `NEAREST` or `BILINEAR`.
      output_shape: height and width of the output; None: those of the input.
      name: op name.

    Raises:
      TypeError: another type or rank.
      ValueError: `output_shape` has not two elements.
    """
    with tf.name_scope(name, "transform"):
        images = tf.convert_to_tensor(images, name="images")
        batch = _to_batch(images)
        if output_shape is None:
            output_shape = tf.shape(batch)[1:3]
        output_shape = tf.convert_to_tensor(output_shape, tf.int32, name="output_shape")
        if not output_shape.shape.is_compatible_with([2]):
            raise ValueError(
                "output_shape must be a 1-D Tensor of 2 elements: new_height, new_width"
            )
        output = tf.raw_ops.ImageProjectiveTransformV3(
            images=batch,
            transforms=_rows(transforms, "transforms"),
            output_shape=output_shape,
            fill_value=0.0,
            interpolation=interpolation.upper(),
        )
        return _from_batch(output, images)


def angles_to_projective_transforms(
    angles: Any, image_height: Any, image_width: Any, name: str | None = None
) -> Any:
    """Returns the transforms `[batch, 8]` of rotations about the centres of images.

    Args:
      angles: angle in radians, or `[batch]`.
      image_height, image_width: sizes in pixels, float32.
      name: op name.

    Raises:
      TypeError: another rank.
    """
    with tf.name_scope(name, "angles_to_projective_transforms"):
        angles = tf.convert_to_tensor(angles, name="angles", dtype=tf.float32)
        if angles.shape.ndims not in (0, 1):
            raise TypeError("Angles should have rank 0 or 1.")
        angles = tf.reshape(angles, [-1])
        cos, sin = tf.cos(angles), tf.sin(angles)
        right, bottom = image_width - 1, image_height - 1
        x_offset = (right - (cos * right - sin * bottom)) / 2.0
        y_offset = (bottom - (sin * right + cos * bottom)) / 2.0
        zeros = tf.zeros_like(angles)
        return tf.stack([cos, -sin, x_offset, sin, cos, y_offset, zeros, zeros], axis=1)


def translations_to_projective_transforms(translations: Any, name: str | None = None) -> Any:
    """Returns the transforms `[batch, 8]` of translations `[dx, dy]` or `[batch, 2]`.

    Raises:
      TypeError: another rank.
    """
    with tf.name_scope(name, "translations_to_projective_transforms"):
        translations = _rows(translations, "translations")
        zeros = tf.zeros_like(translations[:, 0])
        ones, (dx, dy) = tf.ones_like(zeros), tf.unstack(translations, num=2, axis=1)
        return tf.stack([ones, zeros, -dx, zeros, ones, -dy, zeros, zeros], axis=1)


def compose_transforms(*transforms: Any) -> Any:
    """Returns the transforms `[batch, 8]` whose output is that of the transforms one by one.

    Args:
      *transforms: each `[8]` or `[batch, 8]`, the first first.
    """
    assert transforms, "transforms cannot be empty"
    with tf.name_scope("compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for following in transforms[1:]:
            composed = tf.matmul(composed, flat_transforms_to_matrices(following))
        return matrices_to_flat_transforms(composed)


def flat_transforms_to_matrices(transforms: Any) -> Any:
    """Returns matrices `[batch, 3, 3]` of transforms `[8]` or `[batch, 8]`.

    Raises:
      ValueError: another rank.
    """
    with tf.name_scope("flat_transforms_to_matrices"):
        transforms = tf.convert_to_tensor(transforms, name="transforms")
        if transforms.shape.ndims not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {transforms}")
        transforms = tf.reshape(transforms, [-1, 8])
        return tf.reshape(tf.pad(transforms, [[0, 0], [0, 1]], constant_values=1), [-1, 3, 3])


def matrices_to_flat_transforms(transform_matrices: Any) -> Any:
    """Returns transforms `[batch, 8]` of matrices `[3, 3]` or `[batch, 3, 3]`.

    Raises:
      ValueError: another rank.
    """
    with tf.name_scope("matrices_to_flat_transforms"):
        matrices = tf.convert_to_tensor(transform_matrices, name="transform_matrices")
        if matrices.shape.ndims not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {matrices}")
        flat = tf.reshape(matrices, [-1, 9])
        return (flat / flat[:, 8:])[:, :8]


def _rows(values: Any, name: str) -> Any:
    """Returns a float matrix, with one row for a vector."""
    values = tf.convert_to_tensor(values, name=name, dtype=tf.float32)
    if values.shape.ndims not in (1, 2):
        raise TypeError(f"{name.capitalize()} should have rank 1 or 2.")
    return values[None] if values.shape.ndims == 1 else values


def _to_batch(images: Any) -> Any:
    """Returns images as `[batch, height, width, channels]`."""
    if images.dtype.base_dtype not in _DTYPES:
        raise TypeError(f"Invalid dtype {images.dtype}.")
    rank = images.shape.ndims
    if rank not in (2, 3, 4):
        raise TypeError(f"Images should have rank between 2 and 4, statically known; not {rank}.")
    batch = images if rank == 4 else images[None]
    return batch[..., None] if rank == 2 else batch


def _from_batch(batch: Any, images: Any) -> Any:
    """Returns a batch in the rank of `images`."""
    rank = images.shape.ndims
    output = batch if rank == 4 else batch[0]
    return output[..., 0] if rank == 2 else output
