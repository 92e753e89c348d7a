"""Summaries of GANs, and grids of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf


def add_gan_model_summaries(gan_model: Any) -> None:
    """Writes histograms of the variables."""
    if hasattr(gan_model, "model_x2y"):
        for model in (gan_model.model_x2y, gan_model.model_y2x):
            add_gan_model_summaries(model)
        return
    for kind in ("generator_variables", "discriminator_variables"):
        with tf.name_scope(kind):
            for variable in getattr(gan_model, kind):
                tf.summary.histogram(variable.name, variable)


def add_gan_model_image_summaries(
    gan_model: Any, grid_size: int = 4, model_summaries: bool = True
) -> None:
    """Writes a grid of real and one of generated images, `[batch, height, width, channels]`.

    Raises:
      ValueError: they are no images.
    """
    for name in ("real_data", "generated_data"):
        images = getattr(gan_model, name)
        height, width, channels = _image_shape(images)
        grid = image_grid(images[: grid_size**2], (grid_size, grid_size), (height, width), channels)
        tf.summary.image(name, grid, max_outputs=1)
    if model_summaries:
        add_gan_model_summaries(gan_model)


def add_image_comparison_summaries(
    gan_model: Any, num_comparisons: int = 2, display_diffs: bool = False
) -> None:
    """Writes inputs, generated and real images below each other."""
    rows = [gan_model.generator_inputs, gan_model.generated_data, gan_model.real_data]
    for images in rows:
        _image_shape(images)
    if display_diffs:
        generated, real = (tf.cast(images, tf.float32) for images in rows[1:])
        rows.append(tf.abs(generated - real))
    images = [image for row in rows for image in tf.unstack(row[:num_comparisons], num_comparisons)]
    grid = image_reshaper(images, num_cols=num_comparisons)
    tf.summary.image("image_comparison", grid, max_outputs=1)


def add_regularization_loss_summaries(gan_model: Any) -> None:
    """Writes the regularization losses of both scopes."""
    for kind in ("generator", "discriminator"):
        scope = getattr(gan_model, f"{kind}_scope")
        if scope:
            loss = tf.losses.get_regularization_loss(scope.name)
            tf.summary.scalar(f"{kind}_regularization_loss", loss)


def image_grid(
    input_tensor: Any,
    grid_shape: Sequence[int],
    image_shape: Sequence[int] = (32, 32),
    num_channels: int = 3,
) -> Any:
    """Returns one image, `[1, height, width, channels]`, with a batch in rows and columns.

    Raises:
      ValueError: the batch has another size.
    """
    rows, columns = map(int, grid_shape)
    height, width = map(int, image_shape)
    size = input_tensor.shape.as_list()[0]
    if size not in (None, rows * columns):
        raise ValueError(f"Grid shape {tuple(grid_shape)} incompatible with minibatch size {size}.")
    images = tf.reshape(input_tensor, [rows, columns, height, width, num_channels])
    images = tf.transpose(images, [0, 2, 1, 3, 4])
    return tf.reshape(images, [1, rows * height, columns * width, num_channels])


def image_reshaper(images: Any, num_cols: int | None = None) -> Any:
    """Returns one image with a list of images in rows; the last row is filled with zeros."""
    images = tf.unstack(images) if tf.is_tensor(images) else list(images)
    columns = num_cols or 1
    images += [tf.zeros_like(images[0])] * (-len(images) % columns)
    height, width, channels = (int(size) for size in images[0].shape)
    grid_shape = (len(images) // columns, columns)
    return image_grid(tf.stack(images), grid_shape, (height, width), channels)


def _image_shape(images: Any) -> list[int]:
    images.shape.assert_has_rank(4)
    images.shape[1:].assert_is_fully_defined()
    return [int(size) for size in images.shape[1:]]
