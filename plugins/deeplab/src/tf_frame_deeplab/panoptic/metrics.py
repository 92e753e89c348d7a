"""Panoptic quality over the batches of an evaluation.

An op matches the segments in NumPy; it runs in the process of the session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame import ClassMean, ClassMetric
from tf_frame_deeplab.heads import INSTANCES, SEMANTIC
from tf_frame_deeplab.panoptic.components import components
from tf_frame_deeplab.panoptic.quality import COLUMNS, count_segments, qualities
from tf_frame_vision.confusion import mean_of_defined, metric_names

# A value that is no class.
_VOID = -1


def panoptic_metrics(
    labels: Mapping[str, Any],
    predictions: Mapping[str, Any],
    *,
    things: Sequence[int],
    num_classes: int,
    class_names: Sequence[str] = (),
    ignore_label: int | None = None,
) -> dict[str, tuple[Any, Any]]:
    """Counts segments over all batches of an evaluation.

    Args:
      labels: `semantic` and `instances`, `[batch, height, width]` int32.
      predictions: `semantic`, `panoptic_semantic` and `instances`, the same shape.
      things: classes that have instances.
      num_classes: number of classes.
      class_names: names of the classes; a number stands for a missing name.
      ignore_label: label of pixels that do not count, or None.

    Returns:
      `pq`, `sq`, `rq` and `parsing_covering`, means over the classes that occur; `pq_<class
      name>`; `pq_components`, the quality if the instances were the connected components of
      the predicted classes. Each is a (value, update op) pair.
    """
    true_classes = labels[SEMANTIC]
    if ignore_label is not None:
        is_void = tf.equal(true_classes, ignore_label)
        true_classes = tf.where(is_void, tf.fill(tf.shape(is_void), _VOID), true_classes)
    truth = [true_classes, labels[INSTANCES]]

    def compare(*images: Any) -> Any:
        return count_segments(*images, num_classes=num_classes)

    def compare_components(true_classes: Any, true_instances: Any, classes: Any) -> Any:
        return compare(true_classes, true_instances, classes, components(classes, things))

    segments = [predictions["panoptic_semantic"], predictions[INSTANCES]]
    values, update = _sum_batches("panoptic", compare, [*truth, *segments], num_classes)
    plain, plain_update = _sum_batches(
        "components", compare_components, [*truth, predictions[SEMANTIC]], num_classes
    )
    metrics: dict[str, tuple[Any, Any]] = {
        ClassMean(name, "pq"): (mean_of_defined(values[name]), update)
        for name in ("pq", "sq", "rq")
    }
    metrics[ClassMean("parsing_covering")] = (mean_of_defined(values["parsing_covering"]), update)
    for index, name in enumerate(metric_names(class_names, num_classes)):
        metrics[ClassMetric("pq", name)] = (values["pq"][index], update)
    metrics[ClassMean("pq_components")] = (mean_of_defined(plain["pq"]), plain_update)
    return metrics


def _sum_batches(
    name: str, compare: Callable[..., Any], images: list[Any], num_classes: int
) -> tuple[dict[str, Any], Any]:
    """Returns the qualities so far, `[num_classes]` each, and the op that adds a batch."""
    shape = [num_classes, len(COLUMNS)]
    with tf.variable_scope(name):
        total = tf.get_variable(
            "segments",
            shape=shape,
            dtype=tf.float64,
            initializer=tf.zeros_initializer(),
            trainable=False,
            collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES],
        )

    def counted(*batch: Any) -> Any:
        return np.sum([compare(*images) for images in zip(*batch, strict=True)], axis=0)

    counts = tf.ensure_shape(tf.numpy_function(counted, images, tf.float64), shape)
    return _qualities(tf.convert_to_tensor(total)), tf.assign_add(total, counts)


def _qualities(counts: Any) -> dict[str, Any]:
    names = list(qualities(np.zeros([1, len(COLUMNS)])))

    def computed(values: Any) -> list[Any]:
        return [np.asarray(quality, np.float32) for quality in qualities(values).values()]

    values = tf.numpy_function(computed, [counts], [tf.float32] * len(names))
    for value in values:
        value.set_shape([counts.shape[0]])
    return dict(zip(names, values, strict=True))
