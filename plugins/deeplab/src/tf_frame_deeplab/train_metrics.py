"""Mean IoU and pixel accuracy in training, over all crops of the first clone so far.

The metrics cost little and show early that a network learns one class alone. Crops are augmented
and batch norm uses the batch, so the figures of an evaluation differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import InputInfo
from tf_frame.hooks import LoggingHook
from tf_frame_deeplab.outputs import segmentation_metrics


def train_metrics(
    labels: Any,
    predictions: Any,
    *,
    info: InputInfo,
    every_steps: int,
    last_step: int | None,
) -> Sequence[Any]:
    """Adds the summaries `train/miou` and `train/acc`, which count from the start of a session.

    Args:
      labels: `[batch, height, width]` int32.
      predictions: the same shape, classes.
      info: classes, and the label of pixels that do not count.
      every_steps: steps between log lines.
      last_step: last global step of the training, logged too; None if unknown.

    Returns:
      Hooks that log the figures; none for a clone after the first.
    """
    if tf.get_variable_scope().reuse:
        return ()
    assert info.num_classes, "the model checks it"
    with tf.variable_scope("train"):
        metrics = segmentation_metrics(
            labels, predictions, num_classes=info.num_classes, ignore_label=info.ignore_label
        )
    (miou, update), (accuracy, _) = metrics["mean_iou"], metrics["pixel_accuracy"]
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update.op)
    figures = {"train/miou": miou, "train/acc": accuracy}
    # The same tags with one clone and with several.
    with tf.name_scope(None):
        for tag, value in figures.items():
            tf.summary.scalar(tag, value)
    return (LoggingHook(figures, every_steps=every_steps, last_step=last_step),)
