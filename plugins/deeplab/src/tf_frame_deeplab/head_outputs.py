"""Outputs of the model `deeplab` other than losses: predictions, metrics, pictures.

`outputs` has the metrics and pictures of the classes, `head_pictures` the pictures of other heads.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import InputInfo
from tf_frame_deeplab import head_pictures
from tf_frame_deeplab.heads import (
    CENTER,
    EDGE,
    INSTANCES,
    OFFSET,
    SEMANTIC,
    HeadParams,
    thing_classes,
)
from tf_frame_deeplab.outputs import image_summaries, segmentation_metrics
from tf_frame_vision.confusion import confusion_matrix

Metrics = dict[str, tuple[Any, Any]]


@dataclasses.dataclass(frozen=True)
class HeadOutputs:
    """Makes predictions, metrics and pictures of all heads.

    Attributes:
      params: options of the heads.
      info: classes and ignored label.
    """

    params: HeadParams
    info: InputInfo

    def predictions(self, logits: Mapping[str, Any], semantic: Any) -> dict[str, Any]:
        """Returns the predictions of all heads but `semantic`.

        Args:
          logits: head -> `[batch, height, width, channels]`.
          semantic: `[batch, height, width]` int32, predicted classes.

        Returns:
          `edge`, and from the heads for instances `instances` and `panoptic_semantic`, the class
          of all pixels of an instance: each `[batch, height, width]` int32.
        """
        predictions = {}
        if EDGE in logits:
            predictions[EDGE] = tf.argmax(logits[EDGE], axis=3, output_type=tf.int32)
        if CENTER in logits:
            from tf_frame_deeplab.panoptic.grouping import group_instances

            classes, instances = group_instances(
                semantic,
                logits[CENTER],
                logits[OFFSET],
                threshold=self.params.center_threshold,
                window=self.params.center_window,
                max_instances=self.params.max_instances,
                thing_classes=self._things,
                num_classes=self._num_classes,
            )
            predictions |= {INSTANCES: instances, "panoptic_semantic": classes}
        return predictions

    def metrics(self, labels: Mapping[str, Any], predictions: Mapping[str, Any]) -> Metrics:
        """Returns the metrics of all heads, as (value, update op) pairs.

        Args:
          labels: name -> label; see `panoptic.targets.Targets`.
          predictions: `semantic`, and the result of `predictions`.
        """
        classes: dict[str, Any] = {
            "num_classes": self._num_classes,
            "class_names": self.info.class_names,
            "ignore_label": self.info.ignore_label,
        }
        metrics = segmentation_metrics(labels[SEMANTIC], predictions[SEMANTIC], **classes)
        if EDGE in predictions:
            metrics |= edge_metrics(labels[EDGE], predictions[EDGE], self.info.ignore_label)
        if INSTANCES in predictions:
            from tf_frame_deeplab.panoptic.metrics import panoptic_metrics

            metrics |= panoptic_metrics(labels, predictions, things=self._things, **classes)
        return metrics

    def summaries(
        self, images: Any, logits: Mapping[str, Any], labels: Mapping[str, Any], semantic: Any
    ) -> None:
        """Adds pictures of the image, and of the labels and predictions of all heads.

        Args:
          images: `[batch, height, width, 3]`, 0 to 255.
          logits: head -> `[batch, height, width, channels]`.
          labels: name -> label.
          semantic: `[batch, height, width]` int32, predicted classes.
        """
        image_summaries(
            images,
            labels[SEMANTIC],
            semantic,
            num_classes=self._num_classes,
            ignore_label=self.info.ignore_label,
        )
        head_pictures.add(logits, labels, self.info.ignore_label)

    @property
    def _num_classes(self) -> int:
        assert self.info.num_classes, "the model checks it"
        return self.info.num_classes

    @property
    def _things(self) -> tuple[int, ...]:
        return thing_classes(self.params, self._num_classes)


def edge_metrics(labels: Any, edges: Any, ignore_label: int | None) -> Metrics:
    """Returns the F-score of edge pixels over all batches of an evaluation.

    Args:
      labels: `[batch, height, width]` int32, 1 for an edge.
      edges: predictions of the same shape.
      ignore_label: label of pixels that do not count, or None.
    """
    labels, edges = tf.reshape(labels, [-1]), tf.reshape(edges, [-1])
    weights = tf.ones_like(labels, tf.float64)
    if ignore_label is not None:
        counts = tf.not_equal(labels, ignore_label)
        labels, weights = tf.where(counts, labels, edges), tf.cast(counts, tf.float64)
    with tf.variable_scope("edge"):
        total, update = confusion_matrix(labels, edges, 2, weights=weights)
    wrong = total[0, 1] + total[1, 0]
    score = tf.div_no_nan(2 * total[1, 1], 2 * total[1, 1] + wrong)
    return {"edge_f_score": (tf.cast(score, tf.float32), update)}
