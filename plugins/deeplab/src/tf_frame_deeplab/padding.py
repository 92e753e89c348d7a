"""Pads images so that feature maps lie over any image as over the crops of the training.

A convolution of stride 2 with padding "SAME" adds a row above an image with an odd number of rows,
and none above one with an even number. So the place of a feature depends on the size of the
image, unless all sides leave the same remainder. DeepLab pads images before the evaluation, too:
`eval_crop_size` and `export_model.py` of tensorflow/models, research/deeplab.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_deeplab.inputs.mean_pixel import MEAN_PIXEL


def padded(images: Any, params: Any) -> Any:
    """Pads images below and to the right, by the mean pixel, to the next sizes that fit.

    Args:
      images: `[batch, height, width, 3]`, values from 0 to 255.
      params: `tf_frame_deeplab.model.Params`.
    """
    size = layers.spatial_size(images)
    fitting = fitting_size(size, params)
    if isinstance(size, list) and fitting == size:
        return images
    down, across = (fitting[side] - size[side] for side in range(2))
    margins = [[0, 0], [0, down], [0, across], [0, 0]]
    return tf.pad(images, margins, constant_values=MEAN_PIXEL)


def without_padding(logits: Any, images: Any, params: Any) -> Any:
    """Returns the logits of the images, cut out of those of the padded images.

    Args:
      logits: `[batch, rows, columns, channels]`, of the images after `padded`.
      images: `[batch, height, width, 3]`, before `padded`.
      params: `tf_frame_deeplab.model.Params`.

    Returns:
      `[batch, height, width, channels]`, or the logits as they are if nothing was padded.
    """
    size = layers.spatial_size(images)
    fitting = fitting_size(size, params)
    if isinstance(size, list) and fitting == size:
        return logits
    resized = layers.resize_bilinear(logits, fitting, align_corners=params.align_corners)
    return resized[:, : size[0], : size[1]]


def fitting_size(size: Any, params: Any) -> list[Any]:
    """Returns the least sides that are not smaller and fit the network.

    They are multiples of the output stride; with `--model.align_corners` plus 1.

    Args:
      size: `[height, width]`, numbers or an int32 tensor.
      params: `tf_frame_deeplab.model.Params`.
    """
    stride, more = params.output_stride, int(params.align_corners)
    return [(size[side] - more + stride - 1) // stride * stride + more for side in range(2)]
