"""What slim's own metrics share: a variable that batches change, and the pair that is returned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

# Where tf.compat.v1.metrics keeps its variables, too.
COLLECTIONS = [tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES]


def zeros(shape: Sequence[int], name: str, dtype: Any = tf.float32) -> Any:
    """A local variable that begins with zeros."""
    start = tf.zeros(shape, dtype)
    return tf.Variable(start, trainable=False, collections=COLLECTIONS, name=name)


def collected(
    value: Any, update: Any, metrics_collections: Any, updates_collections: Any
) -> tuple[Any, Any]:
    """Value and update of a metric, which are put into the collections that are named."""
    if metrics_collections:
        tf.add_to_collections(metrics_collections, value)
    if updates_collections:
        tf.add_to_collections(updates_collections, update)
    return value, update
