"""Losses, predictions and summaries of the model `classification`.

The losses follow slim's train_image_classifier.py, so that its settings keep their meaning.
`classification` imports this only to build a graph: `--help` must not wait for TensorFlow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_vision.slim_network import flat_logits

_AUX_LOGITS = "AuxLogits"


def predictions(logits: Any) -> dict[str, Any]:
    """Returns `label`, `[batch]` int32, and `probabilities`, `[batch, classes]`."""
    return {
        "label": tf.argmax(logits, axis=1, output_type=tf.int32),
        "probabilities": tf.nn.softmax(logits),
    }


def with_names(predicted: Mapping[str, Any], class_names: Sequence[str]) -> dict[str, Any]:
    """Adds `class_name`, `[batch]` string, to predictions if there are names of classes."""
    if not class_names:
        return dict(predicted)
    return {**predicted, "class_name": tf.gather(tf.constant(class_names), predicted["label"])}


def add_losses(logits: Any, end_points: Mapping[str, Any], labels: Any, params: Any) -> None:
    """Adds softmax cross entropy to `tf.GraphKeys.LOSSES`, auxiliary logits first.

    As slim's train_image_classifier.py (tensorflow/models, research/slim) does.

    Args:
      logits: `[batch, num_classes]`.
      end_points: `AuxLogits` among them are weighted by `params.aux_loss_weight`.
      labels: `[batch]` int32.
      params: `tf_frame_classification.model.classification.Params`.
    """
    one_hot = tf.one_hot(labels, logits.shape[1])
    smoothing = params.label_smoothing
    if _AUX_LOGITS in end_points:
        tf.losses.softmax_cross_entropy(
            one_hot,
            flat_logits(end_points[_AUX_LOGITS], int(logits.shape[1])),
            weights=params.aux_loss_weight,
            label_smoothing=smoothing,
            scope="aux_loss",
        )
    tf.losses.softmax_cross_entropy(one_hot, logits, label_smoothing=smoothing)


def summarize_activations(end_points: Mapping[str, Any]) -> None:
    """Adds `activations/NAME`, a histogram, and `sparsity/NAME`, the share of zeros.

    Args:
      end_points: name -> tensor.
    """
    for name, value in end_points.items():
        tf.summary.histogram(f"activations/{name}", value)
        tf.summary.scalar(f"sparsity/{name}", tf.nn.zero_fraction(value))
